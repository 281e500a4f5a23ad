//! Whether a capture can be trusted, and for what.
//!
//! Each gate asks one question of the file and answers pass, fail or unknown, with what was measured, against what, why,
//! and what to do next. A purpose needs some of the gates; the others are answered all the same and decide nothing.

mod bound;
mod emptiness;
mod evidence;
mod gates;
mod kineto;
mod notes;
mod shares;

use std::fmt;

pub use bound::{BoundFinding, CaptureBound};
pub use emptiness::Emptiness;
pub use notes::Note;
pub use shares::{BusyShares, WorkBasis};

use super::steps::{StepOptions, Steps};
use super::taxonomy::Taxonomy;
use crate::error::Result;
use crate::kineto::Kineto;
use crate::query::Window;
use crate::trace::Trace;
use crate::units::{FracNanos, Nanos, Share};
use evidence::Evidence;

/// What a capture is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Busy time and step time.
    Timing,
    /// Which kernels take the time.
    Kernels,
    /// Token generation, step by step.
    Decode,
    /// A pipeline as a whole.
    Pipeline,
}

impl Purpose {
    /// Whether the purpose needs a gate.
    fn needs(self, gate: GateId) -> bool {
        match gate {
            GateId::G0 | GateId::G1 | GateId::G4 | GateId::G5 | GateId::G6 | GateId::G13 => true,
            GateId::G7 | GateId::G8 => self == Self::Decode,
            // Asked for by giving a time per token.
            GateId::G9 => false,
            GateId::G2 | GateId::G3 | GateId::G10 | GateId::G11 | GateId::G12 => false,
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timing => "timing",
            Self::Kernels => "kernels",
            Self::Decode => "decode",
            Self::Pipeline => "pipeline",
        })
    }
}

/// The time per output token that a benchmark measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedTpot {
    /// The time per token.
    pub per_token: FracNanos,
    /// Tokens that one step yields for one request: more than 1 under speculative decoding.
    pub tokens_per_step: f64,
}

/// How a capture is checked.
#[derive(Debug, Clone, Default)]
pub struct CheckOptions {
    /// The part of the session whose health is asked for.
    pub window: Window,
    /// Which kernels communicate.
    pub taxonomy: Taxonomy,
    /// How many ranks, that is devices of processes, should have worked; `None` where that is not known.
    pub expected_ranks: Option<usize>,
    /// What a benchmark measured; every rank is held against it.
    pub expected_tpot: Option<ExpectedTpot>,
}

/// A gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GateId {
    /// CUPTI, the library under the profiler, started.
    G0,
    /// CUDA graphs were traced at the level that the capture claims and the purpose needs.
    G1,
    /// There was traffic during the capture.
    G2,
    /// The size of the report.
    G3,
    /// There is GPU work in the export.
    G4,
    /// Every rank has GPU work.
    G5,
    /// Nothing was cut off.
    G6,
    /// Steps repeat regularly.
    G7,
    /// Steps generate tokens only.
    G8,
    /// Steps agree with the measured time per token.
    G9,
    /// Tracing did not slow the program down.
    G10,
    /// No other tool held CUPTI.
    G11,
    /// Files arrived whole.
    G12,
    /// The GPU worked to the end.
    G13,
}

impl GateId {
    /// All gates in the order in which they decide: a later one says little where an earlier one fails.
    const DECIDING: [Self; 14] = [
        Self::G0,
        Self::G4,
        Self::G13,
        Self::G6,
        Self::G5,
        Self::G1,
        Self::G7,
        Self::G8,
        Self::G9,
        Self::G2,
        Self::G3,
        Self::G10,
        Self::G11,
        Self::G12,
    ];

    /// The gate's short name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::G0 => "cupti_init",
            Self::G1 => "graph_flag",
            Self::G2 => "traffic",
            Self::G3 => "rep_size",
            Self::G4 => "kernel_rows",
            Self::G5 => "rank_coverage",
            Self::G6 => "truncation",
            Self::G7 => "decode_pattern",
            Self::G8 => "prefill_contamination",
            Self::G9 => "tpot_reconcile",
            Self::G10 => "overhead",
            Self::G11 => "injection_conflict",
            Self::G12 => "artefact_integrity",
            Self::G13 => "idle",
        }
    }
}

impl fmt::Display for GateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// The answer of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateState {
    /// As it should be.
    Pass,
    /// Not as it should be.
    Fail,
    /// The file does not say.
    Unknown,
}

impl fmt::Display for GateState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Unknown => "unknown",
        })
    }
}

/// Whether the purpose needs a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateRole {
    /// Its answer decides.
    Needed,
    /// Its answer is for the record.
    Informative,
}

/// Something that a gate measures or compares with.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Measure {
    /// How many.
    Count(u64),
    /// A share of a whole.
    Share(Share),
    /// A duration.
    Duration(Nanos),
    /// A word, such as a mode.
    Word(String),
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(count) => count.fmt(f),
            Self::Share(share) => share.fmt(f),
            Self::Duration(duration) => write!(f, "{:.3} ms", duration.as_millis_f64()),
            Self::Word(word) => f.write_str(word),
        }
    }
}

/// One answered gate.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Gate {
    /// Which one.
    pub id: GateId,
    /// Its answer.
    pub state: GateState,
    /// Whether the purpose needs it.
    pub role: GateRole,
    /// What was measured; `None` where nothing was.
    pub measured: Option<Measure>,
    /// What it was compared with; `None` where there is nothing to compare.
    pub threshold: Option<Measure>,
    /// Why the answer is what it is.
    pub reason: String,
    /// What to do next; `None` where nothing has to be done.
    pub action: Option<String>,
}

/// What follows from all needed gates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The capture serves the purpose.
    Pass,
    /// It does not, and another capture can.
    Retry,
    /// The file does not say whether it does.
    Undecidable,
}

/// The verdict on a capture.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// What it was judged for.
    pub purpose: Purpose,
    /// What follows.
    pub outcome: Outcome,
    /// The gate that decided; `None` when all needed gates passed.
    pub decisive: Option<GateId>,
    /// Every gate, by number.
    pub gates: Vec<Gate>,
    /// What kind of empty the capture is; `None` when it holds GPU work.
    pub emptiness: Option<Emptiness>,
    /// Busy shares of every rank.
    pub shares: Vec<BusyShares>,
    /// What bounds the rank that worked longest, communication apart; `None` where nothing can be said.
    pub bound: Option<BoundFinding>,
    /// What else a reader of the capture should know.
    pub notes: Vec<Note>,
    /// The steps on which part of the verdict rests.
    pub steps: Steps,
    /// How the profiler changed the times that it recorded, in words; `None` for Nsight Systems, of which only a comparison
    /// tells.
    pub distortion: Option<String>,
}

impl Verdict {
    /// An answered gate.
    #[must_use]
    pub fn gate(&self, id: GateId) -> Option<&Gate> {
        self.gates.iter().find(|gate| gate.id == id)
    }

    /// Whether the profiler itself says that events are missing, or the file ends early: every figure is then of a part of
    /// the work.
    #[must_use]
    pub fn is_partial(&self) -> bool {
        self.gate(GateId::G6)
            .is_some_and(|gate| gate.state == GateState::Fail)
    }
}

impl Trace {
    /// Judges the capture for a purpose; without one, for [`Purpose::Decode`] if it has steps, else as a pipeline.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn check(&self, purpose: Option<Purpose>, options: &CheckOptions) -> Result<Verdict> {
        let evidence = Evidence::gather(
            self,
            &StepOptions {
                window: options.window,
                taxonomy: options.taxonomy.clone(),
            },
        )?;
        let purpose = purpose.unwrap_or_else(|| {
            if evidence.steps.found().next().is_some() {
                Purpose::Decode
            } else {
                Purpose::Pipeline
            }
        });
        let mut gates = gates::answer(&evidence, purpose, options);
        let deciding = GateId::DECIDING
            .iter()
            .filter_map(|id| gates.iter().find(|gate| gate.id == *id))
            .filter(|gate| gate.role == GateRole::Needed);
        let first = |state| {
            let mut of_state = deciding.clone().filter(|gate| gate.state == state);
            of_state.next().map(|gate| gate.id)
        };
        let failed = first(GateState::Fail);
        let unknown = first(GateState::Unknown);
        let outcome = match (failed, unknown) {
            (Some(_), _) => Outcome::Retry,
            (None, Some(_)) => Outcome::Undecidable,
            (None, None) => Outcome::Pass,
        };
        gates.sort_by_key(|gate| gate.id);
        let shares = shares::of(self, &evidence)?;
        Ok(Verdict {
            purpose,
            outcome,
            decisive: failed.or(unknown),
            emptiness: Emptiness::of(&evidence),
            bound: bound::of(self, &evidence, &shares)?,
            notes: notes::of(&evidence),
            shares,
            gates,
            distortion: evidence.kineto.as_ref().map(Kineto::distortion),
            steps: evidence.steps,
        })
    }
}
