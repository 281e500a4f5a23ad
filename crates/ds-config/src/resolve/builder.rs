//! Puts a pipeline together while its files are read.

use std::collections::BTreeMap;

use super::source::FileSource;
use crate::detect::{Form, detect};
use crate::error::{Error, ErrorKind};
use crate::gst_launch::GstScript;
use crate::ini::IniDocument;
use crate::line_index::LineIndex;
use crate::model::{
    Branch, Document, Element, ElementId, FilePlace, Knob, KnobSetting, KnobValue, Locator,
    NO_PLACE_IN_PROGRAM, Overridden, Pipeline, Reading, Role, Site, SourceFile, Target, closed,
    obstacle, open_elements, read,
};
use crate::python::PythonDocument;
use crate::sources_csv::SourcesCsv;
use crate::textproto::{NVINFERSERVER, TextProtoDocument};
use crate::yaml::YamlDocument;

/// The state of a resolution.
pub(super) struct Builder<'a> {
    source: &'a dyn FileSource,
    pub(super) pipeline: Pipeline,
    /// Why nothing can be added to an element, by its file and its number there.
    closed: BTreeMap<(usize, usize), Option<String>>,
    /// Which elements of a program take another property, by its file.
    open_elements: BTreeMap<usize, Vec<bool>>,
}

impl<'a> Builder<'a> {
    /// Begins with the file that was asked for.
    pub(super) fn new(source: &'a dyn FileSource, entry: &str) -> Result<Self, Error> {
        let mut builder = Self {
            source,
            closed: BTreeMap::new(),
            open_elements: BTreeMap::new(),
            pipeline: Pipeline {
                form: Form::Unknown,
                files: Vec::new(),
                elements: Vec::new(),
                sources: Vec::new(),
                mux: None,
                infer: Vec::new(),
                sinks: Vec::new(),
                disabled: Vec::new(),
                faults: Vec::new(),
                others: Vec::new(),
                knobs: Vec::new(),
            },
        };
        builder.load(entry)?;
        builder.pipeline.form = builder.pipeline.files[0].form;
        Ok(builder)
    }

    /// Reads a file once, in the syntax that its content asks for.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingFile`], and [`ErrorKind::Refused`] for a file that never worked.
    pub(super) fn load(&mut self, path: &str) -> Result<usize, Error> {
        if let Some(known) = self
            .pipeline
            .files
            .iter()
            .position(|file| file.path == path)
        {
            return Ok(known);
        }
        let bytes = self
            .source
            .read(path)
            .map_err(|error| Error::unreadable(&error).in_file(path))?;
        let form = detect(&bytes).form;
        let document = document(form, &bytes).map_err(|error| error.in_file(path))?;
        if let Some(message) = misnamed(path, form) {
            self.fault(Error::new(ErrorKind::Refused, message).in_file(path));
        }
        self.pipeline.files.push(SourceFile {
            path: path.to_owned(),
            lines: LineIndex::new(&bytes),
            bytes,
            form,
            document,
        });
        Ok(self.pipeline.files.len() - 1)
    }

    /// Reads a file that another one names; what goes wrong is a fault of the pipeline.
    pub(super) fn follow(&mut self, path: &str) -> Option<usize> {
        match self.load(path) {
            Ok(file) => Some(file),
            Err(error) => {
                self.fault(error);
                None
            }
        }
    }

    /// A variable of the environment that the caller runs pipelines in.
    pub(super) fn environment(&self, name: &str) -> Option<String> {
        self.source.environment(name)
    }

    /// One of the files read so far.
    pub(super) fn file(&self, file: usize) -> &SourceFile {
        &self.pipeline.files[file]
    }

    /// Notes a fault.
    pub(super) fn fault(&mut self, error: Error) {
        if !self.pipeline.faults.contains(&error) {
            self.pipeline.faults.push(error);
        }
    }

    /// A place in one of the files.
    pub(super) fn place(&self, file: usize, offset: usize) -> FilePlace {
        let file = self.file(file);
        FilePlace {
            path: file.path.clone(),
            place: file.place(offset),
        }
    }

    /// Adds an element.
    pub(super) fn element(
        &mut self,
        role: Role,
        factory: &str,
        name: &str,
        place: FilePlace,
        branch: Branch,
    ) -> ElementId {
        let id = ElementId(self.pipeline.elements.len());
        self.pipeline.elements.push(Element {
            id,
            role,
            factory: factory.to_owned(),
            name: name.to_owned(),
            place,
            branch,
        });
        id
    }

    /// Adds a knob with the places that can hold it, the strongest first. A missing value goes to
    /// the last of them.
    pub(super) fn knob(
        &mut self,
        element: ElementId,
        knob: Knob,
        sites: Vec<Site>,
        default: Option<&'static str>,
    ) {
        let mut setting = KnobSetting {
            target: Target { element, knob },
            value: None,
            computed: None,
            place: None,
            overridden: Vec::new(),
            default,
            not_editable: None,
            chosen: sites.len().checked_sub(1),
            sites,
        };
        let mut won = false;
        for (position, site) in setting.sites.iter().enumerate() {
            let file = &self.pipeline.files[site.file];
            let place = |at| FilePlace {
                path: file.path.clone(),
                place: file.place(at),
            };
            let reading = read(file, &site.locator, knob);
            if won {
                if let Reading::Value { value, at } = reading {
                    setting.overridden.push(Overridden {
                        place: place(at),
                        value,
                    });
                }
                continue;
            }
            match reading {
                Reading::Absent => continue,
                Reading::Value { value, at } => {
                    setting.value = Some(value);
                    setting.place = Some(place(at));
                }
                Reading::Computed {
                    written,
                    at,
                    reason,
                } => {
                    setting.computed = Some(written);
                    setting.place = Some(place(at));
                    setting.not_editable = Some(reason);
                }
                Reading::Invalid { error, at } => {
                    setting.place = Some(place(at));
                    self.pipeline.faults.push(error);
                }
            }
            setting.chosen = Some(position);
            won = true;
        }
        if setting.not_editable.is_none()
            && let Some(site) = setting.chosen.and_then(|chosen| setting.sites.get(chosen))
        {
            setting.not_editable = if won {
                obstacle(&self.pipeline.files[site.file], &site.locator, knob)
            } else {
                self.closed(site, knob)
            };
        }
        self.pipeline.knobs.push(setting);
    }

    /// Why nothing can be added to the element of a place. Found out once for each element, and for a
    /// program once for all of them, since it is read again to make sure.
    fn closed(&mut self, site: &Site, knob: Knob) -> Option<String> {
        let file = &self.pipeline.files[site.file];
        if let Locator::Python { element, .. } = site.locator {
            let open = self
                .open_elements
                .entry(site.file)
                .or_insert_with(|| open_elements(file));
            let is_open = open.get(element) == Some(&true);
            return (!is_open).then(|| NO_PLACE_IN_PROGRAM.to_owned());
        }
        let Some(owner) = site.locator.owner() else {
            return closed(file, &site.locator, knob);
        };
        let known = self.closed.entry((site.file, owner));
        known
            .or_insert_with(|| closed(file, &site.locator, knob))
            .clone()
    }

    /// Adds a knob that can be read and not changed.
    pub(super) fn fixed_knob(
        &mut self,
        element: ElementId,
        knob: Knob,
        value: KnobValue,
        reason: &str,
    ) {
        let place = self
            .pipeline
            .element(element)
            .map(|element| element.place.clone());
        self.pipeline.knobs.push(KnobSetting {
            target: Target { element, knob },
            value: Some(value),
            computed: None,
            place,
            overridden: Vec::new(),
            default: None,
            not_editable: Some(reason.to_owned()),
            sites: Vec::new(),
            chosen: None,
        });
    }

    /// Gives a knob that was added before a value that follows from another place: its own keys are
    /// without effect. No value where it is not known.
    pub(super) fn force(
        &mut self,
        element: ElementId,
        knob: Knob,
        value: Option<i64>,
        reason: &str,
    ) {
        let target = Target { element, knob };
        let setting = self
            .pipeline
            .knobs
            .iter_mut()
            .rfind(|setting| setting.target == target);
        let Some(setting) = setting else {
            return;
        };
        if let (Some(value), Some(place)) = (setting.value.take(), setting.place.take()) {
            setting.overridden.insert(0, Overridden { place, value });
        }
        setting.value = value.map(KnobValue::Integer);
        setting.default = None;
        setting.not_editable = Some(reason.to_owned());
    }

    /// The value at one place, whatever other places say.
    pub(super) fn peek(&self, site: &Site, knob: Knob) -> Option<KnobValue> {
        match read(self.file(site.file), &site.locator, knob) {
            Reading::Value { value, .. } => Some(value),
            _ => None,
        }
    }

    /// The value in effect of a knob that was added before.
    pub(super) fn value_of(&self, element: ElementId, knob: Knob) -> Option<&KnobValue> {
        self.pipeline.knob(Target { element, knob })?.value.as_ref()
    }

    /// The file that a path knob of an element names.
    pub(super) fn named_file(
        &self,
        element: ElementId,
        knob: Knob,
        search: Search,
    ) -> Option<String> {
        let setting = self.pipeline.knob(Target { element, knob })?;
        let beside = self.pipeline.path_of(setting)?;
        let as_given = setting.value.as_ref()?.text()?;
        let elsewhere = search == Search::FolderOrWorkingDirectory
            && !self.source.exists(&beside)
            && self.source.exists(as_given);
        Some(if elsewhere {
            as_given.to_owned()
        } else {
            beside
        })
    }
}

/// Why a file that has two syntaxes to choose from never worked under its name: DeepStream takes the
/// YAML reader for `.yml` and `.yaml`, and GLib's for every other name.
fn misnamed(path: &str, form: Form) -> Option<&'static str> {
    let named_yaml = [".yml", ".yaml"]
        .iter()
        .any(|suffix| path.ends_with(suffix));
    match form {
        Form::AppTxt
        | Form::NvinferTxt
        | Form::MuxPolicyTxt
        | Form::AnalyticsTxt
        | Form::PreprocessTxt
            if named_yaml =>
        {
            Some("this is a key file, and under this name it is read as YAML")
        }
        Form::AppYml
        | Form::NvinferYml
        | Form::MuxPolicyYml
        | Form::AnalyticsYml
        | Form::PreprocessYml
            if !named_yaml =>
        {
            Some("this is YAML, and under this name it is read as a key file")
        }
        _ => None,
    }
}

/// Where a file is looked for that another one names by a relative path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Search {
    /// In the folder of the file that names it.
    Folder,
    /// There, and if it is not there in the working directory: a command line does not say from
    /// where it is run.
    FolderOrWorkingDirectory,
}

/// Reads a text in the syntax of its form.
fn document(form: Form, bytes: &[u8]) -> Result<Document, Error> {
    Ok(match form {
        Form::AppTxt
        | Form::NvinferTxt
        | Form::MuxPolicyTxt
        | Form::AnalyticsTxt
        | Form::PreprocessTxt
        | Form::TrackerTxt => {
            let document = IniDocument::parse(bytes);
            if let Some(refusal) = document.refusal() {
                return Err(refusal.clone());
            }
            Document::Ini(document)
        }
        Form::AppYml
        | Form::NvinferYml
        | Form::MuxPolicyYml
        | Form::AnalyticsYml
        | Form::PreprocessYml
        | Form::ServiceMakerYml
        | Form::SampleAppYml
        | Form::TrackerYml => Document::Yaml(YamlDocument::parse(bytes)?),
        Form::Nvinferserver => Document::Proto(TextProtoDocument::parse(bytes, &NVINFERSERVER)?),
        Form::SourcesCsv => Document::Csv(SourcesCsv::parse(bytes)?),
        Form::GstLaunch => Document::Gst(GstScript::parse(bytes)),
        Form::Python => Document::Python(PythonDocument::parse(bytes)?),
        Form::Declined(_) | Form::Unknown => Document::Opaque,
    })
}
