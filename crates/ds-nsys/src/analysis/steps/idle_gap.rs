//! The idle gap between steps, found by the data itself and not by a fixed range of lengths.

use crate::analysis::stats::{Spread, as_f64};
use crate::busy::Interval;
use crate::units::Nanos;

/// Gaps shorter than this are those between two launches: a kernel launch takes a few microseconds, and one that has to
/// wait for the host takes at least this long. Tried on ten captures of an H200.
const SHORTEST_NS: i64 = 20_000;

/// A gap between steps is longer than this many ordinary gaps.
const TIMES_THE_ORDINARY: f64 = 3.0;

/// Lengths are sorted into this many classes per doubling.
const CLASSES_PER_DOUBLING: f64 = 4.0;

/// Fewer gaps of one kind than this are no pattern.
const FEWEST_GAPS: usize = 30;

/// The step is regular when the median distance from its median length is at most this share of it.
const REGULAR_WITHIN: f64 = 0.25;

/// Steps must cover this much of the time after start-up.
const COVERED: f64 = 0.8;

/// The gap is dominant when it makes up more than this share of the idle time. Without it, a server that leaves a gap
/// after every launch seems to step wherever two of its gaps are a little longer.
const DOMINANT: f64 = 0.5;

/// How ordinary gaps are told from those between steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ordinary {
    /// The median gap is one between two launches.
    Median,
    /// Graphs were traced as a whole: the gaps between launches are inside them, and every gap may lie between steps.
    None,
}

/// The beginnings of steps: the ends of the dominant gap. `None` where no gap is dominant and regular.
pub(super) fn beginnings(busy: &[Interval], ordinary: Ordinary) -> Option<Vec<i64>> {
    let whole = Interval {
        start: busy.first()?.start,
        end: busy.last()?.end,
    };
    let gaps: Vec<Interval> = busy
        .windows(2)
        .map(|pair| Interval {
            start: pair[0].end,
            end: pair[1].start,
        })
        .collect();
    let idle = total(&gaps);
    let floor = match ordinary {
        Ordinary::Median => {
            let median = Spread::of(gaps.iter().map(|gap| gap.duration().0).collect())?.median;
            (median.0 * TIMES_THE_ORDINARY).max(as_f64(SHORTEST_NS))
        }
        Ordinary::None => as_f64(SHORTEST_NS),
    };
    let long: Vec<Interval> = gaps
        .into_iter()
        .filter(|gap| as_f64(gap.duration().0) >= floor)
        .collect();
    clusters(&long)
        .into_iter()
        .filter_map(|classes| {
            let gaps: Vec<Interval> = long
                .iter()
                .copied()
                .filter(|gap| classes.contains(&class_of(*gap)))
                .collect();
            if gaps.len() < FEWEST_GAPS {
                return None;
            }
            let covered = gaps.last()?.end - gaps.first()?.end;
            let beginnings: Vec<i64> = gaps.iter().map(|gap| gap.end.0).collect();
            let regular = Spread::of(distances(&beginnings))?.irregularity()?.0 <= REGULAR_WITHIN;
            let fits = regular
                && covered.share_of(whole.duration())?.0 >= COVERED
                && total(&gaps).share_of(idle)?.0 > DOMINANT;
            fits.then_some((covered, beginnings))
        })
        .max_by_key(|(covered, _)| *covered)
        .map(|(_, beginnings)| beginnings)
}

fn total(gaps: &[Interval]) -> Nanos {
    gaps.iter().map(|gap| gap.duration()).sum()
}

/// From each time to the next.
pub(super) fn distances(times: &[i64]) -> Vec<i64> {
    times
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]))
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the logarithm of a length of at least 20 µs lies between 14 and 63"
)]
fn class_of(gap: Interval) -> usize {
    (as_f64(gap.duration().0).log2() * CLASSES_PER_DOUBLING) as usize
}

/// Classes around each peak of the histogram; a valley divides two peaks when it is lower than half of both.
fn clusters(gaps: &[Interval]) -> Vec<std::ops::Range<usize>> {
    let mut counts: Vec<usize> = Vec::new();
    for gap in gaps {
        let class = class_of(*gap);
        if counts.len() <= class {
            counts.resize(class + 1, 0);
        }
        counts[class] += 1;
    }
    let mut clusters = Vec::new();
    let mut current: Option<Cluster> = None;
    for (class, here) in counts.into_iter().chain([0]).enumerate() {
        current = match current {
            None => (here > 0).then(|| Cluster::at(class, here)),
            Some(cluster) if here == 0 => {
                clusters.push(cluster.from..class);
                None
            }
            Some(cluster) if cluster.valley_count * 2 < here.min(cluster.peak) => {
                clusters.push(cluster.from..cluster.valley);
                Some(Cluster {
                    from: cluster.valley,
                    ..Cluster::at(class, here)
                })
            }
            Some(cluster) => Some(cluster.with(class, here)),
        };
    }
    clusters
}

/// A run of classes so far.
#[derive(Debug, Clone, Copy)]
struct Cluster {
    from: usize,
    peak: usize,
    /// The lowest class since the peak, and its count.
    valley: usize,
    valley_count: usize,
}

impl Cluster {
    fn at(class: usize, count: usize) -> Self {
        Self {
            from: class,
            peak: count,
            valley: class,
            valley_count: count,
        }
    }

    fn with(self, class: usize, count: usize) -> Self {
        if count >= self.peak {
            Self {
                from: self.from,
                ..Self::at(class, count)
            }
        } else if count <= self.valley_count {
            Self {
                valley: class,
                valley_count: count,
                ..self
            }
        } else {
            self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ordinary, beginnings, class_of, clusters};
    use crate::busy::Interval;
    use crate::units::Nanos;

    /// Busy for the given time, idle for the given time, and so on.
    fn timeline(lengths: impl IntoIterator<Item = (i64, i64)>) -> Vec<Interval> {
        let mut now = 1_000_000;
        let mut busy = Vec::new();
        for (work, gap) in lengths {
            busy.push(Interval {
                start: Nanos(now),
                end: Nanos(now + work),
            });
            now += work + gap;
        }
        busy
    }

    fn gap(length: i64) -> Interval {
        Interval {
            start: Nanos(0),
            end: Nanos(length),
        }
    }

    #[test]
    fn two_peaks_are_two_clusters() {
        let peaks = [30_000, 30_100, 30_200, 36_000, 400_000, 400_100].map(gap);
        let found = clusters(&peaks);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains(&class_of(gap(36_000))));
        assert!(found[1].contains(&class_of(gap(400_000))));
    }

    #[test]
    fn a_valley_divides_neighbours() {
        // Classes of a quarter of a doubling: 3, 1, 3 gaps in adjacent ones.
        let found = clusters(&[32_768, 32_768, 32_768, 39_000, 47_000, 47_000, 47_000].map(gap));
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_long_gap_after_every_few_kernels_is_a_step() {
        let step = [(50_000, 1_000), (50_000, 1_000), (50_000, 300_000)];
        let busy = timeline(step.into_iter().cycle().take(150));
        let found = beginnings(&busy, Ordinary::Median).expect("50 steps");
        assert_eq!(found.len(), 49);
        assert!(found.windows(2).all(|pair| pair[1] - pair[0] == 452_000));
    }

    #[test]
    fn a_gap_after_every_kernel_is_no_step() {
        let busy = timeline((0..500).map(|i| (2_000, if i % 20 == 0 { 90_000 } else { 25_000 })));
        assert_eq!(beginnings(&busy, Ordinary::Median), None);
    }

    #[test]
    fn irregular_gaps_are_no_steps() {
        let busy = timeline((0..100).map(|i| (50_000 << (i % 7), 900_000)));
        assert_eq!(beginnings(&busy, Ordinary::None), None);
    }
}
