//! From a recorded bundle to one that is small enough to ship.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use ds_orchestrate::bundle::{Bundle, RecordedBundle};
use ds_orchestrate::nvml::NVML_FILE;

use crate::export::{self, Window};

/// The export of the profile stage, and its packed form.
const EXPORT: &str = "trace/e2e.sqlite";

/// Copies a bundle. Its trace is cut to `window`, scrubbed and compressed; the report files, which a replay makes anew,
/// and the capture itself stay behind.
pub(crate) fn pack(from: &Path, to: &Path, window: Option<Window>) -> Result<()> {
    if to.exists() {
        bail!("`{}` exists already", to.display());
    }
    let recorded = RecordedBundle::open(from)?;
    let mut bundle = Bundle::open(to, recorded.manifest().inputs.clone())?;
    for stage in &recorded.manifest().stages {
        bundle.set_stage(stage.name, stage.state.clone())?;
    }
    if recorded.manifest().files.contains_key(NVML_FILE) {
        bundle.write(NVML_FILE, &without_serials(&recorded.read(NVML_FILE)?))?;
    }
    let packed = format!("{EXPORT}.gz");
    for mut command in recorded.commands()? {
        for file in [&command.stdout, &command.stderr] {
            bundle.write(file, &without_serials(&recorded.read(file)?))?;
        }
        for file in &mut command.files {
            if file == EXPORT {
                let window =
                    window.context("the bundle holds a trace: say which part of it to keep")?;
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

/// What tells one board from another in the XML of nvidia-smi, and dummies of the same shape.
const SERIALS: [(&str, &str); 3] = [
    ("serial", "1000000000001"),
    ("uuid", "GPU-00000000-0000-4000-8000-000000000001"),
    ("pdi", "0x0000000000000001"),
];

/// Puts dummies in the place of serial numbers; output without them is left as it is.
fn without_serials(output: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(output) else {
        return output.to_owned();
    };
    let mut text = text.to_owned();
    for (tag, dummy) in SERIALS {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        let value = text
            .split_once(&open)
            .and_then(|(_, rest)| rest.split_once(&close));
        if let Some(value) = value.map(|(value, _)| value.to_owned()) {
            text = text.replace(&value, dummy);
        }
    }
    // The query prints the UUID as a bare cell, NVML's reading holds it as a string.
    for (start, _) in text.clone().match_indices("GPU-") {
        let end = start + SERIALS[1].1.len();
        if text.get(start..end).is_some_and(is_uuid) {
            text.replace_range(start..end, SERIALS[1].1);
        }
    }
    text.into_bytes()
}

fn is_uuid(text: &str) -> bool {
    text.strip_prefix("GPU-")
        .is_some_and(|rest| rest.chars().all(|c| c == '-' || c.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::without_serials;

    #[test]
    fn boards_cannot_be_told_apart_afterwards() {
        let check = |given: &str, expected: &str| {
            assert_eq!(without_serials(given.as_bytes()), expected.as_bytes());
        };
        check(
            "<serial>1650000000009</serial>\n<pdi>0x12ab</pdi>",
            "<serial>1000000000001</serial>\n<pdi>0x0000000000000001</pdi>",
        );
        check(
            "0, NVIDIA H200, GPU-d0000000-9000-3000-1000-300000000001, 580.159.04",
            "0, NVIDIA H200, GPU-00000000-0000-4000-8000-000000000001, 580.159.04",
        );
        check(
            "\"uuid\": \"GPU-d0000000-9000-3000-1000-300000000001\",",
            "\"uuid\": \"GPU-00000000-0000-4000-8000-000000000001\",",
        );
        check(
            "GPU-less **PERF:  30.00 (29.98)",
            "GPU-less **PERF:  30.00 (29.98)",
        );
    }
}
