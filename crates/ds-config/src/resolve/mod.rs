//! From the file that was asked for to the pipeline that it describes, through every file that it
//! names.

mod app;
mod builder;
mod factory;
mod gst;
mod infer;
mod keyed;
mod layout;
mod mux;
mod object;
mod part;
mod pipeline;
mod preprocess;
mod python;
mod service_maker;
mod source;
mod tracker;

use self::builder::Builder;
use self::keyed::Keyed;
use crate::detect::{Form, detect};
use crate::error::{Error, ErrorKind};
use crate::line_index::Place;
use crate::model::{Pipeline, SourceFile};

pub use self::source::FileSource;
pub(crate) use self::source::join;

impl Pipeline {
    /// Reads the pipeline that a file describes, with the files that it names.
    ///
    /// A file that is only a part of one, such as the configuration of nvinfer, gives a pipeline of
    /// the one element that it is for.
    ///
    /// A file that another one names and that cannot be read is among the pipeline's faults; the
    /// rest of the pipeline is read all the same.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingFile`] if the file cannot be read, [`ErrorKind::Refused`] if it never
    /// worked, [`ErrorKind::Declined`] or [`ErrorKind::UnknownForm`] if it is in no form that is
    /// read, [`ErrorKind::NoPipeline`] if no pipeline is in it.
    pub fn resolve(entry: &str, files: &dyn FileSource) -> Result<Self, Error> {
        let mut builder = Builder::new(files, entry)?;
        let outcome = match builder.pipeline.form {
            Form::AppTxt | Form::AppYml => app::resolve(&mut builder),
            Form::GstLaunch => gst::resolve(&mut builder),
            Form::ServiceMakerYml => service_maker::resolve(&mut builder),
            Form::Python => python::resolve(&mut builder),
            form => match part::element_of(form) {
                Some((role, factory)) => {
                    part::resolve(&mut builder, role, factory);
                    Ok(())
                }
                None => Err(refusal(form, builder.file(0).bytes())),
            },
        };
        outcome.map_err(|error| error.in_file(entry))?;
        Ok(builder.pipeline)
    }
}

/// The file alone, without the pipeline that it describes: enough to check its syntax.
pub(crate) fn alone(entry: &str, files: &dyn FileSource) -> Result<Pipeline, Error> {
    Ok(Builder::new(files, entry)?.pipeline)
}

/// The groups of a key file or YAML, each once, in the order of the file.
pub(crate) fn groups(file: &SourceFile) -> Vec<String> {
    Keyed::new(file).groups()
}

/// Whether a key file or YAML has a group.
pub(crate) fn has_group(file: &SourceFile, group: &str) -> bool {
    Keyed::new(file).has(group)
}

/// Where a group begins, or else the start of the file.
pub(crate) fn group_place(file: &SourceFile, group: &str) -> Place {
    Keyed::new(file).place(group)
}

/// Why a file is no pipeline, and what to do instead.
fn refusal(form: Form, text: &[u8]) -> Error {
    let because = detect(text).because;
    match form {
        Form::Declined(carrier) => Error::new(
            ErrorKind::Declined,
            format!("a {carrier} ({because}) is not read: {}", carrier.advice()),
        ),
        Form::Unknown => Error::new(ErrorKind::UnknownForm, because),
        form => Error::new(
            ErrorKind::NoPipeline,
            format!(
                "a {form} file ({because}) is not followed: give the program or the nvinfer file that it is for"
            ),
        ),
    }
}
