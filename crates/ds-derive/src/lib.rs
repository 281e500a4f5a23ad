//! Closed-form rules R1–R7, the inference plateau, and what bounds a pipeline. To be continued.

mod bound;
mod derivation;
mod docs;
mod facts;
mod knob;
mod minimum;
mod plan;
mod plateau;
mod rules;
mod sweep;
mod value;

pub use bound::{
    Bound, BoundKind, Certainty, Contradiction, Evidence, Idle, IdleBasis, Relation, Signal,
    Signals, THRESHOLDS, Threshold, bound,
};
pub use derivation::{
    Confidence, Consequence, Derivation, Disposition, Entry, NotDerivable, RuleId, Target, Variant,
    Withheld,
};
pub use docs::rules_markdown;
pub use facts::{
    AspectRatio, BatchKey, CalibrationFile, Codec, Consumer, ConsumerKind, DecodeCeiling,
    DeepStreamVersion, Engine, Facts, Gpu, GpuKind, IdRetention, Infer, InferRole, ModelBatch, Mux,
    MuxGeneration, MuxSizeWish, Options, OutputWish, Precision, PrecisionWish, Quantisation, Queue,
    QueuePosition, Queues, Sink, SinkKind, Source, SourceKind, TensorOrigin, Tracker,
    TrackerAlgorithm,
};
pub use knob::Knob;
pub use minimum::Bounds;
pub use plan::{Expectation, Pace, Plan, PlanNote, Variants, derive};
pub use plateau::{
    Gain, Measured, Note, PACING_RATES, Plateau, PlateauBatch, STEADY_WINDOWS, Step,
    WORTHWHILE_GAIN, plateau,
};
pub use rules::{BandwidthUse, Capacity, CapacityInputs, ComputeRate, Limit, Resource, capacity};
pub use sweep::{Failure, Outcome, SweepPoint};
pub use value::{Dims, Place, Present, Switch, Value};
