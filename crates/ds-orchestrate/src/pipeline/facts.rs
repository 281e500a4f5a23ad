//! From ds-config's pipeline and the readings to the plain facts of ds-derive.

use ds_ceilings::{Batch, Ceilings, Codec as VideoCodec, Fps, Resolution, StreamCount};
use ds_config::{
    Element, ElementId, FileSource, Knob as ConfigKnob, KnobSetting, Pipeline, Role,
    Target as ConfigTarget,
};
use ds_derive as rules;
use ds_derive::{Facts, Knob, Place, Present, Value};

use super::first;
use super::kinds::{
    decode_ceiling, engine_precision, gpu, model_batch, model_dims, only, queue_position,
    sink_kind, source_kind, tracker_algorithm, value_of,
};
use crate::retention::MeasuredRetention;

/// What the user asked for, beyond what stands in the files.
#[derive(Debug, Clone, PartialEq)]
pub struct Wishes {
    /// How many streams the pipeline is to carry.
    pub streams: StreamCount,
    /// The frame rate of each.
    pub fps: Fps,
    /// Channels, height and width of the model, where no file says it.
    pub dims: Option<rules::Dims>,
    /// Size of the sources' frames, where no file says it.
    pub source_size: Option<Resolution>,
    /// Codec of the sources, where no element says it.
    pub codec: Option<VideoCodec>,
    /// Precision that overrides the rule.
    pub precision: rules::PrecisionWish,
    /// Size behind the mux that overrides the rule.
    pub mux_size: rules::MuxSizeWish,
    /// Whether the pictures are wanted.
    pub output: rules::OutputWish,
    /// Release of DeepStream that will run the pipeline.
    pub deepstream: Option<rules::DeepStreamVersion>,
    /// How many object ids survive, as it was measured.
    pub retention: Vec<MeasuredRetention>,
}

impl Wishes {
    /// A load and nothing else.
    pub fn new(streams: StreamCount, fps: Fps) -> Self {
        Self {
            streams,
            fps,
            dims: None,
            source_size: None,
            codec: None,
            precision: rules::PrecisionWish::default(),
            mux_size: rules::MuxSizeWish::default(),
            output: rules::OutputWish::default(),
            deepstream: None,
            retention: Vec::new(),
        }
    }
}

/// The facts about `pipeline`, on the GPU of `ceilings` where one is known. Models, engines and calibration tables are
/// looked up in `files`.
pub fn facts_of(
    pipeline: &Pipeline,
    wishes: &Wishes,
    ceilings: Option<&Ceilings>,
    files: &dyn FileSource,
) -> Facts {
    let reader = Reader {
        pipeline,
        wishes,
        files,
    };
    let mut facts = Facts::new(wishes.streams, wishes.fps);
    facts.deepstream = wishes.deepstream;
    facts.id_retention = wishes
        .retention
        .iter()
        .filter_map(MeasuredRetention::for_rule)
        .collect();
    facts.options.mux_size = wishes.mux_size;
    facts.options.output = wishes.output;
    facts.mux = reader.mux();
    facts.infers = reader.infers();
    facts.sources = reader.sources();
    facts.consumers = reader.consumers();
    facts.tracker = reader.tracker();
    facts.queues = reader.queues();
    facts.sinks = reader.sinks();
    if let Some(ceilings) = ceilings {
        facts.gpu = gpu(ceilings);
        facts.decode = decode_ceiling(&facts.sources, reader.codec(), ceilings);
    }
    facts
}

struct Reader<'a> {
    pipeline: &'a Pipeline,
    wishes: &'a Wishes,
    files: &'a dyn FileSource,
}

impl Reader<'_> {
    fn setting(&self, element: ElementId, knob: ConfigKnob) -> Option<&KnobSetting> {
        self.pipeline.knob(ConfigTarget { element, knob })
    }

    /// What stands for `knob` of `element`, read as the rule's own knob.
    fn present(&self, element: ElementId, config: ConfigKnob, knob: Knob) -> Present {
        let Some(setting) = self.setting(element, config) else {
            return Present::Absent;
        };
        let place = || {
            Place::new(
                setting
                    .place
                    .as_ref()
                    .map_or_else(String::new, ToString::to_string),
            )
        };
        if let Some(text) = &setting.computed {
            return Present::Computed {
                text: text.clone(),
                place: place(),
            };
        }
        match &setting.value {
            Some(value) => Present::Value {
                value: value_of(value, knob),
                place: place(),
            },
            None => Present::Absent,
        }
    }

    fn text(&self, element: ElementId, knob: ConfigKnob) -> Option<&str> {
        self.setting(element, knob)?.value.as_ref()?.text()
    }

    fn mux(&self) -> Option<rules::Mux> {
        let generation = match self.pipeline.mux? {
            ds_config::MuxGeneration::Legacy => rules::MuxGeneration::Legacy,
            ds_config::MuxGeneration::New => rules::MuxGeneration::New,
        };
        let multi = first(self.pipeline, Role::MultiSource);
        let id = first(self.pipeline, Role::Mux).or(multi)?;
        let batch_size = match multi {
            Some(source) => rules::BatchKey::MultiUri {
                max_batch_size: self.present(
                    source,
                    ConfigKnob::MultiUriMaxBatchSize,
                    Knob::MaxBatchSize,
                ),
            },
            None if self.has_source_list() => rules::BatchKey::SourceList,
            None => {
                rules::BatchKey::Own(self.present(id, ConfigKnob::MuxBatchSize, Knob::MuxBatchSize))
            }
        };
        let mut mux = rules::Mux::new(generation);
        mux.batch_size = batch_size;
        mux.width = self.present(id, ConfigKnob::MuxWidth, Knob::MuxWidth);
        mux.height = self.present(id, ConfigKnob::MuxHeight, Knob::MuxHeight);
        mux.batched_push_timeout = self.present(
            id,
            ConfigKnob::MuxBatchedPushTimeout,
            Knob::BatchedPushTimeout,
        );
        mux.nvbuf_memory_type =
            self.present(id, ConfigKnob::MuxNvbufMemoryType, Knob::NvbufMemoryType);
        mux.live_source = self.present(id, ConfigKnob::MuxLiveSource, Knob::LiveSource);
        mux.enable_padding = self.present(id, ConfigKnob::MuxEnablePadding, Knob::EnablePadding);
        mux.overall_min_fps_n =
            self.present(id, ConfigKnob::MuxMinFpsNumerator, Knob::OverallMinFpsN);
        mux.overall_min_fps_d =
            self.present(id, ConfigKnob::MuxMinFpsDenominator, Knob::OverallMinFpsD);
        mux.overall_max_fps_n =
            self.present(id, ConfigKnob::MuxMaxFpsNumerator, Knob::OverallMaxFpsN);
        mux.overall_max_fps_d =
            self.present(id, ConfigKnob::MuxMaxFpsDenominator, Knob::OverallMaxFpsD);
        Some(mux)
    }

    /// deepstream-app's `[source-list]` decides the batch itself.
    fn has_source_list(&self) -> bool {
        self.pipeline
            .elements_with(Role::Source)
            .any(|source| source.name == "source-list")
    }

    fn infers(&self) -> Vec<rules::Infer> {
        let mut secondaries = 0;
        self.pipeline
            .infer
            .iter()
            .map(|stage| {
                let is_secondary = self
                    .pipeline
                    .element(stage.element)
                    .is_some_and(|e| e.role == Role::SecondaryInfer);
                let role = if is_secondary {
                    secondaries += 1;
                    rules::InferRole::Secondary(secondaries - 1)
                } else {
                    rules::InferRole::Primary
                };
                self.infer(stage, role)
            })
            .collect()
    }

    fn infer(&self, stage: &ds_config::InferStage, role: rules::InferRole) -> rules::Infer {
        let id = stage.element;
        let mut infer = rules::Infer::new(role);
        if stage.tensors_from_preprocess {
            infer.tensors = rules::TensorOrigin::Preprocess;
        }
        infer.batch_size = self.present(id, ConfigKnob::InferBatchSize, Knob::InferBatchSize);
        infer.network_mode = self.present(id, ConfigKnob::InferNetworkMode, Knob::NetworkMode);
        infer.interval = self.present(id, ConfigKnob::InferInterval, Knob::Interval);
        infer.infer_dims = self.present(id, ConfigKnob::InferDims, Knob::InferDims);
        infer.model_engine_file =
            self.present(id, ConfigKnob::InferModelEngineFile, Knob::ModelEngineFile);
        let keeps_aspect = self
            .setting(id, ConfigKnob::InferMaintainAspectRatio)
            .and_then(|setting| setting.value.as_ref()?.flag());
        if keeps_aspect == Some(true) {
            infer.aspect_ratio = rules::AspectRatio::Kept;
        }
        let stated = match infer.infer_dims.value() {
            Some(Value::Dims(dims)) => Some(*dims),
            _ => None,
        };
        let asked = (role == rules::InferRole::Primary).then_some(self.wishes.dims);
        infer.model_dims = stated.or(asked.flatten());
        // A model that cannot be read is among the pipeline's faults; here it is only unknown.
        if let Ok(Some(model)) = self.pipeline.onnx(id, self.files) {
            infer.model_batch = model_batch(&model);
            infer.model_dims = infer.model_dims.or_else(|| model_dims(&model));
        }
        infer.engines = self.engines(id);
        infer.calibration = self.calibration(id);
        infer.precision = self.wishes.precision;
        infer
    }

    /// The engine that is named, if it exists: batch and precision stand in the name that nvinfer gives it.
    fn engines(&self, id: ElementId) -> Vec<rules::Engine> {
        let named = || {
            let setting = self.setting(id, ConfigKnob::InferModelEngineFile)?;
            let path = self.pipeline.path_of(setting)?;
            let written = setting.value.as_ref()?.text()?.to_owned();
            self.files.exists(&path).then_some(written)
        };
        let name = self.pipeline.engine_name(id);
        let engine = |path| rules::Engine {
            path,
            max_batch: name.as_ref().and_then(|name| Batch::new(name.max_batch)),
            precision: name
                .as_ref()
                .and_then(|name| engine_precision(name.precision)),
        };
        named().map(engine).into_iter().collect()
    }

    fn calibration(&self, id: ElementId) -> rules::CalibrationFile {
        let setting = self.setting(id, ConfigKnob::InferInt8CalibFile);
        match setting.and_then(|setting| self.pipeline.path_of(setting)) {
            Some(path) if self.files.exists(&path) => rules::CalibrationFile::Readable,
            Some(_) => rules::CalibrationFile::Missing,
            None => rules::CalibrationFile::NotNamed,
        }
    }

    fn sources(&self) -> Vec<rules::Source> {
        self.pipeline
            .sources
            .iter()
            .map(|source| {
                let element = self.pipeline.element(source.element);
                let name = element.map_or_else(String::new, display_name);
                let mut out = rules::Source::new(name, source_kind(source.kind));
                out.streams = StreamCount::new(source.streams.unwrap_or(1));
                out.size = source
                    .size
                    .and_then(|size| Resolution::new(size.width, size.height))
                    .or(self.wishes.source_size);
                let decoder = self.decoder_of(source.element);
                out.num_extra_surfaces = self.present(
                    decoder,
                    ConfigKnob::DecodeNumExtraSurfaces,
                    Knob::NumExtraSurfaces,
                );
                out.cudadec_memtype = self.present(
                    decoder,
                    ConfigKnob::DecodeCudadecMemtype,
                    Knob::CudadecMemtype,
                );
                out.file_loop = self.present(
                    file_loop_element(self.pipeline, source.element),
                    ConfigKnob::SourceFileLoop,
                    Knob::FileLoop,
                );
                out
            })
            .collect()
    }

    /// The element that decodes a source: a decoder on the same branch, else the source itself.
    fn decoder_of(&self, source: ElementId) -> ElementId {
        decoder_of(self.pipeline, source)
    }

    /// The codec that the user named, else the one that every parser in front of a decoder stands for.
    fn codec(&self) -> Option<VideoCodec> {
        let parsed = self
            .pipeline
            .elements
            .iter()
            .filter_map(|e| match e.factory.as_str() {
                "h264parse" => Some(VideoCodec::H264),
                "h265parse" => Some(VideoCodec::Hevc),
                "vp9parse" => Some(VideoCodec::Vp9),
                "av1parse" => Some(VideoCodec::Av1),
                _ => None,
            });
        self.wishes.codec.or_else(|| only(parsed))
    }

    fn consumers(&self) -> Vec<rules::Consumer> {
        self.pipeline
            .elements
            .iter()
            .filter_map(|element| {
                let (kind, enable) = match element.role {
                    Role::Osd => (
                        rules::ConsumerKind::Osd,
                        self.present(element.id, ConfigKnob::OsdEnable, Knob::OsdEnable),
                    ),
                    Role::Tiler => (
                        rules::ConsumerKind::Tiler,
                        self.present(element.id, ConfigKnob::TilerEnable, Knob::TilerEnable),
                    ),
                    Role::Analytics => (rules::ConsumerKind::Analytics, Present::Absent),
                    Role::Preprocess => (rules::ConsumerKind::Preprocess, Present::Absent),
                    Role::MessageConverter => {
                        (rules::ConsumerKind::MessageConverter, Present::Absent)
                    }
                    _ => return None,
                };
                Some(rules::Consumer { kind, enable })
            })
            .collect()
    }

    fn tracker(&self) -> Option<rules::Tracker> {
        let id = first(self.pipeline, Role::Tracker)?;
        let config = self.text(id, ConfigKnob::TrackerLlConfigFile);
        let mut tracker = rules::Tracker::new(tracker_algorithm(config));
        tracker.width = self.present(id, ConfigKnob::TrackerWidth, Knob::TrackerWidth);
        tracker.height = self.present(id, ConfigKnob::TrackerHeight, Knob::TrackerHeight);
        tracker.ll_config_file =
            self.present(id, ConfigKnob::TrackerLlConfigFile, Knob::LlConfigFile);
        Some(tracker)
    }

    fn queues(&self) -> rules::Queues {
        if matches!(
            self.pipeline.form,
            ds_config::Form::AppTxt | ds_config::Form::AppYml
        ) {
            return rules::Queues::NotConfigurable;
        }
        let queue = |element: &Element| {
            let Role::Queue(position) = element.role else {
                return None;
            };
            let mut queue = rules::Queue::new(display_name(element), queue_position(position));
            let present = |config, knob| self.present(element.id, config, knob);
            queue.max_size_buffers =
                present(ConfigKnob::QueueMaxSizeBuffers, Knob::QueueMaxSizeBuffers);
            queue.max_size_bytes = present(ConfigKnob::QueueMaxSizeBytes, Knob::QueueMaxSizeBytes);
            queue.max_size_time = present(ConfigKnob::QueueMaxSizeTime, Knob::QueueMaxSizeTime);
            queue.leaky = present(ConfigKnob::QueueLeaky, Knob::QueueLeaky);
            Some(queue)
        };
        rules::Queues::Named(self.pipeline.elements.iter().filter_map(queue).collect())
    }

    fn sinks(&self) -> Vec<rules::Sink> {
        self.pipeline
            .sinks
            .iter()
            .filter_map(|sink| {
                let element = self.pipeline.element(sink.element)?;
                let mut out = rules::Sink::new(display_name(element), sink_kind(sink.kind));
                out.element =
                    match self.present(sink.element, ConfigKnob::SinkKind, Knob::SinkElement) {
                        // Not every form has a setting for it; the element itself is the value then.
                        Present::Absent => Present::Value {
                            value: Value::from(element.factory.as_str()),
                            place: Place::new(element.place.to_string()),
                        },
                        present => present,
                    };
                out.sync = self.present(sink.element, ConfigKnob::SinkSync, Knob::SinkSync);
                Some(out)
            })
            .collect()
    }
}

/// The element that decodes a source: a decoder on the same branch, else the source itself.
pub(super) fn decoder_of(pipeline: &Pipeline, source: ElementId) -> ElementId {
    let branch = pipeline.element(source).map(|element| element.branch);
    pipeline
        .elements_with(Role::Decoder)
        .find(|decoder| Some(decoder.branch) == branch)
        .map_or(source, |decoder| decoder.id)
}

/// The element whose `file-loop` a source follows: its own, else the application's.
pub(super) fn file_loop_element(pipeline: &Pipeline, source: ElementId) -> ElementId {
    let has = |element| {
        pipeline
            .knob(ConfigTarget {
                element,
                knob: ConfigKnob::SourceFileLoop,
            })
            .is_some()
    };
    if has(source) {
        return source;
    }
    first(pipeline, Role::Application)
        .filter(|application| has(*application))
        .unwrap_or(source)
}

/// How a target of the rules names an element: its own name, or factory and place where it has none of its own.
pub(super) fn display_name(element: &Element) -> String {
    if element.name.is_empty() || element.name == element.factory {
        format!("{} at {}", element.factory, element.place)
    } else {
        element.name.clone()
    }
}
