//! The settings that can be read and changed in a pipeline, whatever form it is written in.

use std::fmt;

/// One setting of an element.
///
/// The names are those of the element and its property; where the forms differ, the variant says
/// how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Knob {
    /// `batch-size` of the mux: frames in a batch.
    MuxBatchSize,
    /// `width` of the legacy mux, in pixels.
    MuxWidth,
    /// `height` of the legacy mux, in pixels.
    MuxHeight,
    /// `batched-push-timeout` of the legacy mux, in microseconds; -1 waits for ever.
    MuxBatchedPushTimeout,
    /// `nvbuf-memory-type` of the legacy mux.
    MuxNvbufMemoryType,
    /// `live-source` of the legacy mux.
    MuxLiveSource,
    /// `enable-padding` of the legacy mux.
    MuxEnablePadding,
    /// `config-file-path` of the new mux: its policy file.
    MuxConfigFile,
    /// `overall-min-fps-n` of the policy file.
    MuxMinFpsNumerator,
    /// `overall-min-fps-d` of the policy file.
    MuxMinFpsDenominator,
    /// `overall-max-fps-n` of the policy file.
    MuxMaxFpsNumerator,
    /// `overall-max-fps-d` of the policy file.
    MuxMaxFpsDenominator,
    /// `adaptive-batching` of the policy file.
    MuxAdaptiveBatching,
    /// `max-batch-size` of nvmultiurisrcbin: a hard cap on the number of sources.
    MultiUriMaxBatchSize,
    /// `batch-size` of nvinfer, `max_batch_size` of nvinferserver.
    InferBatchSize,
    /// `network-mode` of nvinfer: 0 FP32, 1 INT8, 2 FP16, 3 best.
    InferNetworkMode,
    /// `interval`: batches skipped between two inferences.
    InferInterval,
    /// `infer-dims` of nvinfer: channels, height, width.
    InferDims,
    /// `model-engine-file` of nvinfer.
    InferModelEngineFile,
    /// `onnx-file` of nvinfer.
    InferOnnxFile,
    /// `int8-calib-file` of nvinfer.
    InferInt8CalibFile,
    /// The configuration file that the element names.
    InferConfigFile,
    /// `maintain-aspect-ratio` of nvinfer.
    InferMaintainAspectRatio,
    /// The configuration file of nvdspreprocess.
    PreprocessConfigFile,
    /// `network-input-shape` of nvdspreprocess; its first number is the batch of nvinfer.
    PreprocessInputShape,
    /// `num-extra-surfaces` of the decoder.
    DecodeNumExtraSurfaces,
    /// `cudadec-memtype` of the decoder: 0 device, 1 pinned host, 2 unified.
    DecodeCudadecMemtype,
    /// `file-loop`: whether a file starts again at its end.
    SourceFileLoop,
    /// `tracker-width`, in pixels.
    TrackerWidth,
    /// `tracker-height`, in pixels.
    TrackerHeight,
    /// `ll-config-file` of the tracker.
    TrackerLlConfigFile,
    /// `ll-lib-file` of the tracker.
    TrackerLlLibFile,
    /// `max-size-buffers` of a queue; 0 is no limit.
    QueueMaxSizeBuffers,
    /// `max-size-bytes` of a queue; 0 is no limit.
    QueueMaxSizeBytes,
    /// `max-size-time` of a queue, in nanoseconds; 0 is no limit.
    QueueMaxSizeTime,
    /// `leaky` of a queue: 0 no, 1 upstream, 2 downstream.
    QueueLeaky,
    /// Which sink it is, by its factory. Only `fakesink` can be set.
    SinkKind,
    /// `sync` of a sink.
    SinkSync,
    /// `enable-perf-measurement` of deepstream-app.
    PerfMeasurement,
    /// `perf-measurement-interval-sec` of deepstream-app.
    PerfInterval,
    /// `enable` of deepstream-app's on-screen display.
    OsdEnable,
    /// `enable` of deepstream-app's tiler: 0 off, 1 on, 2 on beside a demux.
    TilerEnable,
}

/// What kind of value a knob takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KnobKind {
    /// A whole number.
    Integer,
    /// On or off.
    Flag,
    /// Whole numbers with `;` between.
    List,
    /// A path, relative to the file that names it.
    Path,
    /// A name.
    Name,
}

impl Knob {
    /// What kind of value the knob takes.
    #[must_use]
    pub fn kind(self) -> KnobKind {
        match self {
            Self::MuxLiveSource
            | Self::MuxEnablePadding
            | Self::MuxAdaptiveBatching
            | Self::InferMaintainAspectRatio
            | Self::SourceFileLoop
            | Self::SinkSync
            | Self::PerfMeasurement
            | Self::OsdEnable => KnobKind::Flag,
            Self::InferDims | Self::PreprocessInputShape => KnobKind::List,
            Self::MuxConfigFile
            | Self::InferModelEngineFile
            | Self::InferOnnxFile
            | Self::InferInt8CalibFile
            | Self::InferConfigFile
            | Self::PreprocessConfigFile
            | Self::TrackerLlConfigFile
            | Self::TrackerLlLibFile => KnobKind::Path,
            Self::SinkKind => KnobKind::Name,
            _ => KnobKind::Integer,
        }
    }

    /// The property name in GStreamer and the key in most files.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::MuxBatchSize | Self::InferBatchSize => "batch-size",
            Self::MuxWidth => "width",
            Self::MuxHeight => "height",
            Self::MuxBatchedPushTimeout => "batched-push-timeout",
            Self::MuxNvbufMemoryType => "nvbuf-memory-type",
            Self::MuxLiveSource => "live-source",
            Self::MuxEnablePadding => "enable-padding",
            Self::MuxConfigFile | Self::InferConfigFile => "config-file-path",
            Self::MuxMinFpsNumerator => "overall-min-fps-n",
            Self::MuxMinFpsDenominator => "overall-min-fps-d",
            Self::MuxMaxFpsNumerator => "overall-max-fps-n",
            Self::MuxMaxFpsDenominator => "overall-max-fps-d",
            Self::MuxAdaptiveBatching => "adaptive-batching",
            Self::MultiUriMaxBatchSize => "max-batch-size",
            Self::InferNetworkMode => "network-mode",
            Self::InferInterval => "interval",
            Self::InferDims => "infer-dims",
            Self::PreprocessConfigFile => "config-file",
            Self::PreprocessInputShape => "network-input-shape",
            Self::InferModelEngineFile => "model-engine-file",
            Self::InferOnnxFile => "onnx-file",
            Self::InferInt8CalibFile => "int8-calib-file",
            Self::InferMaintainAspectRatio => "maintain-aspect-ratio",
            Self::DecodeNumExtraSurfaces => "num-extra-surfaces",
            Self::DecodeCudadecMemtype => "cudadec-memtype",
            Self::SourceFileLoop => "file-loop",
            Self::TrackerWidth => "tracker-width",
            Self::TrackerHeight => "tracker-height",
            Self::TrackerLlConfigFile => "ll-config-file",
            Self::TrackerLlLibFile => "ll-lib-file",
            Self::QueueMaxSizeBuffers => "max-size-buffers",
            Self::QueueMaxSizeBytes => "max-size-bytes",
            Self::QueueMaxSizeTime => "max-size-time",
            Self::QueueLeaky => "leaky",
            Self::SinkKind => "type",
            Self::SinkSync => "sync",
            Self::PerfMeasurement => "enable-perf-measurement",
            Self::PerfInterval => "perf-measurement-interval-sec",
            Self::OsdEnable | Self::TilerEnable => "enable",
        }
    }
}

/// The value of a knob.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum KnobValue {
    /// A whole number; in the unit that the knob names.
    Integer(i64),
    /// On or off.
    Flag(bool),
    /// Whole numbers.
    List(Vec<i32>),
    /// A path or a name.
    Text(String),
}

impl KnobValue {
    /// The whole number, where it is one.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(value) => Some(*value),
            _ => None,
        }
    }

    /// The flag, where it is one.
    #[must_use]
    pub fn flag(&self) -> Option<bool> {
        match self {
            Self::Flag(value) => Some(*value),
            _ => None,
        }
    }

    /// The text, where it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(value) => Some(value),
            _ => None,
        }
    }

    /// The same value in the kind that a knob takes: 0 and 1 are flags too.
    pub(crate) fn coerced(&self, kind: KnobKind) -> Option<Self> {
        match (kind, self) {
            (KnobKind::Integer, Self::Integer(_))
            | (KnobKind::Flag, Self::Flag(_))
            | (KnobKind::List, Self::List(_))
            | (KnobKind::Path | KnobKind::Name, Self::Text(_)) => Some(self.clone()),
            (KnobKind::Integer, Self::Flag(value)) => Some(Self::Integer(i64::from(*value))),
            (KnobKind::Flag, Self::Integer(value @ (0 | 1))) => Some(Self::Flag(*value == 1)),
            _ => None,
        }
    }
}

impl fmt::Display for KnobValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Flag(value) => write!(f, "{}", u8::from(*value)),
            Self::List(items) => {
                for (position, item) in items.iter().enumerate() {
                    let separator = if position == 0 { "" } else { ";" };
                    write!(f, "{separator}{item}")?;
                }
                Ok(())
            }
            Self::Text(value) => f.write_str(value),
        }
    }
}

impl From<i64> for KnobValue {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<bool> for KnobValue {
    fn from(value: bool) -> Self {
        Self::Flag(value)
    }
}

impl From<&str> for KnobValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for KnobValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<[i32; 3]> for KnobValue {
    fn from(value: [i32; 3]) -> Self {
        Self::List(value.to_vec())
    }
}
