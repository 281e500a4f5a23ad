//! What an NVIDIA GPU can do at most, with the formula and the source of every figure.

mod codec;
mod error;
mod gpu;
mod smi;
mod units;

pub use codec::{BitDepth, Codec, ParseCodecError, VideoProfile};
pub use error::{Error, ErrorKind, Output, SmiFailure};
pub use gpu::{
    ClockBasis, ComputeCap, DecoderEngine, GpuMatch, GpuQuery, GpuSpec, GpuTable, HostLink,
    JetsonModule, MemorySpec, MigProfile, ModuleRate, NvdecSpec, PerPrecision, Precision,
    ProfileBasis, ProfileEngines, TensorClock,
};
pub use smi::{
    Clocks, Dmon, DmonColumn, DmonSample, EngineState, ListedGpu, ListedMigDevice, MemoryUse,
    MigDevice, MigMode, MigProfileRow, MigProfiles, PcieReading, SmiGpu, SmiList, SmiQuery,
    SmiReport, SmiRow, SmiTable, SmiVersion, SteadyWindow, TableGpu, Tegrastats, Topology,
    TopologyRow, Utilization, Virtualization, present,
};
pub use units::{
    Batch, Bytes, BytesPerSec, Fps, Fraction, Megahertz, Nanos, OpsPerSec, ParseResolutionError,
    Pixels, Resolution, Seconds, StreamCount,
};
