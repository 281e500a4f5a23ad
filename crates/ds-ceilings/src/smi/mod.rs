//! Readers of what nvidia-smi and tegrastats print. Text in, values out; a missing value is `None`,
//! never zero.

mod cell;
mod dmon;
mod list;
mod mig;
mod query;
mod reader;
mod report;
mod steady;
mod table;
mod tegrastats;
mod topology;
mod tree;
mod version;

pub use cell::present;
pub use dmon::{Dmon, DmonColumn, DmonSample};
pub use list::{ListedGpu, ListedMigDevice, SmiList};
pub use mig::{MigProfileRow, MigProfiles};
pub use query::{IDENTITY_FIELDS, SmiQuery, SmiRow};
pub use report::{
    Clocks, MemoryUse, MigDevice, MigMode, PcieReading, SmiGpu, SmiReport, Utilization,
    Virtualization,
};
pub use steady::SteadyWindow;
pub use table::{SmiTable, TableGpu};
pub use tegrastats::{EngineState, Tegrastats};
pub use topology::{Topology, TopologyRow};
pub use version::SmiVersion;
