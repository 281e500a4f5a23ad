//! The arguments of `dsprof new`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ds_orchestrate::scaffold::{NewForm, Task};

use crate::args::ReportFormat;

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// Configuration file of the model, for nvinfer or nvinferserver; a copy is made, the file itself stays as it is
    #[arg(long, value_name = "CONFIG", conflicts_with_all = ["onnx", "engine", "labels", "calibration"])]
    pub(crate) model: Option<String>,
    /// ONNX file of a model that has no configuration yet
    #[arg(long, value_name = "FILE")]
    pub(crate) onnx: Option<String>,
    /// Pre-built engine of a model that has no configuration yet
    #[arg(long, value_name = "FILE")]
    pub(crate) engine: Option<String>,
    /// Labels of the model, one a line
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<String>,
    /// Calibration table, without which INT8 is not chosen
    #[arg(long, value_name = "FILE")]
    pub(crate) calibration: Option<String>,
    /// Channels, height and width of the model, for example `3;544;960`, where no file says it
    #[arg(long, value_name = "C;H;W")]
    pub(crate) dims: Option<String>,
    /// What the model is run for
    #[arg(long, value_name = "TASK", default_value = "detect")]
    pub(crate) task: TaskArg,
    /// Source: `rtsp://…`, `file:///…`, a path, or `usb:N`; may be given several times, `%d` is the number of the stream
    #[arg(long = "source", value_name = "URI", required = true)]
    pub(crate) sources: Vec<String>,
    /// Streams to carry [default: as many as sources are given]; sources are taken in turn
    #[arg(long, value_name = "N")]
    pub(crate) streams: Option<u32>,
    /// Frame rate of each stream, in frames per second
    #[arg(
        long,
        value_name = "F",
        default_value_t = 30.0,
        allow_negative_numbers = true
    )]
    pub(crate) fps: f64,
    /// Size of the sources' frames
    #[arg(long, value_name = "WxH", default_value = "1920x1080")]
    pub(crate) source_size: String,
    /// Codec of the sources, for example h264 or hevc
    #[arg(long, value_name = "CODEC")]
    pub(crate) codec: Option<String>,
    /// What is done with the result: `display`, `file:out.mp4` or `kafka:HOST:PORT/TOPIC`; may be given several times
    #[arg(long = "output", value_name = "WHAT")]
    pub(crate) outputs: Vec<String>,
    /// Form of the files
    #[arg(long, value_name = "FORM", default_value = "gst-launch")]
    pub(crate) form: FormArg,
    /// GPU that will run it, by its name: decides between INT8, FP16 and FP32
    #[arg(long, value_name = "NAME")]
    pub(crate) gpu: Option<String>,
    /// Release of DeepStream that will run it
    #[arg(long, value_name = "VERSION", default_value = "9.1")]
    pub(crate) deepstream: String,
    /// Folder that the files are written into; without it they are printed and nothing is written
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// How it is printed
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub(crate) format: ReportFormat,
}

/// What the model is run for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskArg {
    /// Boxes, frame by frame
    Detect,
    /// Boxes that keep their ids from frame to frame
    Track,
    /// One label a frame
    Classify,
    /// A class for every pixel
    Segment,
    /// The output tensor itself
    Embed,
    /// Frames for a vision-language model that another program serves
    Vlm,
}

impl From<TaskArg> for Task {
    fn from(task: TaskArg) -> Self {
        match task {
            TaskArg::Detect => Self::Detect,
            TaskArg::Track => Self::Track,
            TaskArg::Classify => Self::Classify,
            TaskArg::Segment => Self::Segment,
            TaskArg::Embed => Self::Embed,
            TaskArg::Vlm => Self::Vlm,
        }
    }
}

/// The form of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormArg {
    /// A shell script with a gst-launch line
    GstLaunch,
    /// A key file of deepstream-app
    AppTxt,
    /// A YAML file of deepstream-app, with its table of sources
    AppYml,
    /// A YAML file of service-maker
    ServiceMaker,
    /// A Python program on pyservicemaker
    Pyservicemaker,
}

impl From<FormArg> for NewForm {
    fn from(form: FormArg) -> Self {
        match form {
            FormArg::GstLaunch => Self::GstLaunch,
            FormArg::AppTxt => Self::AppTxt,
            FormArg::AppYml => Self::AppYml,
            FormArg::ServiceMaker => Self::ServiceMaker,
            FormArg::Pyservicemaker => Self::Pyservicemaker,
        }
    }
}
