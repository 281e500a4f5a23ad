//! `dsprof trace categories`.

use anyhow::Result;
use ds_nsys::{Categories, CategoryOptions, KernelTime};
use serde_json::{Value, json};

use super::figures::{UNKNOWN, millis, percent};
use super::input;
use super::page::Page;
use super::sources::Sources;
use crate::args::ReportFormat;
use crate::cli_trace::RuledArgs;
use crate::cmd::json as json_text;
use crate::exit::Status;
use crate::output;

pub(super) fn run(args: &RuledArgs, sources: &Sources) -> Result<Status> {
    let trace = sources.open(&args.part.trace)?;
    let options = options(args)?;
    let categories = input::reading(trace.path(), || trace.categories(&options))?;
    let text = match args.part.print.format {
        ReportFormat::Json => json_text(&as_json(categories.as_ref(), &options))?,
        format => as_page(categories.as_ref(), format),
    };
    output::data(&text)?;
    Ok(Status::Fine)
}

/// What is sorted, and by which rules.
pub(super) fn options(args: &RuledArgs) -> Result<CategoryOptions> {
    Ok(CategoryOptions {
        window: input::window(args.part.window)?,
        taxonomy: input::taxonomy(&args.rules)?,
        ..CategoryOptions::default()
    })
}

fn as_page(categories: Option<&Categories>, format: ReportFormat) -> String {
    let mut page = Page::new(format);
    let Some(found) = categories else {
        page.line("no kernels in this trace");
        return page.finish();
    };
    let rows: Vec<Vec<String>> = found
        .categories
        .iter()
        .map(|category| {
            vec![
                category.category.to_string(),
                millis(category.time),
                percent(category.share),
                category.kernels.len().to_string(),
                category
                    .effective_kernels
                    .map_or_else(|| UNKNOWN.to_owned(), |n| format!("{:.1}", n.0)),
                category
                    .kernels
                    .first()
                    .map_or_else(String::new, |kernel| kernel.name.clone()),
            ]
        })
        .collect();
    page.table(
        &[
            "Category",
            "Time (ms)",
            "Share",
            "Kernels",
            "Effective",
            "Longest",
        ],
        &rows,
        &[1, 2, 3, 4],
    );
    page.line(&format!(
        "kernel time: {} ms, by rules {}",
        millis(found.time),
        found.taxonomy_version
    ));
    page.line("effective: how many kernels of equal time they amount to");
    page.line(&unclassified_line(found));
    page.finish()
}

fn unclassified_line(found: &Categories) -> String {
    let share = percent(found.unclassified);
    if found.is_mostly_known() {
        format!("unclassified: {share}")
    } else {
        format!(
            "unclassified: {share}; the rules do not fit this program, add your own with --taxonomy"
        )
    }
}

fn as_json(categories: Option<&Categories>, options: &CategoryOptions) -> Value {
    let rows: Option<Vec<Value>> = categories.map(|found| {
        let rows = found.categories.iter().map(|category| {
            json!({
                "category": category.category.to_string(),
                "time_ns": category.time.0,
                "share": category.share.map(|share| share.0),
                "effective_kernels": category.effective_kernels.map(|n| n.0),
                "kernels": category.kernels.iter().map(kernel_json).collect::<Vec<_>>(),
            })
        });
        rows.collect()
    });
    json!({
        "schema": "dsprof.categories/1",
        "taxonomy": options.taxonomy.version(),
        "time_ns": categories.map(|found| found.time.0),
        "unclassified": categories.and_then(|found| found.unclassified).map(|share| share.0),
        "categories": rows,
    })
}

/// A kernel within its category as JSON.
pub(super) fn kernel_json(kernel: &KernelTime) -> Value {
    json!({
        "name": kernel.name,
        "count": kernel.count,
        "time_ns": kernel.time.0,
        "share_of_category": kernel.share.map(|share| share.0),
    })
}
