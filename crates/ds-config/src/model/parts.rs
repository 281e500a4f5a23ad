//! What the elements of a pipeline amount to: sources, mux, inference stages, sinks.

use super::element::ElementId;

/// Where frames come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SourceKind {
    /// A file.
    File,
    /// An RTSP stream.
    Rtsp,
    /// A USB camera, which delivers raw frames.
    Usb,
    /// A CSI camera, which delivers raw frames.
    Csi,
    /// A test pattern.
    Test,
    /// Anything else, or unknown.
    Other,
}

/// A size in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrameSize {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
}

/// A frame rate as a fraction of frames per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FrameRate {
    /// The numerator.
    pub numerator: u32,
    /// The denominator.
    pub denominator: u32,
}

/// A source, which may stand for several streams.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// The element.
    pub element: ElementId,
    /// Where its frames come from.
    pub kind: SourceKind,
    /// The URIs or paths as they are written; `%d` stands for the number of the stream.
    pub uris: Vec<String>,
    /// How many streams it stands for; `None` where a program or the shell decides.
    pub streams: Option<u32>,
    /// The size of its frames, where the configuration states it.
    pub size: Option<FrameSize>,
    /// The rate of its frames, where the configuration states it.
    pub rate: Option<FrameRate>,
}

/// Which mux batches the frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MuxGeneration {
    /// The legacy nvstreammux.
    Legacy,
    /// The new nvstreammux: `USE_NEW_NVSTREAMMUX` is exactly `yes`.
    New,
}

/// An inference stage.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InferStage {
    /// The element.
    pub element: ElementId,
    /// Which plugin infers.
    pub plugin: InferPlugin,
    /// Whether tensors come from nvdspreprocess, whose shape then decides the batch.
    pub tensors_from_preprocess: bool,
    /// The path of the configuration file that the element names, as the caller's
    /// [`FileSource`](crate::FileSource) knows it.
    pub config_path: Option<String>,
}

/// A plugin that infers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InferPlugin {
    /// nvinfer: TensorRT.
    Nvinfer,
    /// nvinferserver: Triton.
    Nvinferserver,
    /// Another one.
    Other,
}

/// A sink.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sink {
    /// The element.
    pub element: ElementId,
    /// What it does with the frames.
    pub kind: SinkKind,
    /// Whether it waits for the clock; `None` where a program or the shell decides.
    pub sync: Option<bool>,
    /// The file that it writes, where it is named.
    pub output: Option<String>,
}

/// What a sink does with the frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SinkKind {
    /// Nothing: fakesink.
    Fake,
    /// Shows them.
    Display,
    /// Writes them to a file.
    File,
    /// Sends them over the network.
    Network,
    /// Sends messages to a broker.
    MessageBroker,
    /// Hands them to a program.
    Application,
    /// Anything else.
    Other,
}
