//! Sets of disjoint intervals.

use crate::query::Window;
use crate::units::Nanos;

/// A stretch of time with `start` ≤ `end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Interval {
    /// Its first instant.
    pub start: Nanos,
    /// Its last instant.
    pub end: Nanos,
}

impl Interval {
    /// How long it is.
    #[must_use]
    pub fn duration(self) -> Nanos {
        self.end - self.start
    }
}

/// A union of intervals: sorted, disjoint, with a gap between any two.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intervals {
    merged: Vec<Interval>,
}

impl Intervals {
    /// The union of intervals in any order; those that end before they start are left out.
    #[must_use]
    pub fn union(intervals: impl IntoIterator<Item = Interval>) -> Self {
        let mut builder = IntervalsBuilder::default();
        intervals
            .into_iter()
            .filter(|i| i.start <= i.end)
            .for_each(|interval| builder.push(interval));
        builder.build()
    }

    /// The union with another set.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        Self::union(self.merged.iter().chain(&other.merged).copied())
    }

    /// The disjoint intervals, ascending.
    #[must_use]
    pub fn as_slice(&self) -> &[Interval] {
        &self.merged
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.merged.is_empty()
    }

    /// The time covered.
    #[must_use]
    pub fn total(&self) -> Nanos {
        self.merged.iter().map(|interval| interval.duration()).sum()
    }

    /// From the first start to the last end.
    #[must_use]
    pub fn span(&self) -> Option<Interval> {
        Some(Interval {
            start: self.merged.first()?.start,
            end: self.merged.last()?.end,
        })
    }

    /// What lies between the intervals, ascending.
    pub fn gaps(&self) -> impl Iterator<Item = Interval> {
        self.merged.windows(2).map(|pair| Interval {
            start: pair[0].end,
            end: pair[1].start,
        })
    }

    /// The part inside a window; intervals are cut at its edges.
    #[must_use]
    pub fn within(&self, window: Window) -> Self {
        let from = self
            .merged
            .partition_point(|interval| interval.end < window.from);
        let to = self
            .merged
            .partition_point(|interval| interval.start < window.to);
        let inside = self.merged.get(from..to).unwrap_or_default();
        let cut = |interval: &Interval| Interval {
            start: interval.start.max(window.from),
            end: interval.end.min(window.to),
        };
        Self {
            merged: inside.iter().map(cut).collect(),
        }
    }
}

/// Collects intervals; those that come in order are merged at once, so that back-to-back kernels take no memory.
#[derive(Debug, Default)]
pub(crate) struct IntervalsBuilder {
    /// Ascending as long as `sorted` holds.
    intervals: Vec<Interval>,
    unsorted: bool,
}

impl IntervalsBuilder {
    /// Takes an interval with `start` ≤ `end`.
    pub(crate) fn push(&mut self, interval: Interval) {
        match self.intervals.last_mut() {
            Some(last) if last.start <= interval.start && interval.start <= last.end => {
                last.end = last.end.max(interval.end);
            }
            Some(last) => {
                self.unsorted |= interval.start < last.start;
                self.intervals.push(interval);
            }
            None => self.intervals.push(interval),
        }
    }

    /// Takes over what another thread collected behind this one's rows.
    pub(crate) fn append(&mut self, other: Self) {
        self.unsorted |= other.unsorted;
        other
            .intervals
            .into_iter()
            .for_each(|interval| self.push(interval));
    }

    /// The union, merged in place: a trace may hold millions of intervals.
    pub(crate) fn build(mut self) -> Intervals {
        if self.unsorted {
            self.intervals.sort_unstable();
        }
        let mut kept = 0;
        for at in 1..self.intervals.len() {
            let interval = self.intervals[at];
            let last = &mut self.intervals[kept];
            if interval.start <= last.end {
                last.end = last.end.max(interval.end);
            } else {
                kept += 1;
                self.intervals[kept] = interval;
            }
        }
        self.intervals.truncate(kept + 1);
        self.intervals.shrink_to_fit();
        Intervals {
            merged: self.intervals,
        }
    }
}
