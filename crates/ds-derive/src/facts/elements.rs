//! Sources, sinks, queues, the tracker, and what looks at the frame behind the mux.

use ds_ceilings::{Resolution, StreamCount};

use crate::value::Present;

/// Where frames come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// A file.
    File,
    /// An RTSP stream.
    Rtsp,
    /// A USB camera, which delivers raw frames.
    UsbCamera,
    /// A CSI camera of a Jetson, which delivers raw frames.
    CsiCamera,
    /// Anything else.
    Other,
}

impl SourceKind {
    /// Whether it delivers at its own pace.
    #[must_use]
    pub fn is_live(self) -> bool {
        matches!(self, Self::Rtsp | Self::UsbCamera | Self::CsiCamera)
    }

    /// Whether its frames pass a decoder.
    #[must_use]
    pub fn is_decoded(self) -> bool {
        !matches!(self, Self::UsbCamera | Self::CsiCamera)
    }
}

/// One source group or element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name in the configuration: `[source0]`.
    pub name: String,
    /// Where its frames come from.
    pub kind: SourceKind,
    /// How many streams it stands for: `num-sources` of a deepstream-app group of type 3, else 1.
    pub streams: StreamCount,
    /// The size of its frames.
    pub size: Option<Resolution>,
    /// `num-extra-surfaces`.
    pub num_extra_surfaces: Present,
    /// `cudadec-memtype`.
    pub cudadec_memtype: Present,
    /// `file-loop`.
    pub file_loop: Present,
}

impl Source {
    /// A source of one stream of which no knob is named.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: SourceKind) -> Self {
        Self {
            name: name.into(),
            kind,
            streams: StreamCount::new(1),
            size: None,
            num_extra_surfaces: Present::Absent,
            cudadec_memtype: Present::Absent,
            file_loop: Present::Absent,
        }
    }
}

/// What kind of element looks at the frame behind the mux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConsumerKind {
    /// nvdsosd draws on it.
    Osd,
    /// nvmultistreamtiler puts the frames into one picture.
    Tiler,
    /// nvdsanalytics has lines and regions in it.
    Analytics,
    /// nvdspreprocess cuts regions out of it.
    Preprocess,
    /// A message converter reports coordinates in it.
    MessageConverter,
}

impl ConsumerKind {
    /// The element that it stands for.
    #[must_use]
    pub fn element(self) -> &'static str {
        match self {
            Self::Osd => "nvdsosd",
            Self::Tiler => "nvmultistreamtiler",
            Self::Analytics => "nvdsanalytics",
            Self::Preprocess => "nvdspreprocess",
            Self::MessageConverter => "nvmsgconv",
        }
    }
}

/// An element that looks at the frame behind the mux.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Consumer {
    /// What kind of element it is.
    pub kind: ConsumerKind,
    /// The key that switches it: `enable` of `[osd]`. Absent where the form has no such key.
    pub enable: Present,
}

/// How a low-level tracker follows objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TrackerAlgorithm {
    /// No configuration is named: the library runs on its defaults.
    NotConfigured,
    /// Correlation filters.
    NvDcf,
    /// Overlap of boxes.
    Iou,
    /// Kalman filter and overlap.
    NvSort,
    /// NvSORT with re-identification features.
    NvDeepSort,
    /// Masks of objects (MaskTracker, SAM2).
    Mask,
    /// Positions in space, from one view or several.
    ThreeD,
    /// A configuration is named, but not readable or not one of these.
    Unknown,
}

/// The tracker and what its knobs hold now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracker {
    /// How it follows objects.
    pub algorithm: TrackerAlgorithm,
    /// `tracker-width`.
    pub width: Present,
    /// `tracker-height`.
    pub height: Present,
    /// `ll-config-file`.
    pub ll_config_file: Present,
}

impl Tracker {
    /// A tracker of which no knob is named.
    #[must_use]
    pub fn new(algorithm: TrackerAlgorithm) -> Self {
        Self {
            algorithm,
            width: Present::Absent,
            height: Present::Absent,
            ll_config_file: Present::Absent,
        }
    }
}

/// Between which elements a queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueuePosition {
    /// Between a decoder and the mux: one buffer is one frame.
    DecoderToMux,
    /// Between the mux and inference: one buffer is one batch.
    MuxToInfer,
    /// In front of a message converter or broker.
    MessageBranch,
    /// In front of a file sink or an encoder.
    FileBranch,
    /// Anywhere else.
    Other,
}

/// A queue and what its knobs hold now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Its name in the configuration.
    pub name: String,
    /// Where it stands.
    pub position: QueuePosition,
    /// `max-size-buffers`.
    pub max_size_buffers: Present,
    /// `max-size-bytes`.
    pub max_size_bytes: Present,
    /// `max-size-time`.
    pub max_size_time: Present,
    /// `leaky`.
    pub leaky: Present,
}

impl Queue {
    /// A queue of which no knob is named.
    #[must_use]
    pub fn new(name: impl Into<String>, position: QueuePosition) -> Self {
        Self {
            name: name.into(),
            position,
            max_size_buffers: Present::Absent,
            max_size_bytes: Present::Absent,
            max_size_time: Present::Absent,
            leaky: Present::Absent,
        }
    }
}

/// The queues of the pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Queues {
    /// The form has no way to set them: deepstream-app makes its own.
    NotConfigurable,
    /// The queues that the configuration names, in the order of the pipeline.
    Named(Vec<Queue>),
}

impl Default for Queues {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

/// What a sink does with the frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SinkKind {
    /// Nothing: fakesink.
    Fake,
    /// Shows them on a display.
    Display,
    /// Writes them into a file.
    File,
    /// Sends them as a stream.
    Network,
    /// Sends messages, not frames: a broker.
    Message,
    /// Anything else, among it what a program reads from: appsink.
    Other,
}

/// A sink and what its knobs hold now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sink {
    /// Its name in the configuration: `[sink0]`.
    pub name: String,
    /// What it does with the frames.
    pub kind: SinkKind,
    /// The element that it is, by GStreamer's name: `nveglglessink`.
    pub element: Present,
    /// `sync`.
    pub sync: Present,
}

impl Sink {
    /// A sink of which no knob is named.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: SinkKind) -> Self {
        Self {
            name: name.into(),
            kind,
            element: Present::Absent,
            sync: Present::Absent,
        }
    }
}
