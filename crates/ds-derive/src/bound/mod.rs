//! What bounds a pipeline: a table of signals and thresholds, read from the top, with the evidence for and against.

mod signals;
mod thresholds;
mod verdict;

use std::fmt;

pub use self::signals::{Idle, IdleBasis, Ratio, Signal, Signals};
pub use self::thresholds::{Relation, THRESHOLDS, Threshold};
pub use self::verdict::{Bound, Certainty, Contradiction, Evidence, bound};

/// What bounds a pipeline. The order is the order in which the table is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BoundKind {
    /// TensorRT built an engine, or modules were loaded, inside the measured window.
    EngineBuild,
    /// Copies.
    Memcpy,
    /// The video decoders.
    Decode,
    /// The GPU's arithmetic.
    Compute,
    /// The GPU's memory.
    Bandwidth,
    /// The tracker.
    Tracker,
    /// Waiting for the GPU on the CPU.
    Sync,
    /// The rate of the source, the sink or the display.
    Paced,
    /// The CPU side.
    Host,
    /// Nothing that the signals show.
    Unknown,
}

impl BoundKind {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::EngineBuild => "engine build",
            Self::Memcpy => "memcpy",
            Self::Decode => "decode",
            Self::Compute => "compute",
            Self::Bandwidth => "bandwidth",
            Self::Tracker => "tracker",
            Self::Sync => "sync",
            Self::Paced => "paced",
            Self::Host => "host",
            Self::Unknown => "unknown",
        }
    }

    /// The one thing to change first.
    #[must_use]
    pub fn action(self) -> &'static str {
        match self {
            Self::EngineBuild => {
                "build the engine before the run, name it in model-engine-file, and measure again"
            }
            Self::Memcpy => {
                "keep frames on the GPU: memory type 0 along the whole chain, no element that maps frames to the CPU"
            }
            Self::Decode => {
                "fewer or smaller streams, a codec that decodes faster, drop-frame-interval, or a GPU with more decoders"
            }
            Self::Compute => {
                "a lower precision, a smaller model, skipped inferences behind a tracker, or a faster GPU"
            }
            Self::Bandwidth => {
                "a smaller input or activation size, a lower precision, or a GPU with faster memory"
            }
            Self::Tracker => {
                "the max-perf preset, a smaller tracker size, fewer targets per stream, or a cheaper algorithm"
            }
            Self::Sync => {
                "remove the waits: larger batches, deeper queues, no synchronous copies in custom code"
            }
            Self::Paced => {
                "nothing on the GPU: it keeps up; set sync=0 and loop files to see what it could carry"
            }
            Self::Host => {
                "the CPU side: larger batches, CUDA graphs or a compiled engine instead of many launches, fewer probes in Python, more or faster cores"
            }
            Self::Unknown => {
                "look at the top kernels, the copies and the sweep table before changing anything"
            }
        }
    }
}

impl fmt::Display for BoundKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
