//! Time in NVTX ranges by name.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::nvtx::{RangeName, RangeStyle, Ranges};
use crate::query::{Scope, Selection, Split};
use crate::samples::{DurationSummary, Samples, Summary};
use crate::trace::Trace;
use crate::units::Nanos;

/// The time that ranges of one name took.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RangeSummary {
    /// Domain and text.
    pub name: RangeName,
    /// How the ranges were marked.
    pub style: RangeStyle,
    /// The part of the trace; ranges have a process, but no device.
    pub scope: Scope,
    /// Their durations, nested ranges included.
    pub time: DurationSummary,
}

/// All ranges by name.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RangeSummaries {
    /// By name, the most time first.
    pub ranges: Vec<RangeSummary>,
    /// How many ranges were still open when the collection ended; they count until the last time of any range.
    pub open: u64,
}

impl Trace {
    /// Time in NVTX ranges by name, most first; `None` when the export has no NVTX events.
    ///
    /// Split by device or stream it is split by process, which is all that a range knows.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn range_summary(&self, selection: Selection) -> Result<Option<RangeSummaries>> {
        let Some(ranges) = self.ranges()? else {
            return Ok(None);
        };
        let summaries = range_rows(&ranges, selection)
            .into_iter()
            .map(|row| RangeSummary {
                name: ranges.names[row.name].clone(),
                style: row.style,
                scope: row.scope,
                time: row.summary.into(),
            })
            .collect();
        Ok(Some(RangeSummaries {
            ranges: summaries,
            open: ranges.open,
        }))
    }
}

/// One group of ranges.
pub(crate) struct RangeRow {
    /// The position of the name.
    pub(crate) name: usize,
    pub(crate) style: RangeStyle,
    pub(crate) scope: Scope,
    pub(crate) summary: Summary,
}

/// Ranges by name and style, the most time first.
pub(crate) fn range_rows(ranges: &Ranges, selection: Selection) -> Vec<RangeRow> {
    let mut groups: BTreeMap<(usize, RangeStyle, Scope), Samples> = BTreeMap::new();
    for range in &ranges.ranges {
        if !selection.window.holds(Nanos(range.start), Nanos(range.end)) {
            continue;
        }
        let scope = match (selection.split, range.thread) {
            (Split::Whole, _) | (_, None) => Scope::Whole,
            (_, Some(thread)) => Scope::Process(thread.process()),
        };
        groups
            .entry((range.name, range.style, scope))
            .or_default()
            .push(range.duration());
    }
    let mut rows: Vec<RangeRow> = groups
        .into_iter()
        .filter_map(|((name, style, scope), samples)| {
            samples.summary().map(|summary| RangeRow {
                name,
                style,
                scope,
                summary,
            })
        })
        .collect();
    rows.sort_by(|a, b| {
        let by_total = b.summary.total.cmp(&a.summary.total);
        by_total.then_with(|| ranges.names[a.name].cmp(&ranges.names[b.name]))
    });
    rows
}
