//! NVTX ranges: what the program says about itself.

mod nest;
mod ranges;

pub use ranges::{RangeName, RangeStyle};

pub(crate) use nest::Sweep;
pub(crate) use ranges::{Range, Ranges};
