//! `dsprof hw`.

// Writing to a String cannot fail.
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::Result;
use ds_ceilings::{Ceilings, GpuIdentity, GpuMatch, GpuQuery, GpuTable};
use ds_orchestrate::bundle::StageName;
use ds_orchestrate::report::{HardwareReport, hardware_report};
use ds_orchestrate::{Error, HwReading, gpus_from_text, read_hw};

use super::json;
use crate::args::ReportFormat;
use crate::cli::HwArgs;
use crate::exit::{Status, Usage};
use crate::load::Arguments;
use crate::output;
use crate::run::Opened;
use crate::table::{plain, table};

pub(crate) fn run(args: &HwArgs) -> Result<Status> {
    let known = GpuTable::built_in();
    if args.list {
        let names: Vec<&str> = known.names().collect();
        let text = match args.format {
            ReportFormat::Json => json(&names)?,
            ReportFormat::Text | ReportFormat::Md => names.join("\n") + "\n",
        };
        output::data(&text)?;
        return Ok(Status::Fine);
    }
    if let [first, second] = args.compare.as_slice() {
        return compare(first, second, args.format);
    }
    if let Some(name) = &args.gpu {
        let ceilings = planned(name)?;
        let identity = GpuIdentity::named(
            ceilings
                .product
                .as_ref()
                .map_or(name, |product| &product.name),
        );
        return print(&[hardware_report(&identity, &ceilings)], args.format);
    }
    let reading = match &args.from {
        Some(path) => from_file(path)?,
        None => from_machine(args)?,
    };
    let report = |gpu: &GpuIdentity| {
        let mut report = hardware_report(gpu, &Ceilings::new(gpu, known));
        report.findings.extend(reading.findings.iter().cloned());
        report
    };
    let reports: Vec<HardwareReport> = reading.gpus.iter().map(report).collect();
    print(&reports, args.format)
}

fn from_file(path: &Path) -> Result<HwReading> {
    let text = fs::read_to_string(path).map_err(|source| Error::Read {
        path: path.to_owned(),
        source,
    })?;
    Ok(HwReading {
        gpus: gpus_from_text(&text)?,
        ..HwReading::default()
    })
}

fn from_machine(args: &HwArgs) -> Result<HwReading> {
    let opened = Opened::new(&args.bundle)?;
    let mut now = Arguments::new();
    if let Some(index) = args.gpu_args.gpu_index {
        now.insert("gpu-index".to_owned(), index.to_string());
    }
    if let Some(via) = args.via {
        now.insert("via".to_owned(), via.name().to_owned());
    }
    let merged = opened.merged(now);
    opened.with_session("hw", None, &merged, None, |session| {
        let mut reading = session.stage(StageName::Hw, |session| read_hw(session))?;
        if let Some(index) = args.gpu_args.gpu_index {
            reading.gpus = vec![reading.gpu(index)?.clone()];
        }
        Ok(reading)
    })
}

/// The ceilings of a GPU by its name.
///
/// # Errors
///
/// When the name is unknown or stands for several products.
pub(crate) fn planned(name: &str) -> Result<Ceilings> {
    match GpuTable::built_in().find(&GpuQuery::by_name(name)) {
        GpuMatch::Found(_) => Ok(Ceilings::planned(name, GpuTable::built_in())),
        GpuMatch::Ambiguous { candidates } => {
            let labels: Vec<&str> = candidates
                .iter()
                .map(|candidate| candidate.label())
                .collect();
            Err(Usage(format!(
                "`{name}` stands for several products: {}",
                labels.join(", ")
            ))
            .into())
        }
        GpuMatch::Unknown { similar } => {
            let labels: Vec<&str> = similar.iter().map(|name| &**name).collect();
            let near = if labels.is_empty() {
                String::new()
            } else {
                format!("; similar: {}", labels.join(", "))
            };
            Err(Usage(format!(
                "no GPU named `{name}` is known{near}; `dsprof hw --list` shows all"
            ))
            .into())
        }
    }
}

fn print(reports: &[HardwareReport], format: ReportFormat) -> Result<Status> {
    let text = match format {
        ReportFormat::Json => json(&reports)?,
        ReportFormat::Text => reports.iter().map(text).collect::<Vec<_>>().join("\n"),
        ReportFormat::Md => reports.iter().map(markdown).collect::<Vec<_>>().join("\n"),
    };
    output::data(&text)?;
    Ok(Status::Fine)
}

fn identity(report: &HardwareReport) -> Vec<(&'static str, String)> {
    let rows = [
        ("GPU", Some(report.name.clone())),
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
    rows.into_iter()
        .map(|(name, value)| (name, value.unwrap_or_else(|| "unknown".to_owned())))
        .collect()
}

fn ceiling_rows(report: &HardwareReport) -> Vec<Vec<String>> {
    report
        .ceilings
        .iter()
        .map(|ceiling| {
            vec![
                ceiling.label.clone(),
                ceiling
                    .value
                    .map_or_else(|| "unknown".to_owned(), |value| format!("{value:.1}")),
                ceiling.unit.clone(),
                ceiling.confidence.clone().unwrap_or_default(),
                ceiling
                    .formula
                    .clone()
                    .or_else(|| ceiling.reason.clone())
                    .unwrap_or_default(),
            ]
        })
        .collect()
}

const HEADING: [&str; 5] = [
    "Ceiling",
    "Value",
    "Unit",
    "Confidence",
    "Formula, or why it is unknown",
];

fn text(report: &HardwareReport) -> String {
    let rows: Vec<Vec<String>> = identity(report)
        .into_iter()
        .map(|(name, value)| vec![name.to_owned(), value])
        .collect();
    let mut out = plain(&rows);
    out.push('\n');
    out.push_str(&table(&HEADING, &ceiling_rows(report), &[1]));
    for finding in &report.findings {
        let _ = writeln!(out, "! {finding}");
    }
    out
}

fn markdown(report: &HardwareReport) -> String {
    let mut out = format!("# {}\n\n", report.name);
    for (name, value) in identity(report).into_iter().skip(1) {
        let _ = writeln!(out, "- **{name}** {value}");
    }
    let _ = write!(
        out,
        "\n| {} |\n|---|--:|---|---|---|\n",
        HEADING.join(" | ")
    );
    for row in ceiling_rows(report) {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    for finding in &report.findings {
        let _ = writeln!(out, "\n> {finding}");
    }
    out
}

fn compare(first: &str, second: &str, format: ReportFormat) -> Result<Status> {
    let rows = planned(first)?.compare(&planned(second)?);
    let text_of = |value: Option<f64>| {
        value.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.1}"))
    };
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let ratio = row
                .ratio
                .map_or_else(|| "–".to_owned(), |ratio| format!("×{ratio:.2}"));
            vec![
                row.label.clone(),
                text_of(row.first),
                text_of(row.second),
                row.unit.to_owned(),
                ratio,
            ]
        })
        .collect();
    let heading = ["Ceiling", first, second, "Unit", "Second / first"];
    let text = match format {
        ReportFormat::Text => table(&heading, &cells, &[1, 2, 4]),
        ReportFormat::Md => {
            let rows: Vec<String> = cells
                .iter()
                .map(|row| format!("| {} |\n", row.join(" | ")))
                .collect();
            format!(
                "| {} |\n|---|--:|--:|---|--:|\n{}",
                heading.join(" | "),
                rows.concat()
            )
        }
        ReportFormat::Json => {
            let rows: Vec<serde_json::Value> = rows
                .iter()
                .map(|row| {
                    serde_json::json!({"id": row.id, "label": row.label, "unit": row.unit, "first": row.first, "second": row.second, "ratio": row.ratio})
                })
                .collect();
            json(&rows)?
        }
    };
    output::data(&text)?;
    Ok(Status::Fine)
}
