//! Facts about products: the table, and how a name is found in it.

mod compute_cap;
mod decoder;
mod lookup;
mod precision;
mod spec;
mod table;

pub use compute_cap::{ComputeCap, ParseComputeCapError};
pub use decoder::{DecoderEngine, JetsonModule, MeasuredEngine, ModuleRate};
pub use lookup::{GpuMatch, GpuQuery};
pub use precision::{PerPrecision, Precision};
pub use spec::{ClockBasis, GpuSpec, HostLink, MemorySpec, NvdecSpec, TensorClock};
pub use table::{GpuTable, MigProfile, ProfileBasis, ProfileEngines};
