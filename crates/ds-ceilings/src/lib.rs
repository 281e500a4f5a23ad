//! What an NVIDIA GPU can do at most, with the formula and the source of every figure.

mod ceilings;
mod codec;
mod error;
mod gpu;
mod identity;
mod smi;
mod units;

pub use ceilings::{
    Ceiling, CeilingRow, Ceilings, Comparison, Confidence, CopyDirection, Decoder, Finding, Limit,
    MaxPayload, Measurement, PcieGeneration, PcieLink, TensorCeiling, decode_rate, measurements,
    memory_rate, tensor_rate,
};
pub use codec::{BitDepth, Codec, ParseCodecError, VideoProfile};
pub use error::{Error, ErrorKind, Output, SmiFailure};
pub use gpu::{
    ClockBasis, ComputeCap, DecoderEngine, GpuMatch, GpuQuery, GpuSpec, GpuTable, HostLink,
    JetsonModule, MemorySpec, MigProfile, ModuleRate, NvdecSpec, PerPrecision, Precision,
    ProfileBasis, ProfileEngines, TensorClock,
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
