//! What an NVIDIA GPU can do at most, with the formula and the source of every figure.
//!
//! "Is this frame rate realistic, and how many streams can this GPU carry?" needs figures that are
//! true: bounds that no measurement exceeds, published rates that are marked as such, each with its
//! derivation beside it. This crate holds three things:
//!
//! - **Units** ([`Fps`], [`BytesPerSec`], [`Fraction`], …) that are never NaN, infinite or negative.
//! - **Facts** about products ([`GpuTable`]): SM counts, clocks, tensor rates, decoder engines, MIG
//!   profiles, each with its source. What no source says is `None`.
//! - **Readers** of what `nvidia-smi` and `tegrastats` print ([`SmiQuery`], [`SmiReport`], [`Dmon`],
//!   …). A cell that means "not available" is `None`, never zero; an error text is a typed
//!   [`SmiFailure`] with a remedy.
//!
//! From a machine's identity ([`GpuIdentity`]) and the table follow its [`Ceilings`].
//!
//! # What it is not
//!
//! It starts no program, opens no file and reads no clock or environment: text in, values out. It
//! does not say how many streams fit; that needs a measured plateau and is the business of
//! `ds-derive`. It does not predict what a program reaches.
//!
//! # Published and bound
//!
//! Rates of tensor cores and decoders come twice and are never mixed; a measurement may lie between
//! the two. Memory and PCIe have one figure, which is the bound.
//!
//! - **Tensor cores**: *published* uses the clock behind NVIDIA's figures, the reference that people
//!   know; the *silicon limit* uses `clocks.max.sm` of the machine. On an H100 it lies 8 % higher.
//! - **Decoders**: *published* ([`Ceilings::decode_fps`]) is NVIDIA's rate for streams of its own
//!   choice, to plan with; the *limit* ([`Ceilings::decode_limit`]) is the best rate that was measured
//!   of one engine, scaled. On an H200 it lies 10 % (H.264) and 25 % (HEVC) higher: no stream that
//!   was tried decodes faster, but most decode slower.
//!
//! # Example
//!
//! ```
//! use ds_ceilings::{BitDepth, Ceilings, Codec, GpuIdentity, GpuTable, IDENTITY_FIELDS, Precision};
//! use ds_ceilings::{Resolution, SmiQuery};
//!
//! // What `nvidia-smi --query-gpu=… --format=csv,noheader` printed for `IDENTITY_FIELDS`.
//! let output = "0, NVIDIA L40S, GPU-1234, 595.80, 46068 MiB, 45400 MiB, 2520 MHz, 9001 MHz, 4, 16, [N/A], 8.9";
//! let query = SmiQuery::parse_rows(output, &IDENTITY_FIELDS)?;
//! let gpus = GpuIdentity::from_machine(&query, None)?;
//!
//! let ceilings = Ceilings::new(&gpus[0], GpuTable::built_in());
//! let fp16 = ceilings.tensor(Precision::Fp16).and_then(|fp16| fp16.published.known());
//! assert_eq!(
//!     fp16.map(|ceiling| ceiling.formula.as_str()),
//!     Some("142 SM × 1024 op/clk/SM × 2520 MHz = 366.4 TFLOP/s"),
//! );
//! let hevc = ceilings.decode_fps(Codec::Hevc, BitDepth::Eight, Resolution::FULL_HD);
//! assert_eq!(hevc.value().map(|fps| fps.to_string()).as_deref(), Some("4478.6 fps"));
//!
//! // A ceiling that nobody knows is a named gap, not a number: no Ada decoder was measured.
//! let limit = ceilings.decode_limit(Codec::Hevc, BitDepth::Eight, Resolution::FULL_HD);
//! assert_eq!(limit.reason(), Some("no Ada decoder was measured for HEVC"));
//! let fp4 = ceilings.tensor(Precision::Fp4).and_then(|fp4| fp4.published.reason());
//! assert!(fp4.is_some());
//! # Ok::<(), ds_ceilings::Error>(())
//! ```
//!
//! # Limitations
//!
//! - Decoding: NVIDIA prints speeds at 1920 × 1080 only. Below, work per frame makes the scaled
//!   figure an upper bound only; above, it may be too low by about a quarter. Volta, and Jetson for
//!   anything but HEVC, have no figures; engine counts of some products are unpublished. A limit is
//!   known for H.264 and HEVC of 8 bits up to that size on the engine of Turing, GA100 and Hopper:
//!   it was measured on an H200 with one easy picture, so an easier one might exceed it.
//! - Encoding: only the absence of encoders is known.
//! - Tensor rates are dense. Sparse ones are twice as high, but for FP4 on B300.
//! - PCIe: no reading tells the maximum payload of a packet, so 256 bytes are assumed, the most
//!   that NVIDIA GPUs are known to support; generation 6 is unconfirmed.
//! - MIG: how memory bandwidth divides is undocumented, so an instance is bounded by the whole.
//! - A vGPU guest sees neither its share of SMs nor of decoders: its ceilings are withheld.

mod ceilings;
mod codec;
mod document;
mod error;
mod gpu;
mod identity;
mod smi;
mod units;
mod visible;

pub use ceilings::{
    Ceiling, CeilingRow, Ceilings, Comparison, Confidence, CopyDirection, Decoder, Figure, Finding,
    Limit, MaxPayload, Measurement, PcieGeneration, PcieLink, TensorCeiling, decode_rate,
    measurements, memory_rate, tensor_rate,
};
pub use codec::{BitDepth, Codec, ParseCodecError, VideoProfile};
pub use document::ceilings_document;
pub use error::{Error, ErrorKind, Output, SmiFailure};
pub use gpu::{
    ClockBasis, ComputeCap, DecoderEngine, GpuMatch, GpuQuery, GpuSpec, GpuTable, HostLink,
    JetsonModule, MeasuredEngine, MemorySpec, MigProfile, ModuleRate, NvdecSpec,
    ParseComputeCapError, PerPrecision, Precision, ProfileBasis, ProfileEngines, TensorClock,
};
pub use identity::{Conflict, GpuIdentity};
pub use smi::{
    Clocks, Dmon, DmonColumn, DmonSample, EngineState, IDENTITY_FIELDS, ListedGpu, ListedMigDevice,
    MemoryUse, MigDevice, MigMode, MigProfileRow, MigProfiles, PcieReading, SmiGpu, SmiList,
    SmiQuery, SmiReport, SmiRow, SmiTable, SmiVersion, SteadyWindow, TableGpu, Tegrastats,
    Topology, TopologyRow, Utilization, Virtualization, present,
};
pub use units::{
    Batch, Bytes, BytesPerSec, Fps, Fraction, Megahertz, Nanos, OpsPerSec, ParseResolutionError,
    Pixels, Resolution, Seconds, StreamCount,
};
pub use visible::{VisibleDevice, visible_devices};
