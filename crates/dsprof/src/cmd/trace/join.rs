//! `dsprof trace join`.

use anyhow::{Context as _, Result};
use ds_nsys::{CategoryOptions, Join, JoinRow, SampledProfile, Share};
use serde_json::{Value, json};

use super::categories::{kernel_json, options};
use super::figures::percent;
use super::input;
use super::page::Page;
use super::sources::Sources;
use crate::args::ReportFormat;
use crate::cli_trace::JoinArgs;
use crate::cmd::json as json_text;
use crate::exit::Status;
use crate::output;

pub(super) fn run(args: &JoinArgs, sources: &Sources) -> Result<Status> {
    let part = &args.ruled.part;
    let trace = sources.open(&part.trace)?;
    let sampled = SampledProfile::parse(&input::text(&args.sampled)?);
    let sampled = sampled.with_context(|| format!("`{}`", args.sampled.display()))?;
    let options = options(&args.ruled)?;
    let join = input::reading(trace.path(), || trace.join(&sampled, &options))?;
    let text = match part.print.format {
        ReportFormat::Json => json_text(&as_json(join.as_ref(), &options))?,
        format => as_page(join.as_ref(), format),
    };
    output::data(&text)?;
    Ok(Status::Fine)
}

/// How many of a category's kernels the table names.
const NAMED: usize = 3;

fn as_page(join: Option<&Join>, format: ReportFormat) -> String {
    let mut page = Page::new(format);
    let Some(join) = join else {
        page.line("no kernels in this trace: nothing to join with");
        return page.finish();
    };
    let rows: Vec<Vec<String>> = join.rows.iter().map(row_cells).collect();
    page.table(
        &[
            "Category",
            "Sampled",
            "Traced",
            "Difference",
            "Effective kernels",
            "Constituents",
        ],
        &rows,
        &[1, 2, 3, 4],
    );
    page.line(&format!(
        "{} samples, by rules {}",
        join.samples, join.taxonomy_version
    ));
    page.line(&format!(
        "unclassified kernel time: {}",
        percent(join.unclassified)
    ));
    if join.is_weak() {
        page.line(&format!(
            "weak: a profile of fewer than {} samples gives shares that chance moves",
            Join::ENOUGH_SAMPLES
        ));
    }
    for (heading, items) in [
        ("Only sampled", &join.only_sampled),
        ("Only traced", &join.only_traced),
    ] {
        if items.is_empty() {
            continue;
        }
        page.heading(heading);
        let rows: Vec<Vec<String>> = items
            .iter()
            .map(|(name, share)| vec![percent(Some(*share)), name.clone()])
            .collect();
        page.table(&["Share", "Name"], &rows, &[0]);
    }
    page.finish()
}

fn row_cells(row: &JoinRow) -> Vec<String> {
    let side =
        |share: Option<Share>| share.map_or_else(|| "–".to_owned(), |share| share.to_string());
    let mut constituents: Vec<String> = row
        .kernels
        .iter()
        .take(NAMED)
        .map(|kernel| format!("{} {}", kernel.name, percent(kernel.share)))
        .collect();
    if row.kernels.len() > NAMED {
        constituents.push(format!("and {} more", row.kernels.len() - NAMED));
    }
    vec![
        row.category.to_string(),
        side(row.sampled),
        side(row.traced),
        format!("{:+.1} points", row.difference().percent()),
        row.effective_kernels
            .map_or_else(|| "–".to_owned(), |n| format!("{:.1}", n.0)),
        constituents.join(", "),
    ]
}

fn as_json(join: Option<&Join>, options: &CategoryOptions) -> Value {
    let items = |items: &[(String, Share)]| -> Vec<Value> {
        items
            .iter()
            .map(|(name, share)| json!({"name": name, "share": share.0}))
            .collect()
    };
    let joined = join.map(|join| {
        let rows: Vec<Value> = join
            .rows
            .iter()
            .map(|row| {
                json!({
                    "category": row.category.to_string(),
                    "sampled": row.sampled.map(|share| share.0),
                    "traced": row.traced.map(|share| share.0),
                    "difference": row.difference().0,
                    "effective_kernels": row.effective_kernels.map(|n| n.0),
                    "kernels": row.kernels.iter().map(kernel_json).collect::<Vec<_>>(),
                })
            })
            .collect();
        json!({
            "samples": join.samples,
            "is_weak": join.is_weak(),
            "unclassified": join.unclassified.map(|share| share.0),
            "rows": rows,
            "only_sampled": items(&join.only_sampled),
            "only_traced": items(&join.only_traced),
        })
    });
    json!({"schema": "dsprof.join/1", "taxonomy": options.taxonomy.version(), "join": joined})
}
