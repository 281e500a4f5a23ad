//! What an NVIDIA GPU can do at most, with the formula and the source of every figure.

mod units;

pub use units::{
    Batch, Bytes, BytesPerSec, Fps, Fraction, Megahertz, Nanos, OpsPerSec, ParseResolutionError,
    Pixels, Resolution, Seconds, StreamCount,
};
