//! Units as types, so that a clock is never added to a frame rate.
//!
//! The real-valued ones are finite and never negative: their constructor returns `None` for
//! anything else, and their arithmetic stays inside that range. That is what lets them be ordered
//! and compared without a thought for NaN.

mod frame;
mod real;
mod share;
mod whole;

pub use frame::{Batch, ParseResolutionError, Resolution};
pub use real::{BytesPerSec, Fps, OpsPerSec, Seconds};
pub use share::Fraction;
pub use whole::{Bytes, Megahertz, Nanos, Pixels, StreamCount};
