//! Summaries that put kernels, memory operations and calls into one table.

use std::borrow::Cow;

use super::kernels::named_groups;
use super::summary::{SummaryRow, print, time_columns};
use super::{Cell, Heading, Output, Report, ReportOptions};
use crate::error::Result;
use crate::samples::Summary;
use crate::summary::{Grouping, api_rows};
use crate::trace::Trace;

const COLUMNS: &[&str] = time_columns!["Instances"; "Category", "Operation"];

const GPU: Heading = Heading {
    report: "cuda_gpu_sum",
    title: "CUDA GPU Summary (Kernels/MemOps)",
    columns: COLUMNS,
};
const API_GPU: Heading = Heading {
    report: "cuda_api_gpu_sum",
    title: "CUDA Summary (API/Kernels/MemOps)",
    columns: COLUMNS,
};

/// One operation of any category.
struct Operation {
    category: &'static str,
    name: String,
    figures: Summary,
}

pub(super) fn gpu_sum(
    trace: &Trace,
    report: Report,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    print_sorted(GPU, gpu_operations(trace, report, options)?, output)
}

pub(super) fn api_gpu_sum(
    trace: &Trace,
    report: Report,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let mut operations = gpu_operations(trace, report, options)?;
    let calls = api_rows(trace, options.selection(), Grouping::Shown)?.unwrap_or_default();
    operations.extend(calls.into_iter().map(|call| Operation {
        category: "CUDA_API",
        name: call.name.to_string(),
        figures: call.summary,
    }));
    print_sorted(API_GPU, operations, output)
}

fn gpu_operations(trace: &Trace, report: Report, options: ReportOptions) -> Result<Vec<Operation>> {
    let kernels = named_groups(trace, report, options)?;
    let memory = trace
        .memory_figures(options.selection())?
        .unwrap_or_default();
    let kernels = kernels.into_iter().map(|kernel| Operation {
        category: "CUDA_KERNEL",
        name: kernel.name,
        figures: kernel.figures,
    });
    let memory = memory.into_iter().map(|row| Operation {
        category: "MEMORY_OPER",
        name: row.operation.to_string(),
        figures: row.time,
    });
    Ok(kernels.chain(memory).collect())
}

fn print_sorted(
    heading: Heading,
    mut operations: Vec<Operation>,
    output: &mut Output<'_>,
) -> Result<()> {
    operations.sort_by(|a, b| {
        b.figures
            .total
            .cmp(&a.figures.total)
            .then_with(|| a.name.cmp(&b.name))
    });
    let rows: Vec<_> = operations
        .iter()
        .map(|operation| SummaryRow {
            figures: operation.figures,
            behind: vec![
                Cell::text(operation.category),
                Cell::Text(Cow::Borrowed(&operation.name)),
            ],
        })
        .collect();
    print(heading, &rows, output)
}
