//! Collected values of one group, and the figures that `nsys stats` derives from them.
//!
//! A median is exact only when every value is kept. Durations repeat a lot, though: GPU times come in steps of 32 ns, and
//! most calls last microseconds. So a group keeps plain 32-bit values while they are few, and from then on each distinct
//! value once with its count, which bounds memory by the number of distinct durations instead of the number of rows. Few
//! means a page of memory: a report by range, thread and kernel has tens of thousands of groups.

use crate::grouped::Merge;
use crate::units::{Bytes, FracBytes, FracNanos, Nanos};

/// A group with more plain values than this is condensed to distinct ones: 4 KiB of values, which sort within the
/// processor's nearest cache.
const PLAIN_UP_TO: usize = 1 << 10;

/// The values of one group.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    /// Values as they came.
    plain: Vec<u32>,
    /// Distinct values with their counts, ascending.
    counted: Vec<(u32, u32)>,
    /// Values that do not fit into 32 bits: above 4.29 s, or negative in a damaged trace.
    wide: Vec<i64>,
}

/// The figures of one group. Deviation is that of a sample (n − 1), and 0 for a single value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Summary {
    pub(crate) count: u64,
    pub(crate) total: i64,
    pub(crate) mean: f64,
    pub(crate) median: f64,
    pub(crate) min: i64,
    pub(crate) max: i64,
    pub(crate) stddev: f64,
}

impl Samples {
    pub(crate) fn push(&mut self, value: i64) {
        match u32::try_from(value) {
            Ok(value) => {
                self.plain.push(value);
                if self.plain.len() > PLAIN_UP_TO.max(self.counted.len()) {
                    self.condense();
                }
            }
            Err(_) => self.wide.push(value),
        }
    }

    /// The figures; `None` without a value.
    pub(crate) fn summary(mut self) -> Option<Summary> {
        if !self.counted.is_empty() {
            self.condense();
        }
        self.wide.sort_unstable();
        let mut sums = Sums::default();
        sums.add_plain(&self.plain);
        for (value, count) in &self.counted {
            sums.add(i64::from(*value), *count);
        }
        for value in &self.wide {
            sums.add(*value, 1);
        }
        if sums.count == 0 {
            return None;
        }
        let upper = self.nth(sums.count / 2);
        let median = if sums.count.is_multiple_of(2) {
            (as_f64(self.nth(sums.count / 2 - 1)) + as_f64(upper)) / 2.0
        } else {
            as_f64(upper)
        };
        Some(Summary {
            count: sums.count,
            total: clamped(sums.total),
            mean: sums.mean(),
            median,
            min: sums.min,
            max: sums.max,
            stddev: sums.stddev(),
        })
    }

    /// The value at a position of the ascending order, once condensed or plain and with sorted wide values.
    fn nth(&mut self, position: u64) -> i64 {
        let negative = self.wide.partition_point(|value| *value < 0);
        let mut at = usize::try_from(position).expect("a position among values that memory holds");
        if at < negative {
            return self.wide[at];
        }
        at -= negative;
        if self.counted.is_empty() {
            if at < self.plain.len() {
                return i64::from(*self.plain.select_nth_unstable(at).1);
            }
            at -= self.plain.len();
        }
        for (value, count) in &self.counted {
            let count = *count as usize;
            if at < count {
                return i64::from(*value);
            }
            at -= count;
        }
        self.wide[negative + at]
    }

    /// Moves the plain values into the counted ones.
    fn condense(&mut self) {
        self.plain.sort_unstable();
        let runs = self.plain.chunk_by(|a, b| a == b).map(|run| {
            let count = u32::try_from(run.len()).expect("a run within the plain values");
            (run[0], count)
        });
        self.counted = merged(std::mem::take(&mut self.counted), runs);
        self.plain.clear();
    }
}

impl Merge for Samples {
    fn merge(&mut self, other: Self) {
        for value in other.plain {
            self.push(i64::from(value));
        }
        self.wide.extend(other.wide);
        if self.counted.is_empty() {
            self.counted = other.counted;
        } else if !other.counted.is_empty() {
            self.counted = merged(std::mem::take(&mut self.counted), other.counted.into_iter());
        }
    }
}

/// Joins two lists of distinct ascending values with their counts.
fn merged(left: Vec<(u32, u32)>, right: impl Iterator<Item = (u32, u32)>) -> Vec<(u32, u32)> {
    let mut joined = Vec::with_capacity(left.len() + right.size_hint().0);
    let mut left = left.into_iter().peekable();
    for (value, mut count) in right {
        while let Some(entry) = left.next_if(|entry| entry.0 <= value) {
            if entry.0 == value {
                count = count
                    .checked_add(entry.1)
                    .expect("fewer than 2^32 rows of one duration");
            } else {
                joined.push(entry);
            }
        }
        joined.push((value, count));
    }
    joined.extend(left);
    joined
}

/// Sums over a group, exact as long as 128 bits hold them.
#[derive(Debug)]
struct Sums {
    count: u64,
    total: i128,
    squares: Option<u128>,
    min: i64,
    max: i64,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            count: 0,
            total: 0,
            squares: Some(0),
            min: i64::MAX,
            max: i64::MIN,
        }
    }
}

impl Sums {
    fn add(&mut self, value: i64, count: u32) {
        self.count += u64::from(count);
        self.total += i128::from(value) * i128::from(count);
        let square = u128::from(value.unsigned_abs()).pow(2);
        let squares = square.checked_mul(u128::from(count));
        self.squares = self
            .squares
            .zip(squares)
            .and_then(|(sum, more)| sum.checked_add(more));
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Adds many values, none of which can overflow anything.
    fn add_plain(&mut self, values: &[u32]) {
        let (Some(min), Some(max)) = (values.iter().min(), values.iter().max()) else {
            return;
        };
        let total: u128 = values.iter().map(|value| u128::from(*value)).sum();
        let squares: u128 = values
            .iter()
            .map(|value| u128::from(u64::from(*value) * u64::from(*value)))
            .sum();
        self.count += values.len() as u64;
        self.total += total.cast_signed();
        self.squares = self.squares.and_then(|sum| sum.checked_add(squares));
        self.min = self.min.min(i64::from(*min));
        self.max = self.max.max(i64::from(*max));
    }

    fn mean(&self) -> f64 {
        as_f64(clamped(self.total)) / count_as_f64(self.count)
    }

    /// The root of (n·Σx² − (Σx)²) / (n·(n − 1)), whose numerator is exact in integers.
    ///
    /// Values so large that 128 bits overflow do not occur in a sound trace; their deviation is NaN, not a guess.
    fn stddev(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let squared_total = self.total.unsigned_abs().checked_pow(2);
        let scaled_squares = self
            .squares
            .and_then(|squares| squares.checked_mul(u128::from(self.count)));
        let Some((scaled, squared)) = scaled_squares.zip(squared_total) else {
            return f64::NAN;
        };
        // By the Cauchy-Schwarz inequality the difference is never negative.
        let numerator = scaled.saturating_sub(squared);
        let count = count_as_f64(self.count);
        (wide_as_f64(numerator) / (count * (count - 1.0))).sqrt()
    }
}

fn clamped(total: i128) -> i64 {
    i64::try_from(total).unwrap_or(if total < 0 { i64::MIN } else { i64::MAX })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the printed figures are doubles by definition"
)]
fn as_f64(value: i64) -> f64 {
    value as f64
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts of rows stay far below 2^53"
)]
fn count_as_f64(count: u64) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "the nearest double is wanted")]
fn wide_as_f64(value: u128) -> f64 {
    value as f64
}

/// How long the events of a group took.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DurationSummary {
    /// How many events there are.
    pub count: u64,
    /// The sum of their durations; events that overlap count twice.
    pub total: Nanos,
    /// The mean.
    pub mean: FracNanos,
    /// The middle one, or the mean of the two middle ones.
    pub median: FracNanos,
    /// The shortest.
    pub min: Nanos,
    /// The longest.
    pub max: Nanos,
    /// The standard deviation of a sample (n − 1); 0 for a single event.
    pub stddev: FracNanos,
}

impl From<Summary> for DurationSummary {
    fn from(summary: Summary) -> Self {
        Self {
            count: summary.count,
            total: Nanos(summary.total),
            mean: FracNanos(summary.mean),
            median: FracNanos(summary.median),
            min: Nanos(summary.min),
            max: Nanos(summary.max),
            stddev: FracNanos(summary.stddev),
        }
    }
}

/// How large the operations of a group were.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SizeSummary {
    /// How many operations there are.
    pub count: u64,
    /// The sum of their sizes.
    pub total: Bytes,
    /// The mean.
    pub mean: FracBytes,
    /// The middle one, or the mean of the two middle ones.
    pub median: FracBytes,
    /// The smallest.
    pub min: Bytes,
    /// The largest.
    pub max: Bytes,
    /// The standard deviation of a sample (n − 1); 0 for a single operation.
    pub stddev: FracBytes,
}

impl From<Summary> for SizeSummary {
    fn from(summary: Summary) -> Self {
        Self {
            count: summary.count,
            total: Bytes(summary.total),
            mean: FracBytes(summary.mean),
            median: FracBytes(summary.median),
            min: Bytes(summary.min),
            max: Bytes(summary.max),
            stddev: FracBytes(summary.stddev),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Merge, PLAIN_UP_TO, Samples};

    fn samples(values: impl IntoIterator<Item = i64>) -> Samples {
        let mut samples = Samples::default();
        values.into_iter().for_each(|value| samples.push(value));
        samples
    }

    #[test]
    fn nothing_has_no_figures() {
        assert_eq!(Samples::default().summary(), None);
    }

    #[test]
    fn one_value_has_no_deviation() {
        let summary = samples([7]).summary().expect("one value");
        assert_eq!(
            (summary.count, summary.total, summary.min, summary.max),
            (1, 7, 7, 7)
        );
        assert_eq!(
            (summary.mean.to_bits(), summary.stddev.to_bits()),
            (7.0_f64.to_bits(), 0)
        );
    }

    #[test]
    fn values_beyond_32_bits_and_below_zero_take_their_place_in_the_order() {
        // Ascending: -3, 1, 5, 2^33, 2^34; the middle one is 5.
        let summary = samples([1 << 34, 5, -3, 1 << 33, 1])
            .summary()
            .expect("five values");
        assert_eq!((summary.min, summary.max), (-3, 1 << 34));
        assert_eq!(summary.median.to_bits(), 5.0_f64.to_bits());
    }

    proptest! {
        /// The figures of any values in any order are those of a plain computation over the sorted ones.
        #[test]
        fn figures_are_those_of_a_plain_computation(
            mut values in prop::collection::vec(prop_oneof![0..50_i64, -9..9_i64, 0..1_i64 << 40], 1..60),
            cut in any::<prop::sample::Index>(),
        ) {
            let (first, second) = values.split_at(cut.index(values.len()));
            let mut joined = samples(first.iter().copied());
            joined.merge(samples(second.iter().copied()));
            let summary = joined.summary().expect("at least one value");
            values.sort_unstable();
            let n = values.len();
            let twice_median = values[(n - 1) / 2] + values[n / 2];
            prop_assert_eq!(summary.count, n as u64);
            prop_assert_eq!(summary.total, values.iter().sum::<i64>());
            prop_assert_eq!((summary.min, summary.max), (values[0], values[n - 1]));
            prop_assert_eq!((summary.median * 2.0).to_string(), twice_median.to_string());
            prop_assert!(summary.stddev >= 0.0);
            prop_assert!((summary.stddev == 0.0) == (n == 1 || values[0] == values[n - 1]));
        }
    }

    /// Condensed values and plain ones must give the same figures, whichever way two threads split them.
    #[test]
    fn condensing_and_merging_change_no_figure() {
        let value = |i: i64| (i * 7919) % 5003;
        let n = i64::try_from(PLAIN_UP_TO).expect("a small constant") * 2 + 11;
        let mut sorted: Vec<i64> = (0..n).map(value).collect();
        sorted.sort_unstable();
        let whole = samples((0..n).map(value)).summary().expect("values");
        for cut in [1, n / 3, n - 1] {
            let mut first = samples((0..cut).map(value));
            first.merge(samples((cut..n).map(value)));
            assert_eq!(first.summary(), Some(whole), "cut at {cut}");
        }
        let middle = sorted[sorted.len() / 2];
        assert_eq!(
            whole.median.to_bits(),
            f64::from(i32::try_from(middle).expect("small")).to_bits()
        );
        assert_eq!(whole.total, sorted.iter().sum::<i64>());
    }
}
