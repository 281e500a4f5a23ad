//! The report as data, schema `dsprof.report/1`.

use serde::Serialize;

use super::capture::{CaptureReport, GateReport};

/// The schema of the JSON report; raised when a reader of the old one would misread the new one.
pub const SCHEMA: &str = "dsprof.report/1";

/// Everything that one run found out. A number that was not measured or computed is `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// Version of the dsprof that wrote it.
    pub dsprof: &'static str,
    /// The answer in one sentence.
    pub summary: String,
    /// Which program measured what, where it was not the pipeline itself.
    pub provenance: Option<String>,
    /// The pipeline that was read.
    pub pipeline: PipelineReport,
    /// The GPU.
    pub hardware: Option<HardwareReport>,
    /// The sweep and its plateau.
    pub plateau: Option<PlateauReport>,
    /// The whole pipeline.
    pub e2e: Option<E2eReport>,
    /// What the trace holds.
    pub trace: Option<TraceReport>,
    /// Why there is no trace.
    pub no_trace: Option<String>,
    /// What had to hold before the whole pipeline was measured.
    pub preflight: Vec<GateReport>,
    /// How the trace came about.
    pub capture: Option<CaptureReport>,
    /// What bounds the pipeline.
    pub bound: Option<BoundReport>,
    /// The knobs that the rules set, leave alone, or cannot derive.
    pub knobs: Vec<KnobReport>,
    /// Whether the changed values were written.
    pub applied: bool,
    /// What the pipeline should reach with them.
    pub expected: String,
    /// The changes of the files as a unified diff; empty where nothing changes.
    pub diff: String,
    /// How many object ids survive, one entry a dump of tracks that was given.
    pub tracks: Vec<RetentionReport>,
    /// How many streams the GPU can carry.
    pub capacity: CapacityReport,
    /// Elements whose time no range shows.
    pub uninstrumented: Vec<UninstrumentedReport>,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// The pipeline that was read.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PipelineReport {
    /// The file that was asked for.
    pub path: String,
    /// Its form.
    pub form: String,
    /// Every file that was read.
    pub files: Vec<String>,
    /// Streams that the files describe.
    pub streams: Option<u32>,
    /// Streams that were asked for.
    pub streams_asked: u32,
    /// Frame rate of each that was asked for.
    pub fps_asked: f64,
    /// What is wrong with the files.
    pub faults: Vec<String>,
}

/// The GPU and its ceilings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HardwareReport {
    /// Its name.
    pub name: String,
    /// Driver version.
    pub driver: Option<String>,
    /// Compute capability.
    pub compute_capability: Option<String>,
    /// Streaming multiprocessors.
    pub sm_count: Option<u32>,
    /// Decoders.
    pub nvdec_count: Option<u32>,
    /// PCIe link, for example `Gen5 x16`.
    pub pcie: Option<String>,
    /// Memory in MiB.
    pub memory_mib: Option<f64>,
    /// The ceilings.
    pub ceilings: Vec<CeilingReport>,
    /// What to know about this machine.
    pub findings: Vec<String>,
}

/// One ceiling.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CeilingReport {
    /// A stable name.
    pub id: String,
    /// A name for people.
    pub label: String,
    /// The value; `null` if it is unknown.
    pub value: Option<f64>,
    /// Its unit.
    pub unit: String,
    /// The formula with its numbers.
    pub formula: Option<String>,
    /// Where the numbers come from.
    pub source: Option<String>,
    /// How far it can be trusted.
    pub confidence: Option<String>,
    /// What to know before using it.
    pub caveat: Option<String>,
    /// Why it is unknown.
    pub reason: Option<String>,
}

/// The sweep and its plateau.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlateauReport {
    /// The verdict in words.
    pub verdict: String,
    /// The plateau; `null` if it was not reached.
    pub batch: Option<u32>,
    /// The batch to configure.
    pub final_batch: Option<u32>,
    /// The rate at that batch.
    pub fps_at_final_batch: Option<f64>,
    /// The batches.
    pub points: Vec<SweepPointReport>,
    /// What to know before relying on it.
    pub notes: Vec<String>,
}

/// One batch of the sweep.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepPointReport {
    /// The batch.
    pub batch: u32,
    /// Frames per second, summed over the streams.
    pub fps: Option<f64>,
    /// Lower end of the 95 % interval of that mean; `null` with fewer than two windows.
    pub fps_low: Option<f64>,
    /// Upper end of that interval.
    pub fps_high: Option<f64>,
    /// How many steady windows are behind it.
    pub windows: usize,
    /// Gain per doubling from the batch before, in percent.
    pub gain_percent: Option<f64>,
    /// Share of time in which a kernel ran, in percent.
    pub sm_percent: Option<f64>,
    /// Decoder utilisation, in percent.
    pub decoder_percent: Option<f64>,
    /// Share of time in which memory was read or written, in percent.
    pub memory_percent: Option<f64>,
    /// Why there is no rate.
    pub failure: Option<String>,
    /// The command that ran.
    pub command: String,
}

/// The whole pipeline as it was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct E2eReport {
    /// Frames per second, summed over the streams, without a profiler.
    pub fps: Option<f64>,
    /// How many steady windows are behind it.
    pub windows: usize,
    /// Streams that ran.
    pub streams: Option<u32>,
    /// What the console log says about itself.
    pub status: String,
    /// Share of the plateau's rate, in percent.
    pub percent_of_plateau: Option<f64>,
    /// Rate under the profiler.
    pub fps_profiled: Option<f64>,
    /// What the profiler cost, in percent of the clean rate.
    pub overhead_percent: Option<f64>,
    /// Share of time in which a kernel ran, in percent.
    pub sm_percent: Option<f64>,
    /// Decoder utilisation, in percent.
    pub decoder_percent: Option<f64>,
    /// Share of time in which memory was read or written, in percent.
    pub memory_percent: Option<f64>,
    /// Why there is no utilisation.
    pub no_utilisation: Option<String>,
    /// The command that ran.
    pub command: String,
}

/// What the trace holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TraceReport {
    /// The nsys that wrote it.
    pub written_by: Option<String>,
    /// From the first GPU operation to the end of the last, in milliseconds.
    pub active_span_ms: Option<f64>,
    /// GPU-busy share of that span, in percent, of the busiest device.
    pub busy_percent: Option<f64>,
    /// Whether that is an upper figure, because graphs were traced as a whole.
    pub busy_is_upper_figure: bool,
    /// The kernels with the most time.
    pub kernels: Vec<NamedTimeReport>,
    /// How many kernels there are by name.
    pub kernel_names: usize,
    /// Copies by kind.
    pub copies: Vec<NamedTimeReport>,
    /// Elements that mark NVTX ranges, the most time first.
    pub plugins: Vec<PluginReport>,
    /// The detected steps; `null` where the GPU's work does not repeat.
    pub steps: Option<StepReport>,
    /// Matrix products and convolutions as a share of the kernel time, in percent.
    pub matrix_percent: Option<f64>,
    /// Time in which the multiprocessors were active, in percent.
    pub sm_active_percent: Option<f64>,
    /// Memory bandwidth in use, in percent.
    pub dram_percent: Option<f64>,
    /// What nsys itself says about the capture.
    pub diagnostics: Vec<String>,
}

/// An element that marks ranges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PluginReport {
    /// The element.
    pub name: String,
    /// Share of the GPU-active span in which any thread was inside one of its ranges, in percent.
    pub percent_of_span: Option<f64>,
    /// CPU time without what is nested inside, over all threads, in milliseconds.
    pub self_ms: f64,
    /// Time of the GPU work that it launched directly, in milliseconds.
    pub gpu_ms: f64,
    /// Its ranges with counters folded.
    pub ranges: Vec<NamedTimeReport>,
}

/// The detected steps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepReport {
    /// How they were found.
    pub method: String,
    /// How many.
    pub count: usize,
    /// The median step, in milliseconds.
    pub median_ms: f64,
    /// The busy share of the median step, in percent.
    pub busy_percent: Option<f64>,
}

/// A name and its time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedTimeReport {
    /// The name.
    pub name: String,
    /// How often it occurred.
    pub count: u64,
    /// How long it took in sum, in milliseconds.
    pub total_ms: f64,
    /// Share of the GPU-active span, in percent; ranges of several threads can sum to more than 100.
    pub percent_of_span: Option<f64>,
}

/// What bounds the pipeline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BoundReport {
    /// The bound.
    pub kind: String,
    /// How sure that is.
    pub confidence: String,
    /// What speaks for it.
    pub evidence: Vec<String>,
    /// Rows of the table with evidence on both sides.
    pub contradictions: Vec<String>,
    /// What to change first.
    pub action: String,
}

/// A knob and what a rule says about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnobReport {
    /// The rule.
    pub rule: String,
    /// The element.
    pub target: String,
    /// The knob.
    pub knob: String,
    /// `write`, `benchmark only`, `propose`, `unchanged`, `withheld` or `not derivable`.
    pub state: String,
    /// What it holds.
    pub old: Option<String>,
    /// What it is to hold.
    pub new: Option<String>,
    /// The formula with its numbers.
    pub formula: Option<String>,
    /// Why, or why not.
    pub because: String,
    /// How much the value can be relied on.
    pub confidence: Option<String>,
    /// Where it stands or is to stand.
    pub place: Option<String>,
    /// Why dsprof cannot write it there.
    pub by_hand: Option<String>,
}

/// How many object ids survive in one dump of tracks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RetentionReport {
    /// The dump.
    pub path: String,
    /// Batches that were skipped between two inferences while it was made.
    pub interval: u32,
    /// Kept ids over decided ones of all streams, in percent; `null` where none was decided.
    pub retention_percent: Option<f64>,
    /// Formula and source.
    pub definition: String,
    /// What follows for the interval.
    pub advice: String,
    /// Each stream.
    pub streams: Vec<StreamRetentionReport>,
    /// What to know before relying on it.
    pub notes: Vec<String>,
}

/// How many object ids survive in one stream.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StreamRetentionReport {
    /// The stream, by the number of its source.
    pub stream: String,
    /// Kept ids over decided ones, in percent; `null` where none was decided.
    pub retention_percent: Option<f64>,
    /// Ids that survived.
    pub kept: u64,
    /// Ids in whose place another one appeared.
    pub replaced: u64,
    /// Ids of which neither can be said.
    pub undecided: u64,
    /// Times an id was missing and came back soon.
    pub short_gaps: u64,
    /// Times an id was missing for long and came back.
    pub long_gaps: u64,
    /// Frames that were read.
    pub frames: u64,
}

/// How many streams the GPU can carry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CapacityReport {
    /// The answer in words.
    pub text: String,
    /// The number; `null` if no ceiling is known.
    pub streams: Option<u32>,
    /// What decides.
    pub dominating: Option<String>,
    /// What to buy or change for more.
    pub advice: Option<String>,
    /// The ceilings.
    pub limits: Vec<LimitReport>,
    /// Streams that the pipeline carries as it was measured.
    pub delivered: Option<u32>,
}

/// One ceiling of the capacity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitReport {
    /// What runs out.
    pub resource: String,
    /// At which rate.
    pub fps: Option<f64>,
    /// With how many streams.
    pub streams: Option<u32>,
    /// The formula with its numbers, or what is missing.
    pub formula: String,
}

/// A kind of element whose time no range shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UninstrumentedReport {
    /// The element.
    pub element: String,
    /// How many there are.
    pub count: usize,
    /// Why.
    pub reason: String,
}
