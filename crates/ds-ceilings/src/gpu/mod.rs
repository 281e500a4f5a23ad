//! Facts about products: the table, and how a name is found in it.

mod lookup;
mod spec;
mod table;

pub use lookup::{GpuMatch, GpuQuery};
pub use spec::{
    ClockBasis, ComputeCap, GpuSpec, HostLink, MemorySpec, NvdecSpec, ParseComputeCapError,
    PerPrecision, Precision, TensorClock,
};
pub use table::{
    DecoderEngine, GpuTable, JetsonModule, MigProfile, ModuleRate, ProfileBasis, ProfileEngines,
};
