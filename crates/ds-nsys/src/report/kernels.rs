//! Kernel summaries.

use super::summary::{SummaryRow, print};
use super::{Cell, Heading, Output, Report, ReportOptions};
use crate::error::Result;
use crate::summary::{Named, kernel_rows};
use crate::trace::Trace;

const BY_NAME: Heading = Heading {
    report: "cuda_gpu_kern_sum",
    title: "CUDA GPU Kernel Summary",
    columns: &[
        "Time (%)",
        "Total Time (ns)",
        "Instances",
        "Avg (ns)",
        "Med (ns)",
        "Min (ns)",
        "Max (ns)",
        "StdDev (ns)",
        "Name",
    ],
};

pub(super) fn by_name(
    trace: &Trace,
    report: Report,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let kernels = kernel_rows(trace, report.naming, options.selection())?.unwrap_or_default();
    let rows: Vec<_> = kernels.iter().map(row).collect();
    print(BY_NAME, &rows, output)
}

fn row(kernel: &Named) -> SummaryRow<'_> {
    SummaryRow {
        figures: kernel.summary,
        behind: vec![Cell::text(&kernel.name)],
    }
}
