//! Reads exports of NVIDIA Nsight Systems without Nsight Systems.

mod analysis;
mod busy;
mod error;
mod file_kind;
mod gpu_metrics;
mod grouped;
mod ids;
mod launch;
mod memory_usage;
mod nvtx;
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
    StepBound, StepKind, StepMethod, StepOptions, StepSeries, Steps, Straggler, StragglerEvidence,
    Taxonomy, Verdict, WorkBasis, WorkKind,
};
pub use busy::{Busy, DeviceBusy, GpuWork, Interval, Intervals, WorkTimeline};
pub use error::{Error, ErrorKind, Result};
pub use file_kind::{FileKind, MAGIC_LEN, NotAVersion, NsysVersion};
pub use gpu_metrics::{Metric, MetricSamples, MetricUnit, Reading};
pub use ids::{DeviceKey, ProcessKey, StreamKey, ThreadKey};
pub use memory_usage::{MemoryKind, MemoryUsage};
pub use nvtx::{
    FoldedRange, Plugin, PluginTime, PluginTimes, RangeName, RangeOwner, RangeStyle, ThreadTime,
};
pub use query::{Scope, Selection, Split, Window};
pub use report::{
    Cell, Heading, NameWidth, NvtxNames, Report, ReportKind, ReportOptions, RowSink,
    SeparatedWriter, Table,
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
