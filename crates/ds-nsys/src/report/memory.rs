//! Summaries of copies and sets.

use std::borrow::Cow;

use super::summary::{SummaryRow, print, time_columns};
use super::{Cell, Heading, Output, ReportOptions};
use crate::error::Result;
use crate::trace::Trace;

const BY_TIME: Heading = Heading {
    report: "cuda_gpu_mem_time_sum",
    title: "CUDA GPU MemOps Summary (by Time)",
    columns: time_columns!["Count"; "Operation"],
};

const BY_SIZE: Heading = Heading {
    report: "cuda_gpu_mem_size_sum",
    title: "CUDA GPU MemOps Summary (by Size)",
    columns: &[
        "Total (MB)",
        "Count",
        "Avg (MB)",
        "Med (MB)",
        "Min (MB)",
        "Max (MB)",
        "StdDev (MB)",
        "Operation",
    ],
};

pub(super) fn by_time(
    trace: &Trace,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let figures = trace
        .memory_figures(options.selection())?
        .unwrap_or_default();
    let rows: Vec<_> = figures
        .iter()
        .map(|row| SummaryRow {
            figures: row.time,
            behind: vec![Cell::Text(Cow::Owned(row.operation.to_string()))],
        })
        .collect();
    print(BY_TIME, &rows, output)
}

pub(super) fn by_size(
    trace: &Trace,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let mut figures = trace
        .memory_figures(options.selection())?
        .unwrap_or_default();
    figures.sort_by(|a, b| {
        let by_total = b.size.total.cmp(&a.size.total);
        by_total.then_with(|| a.operation.to_string().cmp(&b.operation.to_string()))
    });
    output.heading(BY_SIZE);
    for row in &figures {
        let size = &row.size;
        output.row(&[
            megabytes(whole(size.total)),
            Cell::Integer(i64::try_from(size.count).unwrap_or(i64::MAX)),
            megabytes(size.mean),
            megabytes(size.median),
            megabytes(whole(size.min)),
            megabytes(whole(size.max)),
            megabytes(size.stddev),
            Cell::Text(Cow::Owned(row.operation.to_string())),
        ])?;
    }
    Ok(())
}

/// A megabyte is 10^6 bytes here.
pub(super) fn megabytes(bytes: f64) -> Cell<'static> {
    Cell::thousandths(bytes / 1e6)
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the printed size is a quotient of doubles by definition"
)]
pub(super) fn whole(bytes: i64) -> f64 {
    bytes as f64
}
