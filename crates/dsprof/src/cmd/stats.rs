//! `dsprof trace stats`.

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use ds_nsys::{NameWidth, Report, ReportOptions, Style, Table, Trace};
use serde_json::{Map, Value};

use crate::args::TableFormat;
use crate::cli::{StatsArgs, StyleArg};
use crate::exit::{Status, Usage};
use crate::output;

pub(crate) fn run(args: &StatsArgs) -> Result<Status> {
    let reports = args
        .report
        .iter()
        .map(|name| {
            name.trim()
                .parse::<Report>()
                .map_err(|error| Usage(format!("--report {name}: {error}")))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let style = match args.style {
        StyleArg::V2025 => Style::V2025,
        StyleArg::V2023 => Style::V2023,
    };
    let trace = Trace::open(&args.trace)?;
    for warning in trace.warnings() {
        output::message(&format!("note: {warning}"));
    }
    let mut blocks = Vec::new();
    for report in reports {
        let table = trace.report(
            report,
            ReportOptions {
                style,
                ..ReportOptions::default()
            },
        )?;
        if table.is_empty() {
            output::message(&format!("{}: no data for {report}", args.trace.display()));
        }
        let text = rendered(&table, args.format)?;
        match &args.output {
            Some(prefix) => {
                let path = PathBuf::from(format!(
                    "{prefix}_{}.{}",
                    file_name(&report),
                    ending(args.format)
                ));
                ds_orchestrate::atomic::write(&path, text.as_bytes())
                    .with_context(|| format!("cannot write `{}`", path.display()))?;
            }
            None => blocks.push(text),
        }
    }
    blocks.retain(|block| !block.is_empty());
    output::data(&blocks.join("\n"))?;
    Ok(Status::Fine)
}

/// nsys names files by the report without its options.
fn file_name(report: &Report) -> String {
    let name = report.to_string();
    name.split(':').next().unwrap_or_default().to_owned()
}

fn ending(format: TableFormat) -> &'static str {
    match format {
        TableFormat::Text => "txt",
        TableFormat::Csv => "csv",
        TableFormat::Tsv => "tsv",
        TableFormat::Json => "json",
    }
}

/// Where text tables of `nsys stats` cut names (seen with 2022.4.2 and 2023.4.4).
const NSYS_NAME_WIDTH: usize = 100;

fn rendered(table: &Table, format: TableFormat) -> Result<String> {
    Ok(match format {
        TableFormat::Text => table.to_text(NameWidth::AtMost(NSYS_NAME_WIDTH)),
        TableFormat::Csv => table.to_csv(),
        TableFormat::Tsv => table.to_tsv(),
        TableFormat::Json => super::json(&as_json(table))?,
    })
}

/// One object a row, numbers as they are printed.
fn as_json(table: &Table) -> Vec<Value> {
    let value = |cell: &ds_nsys::Cell<'_>| {
        let printed = cell.printed(table.style());
        let number = cell
            .is_number()
            .then(|| printed.parse::<serde_json::Number>().ok())
            .flatten();
        match number {
            Some(number) => Value::Number(number),
            None if printed.is_empty() => Value::Null,
            None => Value::String(printed.into_owned()),
        }
    };
    table
        .rows()
        .iter()
        .map(|row| {
            let cells = table
                .columns()
                .iter()
                .zip(row)
                .map(|(column, cell)| ((*column).to_owned(), value(cell)));
            Value::Object(cells.collect::<Map<_, _>>())
        })
        .collect()
}
