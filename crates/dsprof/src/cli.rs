//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::args::{
    BundleArgs, GpuArgs, LoadArgs, PageArgs, PrecisionArg, TerminalArgs, ViaArg, WishArgs,
};
use crate::cli_lint::LintArgs;
use crate::cli_new::NewArgs;
use crate::cli_trace::TraceArgs;

/// Measures a GPU inference pipeline, derives its settings, says what bounds it
#[derive(Debug, Parser)]
#[command(
    version,
    max_term_width = 100,
    after_help = "Exit status: 0 fine, 1 internal, 2 usage, 3 no usable input, 4 an external program is missing or \
                  failed,\n10 changes pending (derive --check), 11 a limit is exceeded (capacity --require, \
                  lint --fail-on),\n12 capture again, 13 not decidable (both trace check), 130 interrupted.\n\nExample:\n  dsprof tune pipeline.txt --streams 16 --fps 30"
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) terminal: TerminalArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// All stages, one report
    #[command(
        after_help = "Example:\n  dsprof tune app.txt --streams 16 --fps 30 --dims '3;544;960'\n  \
                            dsprof tune --replay testdata/bundles/h200-resnet152"
    )]
    Tune(RunArgs),
    /// Stage 0: a new pipeline in the right shape, in the form that is asked for
    #[command(
        after_help = "Example:\n  dsprof new --model config_infer_primary.txt --source 'rtsp://camera%d/stream' --streams 4 \
                            --dir out\n  dsprof new --onnx model.onnx --source video.mp4 --streams 16 --task track \
                            --output display --form app-txt"
    )]
    New(NewArgs),
    /// Stage 1: elements, coverage, and where each knob comes from
    #[command(after_help = "Example:\n  dsprof inspect app.txt")]
    Inspect(InspectArgs),
    /// Stage 2: identity of the GPU and its ceilings
    #[command(
        after_help = "Example:\n  dsprof hw\n  dsprof hw --gpu 'NVIDIA L40S'\n  dsprof hw --from nvidia-smi.xml"
    )]
    Hw(HwArgs),
    /// Stage 3: the inference plateau
    #[command(
        after_help = "Example:\n  dsprof sweep app.txt --streams 32 --launch 'python3 load.py {batch} {seconds}'"
    )]
    Sweep(RunArgs),
    /// Stage 4: the plan as a table and a unified diff; writes only with --apply
    #[command(
        after_help = "Tracks as JSON lines: one line a frame and stream, also for a frame without objects, the frames of \
                      a stream in order:\n  {\"stream\": 0, \"frame\": 12, \"objects\": [{\"id\": 7, \"label\": \"car\", \
                      \"bbox\": [left, top, width, height]}]}\n\nExample:\n  dsprof derive app.txt --streams 16 --fps 30\n  \
                      dsprof derive app.txt --replay bundle --apply\n  dsprof derive app.txt --tracks 1=kitti_tracks"
    )]
    Derive(DeriveArgs),
    /// Stage 5: capture the whole pipeline, read the trace, say what bounds it
    #[command(
        after_help = "No nsys attaches to a program that runs already: start it with `nsys launch`, then trace it with \
                            --attach.\n\nExample:\n  dsprof profile app.txt --bundle out\n  \
                            nsys launch --session-new=serve --trace=cuda,nvtx python3 serve.py\n  \
                            dsprof profile --attach serve --trace-seconds 5 --bundle out"
    )]
    Profile(ProfileArgs),
    /// How many streams fit (rule R7)
    #[command(
        after_help = "Example:\n  dsprof capacity --gpu 'NVIDIA L4' --codec hevc --source-size 1920x1080 \
                            --plateau-fps 1200 --fps 30\n  dsprof capacity --replay bundle --require 16\n  \
                            dsprof capacity --replay bundle --what-if 'NVIDIA L4' --what-if 'NVIDIA L40S'"
    )]
    Capacity(CapacityArgs),
    /// Faults of a pipeline that cost speed or keep it from working
    #[command(
        after_help = "Comments allow a finding, on its line or the one above: # dsprof: allow DS001\n\n\
                            Example:\n  dsprof lint app.txt\n  dsprof lint --fail-on warning --format sarif configs/*.txt"
    )]
    Lint(LintArgs),
    /// Questions to a trace of Nsight Systems; nsys itself is not needed
    Trace(TraceArgs),
}

// No doc comment: clap would show it in place of the command's own.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The pipeline: deepstream-app file, or a script with a gst-launch line
    pub(crate) pipeline: Option<String>,
    #[command(flatten)]
    pub(crate) wishes: WishArgs,
    #[command(flatten)]
    pub(crate) load: LoadArgs,
    #[command(flatten)]
    pub(crate) gpu: GpuArgs,
    #[command(flatten)]
    pub(crate) bundle: BundleArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The pipeline
    pub(crate) pipeline: String,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HwArgs {
    /// Plan with a GPU that is not at hand, by its name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["from", "replay", "list", "compare"])]
    pub(crate) gpu: Option<String>,
    /// Read what nvidia-smi printed on another machine: `-q -x`, or a query as CSV with its header
    #[arg(long, value_name = "FILE", conflicts_with_all = ["replay", "list", "compare"])]
    pub(crate) from: Option<PathBuf>,
    /// List the GPUs that are known by name
    #[arg(long, conflicts_with = "compare")]
    pub(crate) list: bool,
    /// Compare the ceilings of two GPUs by their names
    #[arg(long, num_args = 2, value_names = ["A", "B"])]
    pub(crate) compare: Vec<String>,
    /// Who is asked about the GPUs of this machine [default: both]
    #[arg(long, value_name = "WHO", conflicts_with_all = ["gpu", "from", "list", "compare"])]
    pub(crate) via: Option<ViaArg>,
    #[command(flatten)]
    pub(crate) gpu_args: GpuArgs,
    #[command(flatten)]
    pub(crate) bundle: BundleArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DeriveArgs {
    /// The pipeline
    #[arg(required_unless_present = "replay")]
    pub(crate) pipeline: Option<String>,
    #[command(flatten)]
    pub(crate) wishes: WishArgs,
    /// Take the ceilings of a GPU that is not at hand, by its name
    #[arg(long, value_name = "NAME", conflicts_with = "replay")]
    pub(crate) gpu: Option<String>,
    /// Write the values, all files or none; old and new contents are kept in the bundle
    #[arg(long, conflicts_with = "check")]
    pub(crate) apply: bool,
    /// Write nothing and exit with status 10 when values would change
    #[arg(long)]
    pub(crate) check: bool,
    #[command(flatten)]
    pub(crate) gpu_args: GpuArgs,
    #[command(flatten)]
    pub(crate) bundle: BundleArgs,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Batch that the load is to run with [default: the recorded plateau, else the number of streams]
    #[arg(long, value_name = "N")]
    pub(crate) batch: Option<u32>,
    /// Trace what runs in this session of `nsys launch`; it runs on, and no pipeline is needed
    #[arg(long, value_name = "SESSION", conflicts_with_all = ["batch", "launch", "e2e_launch"])]
    pub(crate) attach: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CapacityArgs {
    /// Frame rate of each stream, in frames per second [default: 30]
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub(crate) fps: Option<f64>,
    /// Frames per second that inference alone reaches
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub(crate) plateau_fps: Option<f64>,
    /// Frames per second that the whole pipeline reaches
    #[arg(long, value_name = "F", allow_negative_numbers = true)]
    pub(crate) e2e_fps: Option<f64>,
    /// GPU, by its name
    #[arg(long, value_name = "NAME", conflicts_with = "replay")]
    pub(crate) gpu: Option<String>,
    /// Codec of the streams
    #[arg(long, value_name = "CODEC")]
    pub(crate) codec: Option<String>,
    /// Size of the streams' frames
    #[arg(long, value_name = "WxH")]
    pub(crate) source_size: Option<String>,
    /// Exit with status 11 when fewer streams than this fit
    #[arg(long, value_name = "N")]
    pub(crate) require: Option<u32>,
    /// Project what was measured onto this GPU, by its name; may be given several times
    #[arg(long, value_name = "NAME")]
    pub(crate) what_if: Vec<String>,
    /// Number format of the model, whose published rates the projection compares [default: fp16]
    #[arg(long, value_name = "FORMAT", requires = "what_if")]
    pub(crate) precision: Option<PrecisionArg>,
    /// Take the numbers from a bundle of `tune`
    #[arg(long, value_name = "DIR")]
    pub(crate) replay: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
}
