//! `dsprof hw`.

use std::fs;
use std::path::Path;

use anyhow::Result;
use ds_ceilings::{Ceilings, GpuIdentity, GpuMatch, GpuQuery, GpuTable};
use ds_orchestrate::bundle::StageName;
use ds_orchestrate::report::{
    Align, Block, Document, HardwareReport, Table, hardware_document, hardware_report,
};
use ds_orchestrate::{Error, HwReading, gpus_from_text, read_hw};

use super::json;
use crate::args::PageArgs;
use crate::cli::HwArgs;
use crate::exit::{Status, Usage};
use crate::load::Arguments;
use crate::page;
use crate::run::Opened;

pub(crate) fn run(args: &HwArgs) -> Result<Status> {
    let known = GpuTable::built_in();
    if args.list {
        let names: Vec<&str> = known.names().collect();
        page::show(
            &args.page,
            |_| {
                Document::from_iter([Block::Lines(
                    names.iter().map(|n| (*n).to_owned()).collect(),
                )])
            },
            || json(&names),
        )?;
        return Ok(Status::Fine);
    }
    if let [first, second] = args.compare.as_slice() {
        return compare(first, second, &args.page);
    }
    if let Some(name) = &args.gpu {
        let ceilings = planned(name)?;
        let identity = GpuIdentity::named(
            ceilings
                .product
                .as_ref()
                .map_or(name, |product| &product.name),
        );
        return print(&[hardware_report(&identity, &ceilings)], &args.page);
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
    print(&reports, &args.page)
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

fn print(reports: &[HardwareReport], args: &PageArgs) -> Result<Status> {
    page::show(
        args,
        |_| {
            reports
                .iter()
                .map(hardware_document)
                .fold(Document::default(), Document::then)
        },
        || json(&reports),
    )?;
    Ok(Status::Fine)
}

fn compare(first: &str, second: &str, args: &PageArgs) -> Result<Status> {
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
    let columns = [
        ("Ceiling", Align::Left),
        (first, Align::Right),
        (second, Align::Right),
        ("Unit", Align::Left),
        ("Second / first", Align::Right),
    ];
    page::show(
        args,
        |_| Document::from_iter([Block::Table(Table::new(&columns, cells))]),
        || {
            let rows: Vec<serde_json::Value> = rows
                .iter()
                .map(|row| {
                    serde_json::json!({"id": row.id, "label": row.label, "unit": row.unit, "first": row.first, "second": row.second, "ratio": row.ratio})
                })
                .collect();
            json(&rows)
        },
    )?;
    Ok(Status::Fine)
}
