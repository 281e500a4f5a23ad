//! The figures of two traces, normalised and put side by side.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{DiffOptions, DiffRow, Differences, Normalization};
use crate::analysis::stats::{Significance, as_f64, count_as_f64, welch};
use crate::analysis::steps::{Step, StepSeries, Steps};
use crate::analysis::totals::{RankTotals, WorkKind, totals};
use crate::error::Result;
use crate::ids::DeviceKey;
use crate::query::Window;
use crate::trace::Trace;
use crate::units::{FracNanos, Nanos, Share};

/// A normalised figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// Time per step or per token.
    Time(FracNanos),
    /// A share of busy time.
    Share(Share),
}

impl Amount {
    pub(super) fn number(self) -> f64 {
        match self {
            Self::Time(time) => time.0,
            Self::Share(share) => share.0,
        }
    }
}

/// A figure in both traces.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// In the first trace.
    pub first: Amount,
    /// In the second trace.
    pub second: Amount,
    /// Second minus first.
    pub difference: Amount,
    pub(super) significance: Option<Significance>,
}

/// A figure of whole steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverallItem {
    /// From the beginning of a step to the next.
    Step,
    /// The busy time of a step.
    Busy,
    /// The idle time of a step.
    Idle,
}

impl fmt::Display for OverallItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Step => "step",
            Self::Busy => "busy",
            Self::Idle => "idle",
        })
    }
}

/// One trace, ready to be compared.
struct Sided {
    /// Work by kind over all ranks.
    work: BTreeMap<WorkKind, Work>,
    /// Divides counts and, unless shares are compared, times.
    units: f64,
    /// Busy time over all ranks.
    busy: Nanos,
}

#[derive(Default)]
struct Work {
    count: u64,
    time: Nanos,
    /// Time in each clean step of each rank.
    by_step: Vec<f64>,
}

/// Compares; `None` when a trace has nothing to compare.
pub(super) fn compare(
    first: (&Trace, &Steps),
    second: (&Trace, &Steps),
    options: &DiffOptions,
) -> Result<Option<Differences>> {
    let series = (series_of(first.1), series_of(second.1));
    let normalization = match (&series, options.tokens) {
        ((Some(_), Some(_)), _) => Normalization::PerStep,
        (_, Some((1.., 1..))) => Normalization::PerToken,
        _ => Normalization::ShareOfBusy,
    };
    let side = |trace, window, series: &Option<BTreeMap<_, _>>, tokens| {
        let series = series
            .as_ref()
            .filter(|_| normalization == Normalization::PerStep);
        sided(trace, window, series, tokens, normalization, options)
    };
    let tokens = options.tokens.unwrap_or_default();
    let a = side(first.0, options.first_window, &series.0, tokens.0)?;
    let b = side(second.0, options.second_window, &series.1, tokens.1)?;
    if a.work.is_empty() || b.work.is_empty() {
        return Ok(None);
    }
    let overall = match (&series, normalization) {
        ((Some(first), Some(second)), Normalization::PerStep) => overall(first, second),
        _ => Vec::new(),
    };
    let kinds: BTreeSet<&WorkKind> = a.work.keys().chain(b.work.keys()).collect();
    let mut found = Differences {
        normalization,
        overall,
        changed: Vec::new(),
        appeared: Vec::new(),
        vanished: Vec::new(),
    };
    let nothing = Work::default();
    for kind in kinds {
        let (in_a, in_b) = (a.work.get(kind), b.work.get(kind));
        let row = DiffRow {
            kind: kind.clone(),
            count: (
                a.count(in_a.unwrap_or(&nothing)),
                b.count(in_b.unwrap_or(&nothing)),
            ),
            change: Change::new(
                a.amount(in_a.unwrap_or(&nothing), normalization),
                b.amount(in_b.unwrap_or(&nothing), normalization),
                in_a.zip(in_b)
                    .and_then(|(a, b)| welch(&a.by_step, &b.by_step)),
            ),
        };
        match (in_a, in_b) {
            (None, _) => found.appeared.push(row),
            (_, None) => found.vanished.push(row),
            (Some(_), Some(_)) => found.changed.push(row),
        }
    }
    for rows in [&mut found.changed, &mut found.appeared, &mut found.vanished] {
        // Stable: equal differences keep the order of kinds.
        rows.sort_by(|a, b| {
            let size = |row: &DiffRow| row.change.difference.number().abs();
            size(b).total_cmp(&size(a))
        });
    }
    Ok(Some(found))
}

impl Change {
    /// The difference as a share of the first figure; `None` when that is 0.
    #[must_use]
    pub fn relative(&self) -> Option<Share> {
        let (first, second) = (self.first.number(), self.second.number());
        (first > 0.0).then(|| Share((second - first) / first))
    }

    /// How likely the difference is chance; `None` where the figures were not taken step by step, or do not vary.
    #[must_use]
    pub fn significance(&self) -> Option<Significance> {
        self.significance
    }

    fn new(first: Amount, second: Amount, significance: Option<Significance>) -> Self {
        let difference = second.number() - first.number();
        Self {
            first,
            second,
            difference: match first {
                Amount::Time(_) => Amount::Time(FracNanos(difference)),
                Amount::Share(_) => Amount::Share(Share(difference)),
            },
            significance,
        }
    }
}

impl Sided {
    fn amount(&self, work: &Work, normalization: Normalization) -> Amount {
        match normalization {
            Normalization::PerStep | Normalization::PerToken => {
                Amount::Time(FracNanos(as_f64(work.time.0) / self.units))
            }
            Normalization::ShareOfBusy => {
                Amount::Share(work.time.share_of(self.busy).unwrap_or_default())
            }
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of rows stay far below 2^53"
    )]
    fn count(&self, work: &Work) -> f64 {
        work.count as f64 / self.units
    }
}

/// The steps of every rank with work; `None` when one of them has no clean step.
fn series_of(steps: &Steps) -> Option<BTreeMap<DeviceKey, &StepSeries>> {
    let all = steps.ranks.iter().map(|rank| {
        let series = rank.series.as_ref()?;
        series.clean().next()?;
        Some((rank.device, series))
    });
    all.collect::<Option<BTreeMap<_, _>>>()
        .filter(|series| !series.is_empty())
}

fn sided(
    trace: &Trace,
    window: Window,
    series: Option<&BTreeMap<DeviceKey, &StepSeries>>,
    tokens: u64,
    normalization: Normalization,
    options: &DiffOptions,
) -> Result<Sided> {
    let by_rank = totals(trace, window, &options.taxonomy, options.folding, series)?;
    let ranks = count_as_f64(by_rank.len().max(1));
    let units = match (normalization, series) {
        (Normalization::PerStep, Some(series)) => {
            count_as_f64(series.values().map(|series| series.clean().count()).sum())
        }
        // Every rank takes part in every token.
        (Normalization::PerToken, _) => as_f64(i64::try_from(tokens).unwrap_or(i64::MAX)) * ranks,
        _ => 1.0,
    };
    let mut work: BTreeMap<WorkKind, Work> = BTreeMap::new();
    // A rank without some kind of work spends no time on it in any of its steps.
    let kinds: BTreeSet<WorkKind> = by_rank
        .values()
        .flat_map(RankTotals::keys)
        .cloned()
        .collect();
    for (device, totals) in &by_rank {
        let steps = series
            .and_then(|series| series.get(device))
            .map_or(0, |series| series.clean().count());
        for kind in &kinds {
            let sum = work.entry(kind.clone()).or_default();
            match totals.get(kind) {
                Some(total) => {
                    sum.count += total.count;
                    sum.time += total.time;
                    sum.by_step
                        .extend(total.by_step.iter().map(|time| as_f64(time.0)));
                }
                None => sum.by_step.extend(std::iter::repeat_n(0.0, steps)),
            }
        }
    }
    let busy = trace.busy(window)?;
    Ok(Sided {
        work,
        units,
        busy: busy.devices.iter().map(|device| device.busy_time()).sum(),
    })
}

fn overall(
    first: &BTreeMap<DeviceKey, &StepSeries>,
    second: &BTreeMap<DeviceKey, &StepSeries>,
) -> Vec<(OverallItem, Change)> {
    type Figure = fn(&Step) -> Nanos;
    let figures: [(OverallItem, Figure); 3] = [
        (OverallItem::Step, |step| step.span.duration()),
        (OverallItem::Busy, |step| step.busy),
        (OverallItem::Idle, |step| step.idle()),
    ];
    let values = |series: &BTreeMap<DeviceKey, &StepSeries>, figure: Figure| {
        let steps = series.values().flat_map(|series| series.clean());
        steps
            .map(|step| as_f64(figure(step).0))
            .collect::<Vec<f64>>()
    };
    let mean = |values: &[f64]| {
        Amount::Time(FracNanos(
            values.iter().sum::<f64>() / count_as_f64(values.len().max(1)),
        ))
    };
    figures
        .into_iter()
        .map(|(item, figure)| {
            let (a, b) = (values(first, figure), values(second, figure));
            (item, Change::new(mean(&a), mean(&b), welch(&a, &b)))
        })
        .collect()
}
