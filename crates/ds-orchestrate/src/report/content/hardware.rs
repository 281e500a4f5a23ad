//! The GPU and its ceilings.

use super::super::document::{Align, Block, Document, Table};
use super::super::model::{CeilingReport, HardwareReport};

/// A GPU: who it is, its ceilings, and what to know about it.
pub fn hardware_document(report: &HardwareReport) -> Document {
    let unknown = |value: Option<String>| value.unwrap_or_else(|| "unknown".to_owned());
    let facts = [
        ("Driver", report.driver.clone()),
        ("Compute capability", report.compute_capability.clone()),
        ("SM", report.sm_count.map(|n| format!("×{n}"))),
        ("NVDEC", report.nvdec_count.map(|n| format!("×{n}"))),
        ("PCIe", report.pcie.clone()),
        (
            "Memory",
            report.memory_mib.map(|mib| format!("{mib:.0} MiB")),
        ),
    ];
    let mut out = Document::default();
    out.push(Block::Title(report.name.clone()));
    out.push(Block::Facts(
        facts
            .map(|(name, value)| (name.to_owned(), unknown(value)))
            .to_vec(),
    ));
    out = out.then(ceilings_table(report));
    for finding in &report.findings {
        out.push(Block::Quote(finding.clone()));
    }
    out
}

/// Every ceiling with formula and source, and what to know before using one.
pub(super) fn ceilings_table(report: &HardwareReport) -> Document {
    // Many ceilings share their source, and a source is a long line: each is said once, under a number.
    let mut sources: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for ceiling in &report.ceilings {
        rows.push(vec![
            ceiling.label.clone(),
            ceiling
                .value
                .map_or_else(|| "unknown".to_owned(), |value| format!("{value:.1}")),
            ceiling.unit.clone(),
            ceiling.confidence.clone().unwrap_or_default(),
            cited(ceiling, &mut sources),
            ceiling
                .formula
                .clone()
                .or_else(|| ceiling.reason.clone())
                .unwrap_or_default(),
        ]);
    }
    let mut out = Document::default();
    out.push(Block::Table(Table::new(
        &[
            ("Ceiling", Align::Left),
            ("Value", Align::Right),
            ("Unit", Align::Left),
            ("Confidence", Align::Left),
            ("Source", Align::Left),
            ("Formula, or why it is unknown", Align::Left),
        ],
        rows,
    )));
    out.bullets(
        sources
            .iter()
            .zip(1..)
            .map(|(source, number)| format!("[{number}] {source}")),
    );
    out.bullets(caveats(&report.ceilings));
    out
}

/// The number of a ceiling's source.
fn cited<'a>(ceiling: &'a CeilingReport, sources: &mut Vec<&'a str>) -> String {
    let Some(source) = ceiling.source.as_deref() else {
        return String::new();
    };
    let at = sources
        .iter()
        .position(|known| *known == source)
        .unwrap_or_else(|| {
            sources.push(source);
            sources.len() - 1
        });
    format!("[{}]", at + 1)
}

/// What to know before using a ceiling; one that holds for several is said once.
fn caveats(ceilings: &[CeilingReport]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for ceiling in ceilings {
        let Some(caveat) = ceiling.caveat.as_deref() else {
            continue;
        };
        match groups.iter_mut().find(|(known, _)| *known == caveat) {
            Some((_, labels)) => labels.push(&ceiling.label),
            None => groups.push((caveat, vec![&ceiling.label])),
        }
    }
    groups
        .into_iter()
        .map(|(caveat, labels)| match labels.as_slice() {
            [first, .., last] if labels.len() > 3 => {
                format!("{first} to {last} ({} rows): {caveat}", labels.len())
            }
            labels => format!("{}: {caveat}", labels.join("; ")),
        })
        .collect()
}

/// The GPU in a line.
pub(super) fn identity_line(hardware: &HardwareReport) -> String {
    let parts = [
        hardware.sm_count.map(|n| format!("SM ×{n}")),
        hardware.nvdec_count.map(|n| format!("NVDEC ×{n}")),
        hardware.pcie.as_ref().map(|link| format!("PCIe {link}")),
        hardware
            .memory_mib
            .map(|mib| format!("{:.0} GiB", mib / 1024.0)),
        hardware
            .driver
            .as_ref()
            .map(|driver| format!("driver {driver}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{}: {}", hardware.name, parts.join(", "))
}

/// The ceilings that a pipeline meets; all of them are in the HTML and JSON reports and in `dsprof hw`.
pub(super) fn ceilings_line(hardware: &HardwareReport) -> String {
    let wanted = [
        "tensor.fp16",
        "tensor.int8",
        "memory",
        "pcie.h2d",
        "decode.h264",
        "decode.hevc",
    ];
    let shown: Vec<String> = hardware
        .ceilings
        .iter()
        .filter(|ceiling| wanted.contains(&ceiling.id.as_str()))
        .map(|ceiling| match ceiling.value {
            Some(value) => format!("{} {value:.0} {}", ceiling.label, ceiling.unit),
            None => format!("{} unknown", ceiling.label),
        })
        .collect();
    shown.join("; ")
}
