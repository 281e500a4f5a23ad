//! What nvinfer and nvinferserver take out of their configuration file.

use std::path::{Path, PathBuf};

use gst::glib;
use gstreamer as gst;

/// The values that the stand-ins use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct InferConfig {
    pub(super) batch_size: Option<u32>,
    pub(super) engine: Option<PathBuf>,
    pub(super) onnx: Option<String>,
    pub(super) unique_id: Option<u32>,
}

impl InferConfig {
    /// Reads nvinfer's file: YAML by its suffix, anything else as a key file, as the real one decides.
    pub(super) fn of_nvinfer(path: &Path) -> Result<Self, String> {
        let text = read(path)?;
        let is_yaml = path
            .extension()
            .is_some_and(|end| end == "yml" || end == "yaml");
        let key = |key: &str| {
            if is_yaml {
                yaml_value(&text, key)
            } else {
                key_file_value(&text, key)
            }
        };
        if !is_yaml {
            let file = glib::KeyFile::new();
            file.load_from_data(&text, glib::KeyFileFlags::NONE)
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        let beside = |name: String| path.parent().unwrap_or(Path::new(".")).join(name);
        Ok(Self {
            batch_size: key("batch-size").and_then(|text| text.parse().ok()),
            engine: key("model-engine-file").map(beside),
            onnx: key("onnx-file"),
            unique_id: key("gie-unique-id").and_then(|text| text.parse().ok()),
        })
    }

    /// Reads nvinferserver's file, of which only the batch counts.
    pub(super) fn of_nvinferserver(path: &Path) -> Result<Self, String> {
        let text = read(path)?;
        let after = text.split("max_batch_size").nth(1).unwrap_or_default();
        let digits: String = after
            .trim_start_matches([' ', ':'])
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        Ok(Self {
            batch_size: digits.parse().ok(),
            ..Self::default()
        })
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn key_file_value(text: &str, key: &str) -> Option<String> {
    let file = glib::KeyFile::new();
    file.load_from_data(text, glib::KeyFileFlags::NONE).ok()?;
    let value = file.string("property", key).ok()?;
    Some(value.trim().to_owned())
}

/// The last value of a key of the group `property`, without its quotes and comment.
fn yaml_value(text: &str, key: &str) -> Option<String> {
    let mut lines = text
        .lines()
        .skip_while(|line| !line.starts_with("property:"));
    lines.next()?;
    let group = lines.take_while(|line| line.is_empty() || line.starts_with([' ', '#']));
    let values = group.filter_map(|line| {
        let (name, value) = line.trim().split_once(':')?;
        (name.trim() == key).then(|| {
            let value = value.split(" #").next().unwrap_or_default();
            value.trim().trim_matches(['"', '\'']).to_owned()
        })
    });
    values.last()
}
