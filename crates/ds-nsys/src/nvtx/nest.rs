//! Which ranges enclose an interval.

use super::Range;

/// Walks over the ranges of one thread together with intervals that come in the order of their start.
///
/// Ranges of several domains need not nest, so all ranges that are still open are kept, not only a stack.
pub(crate) struct Sweep<'r> {
    ranges: &'r [Range],
    /// Positions by start; of ranges that start together the longest first, so that an outer range precedes an inner.
    order: Vec<usize>,
    next: usize,
    open: Vec<usize>,
}

impl<'r> Sweep<'r> {
    /// Begins a walk over the given positions of `ranges`.
    pub(crate) fn new(ranges: &'r [Range], positions: impl IntoIterator<Item = usize>) -> Self {
        let mut order: Vec<usize> = positions.into_iter().collect();
        order.sort_unstable_by_key(|at| {
            let range = &ranges[*at];
            (range.start, std::cmp::Reverse(range.end), range.row)
        });
        Self {
            ranges,
            order,
            next: 0,
            open: Vec::new(),
        }
    }

    /// The ranges that enclose an interval, the outermost first; calls must come in the order of `start`.
    pub(crate) fn enclosing(&mut self, start: i64, end: i64) -> impl Iterator<Item = usize> {
        while let Some(at) = self
            .order
            .get(self.next)
            .filter(|at| self.ranges[**at].start <= start)
        {
            self.open.push(*at);
            self.next += 1;
        }
        let ranges = self.ranges;
        self.open.retain(|at| ranges[*at].end >= start);
        self.open
            .iter()
            .copied()
            .filter(move |at| ranges[*at].end >= end)
    }

    /// For every range in order, the ranges that enclose it, the outermost first.
    ///
    /// Of ranges over the same interval the earlier row encloses the later one.
    pub(crate) fn each_with_ancestors(mut self, mut visit: impl FnMut(usize, &[usize])) {
        let mut ancestors = Vec::new();
        for at in std::mem::take(&mut self.order) {
            let range = &self.ranges[at];
            self.open
                .retain(|open| self.ranges[*open].end >= range.start);
            ancestors.clear();
            ancestors.extend(
                self.open
                    .iter()
                    .copied()
                    .filter(|open| self.ranges[*open].end >= range.end),
            );
            visit(at, &ancestors);
            self.open.push(at);
        }
    }
}
