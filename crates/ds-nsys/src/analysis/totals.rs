//! What every kind of work took, whole and step by step: the ground of categories, comparisons and rank tables.

use std::collections::{BTreeMap, HashMap};

use super::names::NameFolding;
use super::steps::StepSeries;
use super::taxonomy::{Category, Taxonomy};
use super::work::{OWN, WORK_TABLES, device_of, interval_of, work_columns};
use crate::busy::GRAPH_TABLE;
use crate::error::Result;
use crate::grouped::{Grouped, Merge};
use crate::ids::DeviceKey;
use crate::query::Window;
use crate::summary::{CopyKind, KERNEL_TABLE, MEMCPY_TABLE, MemoryOperation};
use crate::trace::Trace;
use crate::units::Nanos;

/// What work was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WorkKind {
    /// Kernels of one folded name.
    Kernel {
        /// The name.
        name: String,
        /// The category.
        category: Category,
    },
    /// CUDA graphs traced as a whole.
    Graph,
    /// Copies of one kind, or sets.
    Memory(MemoryOperation),
}

impl WorkKind {
    /// The category of a kernel; other work has none.
    #[must_use]
    pub fn category(&self) -> Option<&Category> {
        match self {
            Self::Kernel { category, .. } => Some(category),
            Self::Graph | Self::Memory(_) => None,
        }
    }
}

impl std::fmt::Display for WorkKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Kernel { name, .. } => f.write_str(name),
            Self::Graph => f.write_str("[CUDA graph]"),
            Self::Memory(operation) => operation.fmt(f),
        }
    }
}

/// The work of one kind on one rank.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) count: u64,
    /// The sum of durations.
    pub(super) time: Nanos,
    /// The part of it within each clean step, in order; empty without steps.
    pub(super) by_step: Vec<Nanos>,
}

/// The work of one rank by kind.
pub(super) type RankTotals = BTreeMap<WorkKind, Total>;

/// The kinds as a pass over the rows meets them: by numbers, without names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum RawKind {
    Kernel(i64),
    Graph,
    Copy(i64),
    Set,
}

/// What a pass collects of one kind.
#[derive(Debug, Default)]
struct Collected {
    count: u64,
    time: Nanos,
    /// By the position among the clean steps.
    by_step: Grouped<usize, Sum>,
}

#[derive(Debug, Default)]
struct Sum(Nanos);

impl Merge for Sum {
    fn merge(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Merge for Collected {
    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.time += other.time;
        for (step, sum) in other.by_step.into_groups() {
            self.by_step.entry(step).merge(sum);
        }
    }
}

/// The steps in which a rank's work is wanted: their beginnings, ends and places among the clean ones.
struct StepPlaces(Vec<(Nanos, Nanos)>);

impl StepPlaces {
    fn new(series: &StepSeries) -> Self {
        Self(
            series
                .clean()
                .map(|step| (step.span.start, step.span.end))
                .collect(),
        )
    }

    fn of(&self, time: Nanos) -> Option<usize> {
        let at = self
            .0
            .partition_point(|(start, _)| *start <= time)
            .checked_sub(1)?;
        (time < self.0[at].1).then_some(at)
    }
}

/// Sums up the work of every rank.
///
/// With steps, work counts in the clean step in which it began, and ranks without steps are left out.
pub(super) fn totals(
    trace: &Trace,
    window: Window,
    taxonomy: &Taxonomy,
    folding: NameFolding,
    steps: Option<&BTreeMap<DeviceKey, &StepSeries>>,
) -> Result<BTreeMap<DeviceKey, RankTotals>> {
    let places: Option<HashMap<DeviceKey, StepPlaces>> = steps.map(|steps| {
        let places = steps.iter();
        places
            .map(|(device, series)| (*device, StepPlaces::new(series)))
            .collect()
    });
    let columns = work_columns(&["demangledName", "copyKind"]);
    let (name_at, copy_at) = (OWN, OWN + 1);
    let mut collected: Grouped<(DeviceKey, RawKind), Collected> = Grouped::default();
    for table in WORK_TABLES {
        let parts = trace.fold_parts(
            table,
            &columns,
            Grouped::<(DeviceKey, RawKind), Collected>::default,
            |kinds, fields| {
                let Some(interval) = interval_of(fields, window)? else {
                    return Ok(());
                };
                let device = device_of(fields)?;
                let step = match &places {
                    None => None,
                    Some(places) => {
                        let place = places.get(&device).and_then(|p| p.of(interval.start));
                        if place.is_none() {
                            return Ok(());
                        }
                        place
                    }
                };
                let kind = match table {
                    KERNEL_TABLE => {
                        RawKind::Kernel(fields.get::<Option<i64>>(name_at)?.unwrap_or(-1))
                    }
                    GRAPH_TABLE => RawKind::Graph,
                    MEMCPY_TABLE => {
                        RawKind::Copy(fields.get::<Option<i64>>(copy_at)?.unwrap_or(-1))
                    }
                    _ => RawKind::Set,
                };
                let total = kinds.entry((device, kind));
                total.count += 1;
                total.time += interval.duration();
                if let Some(step) = step {
                    total.by_step.entry(step).0 += interval.duration();
                }
                Ok(())
            },
        )?;
        for (key, part) in Grouped::joined(parts.unwrap_or_default()).into_groups() {
            collected.entry(key).merge(part);
        }
    }
    let mut ranks: BTreeMap<DeviceKey, RankTotals> = BTreeMap::new();
    for ((device, raw), part) in collected.into_groups() {
        let kind = match raw {
            RawKind::Kernel(name) => {
                let name = trace.name(Some(name))?;
                WorkKind::Kernel {
                    category: taxonomy.classify(&name),
                    name: folding.fold(&name),
                }
            }
            RawKind::Graph => WorkKind::Graph,
            RawKind::Copy(code) => {
                WorkKind::Memory(MemoryOperation::Copy(CopyKind::from_code(code)))
            }
            RawKind::Set => WorkKind::Memory(MemoryOperation::Set),
        };
        let total = ranks.entry(device).or_default().entry(kind).or_default();
        total.count += part.count;
        total.time += part.time;
        let steps = places
            .as_ref()
            .and_then(|places| places.get(&device))
            .map_or(0, |places| places.0.len());
        total.by_step.resize(steps, Nanos::ZERO);
        for (step, sum) in part.by_step.into_groups() {
            total.by_step[step] += sum.0;
        }
    }
    Ok(ranks)
}
