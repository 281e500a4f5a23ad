//! Reports with one row for each process, device or stream, which `nsys stats` adds up.

use std::borrow::Cow;
use std::io::{self, Write};

use anyhow::Result;
use ds_nsys::{
    Cell, DurationSummary, Heading, Report, ReportKind, ReportOptions, RowSink, Scope, Selection,
    SeparatedWriter, SizeSummary, Split, Style, Trace,
};

use super::Contents;
use super::destination::Order;
use super::json_rows::JsonRows;
use crate::args::ReportFormat;
use crate::cli_trace::{SplitArg, StatsFormat};
use crate::exit::Usage;
use crate::table::in_format;

/// Writes one report, split.
pub(super) fn write(
    trace: &Trace,
    by: SplitArg,
    order: &Order,
    options: ReportOptions,
    out: &mut dyn Write,
) -> Result<Contents> {
    let selection = Selection {
        window: options.window,
        split: match by {
            SplitArg::Process => Split::Process,
            SplitArg::Device => Split::Device,
            SplitArg::Stream => Split::Stream,
        },
    };
    let rows = rows(trace, &order.report, selection, options.style)?;
    let contents = if rows.is_empty() {
        Contents::Nothing
    } else {
        Contents::Rows
    };
    let columns = if order.report.kind == ReportKind::CudaGpuMemSizeSum {
        &SIZES
    } else {
        &TIMES
    };
    let heading = Heading {
        report: order.report.kind.name(),
        title: "",
        columns,
    };
    match order.format {
        StatsFormat::Text => {
            let mut text = Text {
                style: options.style,
                rows: Vec::new(),
            };
            hand_on(&heading, &rows, &mut text)?;
            if contents == Contents::Rows {
                write!(out, "\n ** {} by {}:\n\n", order.report, by_name(by))?;
                out.write_all(
                    in_format(columns, &text.rows, &NUMBERS, ReportFormat::Text).as_bytes(),
                )?;
            }
        }
        StatsFormat::Csv | StatsFormat::Tsv => {
            let mut writer = match order.format {
                StatsFormat::Tsv => SeparatedWriter::tsv(out, options.style),
                _ => SeparatedWriter::csv(out, options.style),
            };
            hand_on(&heading, &rows, &mut writer)?;
            writer.finish()?;
        }
        StatsFormat::Json => {
            let mut writer = JsonRows::new(out, options.style);
            hand_on(&heading, &rows, &mut writer)?;
            writer.finish()?;
        }
    }
    Ok(contents)
}

/// The columns of `nsys stats` without the share, which would be of a different whole in every part.
const TIMES: [&str; 9] = [
    "Part",
    "Total Time (ns)",
    "Count",
    "Avg (ns)",
    "Med (ns)",
    "Min (ns)",
    "Max (ns)",
    "StdDev (ns)",
    "Name",
];
const SIZES: [&str; 9] = [
    "Part",
    "Total (B)",
    "Count",
    "Avg (B)",
    "Med (B)",
    "Min (B)",
    "Max (B)",
    "StdDev (B)",
    "Operation",
];
/// The columns that hold numbers.
const NUMBERS: [usize; 7] = [1, 2, 3, 4, 5, 6, 7];

type Row = [Cell<'static>; 9];

fn rows(trace: &Trace, report: &Report, selection: Selection, style: Style) -> Result<Vec<Row>> {
    Ok(match report.kind {
        ReportKind::CudaGpuKernSum => {
            let summary = trace
                .kernel_summary(report.naming, selection)?
                .unwrap_or_default();
            summary
                .iter()
                .map(|kernel| time_row(kernel.scope, &kernel.time, kernel.name.to_string()))
                .collect()
        }
        ReportKind::CudaApiSum => {
            let summary = trace.api_summary(selection)?.unwrap_or_default();
            summary
                .iter()
                .map(|call| time_row(call.scope, &call.time, call.name.to_string()))
                .collect()
        }
        ReportKind::OsrtSum => {
            let summary = trace.os_runtime_summary(selection)?.unwrap_or_default();
            summary
                .iter()
                .map(|call| time_row(call.scope, &call.time, call.name.to_string()))
                .collect()
        }
        ReportKind::CudaGpuMemTimeSum => {
            let summary = trace.memory_summary(selection)?.unwrap_or_default();
            summary
                .iter()
                .map(|memory| time_row(memory.scope, &memory.time, memory.operation.to_string()))
                .collect()
        }
        ReportKind::CudaGpuMemSizeSum => {
            let summary = trace.memory_summary(selection)?.unwrap_or_default();
            summary
                .iter()
                .map(|memory| size_row(memory.scope, &memory.size, memory.operation.to_string()))
                .collect()
        }
        ReportKind::NvtxSum => {
            let summary = trace.range_summary(selection)?;
            let ranges = summary.map(|summary| summary.ranges).unwrap_or_default();
            ranges
                .iter()
                .map(|range| time_row(range.scope, &range.time, range.name.printed(style)))
                .collect()
        }
        other => {
            let what = format!(
                "--by: `{other}` cannot be split; cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, cuda_gpu_mem_size_sum, \
                 cuda_api_sum, osrt_sum and nvtx_sum can"
            );
            return Err(Usage(what).into());
        }
    })
}

fn count(count: u64) -> Cell<'static> {
    // No trace has 2^63 rows.
    Cell::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}

fn tenths(value: f64) -> Cell<'static> {
    Cell::Decimal { value, places: 1 }
}

fn time_row(scope: Scope, time: &DurationSummary, name: String) -> Row {
    [
        Cell::Text(Cow::Owned(scope.to_string())),
        Cell::Integer(time.total.0),
        count(time.count),
        tenths(time.mean.0),
        tenths(time.median.0),
        Cell::Integer(time.min.0),
        Cell::Integer(time.max.0),
        tenths(time.stddev.0),
        Cell::Text(Cow::Owned(name)),
    ]
}

fn size_row(scope: Scope, size: &SizeSummary, name: String) -> Row {
    [
        Cell::Text(Cow::Owned(scope.to_string())),
        Cell::Integer(size.total.0),
        count(size.count),
        tenths(size.mean.0),
        tenths(size.median.0),
        Cell::Integer(size.min.0),
        Cell::Integer(size.max.0),
        tenths(size.stddev.0),
        Cell::Text(Cow::Owned(name)),
    ]
}

fn by_name(by: SplitArg) -> &'static str {
    match by {
        SplitArg::Process => "process",
        SplitArg::Device => "device",
        SplitArg::Stream => "stream",
    }
}

fn hand_on(heading: &Heading, rows: &[Row], sink: &mut dyn RowSink) -> io::Result<()> {
    if !rows.is_empty() {
        sink.heading(heading)?;
    }
    rows.iter().try_for_each(|row| sink.row(row))
}

/// Keeps rows as they are printed.
struct Text {
    style: Style,
    rows: Vec<Vec<String>>,
}

impl RowSink for Text {
    fn heading(&mut self, _: &Heading) -> io::Result<()> {
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.rows.push(
            cells
                .iter()
                .map(|cell| cell.printed(self.style).into_owned())
                .collect(),
        );
        Ok(())
    }
}
