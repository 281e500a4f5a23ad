//! Reports: plain data with a version, and their renderings.
//!
//! The core types of the lower crates do not serialise; these do, under a schema that changes only on purpose.

mod build;
mod capture;
mod markdown;
mod model;

pub use build::{
    ReportInputs, bound_report, build_report, capacity_report, e2e_report, expected,
    hardware_report, knob_reports, plateau_report, trace_report,
};
pub use capture::{
    CaptureReport, FallbackReport, GateReport, account_markdown, account_report, capture_markdown,
    capture_report, gate_reports,
};
pub use markdown::{
    capacity_markdown, markdown, plan_markdown, profile_markdown, sweep_markdown, trace_markdown,
};
pub use model::{
    BoundReport, CapacityReport, CeilingReport, E2eReport, HardwareReport, KnobReport, LimitReport,
    NamedTimeReport, PipelineReport, PlateauReport, PluginReport, Report, SCHEMA, StepReport,
    SweepPointReport, TraceReport, UninstrumentedReport,
};
