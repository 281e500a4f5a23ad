//! Busy shares, each under the name of what it is a share of.

use std::collections::BTreeMap;
use std::fmt;

use super::evidence::Evidence;
use crate::busy::Interval;
use crate::error::Result;
use crate::ids::{DeviceKey, ProcessKey};
use crate::query::Window;
use crate::trace::Trace;
use crate::units::{Nanos, Share};

/// What the part of the session was taken by in which a rank did its real work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkBasis {
    /// From the first step to the last.
    Steps,
    /// From the first to the last of the NVTX ranges that repeat.
    RepeatedRanges,
    /// From the last loading of a module on.
    AfterStartUp,
}

impl fmt::Display for WorkBasis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steps => "steps",
            Self::RepeatedRanges => "repeated NVTX ranges",
            Self::AfterStartUp => "after start-up",
        })
    }
}

/// How busy one rank was, in three ways that answer three questions.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct BusyShares {
    /// The rank.
    pub device: DeviceKey,
    /// Of the whole session, start-up and shut-down included.
    pub of_session: Option<Share>,
    /// From its first operation to the end of its last.
    pub of_span: Option<Share>,
    /// Of the part in which it did its real work: a verdict rests on this one.
    pub of_work: Option<Share>,
    /// That part, and what it was taken by.
    pub work: Option<(WorkBasis, Interval)>,
    /// Whether all three are upper figures, because graphs were traced as a whole.
    pub is_upper_figure: bool,
}

/// A range that appears at least this often is part of the work and not of its preparation.
const REPEATED: u64 = 30;

pub(super) fn of(trace: &Trace, evidence: &Evidence) -> Result<Vec<BusyShares>> {
    let repeated = repeated_ranges(trace, evidence.window)?;
    let shares = evidence.ranks().map(|rank| {
        let span = rank.span();
        let process = rank.device.process;
        let steps = evidence
            .steps
            .found()
            .find(|(device, _)| *device == rank.device)
            .map(|(_, series)| (WorkBasis::Steps, series.window));
        let ranges = || {
            let range = repeated.get(&process).copied();
            range.map(|range| (WorkBasis::RepeatedRanges, range))
        };
        let after_start_up = || {
            let start = Nanos(*evidence.calls.module_loads.get(&process)?);
            let end = span?.end;
            (start < end).then_some((WorkBasis::AfterStartUp, Interval { start, end }))
        };
        let work = steps.or_else(ranges).or_else(after_start_up);
        BusyShares {
            device: rank.device,
            of_session: evidence.busy.share_of_session(rank),
            of_span: rank.share_of_span(),
            of_work: work.and_then(|(_, part)| {
                let window = Window {
                    from: part.start,
                    to: part.end,
                };
                rank.busy.within(window).total().share_of(part.duration())
            }),
            work,
            is_upper_figure: rank.is_upper_figure(),
        }
    });
    Ok(shares.collect())
}

/// From the first to the last of the repeated ranges of every process.
fn repeated_ranges(trace: &Trace, window: Window) -> Result<BTreeMap<ProcessKey, Interval>> {
    let Some(ranges) = trace.ranges()? else {
        return Ok(BTreeMap::new());
    };
    let mut by_name: BTreeMap<(ProcessKey, usize), (u64, Interval)> = BTreeMap::new();
    for range in &ranges.ranges {
        let (start, end) = (Nanos(range.start), Nanos(range.end));
        let Some(thread) = range.thread.filter(|_| window.holds(start, end)) else {
            continue;
        };
        let cut = Interval {
            start: start.max(window.from),
            end: end.min(window.to),
        };
        let (count, whole) = by_name
            .entry((thread.process(), range.name))
            .or_insert((0, cut));
        *count += 1;
        *whole = hull(*whole, cut);
    }
    let mut by_process: BTreeMap<ProcessKey, Interval> = BTreeMap::new();
    for ((process, _), (count, interval)) in by_name {
        if count >= REPEATED {
            let whole = by_process.entry(process).or_insert(interval);
            *whole = hull(*whole, interval);
        }
    }
    Ok(by_process)
}

fn hull(a: Interval, b: Interval) -> Interval {
    Interval {
        start: a.start.min(b.start),
        end: a.end.max(b.end),
    }
}
