//! NVTX ranges: what the program says about itself.

mod nest;
mod plugins;
mod ranges;

pub use plugins::{FoldedRange, Plugin, PluginTime, PluginTimes, RangeOwner, ThreadTime};
pub use ranges::{RangeName, RangeStyle};

pub(crate) use nest::Sweep;
pub(crate) use ranges::{Range, Ranges};
