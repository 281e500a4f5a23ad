//! An inference element and its model.

use std::fmt;

use ds_ceilings::Batch;

use crate::value::{Dims, Present};

/// Where in the chain of models an element stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InferRole {
    /// It sees every frame.
    Primary,
    /// It sees the objects that an earlier model found; the number is the one of its group or its place in the chain.
    Secondary(u32),
}

/// What fills the model's input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TensorOrigin {
    /// The element itself, from the frames of the mux.
    #[default]
    Frames,
    /// An nvdspreprocess in front of it, whose `network-input-shape` decides the batch.
    Preprocess,
}

/// How the batch of the model's graph is fixed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ModelBatch {
    /// Not known.
    #[default]
    Unknown,
    /// Any batch: an engine can be built for what is asked.
    Dynamic,
    /// One batch is written into the ONNX graph, or into an engine that has no model beside it to build from.
    Static(Batch),
}

/// The calibration table that INT8 needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CalibrationFile {
    /// Not looked at.
    #[default]
    Unknown,
    /// Named and readable.
    Readable,
    /// Named, but it is not there or cannot be read; nvinfer then falls back to FP16.
    Missing,
    /// Not named.
    NotNamed,
}

/// Whether the model carries its quantisation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quantisation {
    /// Not known.
    #[default]
    Unknown,
    /// The graph holds no quantisation nodes: `network-mode` decides.
    Implicit,
    /// The graph holds its own quantisation nodes: `network-mode` must not be touched.
    Explicit,
}

/// The precision that the user asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PrecisionWish {
    /// None: the rule decides.
    #[default]
    ByRule,
    /// FP32.
    Fp32,
}

/// Whether frames keep their aspect ratio when they are scaled to the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AspectRatio {
    /// They are stretched: `maintain-aspect-ratio=0`, the default.
    #[default]
    Stretched,
    /// They keep it: `maintain-aspect-ratio=1`.
    Kept,
}

/// A precision of nvinfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Precision {
    /// 32-bit floating point.
    Fp32,
    /// 8-bit integers.
    Int8,
    /// 16-bit floating point.
    Fp16,
}

impl Precision {
    /// The number that `network-mode` gives it.
    #[must_use]
    pub fn network_mode(self) -> u32 {
        match self {
            Self::Fp32 => 0,
            Self::Int8 => 1,
            Self::Fp16 => 2,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fp32 => "FP32",
            Self::Int8 => "INT8",
            Self::Fp16 => "FP16",
        })
    }
}

/// A pre-built engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Its path, as the configuration would name it.
    pub path: String,
    /// The largest batch that it takes, from its name or its builder's log.
    pub max_batch: Option<Batch>,
    /// The precision that it was built for, from its name.
    pub precision: Option<Precision>,
}

/// An inference element and what its knobs hold now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Infer {
    /// Where in the chain it stands.
    pub role: InferRole,
    /// What fills its input.
    pub tensors: TensorOrigin,
    /// `batch-size`.
    pub batch_size: Present,
    /// `network-mode`.
    pub network_mode: Present,
    /// `interval`.
    pub interval: Present,
    /// `infer-dims`.
    pub infer_dims: Present,
    /// `model-engine-file`.
    pub model_engine_file: Present,
    /// Whether frames keep their aspect ratio.
    pub aspect_ratio: AspectRatio,
    /// The shape of the model's input.
    pub model_dims: Option<Dims>,
    /// How the batch of the model's graph is fixed.
    pub model_batch: ModelBatch,
    /// The engines that exist for the model.
    pub engines: Vec<Engine>,
    /// The calibration table.
    pub calibration: CalibrationFile,
    /// Whether the model carries its quantisation.
    pub quantisation: Quantisation,
    /// The precision that the user asked for.
    pub precision: PrecisionWish,
}

impl Infer {
    /// An element of which nothing is known but its place in the chain.
    #[must_use]
    pub fn new(role: InferRole) -> Self {
        Self {
            role,
            tensors: TensorOrigin::default(),
            batch_size: Present::Absent,
            network_mode: Present::Absent,
            interval: Present::Absent,
            infer_dims: Present::Absent,
            model_engine_file: Present::Absent,
            aspect_ratio: AspectRatio::default(),
            model_dims: None,
            model_batch: ModelBatch::default(),
            engines: Vec::new(),
            calibration: CalibrationFile::default(),
            quantisation: Quantisation::default(),
            precision: PrecisionWish::default(),
        }
    }
}
