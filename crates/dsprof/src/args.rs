//! Arguments that several commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ds_orchestrate::{GateId, Via};

/// Where results go and where they come from.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct BundleArgs {
    /// Directory that keeps everything this run does, as it happens; a second run on it goes on where the first stopped
    #[arg(long, visible_alias = "record", value_name = "DIR")]
    pub(crate) bundle: Option<PathBuf>,
    /// Run again from what a bundle recorded, with no GPU; arguments that are left out are the recorded ones
    #[arg(long, value_name = "DIR")]
    pub(crate) replay: Option<PathBuf>,
}

/// Which GPU.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct GpuArgs {
    /// Index of the GPU, as nvidia-smi counts [default: the first of CUDA_VISIBLE_DEVICES, else 0]
    #[arg(long, value_name = "N")]
    pub(crate) gpu_index: Option<u32>,
}

/// Who is asked about the GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViaArg {
    /// The library alone
    Nvml,
    /// The program alone
    NvidiaSmi,
    /// One completed by the other; where they disagree, both are quoted
    Both,
}

impl ViaArg {
    /// The word for it on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nvml => "nvml",
            Self::NvidiaSmi => "nvidia-smi",
            Self::Both => "both",
        }
    }
}

impl From<ViaArg> for Via {
    fn from(via: ViaArg) -> Self {
        match via {
            ViaArg::Nvml => Self::Nvml,
            ViaArg::NvidiaSmi => Self::NvidiaSmi,
            ViaArg::Both => Self::Both,
        }
    }
}

/// The number format whose published rates a projection compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionArg {
    /// 16-bit floating point
    Fp16,
    /// 8-bit integers
    Int8,
    /// 32-bit floating point, which tensor cores multiply as TF32
    Fp32,
}

/// What the pipeline is to carry, and what the files do not say.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct WishArgs {
    /// Streams that the pipeline is to carry [default: as many as its files describe]
    #[arg(long, value_name = "N")]
    pub(crate) streams: Option<u32>,
    /// Frame rate of each stream, in frames per second [default: 30]
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub(crate) fps: Option<f64>,
    /// Channels, height and width of the model, for example `3;544;960`, where its file does not say it
    #[arg(long, value_name = "C;H;W")]
    pub(crate) dims: Option<String>,
    /// Size of the sources' frames, for example 1920x1080, where no file says it
    #[arg(long, value_name = "WxH")]
    pub(crate) source_size: Option<String>,
    /// Codec of the sources, for example h264 or hevc, where no element says it
    #[arg(long, value_name = "CODEC")]
    pub(crate) codec: Option<String>,
    /// Keep the network in FP32
    #[arg(long)]
    pub(crate) fp32: bool,
    /// Size behind the mux, also where the frame is looked at downstream
    #[arg(long, value_name = "SIZE")]
    pub(crate) mux_size: Option<MuxSize>,
    /// What the pictures are wanted for
    #[arg(long, value_name = "KIND")]
    pub(crate) output: Option<Output>,
    /// Release of DeepStream that will run the pipeline, for example 9.1
    #[arg(long, value_name = "VERSION")]
    pub(crate) deepstream: Option<String>,
    /// Tracks that the pipeline wrote (directory of `kitti-track-output-dir`, or file of JSON lines), made with
    /// `interval=K` [default: the pipeline's own]; may be given several times
    #[arg(long, value_name = "[K=]PATH")]
    pub(crate) tracks: Vec<String>,
}

/// How loads are run.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LoadArgs {
    /// Largest batch of the sweep [default: the number of streams]
    #[arg(long, value_name = "N")]
    pub(crate) max_batch: Option<u32>,
    /// Batches of the sweep, in place of powers of two
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    pub(crate) batches: Vec<u32>,
    /// Load of the sweep in place of the inference-only pipeline; `{batch}` and `{seconds}` are filled in
    #[arg(long, value_name = "CMD")]
    pub(crate) launch: Option<String>,
    /// Whole pipeline in place of its own command; `{batch}`, `{streams}` and `{seconds}` are filled in
    #[arg(long, value_name = "CMD")]
    pub(crate) e2e_launch: Option<String>,
    /// Seconds for which each load is measured at most; less once its rate is known to 1 % [default: 30]
    #[arg(long, value_name = "S")]
    pub(crate) seconds: Option<u32>,
    /// Times that each batch of the sweep is run; their windows are taken together [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) repeat: Option<u32>,
    /// Seconds of the traced run [default: 5]
    #[arg(long, value_name = "S")]
    pub(crate) trace_seconds: Option<u32>,
    /// Sample the GPU's metrics beside the trace, where reading its counters is permitted
    #[arg(long)]
    pub(crate) gpu_metrics: bool,
    /// Measure the whole pipeline although this gate fails: batch, engine, memory, calibration, leaky
    #[arg(long, value_name = "GATE,…", value_delimiter = ',')]
    pub(crate) waive: Vec<GateId>,
    /// Leave out the profile: the whole pipeline is neither run nor traced
    #[arg(long)]
    pub(crate) skip_profile: bool,
    /// Name or path of nsys [default: nsys]
    #[arg(long, value_name = "PATH")]
    pub(crate) nsys: Option<String>,
    /// Seconds that nsys may take beyond the traced time, for its report and its export each [default: 300]
    #[arg(long, value_name = "S")]
    pub(crate) nsys_timeout: Option<u64>,
    /// A sentence for the report that says which program measured what, where it was not the pipeline itself
    #[arg(long, value_name = "TEXT")]
    pub(crate) provenance: Option<String>,
}

/// The size behind the mux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MuxSize {
    /// That of the rule
    Model,
    /// That of the sources
    Source,
}

/// What the pictures are wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// Nobody looks at them
    None,
    /// They are shown
    Visible,
    /// They are kept
    Recorded,
}

/// What the program says beside its data, and in which colour.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TerminalArgs {
    /// Say nothing but errors: no progress, no notes
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// When colour is used; `auto` is on a terminal, and not where NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: ColorArg,
}

/// When colour is used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorArg {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Also in a pipe
    Always,
    /// Never
    Never,
}

/// How the report of a run is shown, and where it goes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PageArgs {
    /// How the report is shown [default: as the ending of --output-file says, else text]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<PageFormat>,
    /// File that takes the report, in place of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output_file: Option<PathBuf>,
}

/// How the report of a run is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageFormat {
    /// For a terminal, with bars
    #[default]
    Text,
    /// Markdown
    Md,
    /// JSON, with its schema named in it
    Json,
    /// One HTML file with everything in it
    Html,
}

/// How a report is printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For a terminal
    #[default]
    Text,
    /// Markdown
    Md,
    /// JSON, with its schema named in it
    Json,
}
