//! Summaries of NVTX ranges.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::summary::{SummaryRow, print, time_columns};
use super::{Cell, Heading, Output, ReportOptions};
use crate::error::Result;
use crate::nvtx::RangeStyle;
use crate::samples::Samples;
use crate::trace::Trace;
use crate::units::Nanos;

const BOTH: Heading = Heading {
    report: "nvtx_sum",
    title: "NVTX Range Summary",
    columns: time_columns!["Instances"; "Style", "Range"],
};

const ONE_STYLE: &[&str] = time_columns!["Instances"; "Range"];

const PUSH_POP: Heading = Heading {
    report: "nvtx_pushpop_sum",
    title: "NVTX Push/Pop Range Summary",
    columns: ONE_STYLE,
};
const START_END: Heading = Heading {
    report: "nvtx_startend_sum",
    title: "NVTX Start/End Range Summary",
    columns: ONE_STYLE,
};

pub(super) fn both_styles(
    trace: &Trace,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let rows = grouped(trace, options, |_| true)?;
    let rows: Vec<_> = rows
        .iter()
        .map(|row| SummaryRow {
            behind: vec![
                Cell::Text(Cow::Owned(row.style.to_string())),
                Cell::text(&row.name),
            ],
            ..row.figures()
        })
        .collect();
    print(BOTH, &rows, output)
}

pub(super) fn one_style(
    trace: &Trace,
    style: RangeStyle,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let rows = grouped(trace, options, |found| found == style)?;
    let rows: Vec<_> = rows
        .iter()
        .map(|row| SummaryRow {
            behind: vec![Cell::text(&row.name)],
            ..row.figures()
        })
        .collect();
    let heading = match style {
        RangeStyle::PushPop => PUSH_POP,
        RangeStyle::StartEnd => START_END,
    };
    print(heading, &rows, output)
}

struct Row {
    name: String,
    style: RangeStyle,
    summary: crate::samples::Summary,
}

impl Row {
    fn figures(&self) -> SummaryRow<'_> {
        SummaryRow {
            figures: self.summary,
            behind: Vec::new(),
        }
    }
}

/// Groups by the printed name: two domains may print alike, and then `nsys stats` does not tell them apart.
fn grouped(
    trace: &Trace,
    options: ReportOptions,
    wanted: impl Fn(RangeStyle) -> bool,
) -> Result<Vec<Row>> {
    let ranges = trace.ranges()?.unwrap_or_default();
    let printed = ranges.printed_names(options.style);
    let mut groups: BTreeMap<(&str, RangeStyle), Samples> = BTreeMap::new();
    for range in &ranges.ranges {
        if wanted(range.style) && options.window.holds(Nanos(range.start), Nanos(range.end)) {
            groups
                .entry((&printed[range.name], range.style))
                .or_default()
                .push(range.duration());
        }
    }
    let mut rows: Vec<Row> = groups
        .into_iter()
        .filter_map(|((name, style), samples)| {
            samples.summary().map(|summary| Row {
                name: name.to_owned(),
                style,
                summary,
            })
        })
        .collect();
    // Stable: names, by which the rows come sorted, decide ties.
    rows.sort_by_key(|row| std::cmp::Reverse(row.summary.total));
    Ok(rows)
}
