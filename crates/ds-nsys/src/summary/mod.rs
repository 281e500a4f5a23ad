//! Typed summaries: what the reports print, as values with units.

mod api;
mod kernels;
mod memory;
mod named;
mod nvtx;

pub use api::ApiSummary;
pub use kernels::{KernelNaming, KernelSummary};
pub use memory::{CopyKind, MemoryOperation, MemorySummary};
pub use nvtx::{RangeSummaries, RangeSummary};

pub(crate) use api::{RUNTIME_TABLE, api_rows, os_runtime_rows, without_version};
pub(crate) use kernels::{KERNEL_TABLE, kernel_rows};
pub(crate) use memory::{MEMCPY_TABLE, MEMSET_TABLE};
pub(crate) use named::{Grouping, Named};
