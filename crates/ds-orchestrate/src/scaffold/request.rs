//! What a new pipeline is to be.

use std::fmt;

use ds_ceilings::{Codec, Fps, Resolution, StreamCount};
use ds_derive::{DeepStreamVersion, Dims};

use crate::error::Error;

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRequest {
    /// The model.
    pub model: ModelSource,
    /// What it is run for.
    pub task: Task,
    /// The form of the files.
    pub form: NewForm,
    /// Where frames come from, one entry a stream or fewer: those given are taken in turn.
    pub sources: Vec<StreamSource>,
    /// How many streams.
    pub streams: StreamCount,
    /// The frame rate of each.
    pub fps: Fps,
    /// The size of the sources' frames.
    pub source_size: Resolution,
    /// The codec of the sources, where it is known.
    pub codec: Option<Codec>,
    /// What is done with the result beside metadata. Nothing, where it is empty.
    pub outputs: Vec<NewOutput>,
    /// The release of DeepStream that will run it; it decides which presets of the tracker are installed.
    pub deepstream: DeepStreamVersion,
}

/// The model that the pipeline runs.
#[derive(Debug, Clone, PartialEq)]
pub enum ModelSource {
    /// A configuration file of nvinfer or nvinferserver, of which a copy is made.
    Config(String),
    /// What is known of a model without one.
    Stated(StatedModel),
}

/// A model that has no configuration file yet.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatedModel {
    /// Channels, height, width; read from the ONNX file where it is not given.
    pub dims: Option<Dims>,
    /// The ONNX file.
    pub onnx: Option<String>,
    /// A pre-built engine.
    pub engine: Option<String>,
    /// The labels, one a line.
    pub labels: Option<String>,
    /// The calibration table that INT8 needs.
    pub calibration: Option<String>,
}

/// What the model is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Task {
    /// Boxes, frame by frame.
    Detect,
    /// Boxes that keep their ids from frame to frame.
    Track,
    /// One label a frame.
    Classify,
    /// A class for every pixel.
    Segment,
    /// The output tensor itself.
    Embed,
    /// Frames for a vision-language model that another program serves.
    Vlm,
}

impl Task {
    /// `network-type` of nvinfer (DeepStream 9.1, nvinfer's README: 0 detector, 1 classifier, 2 segmentation, 100 other).
    pub(super) fn network_type(self) -> u32 {
        match self {
            Self::Detect | Self::Track => 0,
            Self::Classify => 1,
            Self::Segment => 2,
            Self::Embed | Self::Vlm => 100,
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Detect => "detection",
            Self::Track => "detection with tracking",
            Self::Classify => "classification",
            Self::Segment => "segmentation",
            Self::Embed => "embedding",
            Self::Vlm => "frames for a vision-language model",
        })
    }
}

/// The form of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NewForm {
    /// A shell script with a gst-launch line.
    GstLaunch,
    /// A key file of deepstream-app.
    AppTxt,
    /// A YAML file of deepstream-app, with its table of sources.
    AppYml,
    /// A YAML file of service-maker.
    ServiceMaker,
    /// A Python program on pyservicemaker.
    Pyservicemaker,
}

impl NewForm {
    /// Whether it is a file of deepstream-app, which knows a fixed set of stages.
    pub(super) fn is_app(self) -> bool {
        matches!(self, Self::AppTxt | Self::AppYml)
    }

    /// The ending of its files.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::GstLaunch => "sh",
            Self::AppTxt => "txt",
            Self::AppYml | Self::ServiceMaker => "yml",
            Self::Pyservicemaker => "py",
        }
    }
}

impl fmt::Display for NewForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GstLaunch => "gst-launch script",
            Self::AppTxt => "deepstream-app txt",
            Self::AppYml => "deepstream-app yml",
            Self::ServiceMaker => "service-maker yml",
            Self::Pyservicemaker => "pyservicemaker program",
        })
    }
}

/// One source of frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StreamSource {
    /// A file, as a URI.
    File(String),
    /// An RTSP stream, as a URI.
    Rtsp(String),
    /// A USB camera: the number in `/dev/videoN`.
    Usb(u32),
}

impl StreamSource {
    /// Reads `file:///…`, `rtsp://…`, `usb:N`, `/dev/videoN` or the path of a file, which is taken from the current
    /// directory. `%d` stands for the number of the stream.
    ///
    /// # Errors
    ///
    /// When it is none of these.
    pub fn parse(text: &str) -> Result<Self, Error> {
        one_line(text)?;
        let camera = text
            .strip_prefix("usb:")
            .or_else(|| text.strip_prefix("/dev/video"));
        if let Some(number) = camera {
            return number.parse().map(Self::Usb).map_err(|_| Error::Input {
                what: format!("`{text}` names no camera: write `usb:0` or `/dev/video0`"),
            });
        }
        match text.split_once("://") {
            Some(("rtsp" | "rtsps", _)) => Ok(Self::Rtsp(text.to_owned())),
            Some(("file" | "http" | "https", _)) => Ok(Self::File(text.to_owned())),
            Some((scheme, _)) => Err(Error::Input {
                what: format!(
                    "`{scheme}` is no kind of source: file, http, https, rtsp and rtsps are, and `usb:N`"
                ),
            }),
            None if text.is_empty() => Err(Error::Input {
                what: "a source has no name".to_owned(),
            }),
            // A URI of a file is absolute. Only an empty path has no absolute form, and that is caught above.
            None => {
                let path = std::path::absolute(text).unwrap_or_else(|_| text.into());
                Ok(Self::File(format!("file://{}", path.display())))
            }
        }
    }

    /// Whether it delivers at its own pace.
    pub(super) fn is_live(&self) -> bool {
        !matches!(self, Self::File(_))
    }
}

/// Something done with the result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewOutput {
    /// Shown on a display.
    Display,
    /// Recorded in this file.
    File(String),
    /// Sent as messages.
    Kafka {
        /// Host and port: `localhost:9092`.
        broker: String,
        /// The topic.
        topic: String,
    },
}

impl NewOutput {
    /// Reads `display`, `file:PATH` or `kafka:HOST:PORT/TOPIC`.
    ///
    /// # Errors
    ///
    /// When it is none of these.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let unknown = || Error::Input {
            what: format!(
                "`{text}` is no output: write `display`, `file:out.mp4` or `kafka:localhost:9092/topic`"
            ),
        };
        one_line(text)?;
        match text.split_once(':') {
            None if text == "display" => Ok(Self::Display),
            Some(("file", path)) if !path.is_empty() => Ok(Self::File(path.to_owned())),
            Some(("kafka", rest)) => {
                let (broker, topic) = rest.split_once('/').ok_or_else(unknown)?;
                let has_port = broker
                    .split_once(':')
                    .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
                if !has_port || topic.is_empty() || topic.contains(char::is_whitespace) {
                    return Err(unknown());
                }
                Ok(Self::Kafka {
                    broker: broker.to_owned(),
                    topic: topic.to_owned(),
                })
            }
            _ => Err(unknown()),
        }
    }

    /// Whether somebody looks at the frames.
    pub(super) fn shows_frames(&self) -> bool {
        matches!(self, Self::Display | Self::File(_))
    }
}

/// A line break or another control character would end up as syntax in one of the forms.
fn one_line(text: &str) -> Result<(), Error> {
    if text.chars().any(char::is_control) {
        return Err(Error::Input {
            what: format!("{text:?} holds a control character"),
        });
    }
    Ok(())
}
