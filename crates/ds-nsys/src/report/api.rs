//! Summaries of calls.

use super::summary::{SummaryRow, print, time_columns};
use super::{Cell, Heading, Output, ReportOptions};
use crate::error::Result;
use crate::summary::{Grouping, Named, api_rows, os_runtime_rows};
use crate::trace::Trace;

const COLUMNS: &[&str] = time_columns!["Num Calls"; "Name"];

const CUDA: Heading = Heading {
    report: "cuda_api_sum",
    title: "CUDA API Summary",
    columns: COLUMNS,
};
const OS_RUNTIME: Heading = Heading {
    report: "osrt_sum",
    title: "OS Runtime Summary",
    columns: COLUMNS,
};

/// Entry points that differ in their version alone are shown alike, in a row each.
pub(super) fn cuda(trace: &Trace, options: ReportOptions, output: &mut Output<'_>) -> Result<()> {
    print_calls(
        CUDA,
        api_rows(trace, options.selection(), Grouping::Stored)?,
        output,
    )
}

pub(super) fn os_runtime(
    trace: &Trace,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    print_calls(
        OS_RUNTIME,
        os_runtime_rows(trace, options.selection())?,
        output,
    )
}

fn print_calls(heading: Heading, calls: Option<Vec<Named>>, output: &mut Output<'_>) -> Result<()> {
    let calls = calls.unwrap_or_default();
    let rows: Vec<_> = calls
        .iter()
        .map(|call| SummaryRow {
            figures: call.summary,
            behind: vec![Cell::text(&call.name)],
        })
        .collect();
    print(heading, &rows, output)
}
