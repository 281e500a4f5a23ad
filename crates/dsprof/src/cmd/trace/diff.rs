//! `dsprof trace diff`.

use anyhow::Result;
use ds_nsys::{
    Amount, Change, Diff, DiffOptions, DiffRow, Differences, RefusalPolicy, Significance,
};
use serde_json::{Value, json};

use super::figures::percent;
use super::input;
use super::page::Page;
use super::sources::Sources;
use crate::args::ReportFormat;
use crate::cli_trace::DiffArgs;
use crate::cmd::json as json_text;
use crate::exit::{Status, Unusable};
use crate::output;

pub(super) fn run(args: &DiffArgs, sources: &Sources) -> Result<Status> {
    let (first, second) = (sources.open(&args.first)?, sources.open(&args.second)?);
    let options = DiffOptions {
        taxonomy: input::taxonomy(&args.rules)?,
        tokens: args.tokens,
        policy: if args.force {
            RefusalPolicy::Override
        } else {
            RefusalPolicy::Obey
        },
        ..DiffOptions::default()
    };
    let diff = input::reading(first.path(), || first.diff(&second, &options))?;
    let text = match args.print.format {
        ReportFormat::Json => json_text(&as_json(&diff, args))?,
        format => as_page(&diff, format),
    };
    output::data(&text)?;
    if diff.differences.is_some() {
        return Ok(Status::Fine);
    }
    let what = if diff.refusals.is_empty() || args.force {
        "nothing to compare: a capture holds no GPU work".to_owned()
    } else {
        "the captures are not comparable; `--force` compares them all the same, and the report says so".to_owned()
    };
    Err(Unusable(what).into())
}

fn as_page(diff: &Diff, format: ReportFormat) -> String {
    let mut page = Page::new(format);
    let compared = diff.differences.as_ref();
    if !diff.refusals.is_empty() {
        page.heading(if compared.is_some() {
            "Compared although they are not comparable"
        } else {
            "Not comparable"
        });
        for refusal in &diff.refusals {
            page.item(&refusal.to_string());
        }
    }
    let Some(found) = compared else {
        return page.finish();
    };
    page.heading(&format!("Differences, {}", found.normalization));
    page.line(&format!("categories by rules {}", diff.taxonomy_version));
    page.separate();
    if !found.overall.is_empty() {
        let rows: Vec<Vec<String>> = found
            .overall
            .iter()
            .map(|(item, change)| {
                let mut row = vec![item.to_string()];
                row.extend(change_cells(change));
                row
            })
            .collect();
        page.table(
            &["", "First", "Second", "Difference", "Relative", "P"],
            &rows,
            &[1, 2, 3, 4, 5],
        );
    }
    for (heading, rows) in sections(found) {
        if rows.is_empty() {
            continue;
        }
        page.heading(heading);
        let cells: Vec<Vec<String>> = rows.iter().map(row_cells).collect();
        page.table(
            &[
                "First",
                "Second",
                "Difference",
                "Relative",
                "P",
                "Count",
                "Category",
                "Work",
            ],
            &cells,
            &[0, 1, 2, 3, 4, 5],
        );
    }
    page.finish()
}

fn sections(found: &Differences) -> [(&'static str, &[DiffRow]); 3] {
    [
        ("In both", &found.changed),
        ("Appeared: only in the second", &found.appeared),
        ("Vanished: only in the first", &found.vanished),
    ]
}

fn row_cells(row: &DiffRow) -> Vec<String> {
    let mut cells: Vec<String> = change_cells(&row.change).into();
    cells.push(format!("{:.1} → {:.1}", row.count.0, row.count.1));
    cells.push(
        row.kind
            .category()
            .map_or_else(String::new, ToString::to_string),
    );
    cells.push(row.kind.to_string());
    cells
}

fn change_cells(change: &Change) -> [String; 5] {
    [
        amount(change.first),
        amount(change.second),
        signed(change.difference),
        change.relative().map_or_else(
            || "–".to_owned(),
            |share| format!("{:+.1} %", share.percent()),
        ),
        change
            .significance()
            .map_or_else(|| "–".to_owned(), p_value),
    ]
}

fn amount(amount: Amount) -> String {
    match amount {
        Amount::Time(time) => format!("{:.2} µs", time.0 / 1e3),
        Amount::Share(share) => percent(Some(share)),
    }
}

fn signed(amount: Amount) -> String {
    match amount {
        Amount::Time(time) => format!("{:+.2} µs", time.0 / 1e3),
        Amount::Share(share) => format!("{:+.1} points", share.percent()),
    }
}

fn p_value(significance: Significance) -> String {
    // Below this a number would claim more than the test's assumptions bear.
    const SMALLEST: f64 = 0.001;
    if significance.p.0 < SMALLEST {
        format!("< {SMALLEST}")
    } else {
        format!("{:.3}", significance.p.0)
    }
}

fn as_json(diff: &Diff, args: &DiffArgs) -> Value {
    let rows = |rows: &[DiffRow]| -> Value {
        let of_row = |row: &DiffRow| {
            json!({
                "work": row.kind.to_string(),
                "category": row.kind.category().map(ToString::to_string),
                "count": [row.count.0, row.count.1],
                "change": change_json(&row.change),
            })
        };
        rows.iter().map(of_row).collect()
    };
    let differences = diff.differences.as_ref().map(|found| {
        let overall: Vec<Value> = found
            .overall
            .iter()
            .map(|(item, change)| json!({"item": item.to_string(), "change": change_json(change)}))
            .collect();
        json!({
            "normalization": found.normalization.to_string(),
            "overall": overall,
            "changed": rows(&found.changed),
            "appeared": rows(&found.appeared),
            "vanished": rows(&found.vanished),
        })
    });
    json!({
        "schema": "dsprof.diff/1",
        "taxonomy": diff.taxonomy_version,
        "refusals": diff.refusals.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "is_forced": args.force,
        "differences": differences,
    })
}

fn change_json(change: &Change) -> Value {
    let amount = |amount: Amount| match amount {
        Amount::Time(time) => json!({"ns": time.0}),
        Amount::Share(share) => json!({"share": share.0}),
    };
    json!({
        "first": amount(change.first),
        "second": amount(change.second),
        "difference": amount(change.difference),
        "relative": change.relative().map(|share| share.0),
        "significance": change.significance().map(|found| json!({"t": found.t, "degrees": found.degrees, "p": found.p.0})),
    })
}
