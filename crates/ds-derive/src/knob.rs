//! The settings that the rules speak about, under the names that DeepStream gives them.

use crate::value::{Dims, Switch, Value};

/// One setting of one kind of element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Knob {
    /// Frames per muxed buffer.
    MuxBatchSize,
    /// Width to which the legacy mux scales every frame.
    MuxWidth,
    /// Height to which the legacy mux scales every frame.
    MuxHeight,
    /// Microseconds after which the legacy mux sends an incomplete batch.
    BatchedPushTimeout,
    /// Memory type of the mux's buffers.
    NvbufMemoryType,
    /// Tells the legacy mux that its sources are live.
    LiveSource,
    /// Keeps the aspect ratio by black bars when the legacy mux scales.
    EnablePadding,
    /// Numerator of the frame rate that sets the new mux's deadline.
    OverallMinFpsN,
    /// Denominator of the frame rate that sets the new mux's deadline.
    OverallMinFpsD,
    /// Numerator of the new mux's highest frame rate.
    OverallMaxFpsN,
    /// Denominator of the new mux's highest frame rate.
    OverallMaxFpsD,
    /// Frames per inference.
    InferBatchSize,
    /// Precision: 0 FP32, 1 INT8, 2 FP16.
    NetworkMode,
    /// Batches skipped between two inferences.
    Interval,
    /// Shape of the model's input.
    InferDims,
    /// The pre-built engine.
    ModelEngineFile,
    /// Surfaces that a decoder holds beyond its minimum.
    NumExtraSurfaces,
    /// Memory type of decoded frames.
    CudadecMemtype,
    /// Starts a file again at its end.
    FileLoop,
    /// The most sources that nvmultiurisrcbin accepts.
    MaxBatchSize,
    /// Width at which the tracker works.
    TrackerWidth,
    /// Height at which the tracker works.
    TrackerHeight,
    /// The low-level tracker's configuration.
    LlConfigFile,
    /// Buffers that a queue holds.
    QueueMaxSizeBuffers,
    /// Bytes that a queue holds.
    QueueMaxSizeBytes,
    /// Nanoseconds of data that a queue holds.
    QueueMaxSizeTime,
    /// What a full queue drops: 0 nothing, 1 the newest, 2 the oldest.
    QueueLeaky,
    /// Whether the on-screen display is part of the pipeline.
    OsdEnable,
    /// Whether the tiler is part of the pipeline.
    TilerEnable,
    /// Which element ends the pipeline.
    SinkElement,
    /// Whether a sink waits for the clock.
    SinkSync,
}

/// How a knob's text is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Switch,
    Dims,
    Text,
}

impl Knob {
    /// Every knob, in the order of the rules.
    pub const ALL: [Self; 31] = [
        Self::MuxBatchSize,
        Self::MuxWidth,
        Self::MuxHeight,
        Self::BatchedPushTimeout,
        Self::NvbufMemoryType,
        Self::LiveSource,
        Self::EnablePadding,
        Self::OverallMinFpsN,
        Self::OverallMinFpsD,
        Self::OverallMaxFpsN,
        Self::OverallMaxFpsD,
        Self::InferBatchSize,
        Self::NetworkMode,
        Self::Interval,
        Self::InferDims,
        Self::ModelEngineFile,
        Self::NumExtraSurfaces,
        Self::CudadecMemtype,
        Self::FileLoop,
        Self::MaxBatchSize,
        Self::TrackerWidth,
        Self::TrackerHeight,
        Self::LlConfigFile,
        Self::QueueMaxSizeBuffers,
        Self::QueueMaxSizeBytes,
        Self::QueueMaxSizeTime,
        Self::QueueLeaky,
        Self::OsdEnable,
        Self::TilerEnable,
        Self::SinkElement,
        Self::SinkSync,
    ];

    /// The name that DeepStream or GStreamer gives the property. For [`OsdEnable`](Self::OsdEnable),
    /// [`TilerEnable`](Self::TilerEnable) and [`SinkElement`](Self::SinkElement), which no element has as a property,
    /// the key of deepstream-app's groups.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MuxBatchSize | Self::InferBatchSize => "batch-size",
            Self::MuxWidth => "width",
            Self::MuxHeight => "height",
            Self::BatchedPushTimeout => "batched-push-timeout",
            Self::NvbufMemoryType => "nvbuf-memory-type",
            Self::LiveSource => "live-source",
            Self::EnablePadding => "enable-padding",
            Self::OverallMinFpsN => "overall-min-fps-n",
            Self::OverallMinFpsD => "overall-min-fps-d",
            Self::OverallMaxFpsN => "overall-max-fps-n",
            Self::OverallMaxFpsD => "overall-max-fps-d",
            Self::NetworkMode => "network-mode",
            Self::Interval => "interval",
            Self::InferDims => "infer-dims",
            Self::ModelEngineFile => "model-engine-file",
            Self::NumExtraSurfaces => "num-extra-surfaces",
            Self::CudadecMemtype => "cudadec-memtype",
            Self::FileLoop => "file-loop",
            Self::MaxBatchSize => "max-batch-size",
            Self::TrackerWidth => "tracker-width",
            Self::TrackerHeight => "tracker-height",
            Self::LlConfigFile => "ll-config-file",
            Self::QueueMaxSizeBuffers => "max-size-buffers",
            Self::QueueMaxSizeBytes => "max-size-bytes",
            Self::QueueMaxSizeTime => "max-size-time",
            Self::QueueLeaky => "leaky",
            Self::OsdEnable | Self::TilerEnable => "enable",
            Self::SinkElement => "type",
            Self::SinkSync => "sync",
        }
    }

    fn kind(self) -> Kind {
        match self {
            Self::LiveSource
            | Self::EnablePadding
            | Self::FileLoop
            | Self::OsdEnable
            | Self::TilerEnable
            | Self::SinkSync => Kind::Switch,
            Self::InferDims => Kind::Dims,
            Self::ModelEngineFile | Self::LlConfigFile | Self::SinkElement => Kind::Text,
            _ => Kind::Integer,
        }
    }

    /// Reads a literal as this knob's kind of value. A text that is not of that kind stays a text, which equals no
    /// derived value, so that the plan replaces it and shows what stood there.
    ///
    /// ```
    /// use ds_derive::{Knob, Switch, Value};
    ///
    /// assert_eq!(Knob::LiveSource.read("true"), Value::Switch(Switch::On));
    /// assert_eq!(Knob::MuxBatchSize.read("16"), Value::Integer(16));
    /// assert_eq!(Knob::MuxBatchSize.read("many"), Value::Text("many".to_owned()));
    /// ```
    #[must_use]
    pub fn read(self, text: &str) -> Value {
        let trimmed = text.trim();
        let read = match self.kind() {
            Kind::Integer => trimmed.parse().ok().map(Value::Integer),
            Kind::Switch => match trimmed.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" => Some(Value::Switch(Switch::On)),
                "0" | "false" | "no" => Some(Value::Switch(Switch::Off)),
                _ => None,
            },
            Kind::Dims => Dims::parse(trimmed).map(Value::Dims),
            Kind::Text => None,
        };
        read.unwrap_or_else(|| Value::from(text))
    }

    /// What holds where the configuration does not name the knob; `None` where that depends on the form or is not
    /// documented. Values from the DeepStream 9.1 source and, for queues, from GStreamer's `queue` element.
    #[must_use]
    pub fn default_value(self) -> Option<Value> {
        match self {
            Self::NvbufMemoryType | Self::CudadecMemtype | Self::Interval | Self::NetworkMode => {
                Some(Value::Integer(0))
            }
            Self::LiveSource | Self::EnablePadding | Self::FileLoop => {
                Some(Value::Switch(Switch::Off))
            }
            Self::InferBatchSize | Self::NumExtraSurfaces => Some(Value::Integer(1)),
            Self::OverallMinFpsN => Some(Value::Integer(5)),
            Self::OverallMaxFpsN => Some(Value::Integer(120)),
            Self::OverallMinFpsD | Self::OverallMaxFpsD => Some(Value::Integer(1)),
            Self::TrackerWidth => Some(Value::Integer(960)),
            Self::TrackerHeight => Some(Value::Integer(544)),
            Self::QueueMaxSizeBuffers => Some(Value::Integer(200)),
            Self::QueueMaxSizeBytes => Some(Value::Integer(10_485_760)),
            Self::QueueMaxSizeTime => Some(Value::Integer(1_000_000_000)),
            Self::QueueLeaky => Some(Value::Integer(0)),
            Self::MuxBatchSize
            | Self::MuxWidth
            | Self::MuxHeight
            | Self::BatchedPushTimeout
            | Self::InferDims
            | Self::ModelEngineFile
            | Self::MaxBatchSize
            | Self::LlConfigFile
            | Self::OsdEnable
            | Self::TilerEnable
            | Self::SinkElement
            | Self::SinkSync => None,
        }
    }
}
