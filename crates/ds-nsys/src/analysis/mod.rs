//! What a trace means: gaps, steps, the verdict on a capture, comparisons.

mod api;
mod check;
mod gaps;
mod names;
mod stats;
mod steps;
mod taxonomy;
mod work;

pub use check::{
    BoundFinding, BusyShares, CaptureBound, CheckOptions, Emptiness, ExpectedTpot, Gate, GateId,
    GateRole, GateState, Measure, Note, Outcome, Purpose, Verdict, WorkBasis,
};
pub use gaps::{DeviceGaps, GapClass, GapOptions};
pub use names::NameFolding;
pub use stats::{Significance, Spread};
pub use steps::{
    AnchorReading, Communication, Prefill, PrefillEvidence, RankSteps, Step, StepBound, StepKind,
    StepMethod, StepOptions, StepSeries, Steps,
};
pub use taxonomy::{Category, Taxonomy};
