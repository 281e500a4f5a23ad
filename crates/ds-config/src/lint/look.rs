//! What the rules look at: a pipeline, what the caller knows, and the questions that many rules ask.

use std::collections::BTreeMap;
use std::ops::Range;

use super::context::{LintContext, Purpose};
use super::written::{self, Written};
use crate::detect::Form;
use crate::model::{
    Element, ElementId, FilePlace, FrameRate, InferPlugin, InferStage, Knob, KnobSetting,
    KnobValue, MuxGeneration, Pipeline, Role, SourceFile, SourceKind, Target,
};
use crate::onnx::OnnxModel;

/// Properties that the new nvstreammux has and the legacy one lacks (DeepStream 9.1 source).
const ONLY_NEW_MUX: [&str; 3] = ["config-file-path", "max-latency", "sync-inputs"];

/// A pipeline under examination.
pub(super) struct Look<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) context: &'a LintContext<'a>,
    /// The keys that are written on each element itself.
    written: Vec<Vec<Written>>,
    /// The keys of `[property]` of each file that configures a stage, by its path.
    configs: BTreeMap<&'a str, Vec<Written>>,
    /// The models of the stages, as far as the caller gives them and they can be read.
    models: BTreeMap<ElementId, OnnxModel>,
}

impl<'a> Look<'a> {
    /// Takes a pipeline up.
    pub(super) fn new(pipeline: &'a Pipeline, context: &'a LintContext<'a>) -> Self {
        let elements = pipeline.elements.iter();
        let named = |file: &&SourceFile| {
            let mut stages = pipeline.infer.iter();
            stages.any(|stage| stage.config_path.as_ref() == Some(&file.path))
        };
        let configs = pipeline.files.iter().filter(named);
        let model = |stage: &InferStage| {
            let model = pipeline.onnx(stage.element, context.files?);
            Some((stage.element, model.ok()??))
        };
        Self {
            pipeline,
            context,
            written: elements
                .map(|element| written::of_element(pipeline, element))
                .collect(),
            configs: configs
                .map(|file| (file.path.as_str(), written::of_group(file, "property")))
                .collect(),
            models: pipeline.infer.iter().filter_map(model).collect(),
        }
    }

    /// One knob of one element; `None` where the element does not have it.
    pub(super) fn setting(&self, element: ElementId, knob: Knob) -> Option<&'a KnobSetting> {
        self.pipeline.knob(Target { element, knob })
    }

    /// The whole number that is in effect for a knob.
    pub(super) fn number(&self, element: ElementId, knob: Knob) -> Option<i64> {
        self.setting(element, knob)?.value.as_ref()?.integer()
    }

    /// The keys that are written on an element itself.
    pub(super) fn written(&self, element: &Element) -> &[Written] {
        let written = self.written.get(element.id.index());
        written.map_or(&[], Vec::as_slice)
    }

    /// One key that is written on an element itself.
    pub(super) fn own(&self, element: &Element, key: &str) -> Option<&Written> {
        let mut keys = self.written(element).iter();
        keys.find(|written| written.key == key)
    }

    /// The file that configures a stage, where it was read.
    pub(super) fn config(&self, stage: &InferStage) -> Option<&'a SourceFile> {
        self.file(stage.config_path.as_deref()?)
    }

    /// The keys of `[property]` in the file of a stage.
    pub(super) fn config_keys(&self, stage: &InferStage) -> &[Written] {
        let path = stage.config_path.as_deref();
        let keys = path.and_then(|path| self.configs.get(path));
        keys.map_or(&[], Vec::as_slice)
    }

    /// The model of a stage; `None` where it is not at hand.
    pub(super) fn model(&self, stage: &InferStage) -> Option<&OnnxModel> {
        self.models.get(&stage.element)
    }

    /// Where a key is missing from the file of a stage: its group `[property]`.
    pub(super) fn config_place(&self, stage: &InferStage) -> Option<FilePlace> {
        self.config(stage).map(|file| file.group_place("property"))
    }

    pub(super) fn file(&self, path: &str) -> Option<&'a SourceFile> {
        self.pipeline.files.iter().find(|file| file.path == path)
    }

    /// Whether a step of a Python Flow makes the element; a Flow fills in what is not written.
    pub(super) fn is_flow(&self, element: &Element) -> bool {
        written::is_flow(self.pipeline, element)
    }

    /// Where an element stands.
    pub(super) fn element_place(&self, id: ElementId) -> FilePlace {
        match self.pipeline.element(id) {
            Some(element) => element.place.clone(),
            None => self.pipeline.files[0].group_place(""),
        }
    }

    /// Where a value stands, or else the element that lacks it.
    pub(super) fn place(&self, setting: &KnobSetting) -> FilePlace {
        match &setting.place {
            Some(place) => place.clone(),
            None => self.element_place(setting.target.element),
        }
    }

    /// Whether an element with a role is there.
    pub(super) fn has(&self, role: Role) -> bool {
        self.pipeline.elements_with(role).next().is_some()
    }

    /// The one element that batches; `None` where there are several, since which source feeds which
    /// is not known then.
    pub(super) fn mux(&self) -> Option<&'a Element> {
        let mut muxes = self.pipeline.elements_with(Role::Mux);
        muxes.next().filter(|_| muxes.next().is_none())
    }

    /// The batch of the one mux.
    pub(super) fn mux_batch(&self) -> Option<&'a KnobSetting> {
        self.setting(self.mux()?.id, Knob::MuxBatchSize)
    }

    /// Whether sources or a list set the batch themselves: `[source-list]`, nvmultiurisrcbin.
    pub(super) fn sources_set_batch(&self) -> bool {
        self.has_source_list() || self.has(Role::MultiSource)
    }

    /// Whether deepstream-app reads a list of sources, which then sets the batch keys.
    pub(super) fn has_source_list(&self) -> bool {
        self.pipeline.form == Form::AppTxt
            && self
                .pipeline
                .elements
                .iter()
                .any(|element| element.name == "source-list")
    }

    /// Whether the new mux replaces its batch by the number of connected pads: unless its policy file
    /// says otherwise.
    pub(super) fn is_adaptive(&self) -> bool {
        let policy = self.pipeline.knobs_of(Knob::MuxAdaptiveBatching).next();
        self.pipeline.mux == Some(MuxGeneration::New)
            && policy.and_then(|setting| setting.value.as_ref()?.flag()) != Some(false)
    }

    /// Whether an element sets a property that only the new mux has: the variable that selects it is
    /// then set out of sight. Keys of deepstream-app are read for both.
    pub(super) fn needs_new_mux(&self, element: &Element) -> bool {
        let mut keys = self.written(element).iter();
        !self.has(Role::Application)
            && keys.any(|written| ONLY_NEW_MUX.contains(&written.key.as_str()))
    }

    /// Whether a text waits to be filled in at a line: what stands there is not what is read.
    pub(super) fn is_template(&self, place: &FilePlace) -> bool {
        let line = self
            .file(&place.path)
            .map_or_else(Default::default, |file| file.line_text(place.place.line));
        let line = String::from_utf8_lossy(line);
        line.contains("${") || line.contains("{{")
    }

    /// Whether the frames of every source come from files.
    pub(super) fn is_file_only(&self) -> bool {
        let sources = &self.pipeline.sources;
        !sources.is_empty() && sources.iter().all(|source| source.kind == SourceKind::File)
    }

    /// The inference that takes the batches of the mux: the first one on whole frames.
    pub(super) fn primary(&self) -> Option<&'a InferStage> {
        self.pipeline
            .infer
            .iter()
            .find(|stage| self.role(stage.element) == Some(Role::PrimaryInfer))
    }

    /// Whether nvdspreprocess decides the batch of a stage.
    pub(super) fn is_preprocessed(&self, stage: &InferStage) -> bool {
        stage.tensors_from_preprocess || self.has(Role::Preprocess)
    }

    pub(super) fn role(&self, id: ElementId) -> Option<Role> {
        Some(self.pipeline.element(id)?.role)
    }

    /// The stages of nvinfer whose file was read.
    pub(super) fn nvinfer(&self) -> impl Iterator<Item = (&'a InferStage, &'a SourceFile)> {
        self.pipeline
            .infer
            .iter()
            .filter(|stage| stage.plugin == InferPlugin::Nvinfer)
            .filter_map(|stage| Some((stage, self.config(stage)?)))
    }

    /// Whether there is a whole pipeline, not only a part of one.
    pub(super) fn is_whole(&self) -> bool {
        let batches = |element: &Element| matches!(element.role, Role::Mux | Role::MultiSource);
        self.pipeline.elements.len() > 1 && self.pipeline.elements.iter().any(batches)
    }

    /// Whether every element is known by its factory; a program may compute one.
    pub(super) fn knows_all_elements(&self) -> bool {
        let is_plain = |element: &Element| {
            !element.factory.is_empty() && !element.factory.contains(['$', '{', '<'])
        };
        self.pipeline.elements.iter().all(is_plain)
    }

    /// The frame rate that is asked for, or else the one that all sources state.
    pub(super) fn fps(&self) -> Option<FrameRate> {
        let stated = || {
            let first = self.pipeline.sources.first()?.rate?;
            let agree = |rate: Option<FrameRate>| rate == Some(first);
            let sources = &self.pipeline.sources;
            sources
                .iter()
                .all(|source| agree(source.rate))
                .then_some(first)
        };
        self.context
            .fps
            .or_else(stated)
            .filter(|rate| rate.numerator > 0 && rate.denominator > 0)
    }

    pub(super) fn wants_output(&self) -> bool {
        self.context.purpose == Purpose::Live
    }

    /// Whether a path that a knob names exists; `None` where nobody can say.
    pub(super) fn exists(&self, setting: &KnobSetting) -> Option<bool> {
        let path = self.pipeline.path_of(setting)?;
        Some(self.context.files?.exists(&path))
    }
}

impl SourceFile {
    /// The place of an offset, with the path.
    pub(super) fn place_at(&self, offset: usize) -> FilePlace {
        FilePlace {
            path: self.path.clone(),
            place: self.place(offset),
        }
    }

    /// The offsets of a line, from 1, with its end; empty past the last line.
    pub(super) fn line_range(&self, line: usize) -> Range<usize> {
        let end = self.bytes.len();
        let start = self.lines.start_of_line(line).unwrap_or(end);
        // The end of the text belongs to its last line.
        start..self.lines.start_of_line(line + 1).unwrap_or(end + 1)
    }

    /// A line, from 1; empty past the last one.
    pub(super) fn line_text(&self, line: usize) -> &[u8] {
        let Range { start, end } = self.line_range(line);
        self.bytes
            .get(start..end.min(self.bytes.len()))
            .unwrap_or_default()
    }

    /// The place of a group of a key file or YAML, or else the start of the file.
    pub(super) fn group_place(&self, group: &str) -> FilePlace {
        FilePlace {
            path: self.path.clone(),
            place: crate::resolve::group_place(self, group),
        }
    }
}

impl KnobSetting {
    /// Whether no place gives a value, not even one that a program computes or refuses.
    pub(super) fn is_missing(&self) -> bool {
        self.value.is_none() && self.computed.is_none() && self.place.is_none()
    }

    /// The whole number in effect.
    pub(super) fn integer(&self) -> Option<i64> {
        self.value.as_ref().and_then(KnobValue::integer)
    }

    /// The flag in effect.
    pub(super) fn flag(&self) -> Option<bool> {
        self.value.as_ref().and_then(KnobValue::flag)
    }

    /// The text in effect.
    pub(super) fn text(&self) -> Option<&str> {
        self.value.as_ref().and_then(KnobValue::text)
    }
}
