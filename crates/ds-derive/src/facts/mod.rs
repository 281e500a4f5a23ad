//! Everything the rules need, as plain values. Whoever read the pipeline and measured it fills them in; what is not
//! known stays `None`, `Unknown` or empty, and the rules say which of it they missed.

mod elements;
mod infer;
mod mux;

use ds_ceilings::{Fps, Fraction, OpsPerSec, StreamCount};

pub use self::elements::{
    Consumer, ConsumerKind, Queue, QueuePosition, Queues, Sink, SinkKind, Source, SourceKind,
    Tracker, TrackerAlgorithm,
};
pub use self::infer::{
    AspectRatio, CalibrationFile, Engine, Infer, InferRole, ModelBatch, Precision, PrecisionWish,
    Quantisation, TensorOrigin,
};
pub use self::mux::{BatchKey, Mux, MuxGeneration};

use crate::bound::BoundKind;
use crate::plateau::Plateau;

/// The facts about one pipeline on one GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// How many streams the pipeline is to carry.
    pub streams: StreamCount,
    /// The frame rate of each stream.
    pub fps: Fps,
    /// The GPU.
    pub gpu: Gpu,
    /// The DeepStream release that will run the pipeline.
    pub deepstream: Option<DeepStreamVersion>,
    /// The stream mux; `None` if the pipeline has none.
    pub mux: Option<Mux>,
    /// The inference elements, in the order of the pipeline.
    pub infers: Vec<Infer>,
    /// The sources, one per group or element.
    pub sources: Vec<Source>,
    /// What looks at the frame behind the mux.
    pub consumers: Vec<Consumer>,
    /// The tracker; `None` if the pipeline has none.
    pub tracker: Option<Tracker>,
    /// The queues.
    pub queues: Queues,
    /// The sinks.
    pub sinks: Vec<Sink>,
    /// What the user asked for.
    pub options: Options,
    /// How many object ids survive when inferences are skipped, one entry per interval that was measured.
    pub id_retention: Vec<IdRetention>,
    /// The measured plateau; `None` before a sweep.
    pub plateau: Option<Plateau>,
    /// What bounds decoding.
    pub decode: DecodeCeiling,
    /// What bounds the pipeline as it was profiled.
    pub bound: Option<BoundKind>,
    /// The aggregate frame rate of the whole pipeline, from a run without a profiler.
    pub e2e: Option<Fps>,
    /// The share of the memory bandwidth that the profiled pipeline used, reads and writes together.
    pub dram: Option<Fraction>,
}

impl Facts {
    /// Facts about a pipeline of which nothing is known but its load.
    #[must_use]
    pub fn new(streams: StreamCount, fps: Fps) -> Self {
        Self {
            streams,
            fps,
            gpu: Gpu::default(),
            deepstream: None,
            mux: None,
            infers: Vec::new(),
            sources: Vec::new(),
            consumers: Vec::new(),
            tracker: None,
            queues: Queues::default(),
            sinks: Vec::new(),
            options: Options::default(),
            id_retention: Vec::new(),
            plateau: None,
            decode: DecodeCeiling::default(),
            bound: None,
            e2e: None,
            dram: None,
        }
    }

    /// How many streams the sources of the configuration stand for.
    #[must_use]
    pub fn configured_streams(&self) -> StreamCount {
        self.sources.iter().map(|source| source.streams).sum()
    }
}

/// The GPU, as far as the rules ask about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gpu {
    /// The name as nvidia-smi prints it.
    pub name: Option<String>,
    /// Board or system on a chip.
    pub kind: Option<GpuKind>,
    /// The ceiling of INT8 arithmetic.
    pub int8: Option<OpsPerSec>,
    /// The ceiling of FP16 arithmetic.
    pub fp16: Option<OpsPerSec>,
    /// The ceiling of the arithmetic that FP32 networks run on (TF32 where the chip has it).
    pub fp32: Option<OpsPerSec>,
}

/// Whether the GPU has memory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GpuKind {
    /// A board with memory of its own.
    Discrete,
    /// Part of a system on a chip that shares the memory: Jetson.
    Integrated,
}

/// A DeepStream release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeepStreamVersion {
    /// The 9 of 9.1.
    pub major: u32,
    /// The 1 of 9.1.
    pub minor: u32,
}

impl std::fmt::Display for DeepStreamVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// What the user asked for, beyond the load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The frame size behind the mux.
    pub mux_size: MuxSizeWish,
    /// Whether somebody wants to see or keep the pictures.
    pub output: OutputWish,
}

/// The frame size behind the mux that the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MuxSizeWish {
    /// None: the rule decides, and holds back where the frame is looked at downstream.
    #[default]
    ByRule,
    /// The size of the rule, also where the frame is looked at downstream.
    Model,
    /// The size of the source.
    Source,
}

/// Whether somebody wants to see or keep the pictures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OutputWish {
    /// Nobody does: the pipeline is for its metadata.
    #[default]
    None,
    /// On a display or as a stream.
    Visible,
    /// In a file.
    Recorded,
}

/// A measured share of object ids that survived at an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdRetention {
    /// Batches skipped between two inferences.
    pub interval: u32,
    /// The share of the ids at interval 0 that were still there.
    pub share: Fraction,
}

/// What bounds decoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecodeCeiling {
    /// Not known.
    #[default]
    Unknown,
    /// The pipeline decodes nothing.
    NotUsed,
    /// Frames per second over all decoders of the GPU, at the codec and size of the sources. Zero on a MIG slice
    /// without a decoder.
    Known(Fps),
}
