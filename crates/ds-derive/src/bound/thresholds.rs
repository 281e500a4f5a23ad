//! Every threshold of the table of bounds, in one place. Nothing else in the crate holds a number that decides a bound.
//!
//! The limits for copies, synchronisation, module loading and engine builders are those of the pipeline-profiling skill
//! that NVIDIA publishes with DeepStream. The others are choices of dsprof, made so that a verdict is not reached by the noise of a run; each row
//! says which.

use std::fmt;

use super::signals::Ratio;
use super::{BoundKind, Signal};

/// How a signal is compared with its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Greater.
    Above,
    /// Greater or equal.
    AtLeast,
    /// Smaller.
    Below,
    /// Smaller or equal.
    AtMost,
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Below => "<",
            Self::AtMost => "<=",
        })
    }
}

/// One row: a signal, what it is compared with, and the bound that it speaks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// The bound.
    pub kind: BoundKind,
    /// The signal.
    pub signal: Signal,
    /// The comparison.
    pub relation: Relation,
    /// The limit.
    pub limit: Ratio,
    /// Where the limit comes from.
    pub source: &'static str,
}

impl Threshold {
    pub(super) fn is_met_by(&self, value: Ratio) -> bool {
        match self.relation {
            Relation::Above => value > self.limit,
            Relation::AtLeast => value >= self.limit,
            Relation::Below => value < self.limit,
            Relation::AtMost => value <= self.limit,
        }
    }
}

const GUIDANCE: &str = "NVIDIA/DeepStream at 581889d, pipeline-profiling skill";
const CHOICE: &str = "choice of dsprof";

const fn row(
    kind: BoundKind,
    signal: Signal,
    relation: Relation,
    limit: f64,
    source: &'static str,
) -> Threshold {
    Threshold {
        kind,
        signal,
        relation,
        limit: Ratio(limit),
        source,
    }
}

/// The table, from the top.
pub const THRESHOLDS: [Threshold; 22] = [
    // One builder kernel or range is enough: none belongs into a measured window.
    row(
        BoundKind::EngineBuild,
        Signal::BuilderShare,
        Relation::Above,
        0.0,
        GUIDANCE,
    ),
    row(
        BoundKind::EngineBuild,
        Signal::ModuleLoadShare,
        Relation::Above,
        0.10,
        GUIDANCE,
    ),
    row(
        BoundKind::Memcpy,
        Signal::MemcpyShare,
        Relation::Above,
        0.15,
        GUIDANCE,
    ),
    row(
        BoundKind::Memcpy,
        Signal::E2eOfPlateau,
        Relation::Below,
        0.90,
        CHOICE,
    ),
    row(
        BoundKind::Decode,
        Signal::DecoderUtilisation,
        Relation::AtLeast,
        0.90,
        CHOICE,
    ),
    row(
        BoundKind::Decode,
        Signal::E2eOfDecodeCeiling,
        Relation::AtLeast,
        0.85,
        CHOICE,
    ),
    // One session cannot use more than one decoder, so that a second one nearly doubles the rate of a pipeline that
    // waits for it. A sweep that feeds inference without a decoder doubles just as well: a hint, no more.
    row(
        BoundKind::Decode,
        Signal::SweepOneOfTwo,
        Relation::Below,
        0.55,
        CHOICE,
    ),
    row(
        BoundKind::Compute,
        Signal::GpuBusy,
        Relation::AtLeast,
        0.85,
        CHOICE,
    ),
    row(
        BoundKind::Compute,
        Signal::E2eOfPlateau,
        Relation::AtLeast,
        0.90,
        CHOICE,
    ),
    row(
        BoundKind::Compute,
        Signal::MatrixShare,
        Relation::Above,
        0.50,
        CHOICE,
    ),
    row(
        BoundKind::Compute,
        Signal::SmActive,
        Relation::Above,
        0.70,
        CHOICE,
    ),
    row(
        BoundKind::Bandwidth,
        Signal::Dram,
        Relation::AtLeast,
        0.80,
        CHOICE,
    ),
    row(
        BoundKind::Bandwidth,
        Signal::SmActive,
        Relation::Below,
        0.70,
        CHOICE,
    ),
    row(
        BoundKind::Tracker,
        Signal::TrackerOfInfer,
        Relation::Above,
        1.0,
        CHOICE,
    ),
    row(
        BoundKind::Tracker,
        Signal::TrackerOutputOfInput,
        Relation::Below,
        0.90,
        CHOICE,
    ),
    row(
        BoundKind::Sync,
        Signal::SyncShare,
        Relation::Above,
        0.30,
        GUIDANCE,
    ),
    row(
        BoundKind::Sync,
        Signal::GpuIdle,
        Relation::Above,
        0.40,
        CHOICE,
    ),
    row(
        BoundKind::Paced,
        Signal::OffSourceRate,
        Relation::AtMost,
        0.01,
        CHOICE,
    ),
    row(
        BoundKind::Paced,
        Signal::OffSinkRate,
        Relation::AtMost,
        0.01,
        CHOICE,
    ),
    row(
        BoundKind::Paced,
        Signal::WindowsAtOneRate,
        Relation::AtLeast,
        1.0,
        CHOICE,
    ),
    row(
        BoundKind::Host,
        Signal::GpuIdle,
        Relation::Above,
        0.40,
        CHOICE,
    ),
    row(
        BoundKind::Host,
        Signal::E2eOfPlateau,
        Relation::Below,
        0.90,
        CHOICE,
    ),
];
