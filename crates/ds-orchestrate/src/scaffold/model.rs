//! The configuration of the model: a copy of the user's own with its paths kept right, or one made of what was stated.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use ds_config::{
    FileSource, Form, IniAssignment, IniDocument, IniType, NVINFERSERVER, TextEdit,
    TextProtoDocument, TextProtoValue, YamlDocument, detect,
};

use super::app::InferType;
use super::request::{ModelSource, NewRequest, StatedModel};
use crate::error::Error;

/// The configuration of the model as it is written.
pub(super) struct ModelConfig {
    /// Its name in the new folder.
    pub(super) name: &'static str,
    pub(super) text: Vec<u8>,
    pub(super) plugin: InferType,
    /// What the user has to know about it.
    pub(super) notes: Vec<String>,
}

/// Keys of nvinfer that name files (DeepStream 9.1, gstnvinfer_property_parser.cpp).
const PATH_KEYS: [&str; 12] = [
    "onnx-file",
    "model-engine-file",
    "int8-calib-file",
    "labelfile-path",
    "custom-lib-path",
    "tlt-encoded-model",
    "tlt-model-key-file",
    "model-file",
    "proto-file",
    "uff-file",
    "mean-file",
    "layer-device-precision-file",
];

/// Fields of nvinferserver that name files or folders (nvdsinferserver_config.proto of DeepStream 9.1): `root` of a model
/// repository, `path` of a custom library, and these two.
const PATH_FIELDS: [&str; 4] = ["root", "path", "labelfile_path", "mean_file"];

/// The configuration of the model for the folder `folder`.
pub(super) fn model_config(
    request: &NewRequest,
    folder: &str,
    files: &dyn FileSource,
) -> Result<ModelConfig, Error> {
    match &request.model {
        ModelSource::Config(path) => copied(path, folder, files),
        ModelSource::Stated(model) => Ok(stated(request, model, folder)),
    }
}

fn copied(path: &str, folder: &str, files: &dyn FileSource) -> Result<ModelConfig, Error> {
    let bytes = files.read(path).map_err(|source| Error::Read {
        path: path.into(),
        source,
    })?;
    let found = detect(&bytes);
    let moved = |value: &str| moved(value, path, folder);
    let (name, text, plugin) = match found.form {
        Form::NvinferTxt => ("infer.txt", txt(bytes, moved)?, InferType::Nvinfer),
        Form::NvinferYml => ("infer.yml", yml(bytes, moved)?, InferType::Nvinfer),
        Form::Nvinferserver => (
            "inferserver.txt",
            textproto(bytes, moved)?,
            InferType::Nvinferserver,
        ),
        form => {
            return Err(Error::Input {
                what: format!(
                    "`{path}` is no configuration of nvinfer or nvinferserver but {form}: {}",
                    found.because
                ),
            });
        }
    };
    Ok(ModelConfig {
        name,
        text,
        plugin,
        notes: vec![format!(
            "{name} is a copy of `{path}` with its paths kept right; the original is untouched"
        )],
    })
}

/// Applies edits one after another: each is made on the text that the one before left.
fn txt(mut bytes: Vec<u8>, moved: impl Fn(&str) -> Option<String>) -> Result<Vec<u8>, Error> {
    for key in PATH_KEYS {
        let document = IniDocument::parse(bytes.clone());
        let value = document
            .get("property", key)
            .and_then(|value| value.string().ok());
        if let Some(value) = value.as_deref().and_then(&moved) {
            let edit = document.set(&[IniAssignment {
                group: "property",
                key,
                value: &value,
                read_as: IniType::String,
            }])?;
            bytes = edit.apply(&bytes)?;
        }
    }
    Ok(bytes)
}

fn yml(mut bytes: Vec<u8>, moved: impl Fn(&str) -> Option<String>) -> Result<Vec<u8>, Error> {
    for key in PATH_KEYS {
        let document = YamlDocument::parse(&bytes)?;
        let value = document
            .value("property", key)
            .and_then(|node| node.text().map(str::to_owned));
        if let Some(value) = value.as_deref().and_then(&moved) {
            bytes = document.set("property", key, &value)?.apply(&bytes)?;
        }
    }
    Ok(bytes)
}

fn textproto(bytes: Vec<u8>, moved: impl Fn(&str) -> Option<String>) -> Result<Vec<u8>, Error> {
    let document = TextProtoDocument::parse(&bytes, &NVINFERSERVER)?;
    let mut edit = TextEdit::empty();
    let mut messages = vec![document.root()];
    while let Some(message) = messages.pop() {
        for field in message.fields() {
            match field.value() {
                TextProtoValue::Message(inner) => messages.push(inner),
                TextProtoValue::String(value) if PATH_FIELDS.contains(&field.name()) => {
                    let value = String::from_utf8_lossy(value);
                    if let Some(value) = moved(&value) {
                        let escaped = value.replace('\\', r"\\").replace('"', "\\\"");
                        let quoted = format!("\"{escaped}\"");
                        edit = edit.union(TextEdit::replace(field.span(), quoted))?;
                    }
                }
                _ => {}
            }
        }
    }
    Ok(edit.apply(&bytes)?)
}

/// Names the engine that nvinfer builds and saves beside the ONNX file when it finds none, so that it is found from the second
/// start on: `<onnx>_b<batch>_gpu0_<precision>.engine` (DeepStream 9.1, nvdsinfer_context_impl.cpp). `None` where an engine
/// is named already, or no ONNX file.
pub(super) fn with_engine(
    config: &ModelConfig,
    text: &[u8],
    batch: i64,
    precision: &str,
) -> Result<Option<Vec<u8>>, Error> {
    let engine = |onnx: &str| format!("{onnx}_b{batch}_gpu0_{precision}.engine");
    if config.plugin == InferType::Nvinferserver {
        return Ok(None);
    }
    if config.name.ends_with(".yml") {
        let document = YamlDocument::parse(text)?;
        let named = |key| document.value("property", key).and_then(|node| node.text());
        return match (named("onnx-file"), named("model-engine-file")) {
            (Some(onnx), None) => {
                let edit = document.set("property", "model-engine-file", &engine(onnx))?;
                Ok(Some(edit.apply(text)?))
            }
            _ => Ok(None),
        };
    }
    let document = IniDocument::parse(text);
    let named = |key| {
        document
            .get("property", key)
            .and_then(|value| value.string().ok())
    };
    match (named("onnx-file"), named("model-engine-file")) {
        (Some(onnx), None) => {
            let edit = document.set(&[IniAssignment {
                group: "property",
                key: "model-engine-file",
                value: &engine(&onnx),
                read_as: IniType::String,
            }])?;
            Ok(Some(edit.apply(text)?))
        }
        _ => Ok(None),
    }
}

/// What `value`, a path in the file `from`, is called in a file of `folder`; `None` where it stays as it is.
fn moved(value: &str, from: &str, folder: &str) -> Option<String> {
    if value.is_empty() || Path::new(value).is_absolute() {
        return None;
    }
    let beside = Path::new(from).parent().unwrap_or(Path::new(""));
    let path = relative(&beside.join(value), Path::new(folder));
    (path != value).then_some(path)
}

/// A path as seen from a folder. Both are taken from the current directory, without following links.
pub(super) fn relative(path: &Path, folder: &Path) -> String {
    let path = plain(path);
    let folder = plain(folder);
    let shared = path
        .iter()
        .zip(&folder)
        .take_while(|(left, right)| left == right)
        .count();
    let up = folder[shared..].iter().map(|_| "..".to_owned());
    let parts: Vec<String> = up.chain(path[shared..].iter().cloned()).collect();
    parts.join("/")
}

/// The parts of a path from the root, with `.` and `..` taken out.
fn plain(path: &Path) -> Vec<String> {
    // Only an empty path has no absolute form, and it stands for the current directory.
    let absolute = std::path::absolute(path)
        .or_else(|_| std::path::absolute("."))
        .unwrap_or_else(|_| PathBuf::from(path));
    let mut parts = Vec::new();
    for component in absolute.components() {
        match component {
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::ParentDir => {
                parts.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    parts
}

fn stated(request: &NewRequest, model: &StatedModel, folder: &str) -> ModelConfig {
    let seen = |path: &String| {
        if Path::new(path).is_absolute() {
            path.clone()
        } else {
            relative(Path::new(path), Path::new(folder))
        }
    };
    let mut text = "# The model. Pre-processing (net-scale-factor, offsets, model-color-format) and the parser of its\n\
                    # output are those that it was trained with: set them here.\n\n\
                    [property]\ngpu-id=0\ngie-unique-id=1\nprocess-mode=1\n"
        .to_owned();
    let files = [
        ("onnx-file", &model.onnx),
        ("model-engine-file", &model.engine),
        ("int8-calib-file", &model.calibration),
        ("labelfile-path", &model.labels),
    ];
    for (key, path) in files {
        if let Some(path) = path {
            let _ = writeln!(text, "{key}={}", seen(path));
        }
    }
    let _ = writeln!(text, "network-type={}", request.task.network_type());
    if request.task == super::Task::Embed {
        text += "output-tensor-meta=1\n";
    }
    ModelConfig {
        name: "infer.txt",
        text: text.into_bytes(),
        plugin: InferType::Nvinfer,
        notes: vec![
            "infer.txt holds what was stated; net-scale-factor, offsets, model-color-format and the output's parser are the \
             model's own and have to be set before results make sense"
                .to_owned(),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::{moved, relative};
    use std::path::Path;

    #[test]
    fn a_path_is_seen_from_another_folder() {
        let check = |path: &str, folder: &str, expected: &str| {
            assert_eq!(relative(Path::new(path), Path::new(folder)), expected);
        };
        check("/a/b/model.onnx", "/a/c", "../b/model.onnx");
        check("models/m.onnx", "out", "../models/m.onnx");
        check("out/m.onnx", "out", "m.onnx");
        check("a/../m.onnx", "out/deep", "../../m.onnx");
    }

    #[test]
    fn an_absolute_path_stays() {
        assert_eq!(moved("/opt/model.onnx", "configs/pgie.txt", "out"), None);
        assert_eq!(moved("../model.onnx", "configs/pgie.txt", "out"), None);
        assert_eq!(
            moved("model.onnx", "configs/pgie.txt", "out").as_deref(),
            Some("../configs/model.onnx")
        );
    }
}
