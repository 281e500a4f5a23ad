//! The measured points of a batch sweep, as they come from the runs.

use std::fmt;

use ds_ceilings::{Batch, Fps, StreamCount};

/// One batch of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SweepPoint {
    /// The batch of mux and inference.
    pub batch: Batch,
    /// How many streams fed it.
    pub streams: StreamCount,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of one batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It ran.
    Ran {
        /// The frame rate summed over the streams, one value per steady window.
        windows: Vec<Fps>,
    },
    /// It gave no rate.
    Failed {
        /// Why.
        why: Failure,
        /// What the program said, shortened; may be empty.
        detail: String,
    },
}

/// Why a batch gave no rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// The GPU or the host ran out of memory.
    OutOfMemory,
    /// It ran, and then no frame came.
    Stall,
    /// The program ended with an error or a signal.
    Crash,
    /// Every window was zero.
    ZeroFps,
    /// No engine could be built or loaded.
    EngineBuild,
    /// It did not end in time.
    Timeout,
    /// It ran and printed no rate as long as it was waited for.
    Silent,
    /// It ended before a window was steady.
    NoSteadyWindow,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OutOfMemory => "out of memory",
            Self::Stall => "stalled",
            Self::Crash => "crashed",
            Self::ZeroFps => "no frames",
            Self::EngineBuild => "no engine",
            Self::Timeout => "timed out",
            Self::Silent => "no rate",
            Self::NoSteadyWindow => "no steady window",
        })
    }
}
