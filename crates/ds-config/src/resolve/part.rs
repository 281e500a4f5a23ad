//! A file that is only a part of a pipeline, read by itself: a pipeline of the one element that it
//! is for, or of the sources that it lists.

use super::app;
use super::builder::Builder;
use super::infer;
use super::keyed::{Keyed, site};
use super::mux;
use super::preprocess;
use super::tracker;
use crate::detect::Form;
use crate::ini::IniType;
use crate::model::{Branch, FilePlace, InferPlugin, InferStage, Knob, MuxGeneration, Role};

/// The file that was asked for.
const ENTRY: usize = 0;

/// The element that a file of a form is for; `None` for a form that is no part.
pub(super) fn element_of(form: Form) -> Option<(Role, &'static str)> {
    match form {
        Form::NvinferTxt | Form::NvinferYml => Some((Role::PrimaryInfer, "nvinfer")),
        Form::Nvinferserver => Some((Role::PrimaryInfer, "nvinferserver")),
        Form::PreprocessTxt | Form::PreprocessYml => Some((Role::Preprocess, "nvdspreprocess")),
        Form::AnalyticsTxt | Form::AnalyticsYml => Some((Role::Analytics, "nvdsanalytics")),
        Form::MuxPolicyTxt | Form::MuxPolicyYml => Some((Role::Mux, "nvstreammux")),
        Form::TrackerTxt | Form::TrackerYml => Some((Role::Tracker, "nvtracker")),
        Form::SourcesCsv => Some((Role::Source, "nvurisrcbin")),
        _ => None,
    }
}

/// Adds the element that the file is for.
pub(super) fn resolve(builder: &mut Builder<'_>, role: Role, factory: &str) {
    if role == Role::Source {
        app::table(builder, ENTRY);
        return;
    }
    let file = builder.file(ENTRY);
    let place = FilePlace {
        path: file.path.clone(),
        place: file.place(0),
    };
    let id = builder.element(role, factory, factory, place, Branch::Main);
    match role {
        Role::PrimaryInfer => {
            let plugin = match factory {
                "nvinfer" => InferPlugin::Nvinfer,
                _ => InferPlugin::Nvinferserver,
            };
            infer::file_knobs(builder, id, plugin, Vec::new(), Some(ENTRY));
            let path = builder.file(ENTRY).path.clone();
            builder.pipeline.infer.push(InferStage {
                element: id,
                plugin,
                tensors_from_preprocess: false,
                config_path: Some(path),
            });
            infer::settle_role(builder, id, None);
        }
        Role::Preprocess => preprocess::shape(builder, id, ENTRY),
        Role::Mux => {
            builder.pipeline.mux = Some(MuxGeneration::New);
            mux::policy_knobs(builder, id, ENTRY);
            if let Some(batch) = mux::batch_in_policy(builder, Some(ENTRY)) {
                builder.knob(id, Knob::MuxBatchSize, vec![batch], None);
            }
        }
        Role::Tracker if builder.pipeline.form == Form::TrackerTxt => {
            tracker::knobs(builder, id, |builder, knob, read_as: IniType| {
                site(
                    Keyed::new(builder.file(ENTRY)),
                    ENTRY,
                    "tracker",
                    knob.key(),
                    read_as,
                )
            });
        }
        _ => {}
    }
}
