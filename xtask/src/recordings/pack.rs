//! From a recorded bundle to one that is small enough to ship.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use ds_orchestrate::bundle::{Bundle, RecordedBundle};

use crate::export::{self, Window};

/// The export of the profile stage, and its packed form.
const EXPORT: &str = "trace/e2e.sqlite";

/// Copies a bundle. Its trace is cut to `window`, scrubbed and compressed; the report files, which a replay makes anew,
/// and the capture itself stay behind.
pub(crate) fn pack(from: &Path, to: &Path, window: Window) -> Result<()> {
    if to.exists() {
        bail!("`{}` exists already", to.display());
    }
    let recorded = RecordedBundle::open(from)?;
    let mut bundle = Bundle::open(to, recorded.manifest().inputs.clone())?;
    for stage in &recorded.manifest().stages {
        bundle.set_stage(stage.name, stage.state.clone())?;
    }
    let packed = format!("{EXPORT}.gz");
    for mut command in recorded.commands()? {
        for file in [&command.stdout, &command.stderr] {
            bundle.write(file, &recorded.read(file)?)?;
        }
        for file in &mut command.files {
            if file == EXPORT {
                let target = to.join(&packed);
                fs::create_dir_all(target.parent().context("a file in a folder")?)?;
                export::trim(&from.join(EXPORT), &target, window)?;
                bundle.adopt(&packed)?;
                file.clone_from(&packed);
            }
        }
        command.files.retain(|file| *file == packed);
        let name = command.stdout.trim_end_matches(".stdout");
        let mut text = serde_json::to_string_pretty(&command)?;
        text.push('\n');
        bundle.write(&format!("{name}.json"), text.as_bytes())?;
    }
    bundle.save()?;
    fs::remove_file(to.join(".lock"))?;
    Ok(())
}
