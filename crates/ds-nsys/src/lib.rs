//! Reads exports of NVIDIA Nsight Systems without Nsight Systems.
//!
//! Nsight Systems records what a program did on the CPU and the GPU and exports it as a SQLite file. This crate reads
//! such a file as it stands, of any release from 2020 to 2026, and gives
//!
//! - the reports of `nsys stats`, equal to the last printed digit ([`Trace::report`]) and as values with units
//!   ([`Trace::kernel_summary`], [`Trace::memory_summary`], [`Trace::api_summary`], [`Trace::range_summary`]), also split
//!   by process, device and stream and cut to a window of time;
//! - how long each GPU was busy ([`Trace::busy`]): the union of kernels, CUDA graphs, copies and sets on each device;
//! - where a pipeline's time goes by the elements that mark NVTX ranges ([`Trace::plugin_times`]);
//! - what a capture means: idle gaps ([`Trace::gaps`]), decode steps ([`Trace::steps`]), whether it can be trusted
//!   ([`Trace::check`]), what differs from another one ([`Trace::diff`]), kernel time by category
//!   ([`Trace::categories`]) and beside a sampled profile ([`Trace::join`]), rank by rank ([`RankTable::new`]);
//! - sampled hardware counters ([`Trace::gpu_metrics`]) and memory in use ([`Trace::memory_usage`]);
//! - how the capture was made, and what the profiler said about it ([`Trace::capture`], [`Trace::diagnostics`]).
//!
//! Traces of PyTorch's profiler (Kineto), as vLLM writes them one a rank, are opened by the same [`Trace::open`] and answer
//! the same questions as far as they can; [`Trace::kineto`] says what they say about themselves. Where neither exists,
//! [`StatsOutput`] reads what somebody's `nsys stats` printed.
//!
//! It is not a profiler and starts none: it reads files and changes nothing. It has no opinion on what is fast. It knows
//! no other crate of this workspace.
//!
//! # The format
//!
//! An export is a SQLite database with one table a kind of event: `CUPTI_ACTIVITY_KIND_KERNEL`, `…_MEMCPY`, `…_MEMSET`,
//! `…_GRAPH_TRACE` (CUDA graphs traced as a whole), `…_RUNTIME` (CUDA API calls), `NVTX_EVENTS`, `OSRT_API`. What a
//! reader has to know:
//!
//! - Tables exist only for data that exists. A missing table is absent data (`None`), and does not say why. Tables and
//!   columns are found by name: releases add columns, users add their own, and nothing else is certain.
//! - Times are nanoseconds from the start of the session, and may be negative. A start and end of 0 means that no time
//!   was collected.
//! - Rows keep no order, and there are no indexes: one pass over a table is the floor.
//! - Names are ids in `StringIds`. An NVTX range has its text either in `text` or, when registered, by `textId`.
//! - Processes are told apart by the upper 40 bits of `globalPid` and `globalTid`. A device is a number that its process
//!   gives it, so two workers may both use device 0 and mean two GPUs: the key is ([`ProcessKey`], ordinal).
//! - GPU work belongs to the API call with the same process and correlation id. All nodes of one graph launch share it.
//! - In `graph` mode a CUDA graph is one interval, and its kernels are nowhere else: sums over kernels then miss most of
//!   the work, and the busy time is an upper figure, since gaps inside a graph count.
//!
//! # Example
//!
//! ```
//! use ds_nsys::{Report, ReportKind, ReportOptions, Trace, Window};
//!
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/nsys/captures/decode_graph/trace.sqlite.gz");
//! let trace = Trace::open(path)?;
//!
//! // As `nsys stats --report nvtx_sum --format csv` prints it.
//! let table = trace.report(Report::from(ReportKind::NvtxSum), ReportOptions::default())?;
//! assert!(table.to_csv().contains(",200,493776.3,490606.5,"));
//!
//! // 200 decode steps ran as CUDA graphs: kernels alone would call the GPU idle.
//! let busy = trace.busy(Window::ALL)?;
//! let device = &busy.devices[0];
//! assert_eq!(format!("{:.1} ms", device.busy_time().as_millis_f64()), "103.6 ms");
//! assert_eq!(format!("{:.1} ms", device.kernel_time().as_millis_f64()), "14.4 ms");
//! assert!(device.is_upper_figure());
//! # Ok::<(), ds_nsys::Error>(())
//! ```
//!
//! # Limitations
//!
//! - Reports (`.nsys-rep`, `.qdrep`) and raw streams (`.qdstrm`) are recognised, with the release that wrote them, and
//!   refused: only the profiler can export them.
//! - Compressed exports are read on Unix only, where a file can lose its name while it is open.
//! - A file up to 64 MiB is checked page by page when it is opened, a larger one by its length
//!   ([`Trace::integrity`], [`Trace::check_pages`]). A changed byte inside a value that is still a value of the right
//!   type cannot be noticed by anybody: exports carry no checksums.
//! - Equality with `nsys stats` was measured against 2025.3.2 and 2023.4.4. Names with quotes are quoted as CSV demands,
//!   where 2023.4.4 leaves inner quotes single; a copy of a kind that no known release has is shown by its number, where
//!   2023.4.4 leaves it out; and an open range belongs to a window, where its time filter drops it. That filter cuts
//!   every table by itself: work launched before the window loses its call and its range there, and a range the name of
//!   its domain, which are kept here. In columns 2023.4.4 cuts, after the first 100 rows, every cell that is wider than
//!   those before, numbers too; here only names are cut, and only where asked.
//! - A trace of PyTorch's profiler is turned into a temporary database of about a fifth of its uncompressed size. It knows
//!   kernels, copies, sets, CUDA calls and user annotations; operators and Python functions are counted, not kept. Files
//!   that somebody merged from several ranks are read as one process, with a warning.
//! - The GPU of a sampled counter follows from its type id, which was observed on machines with one GPU only.

mod analysis;
mod busy;
mod error;
mod file_kind;
mod gpu_metrics;
mod grouped;
mod ids;
mod kineto;
mod launch;
mod memory_usage;
mod nvtx;
mod pages;
mod query;
mod report;
mod rows;
mod samples;
mod schema;
mod stats_text;
mod strings;
mod style;
mod summary;
mod trace;
mod units;

pub use analysis::{
    Amount, AnchorReading, BoundFinding, BusyShares, CaptureBound, Categories, Category,
    CategoryOptions, CategoryOverRanks, CategoryTime, Change, CheckOptions, CollectiveTime,
    Communication, DeviceGaps, Diff, DiffOptions, DiffRow, Differences, EffectiveNumber, Emptiness,
    ExpectedTpot, GapClass, GapOptions, Gate, GateId, GateRole, GateState, Join, JoinRow,
    KernelTime, Measure, NameFolding, Normalization, Note, Outcome, OverallItem, Prefill,
    PrefillEvidence, Purpose, RankBasis, RankKey, RankOptions, RankRow, RankSteps, RankTable,
    Refusal, RefusalPolicy, SampledItem, SampledProfile, Side, Significance, Spread, Step,
    StepBound, StepKind, StepMethod, StepOptions, StepSeries, StepTokens, Steps, Straggler,
    StragglerEvidence, Taxonomy, Verdict, WorkBasis, WorkKind,
};
pub use busy::{Busy, DeviceBusy, GpuWork, Interval, Intervals, WorkTimeline};
pub use error::{Error, ErrorKind, Result};
pub use file_kind::{FileKind, MAGIC_LEN, NotAVersion, NsysVersion};
pub use gpu_metrics::{Metric, MetricSamples, MetricUnit, Reading};
pub use ids::{DeviceKey, ProcessKey, StreamKey, ThreadKey};
pub use kineto::{CutOff, Distributed, EventCounts, Kineto, ProfilerOption};
pub use memory_usage::{MemoryKind, MemoryUsage};
pub use nvtx::{
    FoldedRange, Plugin, PluginTime, PluginTimes, RangeName, RangeOwner, RangeStyle, ThreadTime,
};
pub use query::{Scope, Selection, Split, Window};
pub use report::{
    Cell, Heading, NameWidth, NvtxNames, Report, ReportKind, ReportOptions, RowSink,
    SeparatedWriter, Table, TextReport,
};
pub use samples::{DurationSummary, SizeSummary};
pub use schema::SchemaVersion;
pub use stats_text::{
    FileContents, StatsAmount, StatsColumn, StatsFigure, StatsMessage, StatsNote, StatsOutput,
    StatsRow, StatsTable, StatsUnit, StatsValue,
};
pub use style::Style;
pub use summary::{
    ApiSummary, CopyKind, KernelNaming, KernelSummary, MemoryOperation, MemorySummary,
    RangeSummaries, RangeSummary,
};
pub use trace::{
    CaptureSettings, Diagnostic, DiagnosticSource, ExportVersion, Gpu, GraphTracing, Integrity,
    Process, Severity, Trace, Trigger, Warning,
};
pub use units::{Bytes, FracBytes, FracNanos, Nanos, Share};
