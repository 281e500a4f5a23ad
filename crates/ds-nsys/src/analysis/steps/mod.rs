//! Steps: the repeated unit of work of an inference server, as the GPU saw it.
//!
//! A step begins where its first GPU work begins and lasts until the next one begins. Where it begins is told by anchors,
//! the best first: what the program itself annotates, launches of CUDA graphs, and the idle gap that the host leaves
//! between steps. The first anchor that a rank has is used, every other one is reported beside it, and a rank without any
//! has no steps, which is a result and no failure.

mod anchors;
mod idle_gap;
mod prefill;
mod series;

use std::fmt;

use super::api::HostCalls;
use super::stats::Spread;
use super::taxonomy::Taxonomy;
use super::work::rank_work;
use crate::busy::{Busy, Interval};
use crate::error::Result;
use crate::ids::DeviceKey;
use crate::query::Window;
use crate::trace::Trace;
use crate::units::{FracNanos, Nanos, Share};

/// Where to look for steps, and how kernels are told apart.
#[derive(Debug, Clone, Default)]
pub struct StepOptions {
    /// The part of the session.
    pub window: Window,
    /// Which kernels communicate.
    pub taxonomy: Taxonomy,
}

/// The steps of every rank: one entry a device of a process that did any work.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Steps {
    /// In the order of processes and devices.
    pub ranks: Vec<RankSteps>,
}

impl Steps {
    /// The ranks that have steps.
    pub fn found(&self) -> impl Iterator<Item = (DeviceKey, &StepSeries)> {
        self.ranks
            .iter()
            .filter_map(|rank| Some((rank.device, rank.series.as_ref()?)))
    }
}

/// The steps of one rank.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RankSteps {
    /// The rank.
    pub device: DeviceKey,
    /// Its steps; `None` where no anchor was found.
    pub series: Option<StepSeries>,
}

/// By what the beginnings of steps were found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepMethod {
    /// The program's annotation of every step with its context and generation tokens.
    Annotation,
    /// NVTX ranges that are called a step.
    Range,
    /// Launches of a CUDA graph.
    GraphLaunch,
    /// The idle gap that most of the idle time consists of.
    IdleGap,
}

impl fmt::Display for StepMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Annotation => "step annotations",
            Self::Range => "NVTX step ranges",
            Self::GraphLaunch => "CUDA graph launches",
            Self::IdleGap => "dominant idle gap",
        })
    }
}

/// What one anchor says about the length of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct AnchorReading {
    /// The anchor.
    pub method: StepMethod,
    /// How many steps it begins.
    pub steps: usize,
    /// The median from one beginning to the next.
    pub median: FracNanos,
}

/// Whether a step generated tokens only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// It did, as far as can be told.
    Decode,
    /// It processed a prompt, and generated tokens of other requests: only annotations tell.
    Mixed,
    /// It processed a prompt.
    Prefill,
}

impl StepKind {
    /// Whether a prompt was processed.
    #[must_use]
    pub fn has_prompt(self) -> bool {
        match self {
            Self::Decode => false,
            Self::Mixed | Self::Prefill => true,
        }
    }
}

/// The tokens of a step, as the program annotates them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct StepTokens {
    /// Tokens of prompts.
    pub context: u64,
    /// Tokens generated.
    pub generation: u64,
}

impl StepTokens {
    /// What a step with these tokens did.
    #[must_use]
    pub fn kind(self) -> StepKind {
        match (self.context, self.generation) {
            (0, _) => StepKind::Decode,
            (_, 0) => StepKind::Prefill,
            _ => StepKind::Mixed,
        }
    }
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// From its first work to the first work of the next step.
    pub span: Interval,
    /// Whether it generated tokens only.
    pub kind: StepKind,
    /// Its tokens; `None` where the program does not annotate them.
    pub tokens: Option<StepTokens>,
    /// The time within it in which the device did anything.
    pub busy: Nanos,
    /// The time from the end of its work to the next step.
    pub host_gap: Nanos,
    /// Communication within it; `None` where graphs hide their kernels.
    pub communication: Option<Communication>,
    /// Launches of CUDA graphs.
    pub graph_launches: u64,
    /// Kernels launched one by one.
    pub eager_launches: u64,
}

impl Step {
    /// The time within it in which the device did nothing.
    #[must_use]
    pub fn idle(&self) -> Nanos {
        self.span.duration() - self.busy
    }
}

/// Time in which kernels communicated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Communication {
    /// While no other kernel ran: it makes the step longer.
    pub exposed: Nanos,
    /// While another kernel ran.
    pub hidden: Nanos,
}

/// What a step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepBound {
    /// The host: the device is idle for more than two fifths of the median step.
    Host,
    /// Other ranks: communication that nothing hides is more than two fifths of the busy time.
    Communication,
    /// Its kernels.
    Kernel,
    /// Kernels or communication: graphs traced as a whole do not show which.
    WithinGraphs,
}

impl fmt::Display for StepBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Host => "host-bound",
            Self::Communication => "comm-bound",
            Self::Kernel => "kernel-bound",
            Self::WithinGraphs => "kernel- or comm-bound",
        })
    }
}

/// By what steps with prompt processing were told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefillEvidence {
    /// The context tokens of the annotation.
    ContextTokens,
    /// Steps of unusual length with launches outside the graphs.
    LaunchesOutsideGraphs,
    /// Steps of unusual length with kernels or grids that other steps lack.
    OtherKernels,
}

/// How much of the work between the first step and the last was prompt processing.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Prefill {
    /// How it was told.
    pub evidence: PrefillEvidence,
    /// Steps with prompt processing.
    pub steps: usize,
    /// Their share of the busy time; a graph counts from its first kernel to its last, so that both levels of graph
    /// tracing give the same figure. `None` without busy time.
    pub share_of_busy: Option<Share>,
}

/// The steps of one rank, and what follows from them.
///
/// Medians and the like are over the steps that generated tokens only, without the last one, whose end is not seen.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StepSeries {
    /// By what the steps were found.
    pub method: StepMethod,
    /// What every anchor of the rank says, the one used first.
    pub readings: Vec<AnchorReading>,
    /// From the host's beginning of the first step, where it is known, to the end of the last one's work.
    pub window: Interval,
    /// All complete steps in order.
    pub steps: Vec<Step>,
    /// From the beginning of a step to the beginning of the next.
    pub duration: Spread,
    /// The busy time of a step.
    pub busy: Spread,
    /// The idle time of a step.
    pub idle: Spread,
    /// The time from the end of a step's work to the next step.
    pub host_gap: Spread,
    /// The median communication of a step, exposed and hidden; `None` where graphs hide their kernels.
    pub communication: Option<(FracNanos, FracNanos)>,
    /// The median number of graph launches of a step.
    pub graph_launches: f64,
    /// The median number of kernels of a step that were launched one by one.
    pub eager_launches: f64,
    /// Prompt processing among the steps.
    pub prefill: Prefill,
    /// Whether busy times are upper figures, because graphs were traced as a whole.
    pub is_upper_figure: bool,
    /// The busy time within the window.
    pub busy_in_window: Nanos,
    /// What the median step waits for.
    pub bound: StepBound,
}

impl StepSeries {
    /// The busy share of the window.
    #[must_use]
    pub fn busy_share(&self) -> Option<Share> {
        self.busy_in_window.share_of(self.window.duration())
    }

    /// How well the two best anchors agree: the smaller of their medians as a share of the larger. `None` with one anchor.
    #[must_use]
    pub fn agreement(&self) -> Option<Share> {
        let [first, second, ..] = self.readings.as_slice() else {
            return None;
        };
        let (low, high) = (
            first.median.0.min(second.median.0),
            first.median.0.max(second.median.0),
        );
        (high > 0.0).then(|| Share(low / high))
    }

    /// The steps that generated tokens only.
    pub fn clean(&self) -> impl Iterator<Item = &Step> {
        self.steps
            .iter()
            .filter(|step| step.kind == StepKind::Decode)
    }
}

impl Trace {
    /// Finds the steps of every rank.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn steps(&self, options: &StepOptions) -> Result<Steps> {
        let calls = HostCalls::read(self, options.window)?;
        let busy = self.busy(options.window)?;
        find(self, options, &calls, &busy)
    }
}

/// Finds the steps of every rank with what was read of the trace before.
pub(super) fn find(
    trace: &Trace,
    options: &StepOptions,
    calls: &HostCalls,
    busy: &Busy,
) -> Result<Steps> {
    let work = rank_work(trace, options.window, &options.taxonomy, busy)?;
    let mut annotated = anchors::of_ranges(trace, options.window)?;
    let mut ranks = Vec::with_capacity(work.len());
    for rank in &work {
        let found = anchors::of_rank(rank, annotated.remove(&rank.device), calls);
        let series = series::measure(rank, &found)
            .map(|draft| prefill::mark(trace, options.window, rank, draft))
            .transpose()?
            .flatten();
        ranks.push(RankSteps {
            device: rank.device,
            series,
        });
    }
    Ok(Steps { ranks })
}
