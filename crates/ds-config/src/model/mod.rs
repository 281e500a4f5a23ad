//! The pipeline that one or several files describe, whatever form they are in.

mod change;
mod document;
mod element;
mod knob;
mod network;
mod parts;
mod setting;
mod site;

use crate::detect::Form;
use crate::error::Error;

pub use self::change::{Change, FileEdit, KnobChange};
pub(crate) use self::document::Document;
pub use self::document::SourceFile;
pub use self::element::{Branch, Element, ElementId, FilePlace, QueuePosition, Role};
pub use self::knob::{Knob, KnobKind, KnobValue};
pub use self::parts::{
    FrameRate, FrameSize, InferPlugin, InferStage, MuxGeneration, Sink, SinkKind, Source,
    SourceKind,
};
pub use self::setting::{KnobSetting, Overridden, Target};
pub(crate) use self::site::{
    Locator, NO_PLACE_IN_PROGRAM, Reading, Site, app_sink, closed, nodes, obstacle, open_elements,
    read,
};

/// A pipeline with every place from which its settings come.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Pipeline {
    /// The form of the file that was asked for.
    pub form: Form,
    /// The files that were read, the one that was asked for first.
    pub files: Vec<SourceFile>,
    /// The elements in the order of the pipeline.
    pub elements: Vec<Element>,
    /// The sources.
    pub sources: Vec<Source>,
    /// Which mux batches the frames; `None` without a mux.
    pub mux: Option<MuxGeneration>,
    /// The inference stages in the order of the pipeline.
    pub infer: Vec<InferStage>,
    /// The sinks.
    pub sinks: Vec<Sink>,
    /// Groups that are switched off, and elements in comments.
    pub disabled: Vec<(String, FilePlace)>,
    /// What is wrong with the files as far as reading met it: a value that the program refuses, a
    /// file that is missing or that never worked.
    pub faults: Vec<Error>,
    /// Other pipelines in the same file.
    pub others: Vec<FilePlace>,
    pub(crate) knobs: Vec<KnobSetting>,
}

impl Pipeline {
    /// Every knob, in the order of the elements.
    #[must_use]
    pub fn knobs(&self) -> &[KnobSetting] {
        &self.knobs
    }

    /// What is known of one knob of one element; `None` where the element does not have it.
    #[must_use]
    pub fn knob(&self, target: Target) -> Option<&KnobSetting> {
        // The last ones are asked for most often: by the resolution, about the element at hand.
        self.knobs.iter().rfind(|setting| setting.target == target)
    }

    /// A knob of every element that has it.
    pub fn knobs_of(&self, knob: Knob) -> impl Iterator<Item = &KnobSetting> {
        self.knobs
            .iter()
            .filter(move |setting| setting.target.knob == knob)
    }

    /// An element by its id.
    #[must_use]
    pub fn element(&self, id: ElementId) -> Option<&Element> {
        self.elements.get(id.0)
    }

    /// The elements with a role.
    pub fn elements_with(&self, role: Role) -> impl Iterator<Item = &Element> {
        self.elements
            .iter()
            .filter(move |element| element.role == role)
    }

    /// How many streams the pipeline has; `None` where a program or the shell decides, and where
    /// no source is in sight.
    #[must_use]
    pub fn streams(&self) -> Option<u32> {
        self.sources.first()?;
        self.sources.iter().map(|source| source.streams).sum()
    }

    /// The path that a knob's value names, relative to the place where the value stands.
    ///
    /// `None` for a knob without a value and for one that names no path.
    #[must_use]
    pub fn path_of(&self, setting: &KnobSetting) -> Option<String> {
        let text = setting.value.as_ref()?.text()?;
        let place = setting.place.as_ref()?;
        (setting.target.knob.kind() == KnobKind::Path)
            .then(|| crate::resolve::join(&place.path, text))
    }
}
