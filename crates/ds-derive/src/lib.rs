//! Closed-form rules R1–R7, the inference plateau, and what bounds a pipeline. To be continued.

mod bound;
mod derivation;
mod facts;
mod knob;
mod plateau;
mod sweep;
mod value;

pub use bound::{BoundKind, Idle, IdleBasis, Signal, Signals};
pub use derivation::{
    Confidence, Consequence, Derivation, Disposition, Entry, NotDerivable, RuleId, Target, Variant,
    Withheld,
};
pub use facts::{
    AspectRatio, BatchKey, CalibrationFile, Codec, Consumer, ConsumerKind, DecodeCeiling,
    DeepStreamVersion, Engine, Facts, Gpu, GpuKind, IdRetention, Infer, InferRole, ModelBatch, Mux,
    MuxGeneration, MuxSizeWish, Options, OutputWish, Precision, PrecisionWish, Quantisation, Queue,
    QueuePosition, Queues, Sink, SinkKind, Source, SourceKind, TensorOrigin, Tracker,
    TrackerAlgorithm,
};
pub use knob::Knob;
pub use plateau::{
    Gain, Measured, Note, PACING_RATES, Plateau, PlateauBatch, STEADY_WINDOWS, Step,
    WORTHWHILE_GAIN, plateau,
};
pub use sweep::{Failure, Outcome, SweepPoint};
pub use value::{Dims, Place, Present, Switch, Value};
