//! Why NVML says nothing.

use serde::{Deserialize, Serialize};

/// Why there is no reading of NVML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum NvmlError {
    /// The loader finds no library.
    #[error("`libnvidia-ml.so.1` cannot be loaded")]
    LibraryMissing,
    /// The library is there, the kernel driver is not.
    #[error("the NVIDIA driver is not loaded")]
    DriverNotLoaded,
    /// The library is of another version than the loaded driver.
    #[error("the NVML library and the loaded driver are of different versions")]
    VersionMismatch,
    /// The account may not talk to the driver.
    #[error("the account lacks the permission to talk to the NVIDIA driver")]
    NoPermission,
    /// A GPU no longer answers on the bus.
    #[error("GPU {index} is lost")]
    GpuLost {
        /// Its index.
        index: u32,
    },
    /// A call failed in another way.
    #[error("{call} failed: {reason}")]
    Call {
        /// What was asked for.
        call: String,
        /// What NVML said.
        reason: String,
    },
    /// This dsprof was built without it.
    #[error("this dsprof was built without NVML")]
    NotBuilt,
}

impl NvmlError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::LibraryMissing => {
                "install the NVIDIA driver's user-space libraries; in a container ask for the `utility` capability \
                 (NVIDIA_DRIVER_CAPABILITIES)"
            }
            Self::DriverNotLoaded => {
                "load the NVIDIA kernel module on the host; a container also needs the NVIDIA runtime (`--gpus all`)"
            }
            Self::VersionMismatch => {
                "restart the machine, or the container, so that driver and library are of one version"
            }
            Self::NoPermission => "run as an account that may open /dev/nvidiactl and /dev/nvidia*",
            Self::GpuLost { .. } => "restart the machine; look for `Xid` in the kernel log",
            Self::Call { .. } => {
                "a container whose control group was reloaded is to be started again; `--via nvidia-smi` does without NVML"
            }
            Self::NotBuilt => "build with the feature `nvml`, or use `--via nvidia-smi`",
        }
    }
}
