//! What each report says: from its data to a document.

mod capture;
mod hardware;
mod measured;
mod plan;
mod tracks;

pub use capture::capture_document;
pub use hardware::hardware_document;
pub use measured::{profile_document, sweep_document, trace_document};
pub use plan::{capacity_document, plan_document};
pub use tracks::retention_document;

use self::hardware::{ceilings_line, ceilings_table, identity_line};
use self::measured::{bound, curve, e2e_line, plateau_line, plugins, sweep_table, utilisation};
use super::document::{Block, Document};
use super::model::Report;

/// How much of a report is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What fits a terminal: the plan without its diff, the ceilings in a line.
    Short,
    /// Everything: each ceiling with its source, and the diff.
    Whole,
}

/// The report of a whole run.
pub fn report_document(report: &Report, extent: Extent) -> Document {
    let mut out = Document::default();
    out.push(Block::Title(report.pipeline.path.clone()));
    out.push(Block::Lead(report.summary.clone()));
    if let Some(provenance) = &report.provenance {
        out.push(Block::Quote(provenance.clone()));
    }
    out.push(Block::Chapter("Profile summary".to_owned()));
    out.push(Block::Facts(summary_facts(report)));
    if let Some(plateau) = &report.plateau {
        out.push(Block::Section("Sweep".to_owned()));
        out.push(Block::Curve(curve(plateau)));
        out.push(Block::Table(sweep_table(plateau)));
        out.bullets(plateau.notes.iter().cloned());
    }
    out = out
        .then(capture_document(&report.preflight, report.capture.as_ref()))
        .then(utilisation(report.e2e.as_ref(), report.trace.as_ref()));
    if let Some(verdict) = &report.bound {
        out = out.then(bound(verdict));
    }
    out = out
        .then(plugins(report.trace.as_ref(), report.no_trace.as_deref()))
        .then(retention_document(&report.tracks));
    out.push(Block::Section(
        if report.applied {
            "Applied configs"
        } else {
            "Applied configs: none yet, this is the plan"
        }
        .to_owned(),
    ));
    out = out.then(plan_document(&report.knobs, &report.expected));
    if extent == Extent::Whole && !report.diff.is_empty() {
        out.push(Block::Section("Changes of the files".to_owned()));
        out.push(Block::Diff(report.diff.clone()));
    }
    out.push(Block::Section("Capacity".to_owned()));
    out = out.then(capacity_document(
        &report.capacity,
        report.pipeline.fps_asked,
    ));
    if extent == Extent::Whole
        && let Some(hardware) = &report.hardware
    {
        out.push(Block::Section("Ceilings".to_owned()));
        out = out.then(ceilings_table(hardware));
    }
    out.then(uninstrumented(report)).then(notes(report))
}

fn summary_facts(report: &Report) -> Vec<(String, String)> {
    let not_measured = || "not measured".to_owned();
    let unknown = || "unknown".to_owned();
    let hardware = report.hardware.as_ref();
    [
        ("Pipeline", pipeline(report)),
        ("Hardware", hardware.map_or_else(unknown, identity_line)),
        ("Ceilings", hardware.map_or_else(unknown, ceilings_line)),
        (
            "Inference plateau",
            report
                .plateau
                .as_ref()
                .map_or_else(not_measured, plateau_line),
        ),
        (
            "E2E measured",
            report.e2e.as_ref().map_or_else(not_measured, e2e_line),
        ),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

fn pipeline(report: &Report) -> String {
    let pipeline = &report.pipeline;
    let own = pipeline
        .streams
        .map_or_else(|| "an unknown number of".to_owned(), |n| n.to_string());
    format!(
        "{}, {own} streams in {}; asked for: {} streams at {} frames/s",
        pipeline.form,
        count(pipeline.files.len(), "file"),
        pipeline.streams_asked,
        pipeline.fps_asked
    )
}

fn uninstrumented(report: &Report) -> Document {
    let mut out = Document::default();
    if report.uninstrumented.is_empty() {
        return out;
    }
    out.push(Block::Section("Uninstrumented".to_owned()));
    out.push(Block::Paragraph("No range shows the time of:".to_owned()));
    out.bullets(
        report
            .uninstrumented
            .iter()
            .map(|kind| format!("`{}` ×{}: {}", kind.element, kind.count, kind.reason)),
    );
    out
}

fn notes(report: &Report) -> Document {
    let mut notes = report.pipeline.faults.clone();
    notes.extend(
        report
            .hardware
            .iter()
            .flat_map(|hardware| hardware.findings.clone()),
    );
    notes.extend(report.notes.clone());
    let mut out = Document::default();
    if !notes.is_empty() {
        out.push(Block::Section("Notes".to_owned()));
        out.bullets(notes);
    }
    out
}

fn count(n: usize, word: &str) -> String {
    if n == 1 {
        format!("1 {word}")
    } else {
        format!("{n} {word}s")
    }
}

/// A number with its unit, or a dash where it was not measured.
fn known(value: Option<f64>, places: usize, unit: &str) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.places$}{unit}"))
}

/// Kernel names run to hundreds of characters; the JSON report and `trace stats` have them whole.
fn shorten(name: &str) -> String {
    const WIDTH: usize = 72;
    if name.chars().count() <= WIDTH {
        return name.to_owned();
    }
    let head: String = name.chars().take(WIDTH - 1).collect();
    format!("{head}…")
}
