//! Ranks side by side: who is slow, and who waits for whom.
//!
//! In tensor-parallel work every rank computes its part and then exchanges it. The one that computes longest comes last to
//! the exchange and finds the others waiting there, so its own collectives are the shortest. A collective's time therefore
//! holds two things, the transfer and the waiting for others; the shortest of the matching collectives over all ranks is
//! the most that the transfer can have taken on each.

mod collectives;
mod sessions;
mod table;

use std::fmt;

use super::names::NameFolding;
use super::stats::Spread;
use super::taxonomy::{Category, Taxonomy};
use crate::error::Result;
use crate::ids::DeviceKey;
use crate::query::Window;
use crate::trace::Trace;
use crate::units::{FracNanos, Share};

pub use collectives::CollectiveTime;

/// How ranks are compared.
#[derive(Debug, Clone, Default)]
pub struct RankOptions {
    /// The part of every session.
    pub window: Window,
    /// The rules of categories.
    pub taxonomy: Taxonomy,
    /// How far names are folded before collectives of two ranks are matched.
    pub folding: NameFolding,
}

/// A rank among all traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RankKey {
    /// The position of its trace among those given.
    pub trace: usize,
    /// The device within it.
    pub device: DeviceKey,
}

impl fmt::Display for RankKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "trace {}, {}, device {}",
            self.trace + 1,
            self.device.process,
            self.device.ordinal
        )
    }
}

/// What the figures of ranks are taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankBasis {
    /// The mean clean step: every rank has steps.
    Step,
    /// The whole capture.
    Capture,
}

/// The figures of one rank, per step or altogether.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RankRow {
    /// The rank.
    pub rank: RankKey,
    /// From one step to the next; `None` without steps.
    pub step: Option<Spread>,
    /// The time in which the device did anything.
    pub busy: FracNanos,
    /// The sum of kernels that do not communicate; `None` where graphs hide them.
    pub compute: Option<FracNanos>,
    /// The sum of kernels that communicate; `None` where graphs hide them.
    pub communication: Option<FracNanos>,
    /// Its matched collectives in transfer and waiting; `None` where none could be matched.
    pub collectives: Option<CollectiveTime>,
}

/// One category over all ranks, per step or altogether.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CategoryOverRanks {
    /// The category.
    pub category: Category,
    /// The least time that a rank spends on it.
    pub min: FracNanos,
    /// The median over ranks.
    pub median: FracNanos,
    /// The most time that a rank spends on it.
    pub max: FracNanos,
    /// The rank that spends most.
    pub slowest: RankKey,
    /// The slowest rank's time as a share of the median of the others; `None` where they spend none.
    pub factor: Option<Share>,
}

/// By what a rank was found to be the slow one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StragglerEvidence {
    /// It computes longest, and the others wait for it in collectives.
    ComputeAndCollectives,
    /// It computes longest; there are no matched collectives to confirm it.
    ComputeOnly,
}

/// The rank that the others wait for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Straggler {
    /// The rank.
    pub rank: RankKey,
    /// Its compute time as a share of the median of the others: 2 is twice as long.
    pub factor: Share,
    /// How it was found.
    pub evidence: StragglerEvidence,
    /// The category in which it loses most time, and its factor there.
    pub category: Option<(Category, Share)>,
}

/// All ranks side by side.
///
/// # Graphs traced as a whole
///
/// Where a graph is one interval the slow rank stays unnamed, since nothing in the trace tells it. A collective inside the
/// graph ends on all ranks together, so the graphs of a rank that waits last as long as those of the one it waits for: of
/// two ranks recorded on two H200, the second of which computes everything twice, the first was busy for 0.871 ms a step
/// and the second for 0.865 ms. Kernels outside the graphs, such as those of prompts, are other work and say nothing of
/// the steps. A capture with `--cuda-graph-trace=node` of the same program names the rank.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RankTable {
    /// Which rules named the categories.
    pub taxonomy_version: String,
    /// What the figures are taken over.
    pub basis: RankBasis,
    /// In the order of traces, processes and devices.
    pub ranks: Vec<RankRow>,
    /// Kernel categories; the largest time first.
    pub categories: Vec<CategoryOverRanks>,
    /// The longest busy time as a share of the mean: 1 is perfect balance. `None` without busy time.
    pub busy_imbalance: Option<Share>,
    /// The rank that the others wait for; `None` where none stands out or graphs hide the kernels.
    pub straggler: Option<Straggler>,
    /// Collectives that could not be matched: there is one rank only, ranks ran different numbers of them, or they were
    /// recorded apart.
    pub unmatched_collectives: u64,
    /// Whether two of the traces were recorded one after the other, as the clocks of their hosts say. No collective of one
    /// is then a partner of the other's, so none is matched, and nothing is said about waiting.
    pub are_recorded_apart: bool,
    /// Whether graphs traced as a whole hide kernels, so that compute and communication cannot be told apart.
    pub is_hidden_by_graphs: bool,
}

impl RankTable {
    /// A rank that computes less than this much longer than the others is not called slow: two equal replicas,
    /// recorded on one H200, differ by 0.4 %.
    pub const STRAGGLER_FROM: Share = Share(1.05);

    /// Puts the ranks of one or several traces side by side.
    ///
    /// Traces need not share a clock: collectives are matched by their order. They have to be of one run, though, and to
    /// hold it from the same collective on. Traces that were recorded one after the other cannot be, and are compared by
    /// what each rank computes alone.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn new(traces: &[&Trace], options: &RankOptions) -> Result<Self> {
        table::build(traces, options)
    }
}
