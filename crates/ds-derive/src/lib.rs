//! What a DeepStream pipeline should be set to, what it can carry, and what bounds it: closed-form answers from
//! measurements.
//!
//! There are three of them, and each is a function of plain values:
//!
//! 1. [`plateau()`] reads the batch beyond which a larger one brings next to nothing off a sweep, with the caveats that
//!    belong to it.
//! 2. [`derive()`] runs the rules R1–R7 over [`Facts`] and returns a [`Plan`]: every knob with its old and new value, the
//!    formula with its numbers, the reason, or why it is left alone. [`capacity()`] is R7 on its own, and [`project()`]
//!    says what another GPU would carry.
//! 3. [`bound()`] says what bounds a profiled pipeline, with the evidence for and against.
//!
//! The crate does no I/O and cannot fail on well-typed input. The same input gives the same bytes: the one place that
//! needs random numbers, the bootstrap intervals of a sweep, has its own generator with a fixed seed.
//!
//! It is **not** a tuner: no rule measures, tries or repeats. It is not a reader or writer of configurations either:
//! whoever calls it fills in [`Facts`] and applies the plan.
//!
//! # Example
//!
//! ```
//! use ds_ceilings::{Batch, Fps, StreamCount};
//! use ds_derive::{
//!     Facts, Knob, Mux, MuxGeneration, Outcome, Place, PlateauBatch, Present, SweepPoint, Variant, derive, plateau,
//! };
//!
//! // Batch 1 to 8, aggregate frame rates of six steady windows each.
//! let streams = StreamCount::new(4);
//! let sweep: Vec<SweepPoint> = [(1, 120.0), (2, 230.0), (4, 400.0), (8, 410.0)]
//!     .into_iter()
//!     .filter_map(|(batch, fps)| {
//!         Some(SweepPoint {
//!             batch: Batch::new(batch)?,
//!             streams: StreamCount::new(batch),
//!             outcome: Outcome::Ran { windows: vec![Fps::new(fps)?; 6] },
//!         })
//!     })
//!     .collect();
//! let found = plateau(&sweep, streams);
//! assert_eq!(found.found, PlateauBatch::Reached(Batch::new(4).expect("four is not zero")));
//!
//! let mut facts = Facts::new(streams, Fps::new(25.0).expect("finite and not negative"));
//! let mut mux = Mux::new(MuxGeneration::Legacy);
//! let place = Place::new("pipeline.txt:21 [streammux]");
//! mux.batched_push_timeout = Present::literal(Knob::BatchedPushTimeout, "4000000", place);
//! facts.mux = Some(mux);
//! facts.plateau = Some(found);
//!
//! let plan = derive(&facts);
//! let changes: Vec<String> = plan
//!     .changes(Variant::Every)
//!     .map(|change| format!("{} {}: {}", change.target, change.knob.name(), change.formula))
//!     .collect();
//! assert_eq!(
//!     changes,
//!     [
//!         "mux batch-size: min(plateau 4, streams 4) = 4",
//!         "mux batched-push-timeout: round(1000000 / 25) = 40000",
//!     ]
//! );
//! ```
//!
//! # Limitations
//!
//! - One mux and one primary model decide the frame size: with several primary models it is the first.
//! - The batch of secondary models is left alone, because a sweep over frames does not measure objects.
//! - The bootstrap takes the windows of a run as independent. Windows that drift together are noisier than it says.
//! - Capacity is what the GPU can carry. A pipeline that the host bounds delivers less: [`Capacity::delivered`].
//! - A skipped interval is allowed only as far as it was measured; nothing is interpolated.

mod bound;
mod derivation;
mod docs;
mod facts;
mod knob;
mod minimum;
mod plan;
mod plateau;
mod projection;
mod rules;
mod sweep;
mod value;

pub use bound::{
    Bound, BoundKind, Certainty, Contradiction, Evidence, Idle, IdleBasis, Ratio, Relation, Signal,
    Signals, THRESHOLDS, Threshold, bound,
};
pub use derivation::{
    Confidence, Consequence, Derivation, Disposition, Entry, NotDerivable, RuleId, Target, Variant,
    Withheld,
};
pub use docs::rules_markdown;
pub use facts::{
    AspectRatio, BatchKey, CalibrationFile, Consumer, ConsumerKind, DecodeCeiling,
    DeepStreamVersion, Engine, Facts, Gpu, GpuKind, IdRetention, Infer, InferRole, ModelBatch, Mux,
    MuxGeneration, MuxSizeWish, Options, OutputWish, Precision, PrecisionWish, Quantisation, Queue,
    QueuePosition, Queues, Sink, SinkKind, Source, SourceKind, TensorOrigin, Tracker,
    TrackerAlgorithm,
};
pub use knob::Knob;
pub use minimum::Qualifier;
pub use plan::{Expectation, Pace, Plan, PlanNote, Variants, derive};
pub use plateau::{
    Gain, Measured, Note, PACING_RATES, Plateau, PlateauBatch, STEADY_WINDOWS, Step,
    WORTHWHILE_GAIN, plateau,
};
pub use projection::{GpuRates, Projection, Speedup, project};
pub use rules::{
    BandwidthUse, Capacity, CapacityInputs, ComputeRate, KEEPS_IDS, KEEPS_MOST_IDS, Limit,
    Resource, capacity,
};
pub use sweep::{Failure, Outcome, SweepPoint};
pub use value::{Dims, Place, Present, Switch, Value};
