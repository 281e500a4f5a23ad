//! Exit statuses, which are part of the interface.

use std::io;
use std::process::ExitCode;

use ds_orchestrate::bundle::BundleError;
use ds_orchestrate::process::RunError;
use ds_orchestrate::{Error, ErrorKind};

use crate::output;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// It did its work.
    Fine,
    /// `derive --check` found changes pending.
    ChangesPending,
    /// A limit is exceeded: `capacity --require`.
    LimitExceeded,
    /// A capture should be made again: `trace check`.
    Retry,
    /// A file does not say whether its capture serves: `trace check`.
    Undecidable,
    /// As [`Self::Retry`], in the numbers of gpu-perf-tune's script.
    UpstreamRetry,
    /// As [`Self::Undecidable`], in the numbers of gpu-perf-tune's script.
    UpstreamUndecidable,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(match status {
            Status::Fine => 0,
            Status::ChangesPending => 10,
            Status::LimitExceeded => 11,
            Status::Retry => 12,
            Status::Undecidable => 13,
            Status::UpstreamRetry => 1,
            Status::UpstreamUndecidable => 2,
        })
    }
}

/// An argument that makes no sense; exit status 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An input that can be read and does not serve; exit status 3.
#[derive(Debug)]
pub(crate) struct Unusable(pub(crate) String);

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}

/// Prints an error with its causes and what to do about it, and gives the exit status.
pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    // Whoever read the output has gone; that is no failure of ours.
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    output::error(&format!("{error:#}"));
    for hint in hints(error) {
        output::hint(&hint);
    }
    ExitCode::from(status_of(error))
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}

fn status_of(error: &anyhow::Error) -> u8 {
    for cause in error.chain() {
        if cause.is::<Usage>() {
            return 2;
        }
        if cause.is::<Unusable>() {
            return 3;
        }
        if let Some(ds_nsys::Error::Write(_)) = cause.downcast_ref() {
            return 1;
        }
        if let Some(error) = cause.downcast_ref::<Error>() {
            return match error.kind() {
                ErrorKind::Usage => 2,
                ErrorKind::Input => 3,
                ErrorKind::Program => 4,
                // 128 and the number of SIGINT, as shells count.
                ErrorKind::Interrupted => 130,
                ErrorKind::Internal => 1,
            };
        }
        if cause.is::<ds_nsys::Error>()
            || cause.is::<ds_config::Error>()
            || cause.is::<ds_ceilings::Error>()
        {
            return 3;
        }
    }
    1
}

fn hints(error: &anyhow::Error) -> Vec<String> {
    let mut hints = Vec::new();
    for cause in error.chain() {
        if let Some(failure) = cause.downcast_ref::<ds_ceilings::SmiFailure>() {
            hints.push(failure.remedy().to_owned());
        }
        if let Some(ds_nsys::Error::NeedsExport { path, kind }) = cause.downcast_ref() {
            hints.extend(crate::cmd::trace::hint(path, kind));
        }
        if let Some(Error::Nvml(nvml) | Error::NobodyAnswers { nvml, .. }) = cause.downcast_ref() {
            hints.push(format!("NVML: {}", nvml.remedy()));
        }
        match cause.downcast_ref::<Error>() {
            Some(Error::Smi(_) | Error::Nvml(_) | Error::NobodyAnswers { .. }) => hints.push("no GPU here? `dsprof hw --gpu NAME` plans without one, `--replay DIR` uses a recording".to_owned()),
            Some(
                Error::OtherNsys { path, kind, .. }
                | Error::Trace(ds_nsys::Error::NeedsExport { path, kind }),
            ) => {
                hints.extend(crate::cmd::trace::hint(path, kind));
            }
            Some(Error::Bundle(BundleError::OtherInputs { .. })) => {
                hints.push("choose another directory with `--bundle DIR`".to_owned());
            }
            Some(Error::Run(RunError::Interrupted { .. })) => hints.push(
                "the bundle keeps what is finished, and the same command goes on from there; without `--bundle DIR` nothing is kept".to_owned(),
            ),
            Some(Error::Run(RunError::Bundle(bundle)) | Error::Bundle(bundle)) => {
                hints.extend(room(bundle).map(str::to_owned));
            }
            Some(Error::Run(RunError::NotRecorded { .. })) => {
                hints.push("leave out the arguments that differ from the recording: it brings its own".to_owned());
            }
            _ => {}
        }
    }
    hints
}

/// What to do where a bundle cannot be written.
fn room(error: &BundleError) -> Option<&'static str> {
    let BundleError::Io { action, source, .. } = error else {
        return None;
    };
    match source.kind() {
        _ if *action == "read" => None,
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Some("make room and run the same command again: it goes on from what is finished")
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            Some("choose another directory with `--bundle DIR`")
        }
        _ => None,
    }
}
