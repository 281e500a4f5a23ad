//! From beginnings of steps to what each step did.

use super::anchors::Beginnings;
use super::idle_gap::distances;
use super::{AnchorReading, Communication, Step, StepKind};
use crate::analysis::stats::Spread;
use crate::analysis::work::RankWork;
use crate::busy::{Interval, Intervals};
use crate::query::Window;
use crate::units::Nanos;

/// The steps of a rank, prompt processing not yet told apart.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) anchor: Beginnings,
    pub(super) readings: Vec<AnchorReading>,
    pub(super) window: Interval,
    pub(super) steps: Vec<Step>,
}

/// Measures the steps of the best anchor; `None` without one.
pub(super) fn measure(rank: &RankWork, anchors: &[Beginnings]) -> Option<Draft> {
    let anchor = anchors.first()?.clone();
    let readings = anchors
        .iter()
        .filter_map(|anchor| {
            Some(AnchorReading {
                method: anchor.method,
                steps: anchor.starts.len(),
                median: Spread::of(distances(&anchor.starts))?.median,
            })
        })
        .collect();
    // The first step begins on the host: without that part the window would hold one host gap less than it has steps.
    let window = Interval {
        start: Nanos(anchor.from),
        end: Nanos(anchor.end),
    };
    let launches: Vec<i64> = rank.replays.iter().map(|replay| replay.start).collect();
    let steps = anchor
        .starts
        .windows(2)
        .map(|pair| {
            let span = Interval {
                start: Nanos(pair[0]),
                end: Nanos(pair[1]),
            };
            step(rank, &launches, span)
        })
        .collect();
    Some(Draft {
        anchor,
        readings,
        window,
        steps,
    })
}

fn step(rank: &RankWork, launches: &[i64], span: Interval) -> Step {
    let busy = within(&rank.busy, span);
    let last_work = busy.span().map_or(span.start, |busy| busy.end);
    let communication = (!rank.graph_level).then(|| {
        let communication = within(&rank.communication, span);
        let hidden = common_time(&communication, &within(&rank.compute, span));
        Communication {
            exposed: communication.total() - hidden,
            hidden,
        }
    });
    Step {
        span,
        kind: StepKind::Decode,
        tokens: None,
        busy: busy.total(),
        host_gap: span.end - last_work,
        communication,
        graph_launches: count_within(launches, span),
        eager_launches: count_within(&rank.eager, span),
    }
}

/// The part of a timeline inside an interval, whose last instant belongs to the next one.
///
/// Work that begins exactly there touches the interval and covers none of it.
pub(super) fn within(timeline: &Intervals, span: Interval) -> Intervals {
    let inside = timeline.within(Window {
        from: span.start,
        to: span.end,
    });
    let touches = |interval: &&Interval| interval.start == span.end;
    if inside.as_slice().last().filter(touches).is_none() {
        return inside;
    }
    Intervals::union(
        inside
            .as_slice()
            .iter()
            .copied()
            .filter(|interval| !touches(&interval)),
    )
}

/// How many of the ascending times lie within an interval, its end left out.
fn count_within(times: &[i64], span: Interval) -> u64 {
    let from = times.partition_point(|time| *time < span.start.0);
    let to = times.partition_point(|time| *time < span.end.0);
    (to - from) as u64
}

/// The time that both timelines cover.
pub(super) fn common_time(a: &Intervals, b: &Intervals) -> Nanos {
    a.total() + b.total() - a.with(b).total()
}

/// The medians and shares that follow from steps.
pub(super) fn spread(steps: &[Step], figure: impl Fn(&Step) -> Nanos) -> Option<Spread> {
    let of_kind = |has_prompt: bool| {
        let of_kind = steps
            .iter()
            .filter(|step| step.kind.has_prompt() == has_prompt);
        of_kind.map(|step| figure(step).0).collect::<Vec<_>>()
    };
    // Where every step processes a prompt there is nothing cleaner to describe.
    Spread::of(of_kind(false)).or_else(|| Spread::of(of_kind(true)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{common_time, within};
    use crate::busy::{Interval, Intervals};
    use crate::units::Nanos;

    fn interval(start: i64, end: i64) -> Interval {
        Interval {
            start: Nanos(start),
            end: Nanos(end),
        }
    }

    fn timeline() -> impl Strategy<Value = Intervals> {
        let work =
            (0..200_i64, 0..30_i64).prop_map(|(start, length)| interval(start, start + length));
        prop::collection::vec(work, 0..20).prop_map(Intervals::union)
    }

    fn covers(timeline: &Intervals, time: i64) -> bool {
        let work = timeline.as_slice().iter();
        work.clone()
            .any(|work| work.start.0 <= time && time < work.end.0)
    }

    proptest! {
        /// Steps that follow each other share out the work between them, with nothing lost and nothing counted twice.
        #[test]
        fn steps_share_out_the_work(work in timeline(), mut cuts in prop::collection::vec(0..240_i64, 2..8)) {
            cuts.sort_unstable();
            let of_steps: Nanos = cuts
                .windows(2)
                .map(|pair| within(&work, interval(pair[0], pair[1])).total())
                .sum();
            let whole = interval(cuts[0], cuts[cuts.len() - 1]);
            prop_assert_eq!(of_steps, within(&work, whole).total());
        }

        /// Two timelines have in common what both cover, instant by instant.
        #[test]
        fn common_time_is_covered_by_both(a in timeline(), b in timeline()) {
            let common = (0..240).filter(|time| covers(&a, *time) && covers(&b, *time)).count();
            prop_assert_eq!(common_time(&a, &b), Nanos(i64::try_from(common).expect("at most 240")));
        }
    }
}
