//! What a trace means: gaps, steps, the verdict on a capture, comparisons.

mod api;
mod gaps;
mod names;
mod stats;
mod steps;
mod taxonomy;
mod work;

pub use gaps::{DeviceGaps, GapClass, GapOptions};
pub use names::NameFolding;
pub use stats::{Significance, Spread};
pub use steps::{
    AnchorReading, Communication, Prefill, PrefillEvidence, RankSteps, Step, StepBound, StepKind,
    StepMethod, StepOptions, StepSeries, Steps,
};
pub use taxonomy::{Category, Taxonomy};
