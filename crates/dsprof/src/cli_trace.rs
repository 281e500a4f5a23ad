//! The arguments of `dsprof trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use ds_nsys::Nanos;

use crate::args::ReportFormat;

#[derive(Debug, Args)]
pub(crate) struct TraceArgs {
    #[command(subcommand)]
    pub(crate) command: TraceCommand,
    #[command(flatten)]
    pub(crate) export: ExportArgs,
}

/// How a report of nsys becomes an export that can be read.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reports of nsys (.nsys-rep, .qdrep, .qdstrm)")]
pub(crate) struct ExportArgs {
    /// Name or path of the nsys that exports the report [default: nsys]
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) nsys: Option<String>,
    /// Seconds after which an nsys that does not end is ended [default: 300, and 1 for every 500 kB of the report]
    #[arg(long, global = true, value_name = "S", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) nsys_timeout: Option<u32>,
    /// Keep the export beside the report, as nsys does
    #[arg(long, global = true, conflicts_with_all = ["bundle", "replay"])]
    pub(crate) keep_export: bool,
    /// Directory that keeps the export and what nsys printed; a second run takes it from there
    #[arg(long, global = true, visible_alias = "record", value_name = "DIR")]
    pub(crate) bundle: Option<PathBuf>,
    /// Take the export from a bundle, with no nsys
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) replay: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// The reports of `nsys stats`, equal to the last digit
    #[command(
        after_help = "Example:\n  dsprof trace stats --report cuda_gpu_kern_sum:base,nvtx_sum --format csv trace.sqlite\n  \
                            dsprof trace stats --report cuda_gpu_trace --output . trace.sqlite\n  \
                            dsprof trace stats --report cuda_gpu_kern_sum --by device trace.sqlite"
    )]
    Stats(StatsArgs),
    /// How long each GPU did anything at all
    #[command(after_help = "Example:\n  dsprof trace busy trace.sqlite")]
    Busy(PartArgs),
    /// When each GPU did nothing
    #[command(after_help = "Example:\n  dsprof trace gaps --top 5 trace.sqlite")]
    Gaps(GapsArgs),
    /// The repeated unit of work: step time, busy and idle time in it, and what it waits for
    #[command(after_help = "Example:\n  dsprof trace steps trace.sqlite")]
    Steps(RuledArgs),
    /// Whether the capture can be trusted, and for what
    #[command(
        after_help = "Exit status: 0 pass, 12 capture again, 13 the file does not say; with --upstream-exit-codes 0, 1, 2.\n\n\
                            Example:\n  dsprof trace check --as kernels trace.sqlite\n  \
                            dsprof trace check --tpot-ms 21.5 --ranks 8 --format junit trace.sqlite"
    )]
    Check(CheckArgs),
    /// What changed from one trace to another, per step
    #[command(after_help = "Exit status: 3 where the two cannot be compared.\n\n\
                            Example:\n  dsprof trace diff before.sqlite after.sqlite\n  \
                            dsprof trace diff --tokens 4096,4096 before.sqlite after.sqlite")]
    Diff(DiffArgs),
    /// Kernel time by category
    #[command(after_help = "Example:\n  dsprof trace categories --taxonomy mine.toml trace.sqlite")]
    Categories(RuledArgs),
    /// Shares of the trace beside those of a sampled profile
    #[command(
        after_help = "Example:\n  dsprof trace join trace.sqlite --sampled profile.tsv\n\n\
                            The profile is a table with tabs and a heading: `kernel` or `category`, and `samples`."
    )]
    Join(JoinArgs),
    /// Ranks of one or several traces side by side: who is slow, and who waits
    #[command(
        after_help = "Example:\n  dsprof trace ranks rank0.sqlite rank1.sqlite\n  dsprof trace ranks captures/\n  \
                            dsprof trace ranks vllm_profile/"
    )]
    Ranks(RanksArgs),
    /// Where a pipeline's time goes, by the elements that mark NVTX ranges
    #[command(after_help = "Example:\n  dsprof trace plugins trace.sqlite")]
    Plugins(PartArgs),
    /// Sampled hardware counters
    #[command(after_help = "Example:\n  dsprof trace metrics --above 80 trace.sqlite")]
    Metrics(MetricsArgs),
    /// What each process had allocated on each device
    #[command(after_help = "Example:\n  dsprof trace memory trace.sqlite")]
    Memory(MemoryArgs),
}

/// A part of the session.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct WindowArgs {
    /// Look only at what ends at or after this time of the session, in milliseconds
    #[arg(long, value_name = "MS", value_parser = millis, allow_negative_numbers = true)]
    pub(crate) from_ms: Option<Nanos>,
    /// Look only at what starts before this time of the session, in milliseconds
    #[arg(long, value_name = "MS", value_parser = millis, allow_negative_numbers = true)]
    pub(crate) to_ms: Option<Nanos>,
}

/// How a report is printed.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct FormatArgs {
    /// How it is printed
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub(crate) format: ReportFormat,
}

/// The rules by which kernels are sorted.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TaxonomyArgs {
    /// Rules of your own (TOML) that come before the built-in ones
    #[arg(long, value_name = "FILE")]
    pub(crate) taxonomy: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct PartArgs {
    /// The export (.sqlite), or a trace of PyTorch's profiler (.pt.trace.json), either also as .gz; or a report of nsys
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) print: FormatArgs,
}

#[derive(Debug, Args)]
pub(crate) struct RuledArgs {
    #[command(flatten)]
    pub(crate) part: PartArgs,
    #[command(flatten)]
    pub(crate) rules: TaxonomyArgs,
}

#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// The export (.sqlite), a trace of PyTorch's profiler (.pt.trace.json), either also as .gz, a report of nsys
    /// (.nsys-rep), or what somebody's `nsys stats` printed
    #[arg(required_unless_present = "help_reports")]
    pub(crate) trace: Option<PathBuf>,
    /// Reports, by their new or old names, with options such as `:base`; see --help-reports [default: the summaries of
    /// NVTX, OS runtime, CUDA calls, kernels, memory operations and unified memory, as nsys has them]
    #[arg(long, short, value_name = "NAME,…", value_delimiter = ',')]
    pub(crate) report: Vec<String>,
    /// How reports are printed; of several the first is for the first report, the last for all that remain
    /// [default: text, and csv for files]
    #[arg(long, short, value_name = "FORMAT,…", value_delimiter = ',')]
    pub(crate) format: Vec<StatsFormat>,
    /// Where reports go, matched as --format is: `-` is standard output, `.` names files after the trace, anything else
    /// begins the names of files, as in PREFIX_nvtx_sum.csv
    #[arg(
        long,
        short,
        value_name = "PREFIX,…",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    pub(crate) output: Vec<String>,
    /// Round and name as this nsys does
    #[arg(long, default_value = "2025", value_name = "YEAR")]
    pub(crate) style: StyleArg,
    /// One row for each process, device or stream, where the report knows them
    #[arg(long, value_name = "WHAT")]
    pub(crate) by: Option<SplitArg>,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// List the reports
    #[arg(long)]
    pub(crate) help_reports: bool,
    /// Taken for the sake of scripts written for nsys: there is nothing to export
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, value_name = "BOOL")]
    force_export: Option<Option<bool>>,
    /// Taken for the sake of scripts written for nsys: files are always replaced whole
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, value_name = "BOOL")]
    force_overwrite: Option<Option<bool>>,
}

/// How a report of `nsys stats` is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatsFormat {
    /// Aligned columns, names cut at 100 characters as nsys does
    #[value(alias = "column", alias = "table")]
    Text,
    /// CSV, equal to `nsys stats --format csv`
    Csv,
    /// As CSV, with tabs
    Tsv,
    /// JSON, equal to `nsys stats --format json`: one object a row
    Json,
}

/// Which nsys the printed digits follow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum StyleArg {
    /// nsys 2024.6 and later
    #[default]
    #[value(name = "2025")]
    V2025,
    /// nsys 2023.4 and before
    #[value(name = "2023")]
    V2023,
}

/// By what a report is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SplitArg {
    /// By process
    Process,
    /// By device of a process
    Device,
    /// By stream of a device
    Stream,
}

#[derive(Debug, Args)]
pub(crate) struct GapsArgs {
    #[command(flatten)]
    pub(crate) part: PartArgs,
    /// How many of the longest gaps of a device are listed
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) top: usize,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The export (.sqlite), or a trace of PyTorch's profiler (.pt.trace.json), either also as .gz; or a report of nsys
    pub(crate) trace: PathBuf,
    /// What the capture is wanted for [default: decode where steps are found, else pipeline]
    #[arg(long = "as", value_name = "PURPOSE")]
    pub(crate) purpose: Option<PurposeArg>,
    /// Time per output token that a benchmark measured, in milliseconds; every rank is held against it
    #[arg(long, value_name = "MS", value_parser = positive)]
    pub(crate) tpot_ms: Option<f64>,
    /// Tokens that a step yields for one request: more than 1 under speculative decoding
    #[arg(long, value_name = "N", default_value = "1", value_parser = positive, requires = "tpot_ms")]
    pub(crate) tokens_per_step: f64,
    /// How many ranks (devices of processes) should have worked
    #[arg(long, value_name = "N")]
    pub(crate) ranks: Option<usize>,
    /// Exit with 0, 1, 2 for pass, again, undecidable, as gpu-perf-tune's script does
    #[arg(long)]
    pub(crate) upstream_exit_codes: bool,
    #[command(flatten)]
    pub(crate) rules: TaxonomyArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    /// How it is printed
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    pub(crate) format: CheckFormat,
}

/// How a verdict is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    /// For a terminal
    Text,
    /// Markdown
    Md,
    /// JSON, with its schema named in it
    Json,
    /// JUnit XML, one test case a gate
    Junit,
}

/// What a capture is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PurposeArg {
    /// Busy time and step time
    Timing,
    /// Which kernels take the time
    Kernels,
    /// Token generation, step by step
    Decode,
    /// A pipeline as a whole
    Pipeline,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The export that is compared with
    pub(crate) first: PathBuf,
    /// The export that is compared
    pub(crate) second: PathBuf,
    /// Tokens that were generated in each capture; used where a trace has no steps
    #[arg(long, value_name = "A,B", value_parser = two_counts)]
    pub(crate) tokens: Option<(u64, u64)>,
    /// Compare also what cannot be compared; the report says so
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) rules: TaxonomyArgs,
    #[command(flatten)]
    pub(crate) print: FormatArgs,
}

#[derive(Debug, Args)]
pub(crate) struct JoinArgs {
    #[command(flatten)]
    pub(crate) ruled: RuledArgs,
    /// The sampled profile
    #[arg(long, value_name = "FILE.tsv")]
    pub(crate) sampled: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct RanksArgs {
    /// The exports or reports, or directories that hold exports
    #[arg(required = true)]
    pub(crate) traces: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: TaxonomyArgs,
    #[command(flatten)]
    pub(crate) window: WindowArgs,
    #[command(flatten)]
    pub(crate) print: FormatArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MetricsArgs {
    #[command(flatten)]
    pub(crate) part: PartArgs,
    /// Also say how much of the time a counter was above this level, in its own unit
    #[arg(long, value_name = "LEVEL", allow_negative_numbers = true)]
    pub(crate) above: Option<f64>,
}

#[derive(Debug, Args)]
pub(crate) struct MemoryArgs {
    /// The export (.sqlite), or a trace of PyTorch's profiler (.pt.trace.json), either also as .gz; or a report of nsys
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) print: FormatArgs,
}

/// Milliseconds of the session as the exporter's nanoseconds.
fn millis(text: &str) -> Result<Nanos, String> {
    /// 2^53 ns: up to here a double holds every whole nanosecond, and no session is that long.
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    let nanos = number(text)? * 1e6;
    if nanos.abs() > LARGEST {
        return Err("no session is that long".to_owned());
    }
    #[expect(clippy::cast_possible_truncation, reason = "rounded, and below 2^53")]
    Ok(Nanos(nanos.round() as i64))
}

fn positive(text: &str) -> Result<f64, String> {
    let value = number(text)?;
    if value > 0.0 {
        Ok(value)
    } else {
        Err("give a number above 0".to_owned())
    }
}

fn number(text: &str) -> Result<f64, String> {
    let value: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err("not a number".to_owned())
    }
}

fn two_counts(text: &str) -> Result<(u64, u64), String> {
    let parse = || {
        let (first, second) = text.split_once(',')?;
        Some((first.trim().parse().ok()?, second.trim().parse().ok()?))
    };
    match parse() {
        Some((0, _) | (_, 0)) => Err("a capture without tokens has no time per token".to_owned()),
        Some(counts) => Ok(counts),
        None => Err("give two whole numbers with a comma between".to_owned()),
    }
}
