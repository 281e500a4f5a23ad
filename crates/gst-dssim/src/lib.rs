//! Stand-ins for the parts of a DeepStream machine that cannot be installed everywhere: the closed elements, the GPU
//! behind them, and `nvidia-smi`. What they do follows from one timing model whose truth is known, so that what dsprof
//! finds can be held against it. Nothing here is shipped, and nothing here decodes or infers.
//!
//! ```text
//! model       what the simulated GPU costs: read from the environment, with its own answer (`Truth`)
//! deadline    waiting: work that takes as long as the model says, without drift
//! decoders    the decoding engines, shared by all decoders of a process
//! ledger      what the GPU did, kept in a folder that several processes share
//! engine      the engine file that is built on a first run
//! nvtx        the ranges that the real elements mark, through NVTX's injection protocol
//! property    names, types, ranges and defaults of the elements' properties
//! smi         what the stand-in `nvidia-smi` prints (program `dssim-smi`)
//! load        a whole pipeline as one program (program `dssim-load`)
//! plugin      the GStreamer elements themselves (feature `plugin`)
//! ```
//!
//! # Limitations
//!
//! - Frames hold no pictures: a buffer carries the numbers of the streams that its frames came from.
//! - The GPU runs one batch at a time and knows no clocks, no memory bandwidth and no copies.
//! - No CUDA calls are made, so a trace of these elements holds NVTX ranges and no kernels.

pub mod deadline;
pub mod decoders;
pub mod engine;
pub mod ledger;
pub mod load;
pub mod model;
pub mod nvtx;
pub mod property;
pub mod smi;

#[cfg(feature = "plugin")]
mod plugin;
