//! What a trace means: gaps, steps, the verdict on a capture, comparisons.

mod api;
mod categories;
mod check;
mod diff;
mod gaps;
mod join;
mod names;
mod ranks;
mod stats;
mod steps;
mod taxonomy;
mod totals;
mod work;

pub use categories::{Categories, CategoryOptions, CategoryTime, EffectiveNumber, KernelTime};
pub use check::{
    BoundFinding, BusyShares, CaptureBound, CheckOptions, Emptiness, ExpectedTpot, Gate, GateId,
    GateRole, GateState, Measure, Note, Outcome, Purpose, Verdict, WorkBasis,
};
pub use diff::{
    Amount, Change, Diff, DiffOptions, DiffRow, Differences, Normalization, OverallItem, Refusal,
    RefusalPolicy, Side,
};
pub use gaps::{DeviceGaps, GapClass, GapOptions};
pub use join::{Join, JoinRow, SampledItem, SampledProfile};
pub use names::NameFolding;
pub use ranks::{
    CategoryOverRanks, CollectiveTime, RankBasis, RankKey, RankOptions, RankRow, RankTable,
    Straggler, StragglerEvidence,
};
pub use stats::{Significance, Spread};
pub use steps::{
    AnchorReading, Communication, Prefill, PrefillEvidence, RankSteps, Step, StepBound, StepKind,
    StepMethod, StepOptions, StepSeries, StepTokens, Steps,
};
pub use taxonomy::{Category, Taxonomy};
pub use totals::WorkKind;
