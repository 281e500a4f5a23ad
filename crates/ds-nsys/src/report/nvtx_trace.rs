//! Every push/pop range with its place among the others.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{Cell, Heading, Output, ReportOptions};
use crate::error::Result;
use crate::ids::ThreadKey;
use crate::nvtx::{RangeStyle, Sweep};
use crate::trace::Trace;
use crate::units::Nanos;

const HEADING: Heading = Heading {
    report: "nvtx_pushpop_trace",
    title: "NVTX Push/Pop Range Trace",
    columns: &[
        "Start (ns)",
        "End (ns)",
        "Duration (ns)",
        "DurChild (ns)",
        "DurNonChild (ns)",
        "Name",
        "PID",
        "TID",
        "Lvl",
        "NumChild",
        "RangeId",
        "ParentId",
        "RangeStack",
        "NameTree",
    ],
};

/// A range's place among the ranges of its thread.
#[derive(Debug, Clone, Default)]
struct Nesting {
    /// Positions of the ranges around it, the outermost first.
    ancestors: Box<[usize]>,
    children: i64,
    child_time: i64,
}

pub(super) fn push_pop(
    trace: &Trace,
    options: ReportOptions,
    output: &mut Output<'_>,
) -> Result<()> {
    let ranges = trace.ranges()?.unwrap_or_default();
    let printed = ranges.printed_names(options.style);
    let mut by_thread: BTreeMap<Option<ThreadKey>, Vec<usize>> = BTreeMap::new();
    for (at, range) in ranges.ranges.iter().enumerate() {
        if range.style == RangeStyle::PushPop
            && options.window.holds(Nanos(range.start), Nanos(range.end))
        {
            by_thread.entry(range.thread).or_default().push(at);
        }
    }
    let mut nesting: BTreeMap<usize, Nesting> = BTreeMap::new();
    for (thread, positions) in by_thread {
        if thread.is_none() {
            // Nobody knows whether such ranges share a thread: each stands alone.
            nesting.extend(positions.into_iter().map(|at| (at, Nesting::default())));
            continue;
        }
        Sweep::new(&ranges.ranges, positions).each_with_ancestors(|at, ancestors| {
            if let Some(parent) = ancestors.last().and_then(|parent| nesting.get_mut(parent)) {
                parent.children += 1;
                parent.child_time = parent
                    .child_time
                    .saturating_add(ranges.ranges[at].duration());
            }
            nesting.insert(
                at,
                Nesting {
                    ancestors: ancestors.into(),
                    ..Nesting::default()
                },
            );
        });
    }
    let mut order: Vec<usize> = nesting.keys().copied().collect();
    order.sort_by_key(|at| {
        let range = &ranges.ranges[*at];
        (range.start, range.end, range.row)
    });
    output.heading(HEADING);
    for at in order {
        let (range, nesting) = (&ranges.ranges[at], &nesting[&at]);
        let row_of = |at: &usize| ranges.ranges[*at].row;
        let mut stack = String::new();
        for row in nesting.ancestors.iter().map(row_of).chain([range.row]) {
            stack.push(':');
            stack.push_str(&row.to_string());
        }
        let name = &printed[range.name];
        let tree = format!("{}{name}", "--".repeat(nesting.ancestors.len()));
        output.row(&[
            Cell::Integer(range.start),
            Cell::Integer(range.end),
            Cell::Integer(range.duration()),
            Cell::Integer(nesting.child_time),
            Cell::Integer(range.duration().saturating_sub(nesting.child_time)),
            Cell::text(name),
            Cell::integer_or_empty(range.thread.map(|thread| i64::from(thread.process().pid()))),
            Cell::integer_or_empty(range.thread.map(|thread| i64::from(thread.tid()))),
            Cell::Integer(i64::try_from(nesting.ancestors.len()).unwrap_or(i64::MAX)),
            Cell::Integer(nesting.children),
            Cell::Integer(range.row),
            Cell::integer_or_empty(nesting.ancestors.last().map(row_of)),
            Cell::Text(Cow::Owned(stack)),
            Cell::Text(Cow::Owned(tree)),
        ])?;
    }
    Ok(())
}
