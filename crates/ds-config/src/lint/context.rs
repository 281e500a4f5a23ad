//! What the caller knows beyond the files.

use std::fmt;

use crate::model::FrameRate;
use crate::resolve::FileSource;

/// What a pipeline is checked for. Everything may be left unknown; a rule that cannot do without
/// is then silent.
#[derive(Clone, Copy, Default)]
pub struct LintContext<'a> {
    /// The frame rate that is asked for. Without it the rate that the sources state counts.
    pub fps: Option<FrameRate>,
    /// What the pipeline is run for.
    pub purpose: Purpose,
    /// Which precision is wanted.
    pub precision: PrecisionWish,
    /// The DeepStream release that runs it.
    pub version: Option<DeepStreamVersion>,
    /// The kind of GPU that runs it.
    pub gpu: Option<GpuKind>,
    /// Says whether engines and calibration files exist, and gives the models, of which the inputs are
    /// looked at.
    pub files: Option<&'a dyn FileSource>,
}

/// What a pipeline is run for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// Not said. What would falsify a measurement is reported.
    #[default]
    Unstated,
    /// To measure: nothing is shown, recorded or paced.
    Benchmark,
    /// To be watched or recorded in real time: output is wanted.
    Live,
}

/// Which precision is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PrecisionWish {
    /// The fastest that the model stands.
    #[default]
    Unstated,
    /// FP32, for the sake of accuracy.
    Fp32,
}

/// Where the memory of a GPU is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GpuKind {
    /// On a card of its own.
    Discrete,
    /// Shared with the CPU: Jetson, Spark.
    Integrated,
}

/// A release of DeepStream. Displays as `9.1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeepStreamVersion {
    /// The first number.
    pub major: u16,
    /// The second number.
    pub minor: u16,
}

impl fmt::Display for DeepStreamVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Debug for LintContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LintContext")
            .field("fps", &self.fps)
            .field("purpose", &self.purpose)
            .field("precision", &self.precision)
            .field("version", &self.version)
            .field("gpu", &self.gpu)
            .field("files", &self.files.map(|_| "…"))
            .finish()
    }
}
