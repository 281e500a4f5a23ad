//! What the factories of DeepStream and GStreamer do in a pipeline.

use crate::model::{QueuePosition, Role, SinkKind, SourceKind};

/// What an element does, by its factory. Whether an inference is a secondary one is found later.
pub(super) fn role(factory: &str) -> Role {
    match factory {
        "nvstreammux" => Role::Mux,
        "nvmultiurisrcbin" => Role::MultiSource,
        "nvdspreprocess" => Role::Preprocess,
        "nvinfer" | "nvinferserver" | "nvinferbin" => Role::PrimaryInfer,
        "nvtracker" => Role::Tracker,
        "nvdsanalytics" => Role::Analytics,
        "nvstreamdemux" => Role::Demux,
        "nvmultistreamtiler" => Role::Tiler,
        "nvdsosd" | "nvosdbin" => Role::Osd,
        "nvmsgconv" => Role::MessageConverter,
        "nvmsgbroker" => Role::MessageBroker,
        "queue" | "queue2" => Role::Queue(QueuePosition::Other),
        "tee" => Role::Tee,
        "nvvideoconvert" | "nvvidconv" | "videoconvert" | "videoscale" | "videorate"
        | "capsfilter" => Role::Converter,
        "decodebin" | "decodebin3" | "nvv4l2decoder" | "nvjpegdec" | "nvimagedec" => Role::Decoder,
        "nvrtspoutsinkbin" => Role::Sink,
        "identity" => Role::Other,
        _ if source_kind(factory).is_some() => Role::Source,
        _ if factory.ends_with("sink") => Role::Sink,
        _ if factory.ends_with("enc") => Role::Encoder,
        _ if factory.ends_with("dec") || factory.starts_with("avdec_") => Role::Decoder,
        _ if factory.ends_with("parse")
            || factory.ends_with("demux")
            || factory.ends_with("depay")
            || factory == "parsebin" =>
        {
            Role::Parser
        }
        _ => Role::Other,
    }
}

/// Whether a source decodes what it brings in.
pub(super) fn source_decodes(factory: &str) -> bool {
    matches!(
        factory,
        "nvurisrcbin" | "uridecodebin" | "uridecodebin3" | "playbin"
    )
}

/// The kind of a source by its factory; [`SourceKind::Other`] where the URI decides.
pub(super) fn source_kind(factory: &str) -> Option<SourceKind> {
    Some(match factory {
        "filesrc" | "multifilesrc" => SourceKind::File,
        "rtspsrc" => SourceKind::Rtsp,
        "v4l2src" | "nvv4l2camerasrc" => SourceKind::Usb,
        "nvarguscamerasrc" | "nvcamerasrc" => SourceKind::Csi,
        "videotestsrc" | "nvvideotestsrc" | "fakesrc" | "audiotestsrc" => SourceKind::Test,
        "nvurisrcbin" | "uridecodebin" | "uridecodebin3" | "urisourcebin" | "playbin"
        | "appsrc" | "udpsrc" | "souphttpsrc" | "nvunixfdsrc" | "nvdsudpsrc" => SourceKind::Other,
        _ => return None,
    })
}

/// What a sink does with the frames, by its factory.
pub(super) fn sink_kind(factory: &str) -> SinkKind {
    match factory {
        "fakesink" | "fakevideosink" => SinkKind::Fake,
        "nveglglessink" | "nv3dsink" | "nvdrmvideosink" | "nvoverlaysink" | "autovideosink"
        | "glimagesink" | "xvimagesink" | "ximagesink" | "kmssink" | "waylandsink"
        | "fpsdisplaysink" => SinkKind::Display,
        "filesink" | "multifilesink" | "splitmuxsink" => SinkKind::File,
        "udpsink" | "tcpserversink" | "tcpclientsink" | "rtmpsink" | "rtspclientsink"
        | "nvrtspoutsinkbin" | "hlssink" | "hlssink2" | "nvdsudpsink" => SinkKind::Network,
        "nvmsgbroker" => SinkKind::MessageBroker,
        "appsink" => SinkKind::Application,
        _ => SinkKind::Other,
    }
}
