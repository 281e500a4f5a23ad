//! The figures of every rank, and what they say together.

use std::collections::{BTreeMap, BTreeSet};

use super::collectives::{self, CollectiveTime, Matching, OfRank};
use super::sessions;
use super::{
    CategoryOverRanks, RankBasis, RankKey, RankOptions, RankRow, RankTable, Straggler,
    StragglerEvidence,
};
use crate::analysis::stats::{as_f64, count_as_f64, median};
use crate::analysis::steps::{StepOptions, StepSeries, Steps};
use crate::analysis::taxonomy::Category;
use crate::analysis::totals::{RankTotals, totals};
use crate::busy::Busy;
use crate::error::Result;
use crate::ids::DeviceKey;
use crate::query::Window;
use crate::trace::Trace;
use crate::units::{FracNanos, Nanos, Share};

/// One trace with what was found in it.
struct Read {
    steps: Steps,
    busy: Busy,
    totals: BTreeMap<DeviceKey, RankTotals>,
    collectives: BTreeMap<DeviceKey, OfRank>,
}

pub(super) fn build(traces: &[&Trace], options: &RankOptions) -> Result<RankTable> {
    let step_options = StepOptions {
        window: options.window,
        taxonomy: options.taxonomy.clone(),
    };
    let steps = traces
        .iter()
        .map(|trace| trace.steps(&step_options))
        .collect::<Result<Vec<Steps>>>()?;
    // Figures per step need steps on every rank, or ranks would be compared over different things.
    let basis = if steps.iter().all(every_rank_steps) {
        RankBasis::Step
    } else {
        RankBasis::Capture
    };
    let mut read = Vec::with_capacity(traces.len());
    for (trace, steps) in traces.iter().zip(steps) {
        let series: BTreeMap<DeviceKey, &StepSeries> = steps.found().collect();
        let series = (basis == RankBasis::Step).then_some(&series);
        let totals = totals(
            trace,
            options.window,
            &options.taxonomy,
            options.folding,
            series,
        )?;
        read.push(Read {
            busy: trace.busy(options.window)?,
            collectives: collectives::read(trace, options)?,
            totals,
            steps,
        });
    }
    Ok(table(&read, basis, sessions::matching(traces)?, options))
}

fn every_rank_steps(steps: &Steps) -> bool {
    let mut ranks = steps.ranks.iter();
    ranks.all(|rank| {
        let series = rank.series.as_ref();
        series.is_some_and(|series| series.clean().next().is_some())
    })
}

fn table(read: &[Read], basis: RankBasis, matching: Matching, options: &RankOptions) -> RankTable {
    let (times, unmatched_collectives) = matched(read, basis, matching);
    let mut ranks = Vec::new();
    let mut by_category: BTreeMap<RankKey, BTreeMap<&Category, f64>> = BTreeMap::new();
    let mut is_hidden_by_graphs = false;
    for (trace, part) in read.iter().enumerate() {
        for device in part.busy.devices.iter().filter(|d| !d.busy.is_empty()) {
            let rank = RankKey {
                trace,
                device: device.device,
            };
            let series = series_of(part, basis, device.device);
            let units = series.map_or(1.0, |series| count_as_f64(series.clean().count()));
            let mut of_rank: BTreeMap<&Category, f64> = BTreeMap::new();
            for (kind, total) in part.totals.get(&device.device).into_iter().flatten() {
                if let Some(category) = kind.category() {
                    *of_rank.entry(category).or_default() += as_f64(total.time.0) / units;
                }
            }
            let sum = |communicates: bool| {
                let of_rank = of_rank.iter();
                let some =
                    of_rank.filter(|(category, _)| category.is_communication() == communicates);
                // An empty sum of doubles would be −0.
                FracNanos(some.fold(0.0, |sum, (_, time)| sum + time))
            };
            let busy = series.map_or_else(
                || as_f64(device.busy_time().0),
                |series| {
                    let busy: Nanos = series.clean().map(|step| step.busy).sum();
                    as_f64(busy.0) / units
                },
            );
            is_hidden_by_graphs |= device.is_upper_figure();
            ranks.push(RankRow {
                rank,
                step: series.map(|series| series.duration),
                busy: FracNanos(busy),
                compute: (!device.is_upper_figure()).then(|| sum(false)),
                communication: (!device.is_upper_figure()).then(|| sum(true)),
                collectives: times.get(&rank).copied(),
            });
            by_category.insert(rank, of_rank);
        }
    }
    let categories = categories(&by_category);
    RankTable {
        taxonomy_version: options.taxonomy.version().to_owned(),
        basis,
        busy_imbalance: imbalance(&ranks),
        straggler: straggler(&ranks, &categories, &by_category),
        categories,
        ranks,
        unmatched_collectives,
        are_recorded_apart: matching == Matching::RecordedApart,
        is_hidden_by_graphs,
    }
}

fn series_of(part: &Read, basis: RankBasis, device: DeviceKey) -> Option<&StepSeries> {
    let found = part.steps.found().find(|(found, _)| *found == device);
    found
        .map(|(_, series)| series)
        .filter(|_| basis == RankBasis::Step)
}

/// The matched collectives of all ranks; per step, only those between the first step and the last.
fn matched(
    read: &[Read],
    basis: RankBasis,
    matching: Matching,
) -> (BTreeMap<RankKey, CollectiveTime>, u64) {
    let mut of_ranks: BTreeMap<RankKey, OfRank> = BTreeMap::new();
    let mut parts: BTreeMap<RankKey, Window> = BTreeMap::new();
    for (trace, part) in read.iter().enumerate() {
        for device in part.busy.devices.iter().filter(|d| !d.busy.is_empty()) {
            let device = device.device;
            let rank = RankKey { trace, device };
            let of_rank = part.collectives.get(&device).cloned().unwrap_or_default();
            of_ranks.insert(rank, of_rank);
            if let Some(series) = series_of(part, basis, device) {
                let window = Window {
                    from: series.window.start,
                    to: series.window.end,
                };
                parts.insert(rank, window);
            }
        }
    }
    collectives::split(&of_ranks, &parts, matching)
}

fn imbalance(ranks: &[RankRow]) -> Option<Share> {
    let sum: f64 = ranks.iter().map(|rank| rank.busy.0).sum();
    let longest = ranks
        .iter()
        .map(|rank| rank.busy.0)
        .max_by(f64::total_cmp)?;
    (sum > 0.0).then(|| Share(longest / (sum / count_as_f64(ranks.len()))))
}

/// The largest figure as a share of the median of the others; `None` without another one, or where they are 0.
fn factor_of(largest: f64, others: Vec<f64>) -> Option<Share> {
    median(others)
        .filter(|median| *median > 0.0)
        .map(|median| Share(largest / median))
}

fn categories(ranks: &BTreeMap<RankKey, BTreeMap<&Category, f64>>) -> Vec<CategoryOverRanks> {
    let names: BTreeSet<&Category> = ranks
        .values()
        .flat_map(|of_rank| of_rank.keys().copied())
        .collect();
    let mut categories: Vec<CategoryOverRanks> = names
        .into_iter()
        .filter_map(|category| {
            let times: Vec<(RankKey, f64)> = ranks
                .iter()
                .map(|(rank, of_rank)| (*rank, of_rank.get(category).copied().unwrap_or(0.0)))
                .collect();
            // Of equally slow ranks the first one.
            let (slowest, max) = times
                .iter()
                .copied()
                .reduce(|a, b| if b.1 > a.1 { b } else { a })?;
            let others = times.iter().filter(|(rank, _)| *rank != slowest);
            Some(CategoryOverRanks {
                category: category.clone(),
                min: FracNanos(times.iter().map(|(_, time)| *time).min_by(f64::total_cmp)?),
                median: FracNanos(median(times.iter().map(|(_, time)| *time).collect())?),
                max: FracNanos(max),
                slowest,
                factor: factor_of(max, others.map(|(_, time)| *time).collect()),
            })
        })
        .collect();
    categories.sort_by(|a, b| b.max.0.total_cmp(&a.max.0));
    categories
}

fn straggler(
    ranks: &[RankRow],
    categories: &[CategoryOverRanks],
    by_category: &BTreeMap<RankKey, BTreeMap<&Category, f64>>,
) -> Option<Straggler> {
    let computes: Vec<(RankKey, f64)> = ranks
        .iter()
        .map(|rank| Some((rank.rank, rank.compute?.0)))
        .collect::<Option<_>>()?;
    let (slow, longest) = computes
        .iter()
        .copied()
        .reduce(|a, b| if b.1 > a.1 { b } else { a })?;
    let others = computes.iter().filter(|(rank, _)| *rank != slow);
    let factor = factor_of(longest, others.map(|(_, time)| *time).collect())
        .filter(|factor| *factor >= RankTable::STRAGGLER_FROM)?;
    let waiting = ranks
        .iter()
        .map(|rank| Some((rank.rank, rank.collectives?.waiting)))
        .collect::<Option<Vec<_>>>();
    let evidence = match waiting {
        None => StragglerEvidence::ComputeOnly,
        Some(waiting) => {
            let of_slow = waiting.iter().find(|(rank, _)| *rank == slow)?.1;
            // A rank that waits for others is not the one that they wait for.
            if waiting.iter().any(|(_, of_other)| *of_other < of_slow) {
                return None;
            }
            StragglerEvidence::ComputeAndCollectives
        }
    };
    let lost = |category: &CategoryOverRanks| {
        let of_slow = by_category.get(&slow)?.get(&category.category)?;
        let others = by_category.iter().filter(|(rank, _)| **rank != slow);
        let of_others =
            others.map(|(_, of_rank)| of_rank.get(&category.category).copied().unwrap_or(0.0));
        Some(of_slow - median(of_others.collect())?)
    };
    let category = categories
        .iter()
        .filter(|category| !category.category.is_communication() && category.slowest == slow)
        .filter_map(|category| Some((category, lost(category)?)))
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .and_then(|(category, _)| Some((category.category.clone(), category.factor?)));
    Some(Straggler {
        rank: slow,
        factor,
        evidence,
        category,
    })
}
