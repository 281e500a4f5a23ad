//! Whether this machine, or this container, can decode at all.

use ds_ceilings::GpuIdentity;

use super::Session;
use super::jetson::said;
use crate::error::Error;
use crate::process::CommandSpec;

/// The driver's decoder. The container runtime mounts it only under the `video` capability (NVIDIA Container Toolkit,
/// "Driver Capabilities").
const LIBRARY: &str = "libnvcuvid.so.1";

/// A finding where the loader knows many libraries and not the decoder's. A machine whose loader cannot be asked is
/// taken to have it.
///
/// # Errors
///
/// When the run was interrupted, or a recording cannot be read.
pub(super) fn missing_decoder_library(
    session: &Session<'_>,
    gpus: &[GpuIdentity],
) -> Result<Option<String>, Error> {
    // A Jetson decodes through another library.
    if gpus.iter().any(|gpu| gpu.device_tree.is_some()) {
        return Ok(None);
    }
    let spec = CommandSpec::new("hw/loader", "ldconfig", ["-p"]);
    let Some(cache) = said(session.runner.run_quietly(&spec))? else {
        return Ok(None);
    };
    let text = cache.stdout_text();
    let mut libraries = text
        .lines()
        .filter_map(|line| line.split_once(" => "))
        .peekable();
    if !cache.exit.is_success() || libraries.peek().is_none() {
        return Ok(None);
    }
    let is_there = libraries.any(|(name, _)| name.split_whitespace().next() == Some(LIBRARY));
    Ok((!is_there).then(|| {
        format!(
            "the loader knows no `{LIBRARY}`, so that decoding will not work here whatever the decode ceilings say; a \
             container needs the `video` capability: NVIDIA_DRIVER_CAPABILITIES=compute,utility,video"
        )
    }))
}
