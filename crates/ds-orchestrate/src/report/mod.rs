//! Reports: plain data with a version, and the ways of showing them.
//!
//! The core types of the lower crates do not serialise; these do, under a schema that changes only on purpose. What a
//! report says is written once, in `content/`, as a [`Document`]; Markdown, text and HTML show the same document.

mod build;
mod capture;
mod content;
mod document;
mod html;
mod markdown;
mod model;
mod text;
mod tracks;

pub use build::{
    ReportInputs, bound_report, build_report, capacity_report, e2e_report, expected,
    hardware_report, knob_reports, plateau_report, trace_report,
};
pub use capture::{
    CaptureReport, FallbackReport, GateReport, account_report, capture_report, gate_reports,
};
pub use content::{
    Extent, capacity_document, capture_document, hardware_document, plan_document,
    profile_document, report_document, retention_document, sweep_document, trace_document,
};
pub use document::{
    Align, Bars, Block, Column, Curve, CurvePoint, CurveRate, Document, LongCells, Table,
};
pub use html::html;
pub use markdown::markdown;
pub use model::{
    BoundReport, CapacityReport, CeilingReport, E2eReport, HardwareReport, KnobReport, LimitReport,
    NamedTimeReport, PipelineReport, PlateauReport, PluginReport, Report, RetentionReport, SCHEMA,
    StepReport, StreamRetentionReport, SweepPointReport, TraceReport, UninstrumentedReport,
};
pub use text::{Colour, Glyphs, Page, text};
pub use tracks::retention_report;
