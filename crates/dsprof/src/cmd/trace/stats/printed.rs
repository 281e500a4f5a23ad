//! What somebody's `nsys stats` printed, read again where the export itself is not at hand.

use std::io::Write;

use anyhow::Result;
use ds_nsys::{
    FileContents, Report, ReportKind, StatsMessage, StatsNote, StatsOutput, StatsTable, StatsUnit,
    StatsValue, Window,
};
use serde_json::{Map, Value, json};

use crate::cli_trace::{StatsArgs, StatsFormat, StyleArg};
use crate::cmd::json as json_text;
use crate::cmd::trace::input;
use crate::exit::{Status, Unusable, Usage};
use crate::output;
use crate::table::table;

/// Prints the tables that were asked for, all without a wish.
pub(super) fn run(args: &StatsArgs, printed: &StatsOutput, reports: &[Report]) -> Result<Status> {
    refuse_what_needs_the_export(args, reports)?;
    for message in &printed.messages {
        output::message(&format!("note: {}", said(message)));
    }
    let tables = wanted(printed, reports)?;
    let format = match args.format.as_slice() {
        [] => StatsFormat::Text,
        [format] => *format,
        _ => {
            return Err(Usage(
                "--format: of printed text all tables are printed alike; give one format"
                    .to_owned(),
            )
            .into());
        }
    };
    for table in &tables {
        for note in &table.notes {
            output::message(&format!("note: {}: {}", name(table), warning(note)));
        }
    }
    output::stream(|out| match format {
        StatsFormat::Text => tables.iter().try_for_each(|table| as_text(table, out)),
        StatsFormat::Csv => separated(&tables, ',', out),
        StatsFormat::Tsv => separated(&tables, '\t', out),
        StatsFormat::Json => {
            let tables: Vec<Value> = tables.iter().map(|table| as_json(table)).collect();
            let text = json_text(&json!({"schema": "dsprof.printed-stats/1", "tables": tables}))?;
            Ok(out.write_all(text.as_bytes())?)
        }
    })?;
    Ok(Status::Fine)
}

fn refuse_what_needs_the_export(args: &StatsArgs, reports: &[Report]) -> Result<()> {
    let what = if args.by.is_some() {
        "--by"
    } else if input::window(args.window)? != Window::ALL {
        "--from-ms and --to-ms"
    } else if args.style != StyleArg::default() {
        "--style"
    } else if !args.output.is_empty() {
        "--output"
    } else if reports
        .iter()
        .any(|report| *report != Report::from(report.kind))
    {
        "an option of a report"
    } else {
        return Ok(());
    };
    Err(Unusable(format!(
        "{what}: needs the export; this file is what `nsys stats` printed"
    ))
    .into())
}

fn wanted<'p>(printed: &'p StatsOutput, reports: &[Report]) -> Result<Vec<&'p StatsTable>> {
    if printed.tables.is_empty() {
        return Err(Unusable("`nsys stats` printed no table into this file".to_owned()).into());
    }
    if reports.is_empty() {
        return Ok(printed.tables.iter().collect());
    }
    let mut found = Vec::new();
    for report in reports {
        let before = found.len();
        found.extend(
            printed
                .tables
                .iter()
                .filter(|table| kind(table) == Some(report.kind)),
        );
        if found.len() == before {
            let held: Vec<&str> = printed.tables.iter().map(name).collect();
            let what = format!(
                "the file holds no `{}`, only: {}",
                report.kind,
                held.join(", ")
            );
            return Err(Unusable(what).into());
        }
    }
    Ok(found)
}

/// The report of a table, where the text names it; names may carry options.
fn kind(table: &StatsTable) -> Option<ReportKind> {
    let name = table.report.as_deref()?;
    let bare = name.split([':', '(']).next().unwrap_or(name);
    bare.trim_end_matches(".py").parse().ok()
}

fn name(table: &StatsTable) -> &str {
    table.report.as_deref().unwrap_or("a table without a name")
}

fn as_text(printed: &StatsTable, out: &mut dyn Write) -> Result<()> {
    let columns: Vec<&str> = printed
        .columns
        .iter()
        .map(|column| column.heading.as_str())
        .collect();
    let rows: Vec<Vec<String>> = printed
        .rows
        .iter()
        .map(|row| row.iter().map(cell).collect())
        .collect();
    let is_number = |at: &usize| {
        printed
            .rows
            .iter()
            .any(|row| matches!(row.get(*at), Some(StatsValue::Number(_))))
    };
    let right: Vec<usize> = (0..columns.len()).filter(is_number).collect();
    write!(out, "\n ** {} (line {}):\n\n", name(printed), printed.line)?;
    out.write_all(table(&columns, &rows, &right).as_bytes())?;
    Ok(())
}

fn separated(tables: &[&StatsTable], separator: char, out: &mut dyn Write) -> Result<()> {
    for (at, table) in tables.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        let heading = table
            .columns
            .iter()
            .map(|column| column.heading.clone())
            .collect();
        let rows = table.rows.iter().map(|row| row.iter().map(cell).collect());
        for fields in std::iter::once::<Vec<String>>(heading).chain(rows) {
            let quoted: Vec<String> = fields
                .iter()
                .map(|field| quoted(field, separator))
                .collect();
            writeln!(out, "{}", quoted.join(&separator.to_string()))?;
        }
    }
    Ok(())
}

/// Quotes only where they are needed, as RFC 4180 says.
fn quoted(field: &str, separator: char) -> String {
    if field.contains([separator, '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

fn cell(value: &StatsValue) -> String {
    match value {
        StatsValue::Empty | StatsValue::Lost => String::new(),
        StatsValue::Number(number) => number.to_string(),
        StatsValue::Text(text) => text.clone(),
    }
}

fn as_json(table: &StatsTable) -> Value {
    let value = |value: &StatsValue| match value {
        StatsValue::Empty | StatsValue::Lost => Value::Null,
        StatsValue::Number(number) => json!(number),
        StatsValue::Text(text) => json!(text),
    };
    let rows: Vec<Value> = table
        .rows
        .iter()
        .map(|row| {
            let cells = table
                .columns
                .iter()
                .zip(row)
                .map(|(column, cell)| (column.heading.clone(), value(cell)));
            Value::Object(cells.collect::<Map<_, _>>())
        })
        .collect();
    json!({
        "report": table.report,
        "line": table.line,
        "notes": table.notes.iter().map(warning).collect::<Vec<_>>(),
        "rows": rows,
    })
}

fn warning(note: &StatsNote) -> String {
    match note {
        StatsNote::NamesCut(count) => {
            format!("{count} names are cut: rows that look alike may be different ones, and must not be added up")
        }
        StatsNote::FractionsLost => {
            "the locale cut fractions off: means and shares were recomputed, medians and deviations are lost".to_owned()
        }
        StatsNote::CoarseUnit(unit) => format!("times are in {}: small ones have lost their digits", unit_name(*unit)),
        other => format!("{other:?}"),
    }
}

fn unit_name(unit: StatsUnit) -> &'static str {
    match unit {
        StatsUnit::Microseconds => "microseconds",
        StatsUnit::Milliseconds => "milliseconds",
        StatsUnit::Seconds => "seconds",
        _ => "a coarse unit",
    }
}

fn said(message: &StatsMessage) -> String {
    match message {
        StatsMessage::Skipped { report, reason } => match report {
            Some(report) => format!("{report} was skipped: {reason}"),
            None => format!("a report was skipped: {reason}"),
        },
        StatsMessage::Written {
            report,
            file,
            contents,
        } => {
            let contents = match contents {
                FileContents::Rows => "",
                FileContents::Nothing => ", which is empty",
            };
            format!("{report} was written to `{file}`{contents}")
        }
        StatsMessage::ExistingExport => "an export from an earlier run was used".to_owned(),
        StatsMessage::StaleExport => {
            "the export was older than its report, and nothing was printed".to_owned()
        }
        StatsMessage::UnknownReport { name } => format!("that nsys has no report `{name}`"),
        StatsMessage::DamagedExport => "the export could not be opened".to_owned(),
        other => format!("{other:?}"),
    }
}
