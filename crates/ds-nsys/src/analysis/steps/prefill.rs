//! Prompt processing among the steps, and what the clean steps look like.

use std::collections::BTreeMap;

use super::anchors::Beginnings;
use super::series::{Draft, spread, within};
use super::{Communication, Prefill, PrefillEvidence, Step, StepBound, StepKind, StepSeries};
use crate::analysis::stats::{as_f64, median};
use crate::analysis::work::{OWN, RankWork, device_of, interval_of, work_columns};
use crate::busy::{Interval, Intervals};
use crate::error::Result;
use crate::grouped::{Grouped, Merge};
use crate::query::Window;
use crate::summary::KERNEL_TABLE;
use crate::trace::Trace;
use crate::units::{FracNanos, Nanos, Share};

/// A step that is busy for longer than this many median steps is unusual. In a mixture of 40 prompts and 120 generation
/// steps recorded on an H200 the steps with a prompt take 7.9 medians, and no other step takes 1.01.
const UNUSUAL_ABOVE: f64 = 3.0;

/// Above this share of idle time in the median step the host bounds it. A choice of this crate, as the next one is: the
/// larger part of what could be gained then lies outside the kernels.
const HOST_BOUND_ABOVE: f64 = 0.4;

/// Above this share of exposed communication in busy time communication bounds the step.
const COMMUNICATION_BOUND_ABOVE: f64 = 0.4;

/// Marks the steps that process prompts and describes the rest; `None` where a step has no duration to describe.
pub(super) fn mark(
    trace: &Trace,
    window: Window,
    rank: &RankWork,
    mut draft: Draft,
) -> Result<Option<StepSeries>> {
    let evidence = match &draft.anchor.tokens {
        Some(tokens) => {
            for (step, tokens) in draft.steps.iter_mut().zip(tokens) {
                step.kind = tokens.kind();
                step.tokens = Some(*tokens);
            }
            PrefillEvidence::ContextTokens
        }
        None if !rank.replays.is_empty() => {
            mark_launches_outside_graphs(&mut draft.steps);
            PrefillEvidence::LaunchesOutsideGraphs
        }
        None => {
            mark_other_kernels(trace, window, rank, &mut draft.steps)?;
            PrefillEvidence::OtherKernels
        }
    };
    let prefill = Prefill {
        evidence,
        steps: draft
            .steps
            .iter()
            .filter(|step| step.kind.has_prompt())
            .count(),
        share_of_busy: share_of_busy(rank, &draft, evidence),
    };
    Ok(describe(rank, draft, prefill))
}

fn unusual(steps: &[Step]) -> impl Fn(&Step) -> bool + use<> {
    let busy = steps.iter().map(|step| as_f64(step.busy.0)).collect();
    let bar = median(busy).map(|median| median * UNUSUAL_ABOVE);
    move |step| bar.is_some_and(|bar| as_f64(step.busy.0) > bar)
}

fn mark_launches_outside_graphs(steps: &mut [Step]) {
    let ordinary = median(
        steps
            .iter()
            .map(|step| count(step.eager_launches))
            .collect(),
    );
    let unusual = unusual(steps);
    for step in steps {
        if unusual(step) && ordinary.is_some_and(|n| count(step.eager_launches) > n) {
            step.kind = StepKind::Prefill;
        }
    }
}

/// The largest grid of each kernel, over the ordinary steps and over each unusual one.
#[derive(Debug, Default)]
struct Grids {
    ordinary: i64,
    unusual: BTreeMap<usize, i64>,
}

impl Merge for Grids {
    fn merge(&mut self, other: Self) {
        self.ordinary = self.ordinary.max(other.ordinary);
        for (step, grid) in other.unusual {
            let largest = self.unusual.entry(step).or_default();
            *largest = grid.max(*largest);
        }
    }
}

fn mark_other_kernels(
    trace: &Trace,
    window: Window,
    rank: &RankWork,
    steps: &mut [Step],
) -> Result<()> {
    let is_unusual = unusual(steps);
    let unusual: Vec<bool> = steps.iter().map(is_unusual).collect();
    if !unusual.contains(&true) {
        return Ok(());
    }
    let columns = work_columns(&["demangledName", "gridX", "gridY", "gridZ"]);
    let (name_at, grid_at) = (OWN, OWN + 1..OWN + 4);
    let begins: Vec<Nanos> = steps.iter().map(|step| step.span.start).collect();
    let end = steps.last().map(|step| step.span.end);
    let parts = trace.fold_parts(
        KERNEL_TABLE,
        &columns,
        Grouped::<i64, Grids>::default,
        |grids, fields| {
            let Some(interval) = interval_of(fields, window)? else {
                return Ok(());
            };
            if device_of(fields)? != rank.device || Some(interval.start) >= end {
                return Ok(());
            }
            let Some(step) = begins
                .partition_point(|begin| *begin <= interval.start)
                .checked_sub(1)
            else {
                return Ok(());
            };
            let mut blocks = 1_i64;
            for at in grid_at.clone() {
                blocks = blocks.saturating_mul(fields.get::<Option<i64>>(at)?.unwrap_or(1));
            }
            let of_kernel = grids.entry(fields.get::<Option<i64>>(name_at)?.unwrap_or_default());
            if unusual[step] {
                let largest = of_kernel.unusual.entry(step).or_default();
                *largest = blocks.max(*largest);
            } else {
                of_kernel.ordinary = blocks.max(of_kernel.ordinary);
            }
            Ok(())
        },
    )?;
    for (_, grids) in Grouped::joined(parts.unwrap_or_default()).into_groups() {
        for (step, blocks) in grids.unusual {
            // A kernel that ordinary steps lack has no grid there.
            if blocks > grids.ordinary {
                steps[step].kind = StepKind::Prefill;
            }
        }
    }
    Ok(())
}

/// The share of busy time that prompt processing took between the first step and the last.
fn share_of_busy(rank: &RankWork, draft: &Draft, evidence: PrefillEvidence) -> Option<Share> {
    let prefill = draft.steps.iter().filter(|step| step.kind.has_prompt());
    if evidence == PrefillEvidence::LaunchesOutsideGraphs {
        let of_prefill: Nanos = prefill
            .map(|step| within(&rank.eager_busy, step.span).total())
            .sum();
        let graphs = rank.replays.iter().map(|replay| Interval {
            start: Nanos(replay.start),
            end: Nanos(replay.end),
        });
        let whole = Intervals::union(graphs).with(&rank.eager_busy);
        return of_prefill.share_of(within(&whole, draft.window).total());
    }
    let of_prefill: Nanos = prefill.map(|step| step.busy).sum();
    of_prefill.share_of(within(&rank.busy, draft.window).total())
}

fn describe(rank: &RankWork, draft: Draft, prefill: Prefill) -> Option<StepSeries> {
    let Draft {
        anchor: Beginnings { method, .. },
        readings,
        window,
        steps,
    } = draft;
    let clean_median = |figure: &dyn Fn(&Step) -> Option<f64>| {
        let clean = steps.iter().filter(|step| step.kind == StepKind::Decode);
        let of_clean = median(clean.filter_map(figure).collect());
        of_clean.or_else(|| median(steps.iter().filter_map(figure).collect()))
    };
    let communication_median = |figure: fn(Communication) -> Nanos| {
        clean_median(&|step| step.communication.map(|time| as_f64(figure(time).0)))
    };
    let communication = communication_median(|time| time.exposed)
        .zip(communication_median(|time| time.hidden))
        .map(|(exposed, hidden)| (FracNanos(exposed), FracNanos(hidden)));
    let duration = spread(&steps, |step| step.span.duration())?;
    let busy = spread(&steps, |step| step.busy)?;
    let idle = spread(&steps, Step::idle)?;
    let bound = if idle.median.0 > HOST_BOUND_ABOVE * duration.median.0 {
        StepBound::Host
    } else {
        match communication {
            None => StepBound::WithinGraphs,
            Some((exposed, _)) if exposed.0 > COMMUNICATION_BOUND_ABOVE * busy.median.0 => {
                StepBound::Communication
            }
            Some(_) => StepBound::Kernel,
        }
    };
    Some(StepSeries {
        method,
        readings,
        window,
        duration,
        busy,
        idle,
        host_gap: spread(&steps, |step| step.host_gap)?,
        communication,
        graph_launches: clean_median(&|step| Some(count(step.graph_launches)))?,
        eager_launches: clean_median(&|step| Some(count(step.eager_launches)))?,
        prefill,
        is_upper_figure: rank.graph_level,
        busy_in_window: within(&rank.busy, window).total(),
        bound,
        steps,
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a step launches far fewer than 2^53 kernels"
)]
fn count(launches: u64) -> f64 {
    launches as f64
}
