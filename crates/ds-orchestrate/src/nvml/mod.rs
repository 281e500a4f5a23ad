//! The second witness about the GPUs: NVML, the library that nvidia-smi itself is made of.
//!
//! It tells two things that nvidia-smi does not print, the core count (which gives the number of streaming
//! multiprocessors) and the width of the memory bus, and it answers where the program is not installed. NVML is no
//! program, so that a [`Runner`](crate::process::Runner) cannot record it. What it said is kept in the bundle as
//! `hw/nvml.json`, failures included, and a replay reads it from there and never from the machine that replays.

mod document;
mod error;
mod gpu;
#[cfg(feature = "nvml")]
mod live;
mod throttle;

use crate::bundle::{BundleError, RecordedBundle};

pub use document::{NVML_FILE, NVML_SCHEMA};
pub use error::NvmlError;
pub use gpu::{NvmlGpu, NvmlMigDevice};

pub(crate) use document::{parse, render};

/// What NVML said, or why it said nothing.
pub type NvmlAnswer = Result<Vec<NvmlGpu>, NvmlError>;

/// Reads every GPU of this machine through NVML. The library is loaded now, not when dsprof starts.
///
/// # Errors
///
/// When the library or the driver is missing, they do not fit each other, or a GPU no longer answers. A value that a
/// GPU does not offer is no error: it is `None`.
pub fn read() -> NvmlAnswer {
    #[cfg(feature = "nvml")]
    let answer = live::read();
    #[cfg(not(feature = "nvml"))]
    let answer = Err(NvmlError::NotBuilt);
    answer
}

/// Where a reading of NVML comes from: the machine, or a recording.
pub trait NvmlSource {
    /// What NVML said; `None` where it was never asked, as in a recording of `--via nvidia-smi`.
    ///
    /// # Errors
    ///
    /// When a recording cannot be read.
    fn read(&self) -> Result<Option<NvmlAnswer>, BundleError>;
}

/// Asks the library of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct LiveNvml;

impl NvmlSource for LiveNvml {
    fn read(&self) -> Result<Option<NvmlAnswer>, BundleError> {
        Ok(Some(read()))
    }
}

/// Answers from a bundle.
#[derive(Debug, Clone)]
pub struct RecordedNvml(RecordedBundle);

impl RecordedNvml {
    /// Answers with what `bundle` holds.
    pub fn new(bundle: RecordedBundle) -> Self {
        Self(bundle)
    }
}

impl NvmlSource for RecordedNvml {
    fn read(&self) -> Result<Option<NvmlAnswer>, BundleError> {
        if !self.0.manifest().files.contains_key(NVML_FILE) {
            return Ok(None);
        }
        let bytes = self.0.read(NVML_FILE)?;
        let answer = parse(&bytes).map_err(|reason| BundleError::Malformed {
            path: self.0.root().join(NVML_FILE),
            reason,
        })?;
        Ok(Some(answer))
    }
}
