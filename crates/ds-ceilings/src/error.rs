//! The error of this crate, and what nvidia-smi itself says when it fails.

use std::fmt;

/// An output that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not an output but nvidia-smi's own error.
    #[error("nvidia-smi reported an error")]
    Smi(#[from] SmiFailure),
    /// There is nothing in it.
    #[error("the {output} output is empty")]
    Empty {
        /// Which output.
        output: Output,
    },
    /// A part that every output of this kind has is missing.
    #[error("the {output} output has no {what}")]
    Missing {
        /// Which output.
        output: Output,
        /// What was looked for.
        what: &'static str,
    },
    /// A line has another number of cells than the header.
    #[error("line {line} of the {output} output has {found} cells where the header has {expected}")]
    Ragged {
        /// Which output.
        output: Output,
        /// The line, from 1.
        line: usize,
        /// Cells in the header.
        expected: usize,
        /// Cells in the line.
        found: usize,
    },
    /// A cell that should hold a number holds something else.
    #[error("{}the {output} output: `{text}` is no value of {field}", of_line(*line))]
    BadCell {
        /// Which output.
        output: Output,
        /// The line, from 1; `None` where the field says enough about the place.
        line: Option<usize>,
        /// The field.
        field: String,
        /// What stands there.
        text: String,
    },
    /// The XML is not well formed.
    #[error("the {output} output is no well-formed XML at line {line}, column {column}: {detail}")]
    Xml {
        /// Which output.
        output: Output,
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
        /// What the XML reader said.
        detail: String,
    },
}

/// The beginning of a message about a line.
fn of_line(line: Option<usize>) -> String {
    line.map_or_else(String::new, |line| format!("line {line} of "))
}

impl Error {
    /// What a caller can branch on.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Smi(_) => ErrorKind::Smi,
            Self::Empty { .. } => ErrorKind::Empty,
            Self::Missing { .. }
            | Self::Ragged { .. }
            | Self::BadCell { .. }
            | Self::Xml { .. } => ErrorKind::Malformed,
        }
    }
}

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// nvidia-smi failed and said why.
    Smi,
    /// The output is empty.
    Empty,
    /// The output is not of the expected form.
    Malformed,
}

/// The outputs that this crate reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// `nvidia-smi --query-gpu=… --format=csv`.
    Query,
    /// `nvidia-smi -q -x`.
    Xml,
    /// `nvidia-smi -q`.
    Text,
    /// `nvidia-smi dmon`.
    Dmon,
    /// `nvidia-smi -L`.
    List,
    /// `nvidia-smi mig -lgip`.
    MigProfiles,
    /// `nvidia-smi topo -m`.
    Topology,
    /// `nvidia-smi` without arguments.
    Table,
    /// `nvidia-smi --version`.
    Version,
    /// `tegrastats`.
    Tegrastats,
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Query => "`nvidia-smi --query-gpu`",
            Self::Xml => "`nvidia-smi -q -x`",
            Self::Text => "`nvidia-smi -q`",
            Self::Dmon => "`nvidia-smi dmon`",
            Self::List => "`nvidia-smi -L`",
            Self::MigProfiles => "`nvidia-smi mig -lgip`",
            Self::Topology => "`nvidia-smi topo -m`",
            Self::Table => "`nvidia-smi`",
            Self::Version => "`nvidia-smi --version`",
            Self::Tegrastats => "`tegrastats`",
        })
    }
}

/// A failure that nvidia-smi, or the shell in its place, reported.
///
/// nvidia-smi prints its errors on standard output, so that the exit code decides whether there is
/// data at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SmiFailure {
    /// The program does not exist: a Jetson with `JetPack` 5 or older, or no driver package.
    #[error("`nvidia-smi` is not installed")]
    CommandNotFound,
    /// The kernel driver is not loaded.
    #[error("`nvidia-smi` could not reach the NVIDIA driver")]
    DriverNotReachable,
    /// The management library is missing: usually a container without the `utility` capability.
    #[error("`nvidia-smi` found no `libnvidia-ml.so`")]
    NvmlLibraryMissing,
    /// The library is of another version than the loaded driver.
    #[error("the NVML library and the loaded driver are of different versions")]
    NvmlVersionMismatch,
    /// NVML gave no reason; seen in containers after their control group was reloaded.
    #[error("NVML could not be initialised and gave no reason")]
    NvmlUnknown,
    /// The driver runs and sees no GPU.
    #[error("the driver sees no supported GPU")]
    NoDevices,
    /// A GPU no longer answers on the bus.
    #[error("the GPU at `{bus_id}` is lost")]
    GpuLost {
        /// Its PCI address.
        bus_id: String,
    },
    /// A GPU could not be opened, without a reason.
    #[error("the GPU at `{bus_id}` could not be opened")]
    HandleUnknown {
        /// Its PCI address.
        bus_id: String,
    },
    /// This driver does not know a queried field; one such field loses the whole query.
    #[error("`{field}` is no query field of this driver")]
    InvalidField {
        /// The field.
        field: String,
    },
    /// The device does not support what was asked for.
    #[error("the device does not support this query")]
    NotSupportedOnDevice,
    /// The account may not ask.
    #[error("the account lacks the permission for this query")]
    NoPermission,
    /// The command line was not understood.
    #[error("`nvidia-smi` did not understand its arguments")]
    UsageError,
}

impl SmiFailure {
    /// Recognises an error text, wherever the program printed it.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        text.lines().map(str::trim).find_map(Self::from_line)
    }

    fn from_line(line: &str) -> Option<Self> {
        if let Some(rest) = line.strip_prefix("Failed to initialize NVML:") {
            return Some(match rest.trim() {
                rest if rest.starts_with("Driver/library version mismatch") => {
                    Self::NvmlVersionMismatch
                }
                rest if rest.starts_with("No supported GPUs were found") => Self::NoDevices,
                _ => Self::NvmlUnknown,
            });
        }
        if let Some(rest) = line.strip_prefix("Field \"") {
            let (field, rest) = rest.split_once('"')?;
            return rest
                .contains("not a valid field")
                .then(|| Self::InvalidField {
                    field: field.to_owned(),
                });
        }
        if line.starts_with("Unable to de") && line.contains("the device handle for GPU") {
            let (_, rest) = line.split_once("handle for GPU")?;
            let (bus_id, reason) = rest.rsplit_once(": ")?;
            let bus_id = bus_id.trim().to_owned();
            return Some(if reason.starts_with("GPU is lost") {
                Self::GpuLost { bus_id }
            } else {
                Self::HandleUnknown { bus_id }
            });
        }
        let starts = [
            (
                "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver",
                Self::DriverNotReachable,
            ),
            (
                "NVIDIA-SMI couldn't find libnvidia-ml.so library",
                Self::NvmlLibraryMissing,
            ),
            ("No devices were found", Self::NoDevices),
            ("Not supported on the device(s)", Self::NotSupportedOnDevice),
            ("ERROR: Option ", Self::UsageError),
        ];
        starts
            .into_iter()
            .find_map(|(start, failure)| line.starts_with(start).then_some(failure))
            .or_else(|| {
                line.ends_with("nvidia-smi: command not found")
                    .then_some(Self::CommandNotFound)
            })
    }

    /// Recognises a failed run: by its text, else by its exit code, which is an NVML return value
    /// (`nvidia-smi` manual page, "RETURN VALUE"). `None` for exit 0, and for a failure of unknown
    /// kind.
    #[must_use]
    pub fn from_run(exit_code: i32, text: &str) -> Option<Self> {
        if exit_code == 0 {
            return None;
        }
        Self::from_text(text).or(match exit_code {
            3 => Some(Self::NotSupportedOnDevice),
            4 => Some(Self::NoPermission),
            6 => Some(Self::NoDevices),
            9 => Some(Self::DriverNotReachable),
            12 => Some(Self::NvmlLibraryMissing),
            18 => Some(Self::NvmlVersionMismatch),
            127 => Some(Self::CommandNotFound),
            _ => None,
        })
    }

    /// What a user can do about it.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::CommandNotFound => {
                "install the NVIDIA driver; on a Jetson before JetPack 6 use tegrastats"
            }
            Self::DriverNotReachable => {
                "load the driver, reboot after an update, or start the container with `--gpus all`"
            }
            Self::NvmlLibraryMissing => {
                "start the container with `NVIDIA_DRIVER_CAPABILITIES=utility,compute,video`"
            }
            Self::NvmlVersionMismatch => {
                "reboot, or reload the kernel module: the driver was updated while in use"
            }
            Self::NvmlUnknown => "restart the container: its access to the devices was lost",
            Self::NoDevices => "check that the GPU is passed to this machine or container",
            Self::GpuLost { .. } => {
                "reboot the machine; if it happens again, check power and cooling of the board"
            }
            Self::HandleUnknown { .. } => {
                "look for `NVRM` and `Xid` in the kernel log, then reset the GPU or reboot"
            }
            Self::InvalidField { .. } => "ask again without this field",
            Self::NotSupportedOnDevice => "this GPU has no such reading: go on without it",
            Self::NoPermission => "run as root, or allow the query for this account",
            Self::UsageError => "this driver's nvidia-smi lacks the option: go on without it",
        }
    }
}
