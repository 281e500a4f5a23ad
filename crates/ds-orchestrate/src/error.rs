//! The error of this crate.

use std::path::PathBuf;

use crate::bundle::BundleError;
use crate::nvml::NvmlError;
use crate::process::RunError;
use crate::retention::TracksError;
use crate::transaction::TransactionError;

/// Why a stage has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A program could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The bundle could not be read or written.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Files could not be changed together.
    #[error(transparent)]
    Transaction(#[from] TransactionError),
    /// A file that the user named cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
    /// A new file cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
    /// The pipeline cannot be understood.
    #[error(transparent)]
    Config(#[from] ds_config::Error),
    /// The output of nvidia-smi cannot be understood, or says that there is no GPU to be used.
    #[error(transparent)]
    Smi(#[from] ds_ceilings::Error),
    /// NVML alone was asked and does not answer.
    #[error("NVML does not answer")]
    Nvml(#[source] NvmlError),
    /// Neither of the two that know the GPUs answers.
    #[error("neither NVML ({nvml}) nor nvidia-smi answers")]
    NobodyAnswers {
        /// Why NVML does not.
        nvml: NvmlError,
        /// Why nvidia-smi does not.
        #[source]
        smi: Box<Self>,
    },
    /// The recording was made without something that is asked for now.
    #[error("{what}")]
    NotInRecording {
        /// What is missing.
        what: String,
    },
    /// A trace cannot be read.
    #[error(transparent)]
    Trace(#[from] ds_nsys::Error),
    /// A dump of tracks cannot be used.
    #[error(transparent)]
    Tracks(#[from] TracksError),
    /// A program that a stage needs ran and failed.
    #[error("`{program}` failed ({exit}): {detail}")]
    Program {
        /// The program.
        program: String,
        /// How it ended.
        exit: String,
        /// The end of what it printed.
        detail: String,
    },
    /// The nsys at hand is of a release that cannot read a file.
    #[error(
        "`{}` is {kind}, and `{program}` is {release}, which reads {}",
        path.display(),
        read_by(kind)
    )]
    OtherNsys {
        /// The file.
        path: PathBuf,
        /// What it is, and which release wrote it.
        kind: ds_nsys::FileKind,
        /// The nsys that was asked.
        program: String,
        /// Its release.
        release: ds_nsys::NsysVersion,
    },
    /// An export cannot be put where it was to go.
    #[error("cannot write `{}`", path.display())]
    Keep {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
    /// The machine has no such GPU.
    #[error("there is no GPU {index}: {available} are listed")]
    NoSuchGpu {
        /// The index that was asked for.
        index: u32,
        /// How many there are.
        available: usize,
    },
    /// Something that the user gave makes no sense.
    #[error("{what}")]
    Input {
        /// What is wrong with it.
        what: String,
    },
    /// The pipeline cannot be given what the plan asks for; no edit helps.
    #[error("{what}")]
    Unfit {
        /// What stands in the way.
        what: String,
    },
    /// A launch command does not say where the batch goes, or cannot be split into words.
    #[error("launch command `{command}`: {reason}")]
    Launch {
        /// The command.
        command: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A report could not be put into JSON.
    #[error("cannot write the report as JSON")]
    Json(#[from] serde_json::Error),
}

/// What the caller can do about an error; decides the exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The arguments are wrong.
    Usage,
    /// An input is missing or cannot be understood.
    Input,
    /// An external program is missing or failed.
    Program,
    /// The user ended the run.
    Interrupted,
    /// dsprof itself could not do its work: a full disk, a directory that cannot be written.
    Internal,
}

impl Error {
    /// What kind of error it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Run(RunError::Interrupted { .. }) => ErrorKind::Interrupted,
            Self::Run(RunError::NotRecorded { .. }) => ErrorKind::Input,
            Self::Run(RunError::Bundle(error)) | Self::Bundle(error) => bundle_kind(error),
            Self::Run(_) | Self::Program { .. } | Self::Nvml(_) | Self::NobodyAnswers { .. } => {
                ErrorKind::Program
            }
            Self::Smi(error) if error.kind() == ds_ceilings::ErrorKind::Smi => ErrorKind::Program,
            Self::Read { .. }
            | Self::Config(_)
            | Self::Smi(_)
            | Self::Trace(_)
            | Self::Tracks(_)
            | Self::NoSuchGpu { .. }
            | Self::NotInRecording { .. }
            | Self::OtherNsys { .. }
            | Self::Unfit { .. }
            | Self::Transaction(_) => ErrorKind::Input,
            Self::Input { .. } | Self::Launch { .. } => ErrorKind::Usage,
            Self::Json(_) | Self::Keep { .. } | Self::Write { .. } => ErrorKind::Internal,
        }
    }
}

/// What a release of nsys reads of a kind of file.
fn read_by(kind: &ds_nsys::FileKind) -> &'static str {
    match kind {
        ds_nsys::FileKind::Stream { .. } => "raw streams of its own release alone",
        _ => "no reports that are newer than itself",
    }
}

fn bundle_kind(error: &BundleError) -> ErrorKind {
    match error {
        BundleError::Io { action, .. } if *action != "read" => ErrorKind::Internal,
        _ => ErrorKind::Input,
    }
}
