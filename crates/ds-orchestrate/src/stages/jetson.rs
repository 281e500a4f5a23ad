//! A Jetson: the device tree says which module it is, tegrastats how much memory it has.

use std::time::Duration;

use ds_ceilings::{GpuIdentity, SmiFailure, Tegrastats};

use super::Session;
use crate::error::Error;
use crate::process::{CommandSpec, Exit, Flow, Outcome, RunError};

/// tegrastats prints a line a second by default; the first one is enough.
const FIRST_LINE: Duration = Duration::from_secs(10);

/// The GPU of the Jetson that this machine is, in place of a missing nvidia-smi (`JetPack` 5).
///
/// # Errors
///
/// When the run was interrupted, or a recording cannot be read.
pub(super) fn jetson_in_place_of_smi(
    session: &Session<'_>,
    error: &Error,
) -> Result<Option<GpuIdentity>, Error> {
    match error {
        Error::Smi(ds_ceilings::Error::Smi(SmiFailure::CommandNotFound)) => jetson(session),
        _ => Ok(None),
    }
}

/// Whether what nvidia-smi said is a Jetson's: integrated GPUs print no memory, and the driver's name or that of the
/// chip in place of a product's.
pub(super) fn is_jetson(gpu: &GpuIdentity) -> bool {
    gpu.memory_total.is_none() && (gpu.name.contains("(nvgpu)") || gpu.name.contains("Thor"))
}

/// The GPU of the Jetson that this machine is, if it is one.
///
/// # Errors
///
/// As [`jetson_in_place_of_smi`].
pub(super) fn jetson(session: &Session<'_>) -> Result<Option<GpuIdentity>, Error> {
    let tree = CommandSpec::new("hw/device-tree", "cat", ["/proc/device-tree/model"]);
    let Some(tree) = said(session.runner.run_quietly(&tree))? else {
        return Ok(None);
    };
    let text = tree.stdout_text();
    let model = text.trim_end_matches('\0').trim();
    // Other boards have a device tree too.
    let is_nvidia = model.contains("Jetson") || model.contains("NVIDIA");
    if !tree.exit.is_success() || !is_nvidia || model.contains('\n') {
        return Ok(None);
    }
    let stats =
        CommandSpec::new("hw/tegrastats", "tegrastats", ["--interval", "1000"]).timeout(FIRST_LINE);
    let mut seen = String::new();
    let stats = said(session.runner.run(&stats, &mut |_, chunk| {
        seen.push_str(&String::from_utf8_lossy(chunk));
        let is_whole = seen.lines().any(|line| line.contains("RAM ")) && seen.ends_with('\n');
        if is_whole { Flow::Stop } else { Flow::Continue }
    }))?;
    let stats = stats
        .filter(|stats| matches!(stats.exit, Exit::Stopped | Exit::TimedOut | Exit::Code(0)))
        .and_then(|stats| Tegrastats::parse(&stats.stdout_text()).ok());
    let first = stats.as_ref().and_then(|lines| lines.first());
    Ok(Some(GpuIdentity::from_jetson(model, first)))
}

/// What a program did; `None` where there is none of this name, or where it was not asked when a recording was made.
///
/// # Errors
///
/// When the run was interrupted, or a recording cannot be read.
pub(super) fn said(result: Result<Outcome, RunError>) -> Result<Option<Outcome>, Error> {
    match result {
        Ok(outcome) => Ok(Some(outcome)),
        Err(RunError::NotFound { .. } | RunError::Io { .. } | RunError::NotRecorded { .. }) => {
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}
