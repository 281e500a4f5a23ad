//! G2: values of a key file that their getter refuses.

use super::{Look, Report, Rule, Severity};
use crate::detect::Form;
use crate::error::ErrorKind;
use crate::ini::{IniDocument, IniValue};
use crate::model::{Document, FilePlace, SourceFile};

/// A value that is refused, or that swallows its comment.
pub(super) const G2: Rule = Rule {
    id: "DS052",
    code: "G2",
    severity: Severity::Error,
    title: "a value that its reader refuses: a comment behind it, a blank, another type",
    reason: "GLib takes a comment after an integer only. After a boolean or a number with a fraction it is an error, as \
             is a blank after the latter, and the parser stops there; of a text it becomes a part.",
    guard: "Comments after integers; keys whose reader is not published; templates (`${…}`).",
    remedy: "put the comment on a line of its own, and nothing behind the value",
    fixed_by: None,
    check,
};

/// How a key is read where a comment behind its value does harm.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Getter {
    Boolean,
    Double,
    Text,
}

/// The keys of groups whose names begin so that are not read as integers (DeepStream 9.1 source:
/// `deepstream_config_file_parser.c`, `gstnvinfer_property_parser.cpp`).
const APP: [(&str, Getter, &[&str]); 9] = [
    (
        "streammux",
        Getter::Boolean,
        &[
            "async-process",
            "drop-pipeline-eos",
            "frame-num-reset-on-eos",
            "frame-num-reset-on-stream-reset",
            "sort-batch",
            "cache-buffer",
        ],
    ),
    ("streammux", Getter::Text, &["config-file-path"]),
    ("source", Getter::Text, &["uri", "smart-rec-dir-path"]),
    (
        "source-list",
        Getter::Boolean,
        &["use-nvmultiurisrcbin", "stream-name-display"],
    ),
    ("primary-gie", Getter::Boolean, &["input-tensor-meta"]),
    (
        "primary-gie",
        Getter::Text,
        &["config-file", "model-engine-file", "labelfile-path"],
    ),
    (
        "secondary-gie",
        Getter::Text,
        &["config-file", "model-engine-file", "labelfile-path"],
    ),
    ("tracker", Getter::Text, &["ll-config-file", "ll-lib-file"]),
    (
        "osd",
        Getter::Boolean,
        &["display-text", "display-bbox", "display-mask"],
    ),
];

/// The same of nvinfer's file.
const NVINFER: [(&str, Getter, &[&str]); 4] = [
    (
        "property",
        Getter::Boolean,
        &[
            "maintain-aspect-ratio",
            "symmetric-padding",
            "enable-dla",
            "output-tensor-meta",
            "output-instance-mask",
            "input-tensor-from-meta",
            "strongly-typed",
            "warmup-engine",
            "force-implicit-batch-dim",
            "classifier-async-mode",
            "is-classifier",
            "enable-dbscan",
            "crop-objects-to-roi-boundary",
            "raw-output-file-write",
        ],
    ),
    (
        "property",
        Getter::Double,
        &[
            "net-scale-factor",
            "classifier-threshold",
            "segmentation-threshold",
        ],
    ),
    (
        "property",
        Getter::Text,
        &[
            "onnx-file",
            "model-engine-file",
            "int8-calib-file",
            "labelfile-path",
            "custom-lib-path",
            "parse-bbox-func-name",
            "parse-classifier-func-name",
            "engine-create-func-name",
        ],
    ),
    (
        "class-attrs-",
        Getter::Double,
        &[
            "pre-cluster-threshold",
            "post-cluster-threshold",
            "threshold",
            "eps",
            "nms-iou-threshold",
            "dbscan-min-score",
        ],
    ),
];

fn check(look: &Look<'_>, report: &mut Report<'_>) {
    for fault in &look.pipeline.faults {
        let is_key_file = fault
            .path()
            .and_then(|path| look.file(path))
            .is_some_and(|file| matches!(file.document, Document::Ini(_) | Document::Csv(_)));
        if let (ErrorKind::InvalidValue, Some(path), Some(place)) =
            (fault.kind(), fault.path(), fault.place())
            && is_key_file
        {
            let path = path.to_owned();
            let place = FilePlace { path, place };
            if !look.is_template(&place) {
                report.add(place, fault.message());
            }
        }
    }
    for file in &look.pipeline.files {
        let table: &[_] = match file.form {
            Form::AppTxt => &APP,
            Form::NvinferTxt => &NVINFER,
            _ => continue,
        };
        if let Document::Ini(document) = &file.document {
            for entry in table {
                read(file, document, *entry, report);
            }
        }
    }
}

/// Reads the keys of a row of the table as their getter does.
fn read(
    file: &SourceFile,
    document: &IniDocument,
    (stem, getter, keys): (&str, Getter, &[&str]),
    report: &mut Report<'_>,
) {
    let belongs = |group: &str| {
        group.strip_prefix(stem).is_some_and(|rest| {
            rest.is_empty() || stem.ends_with('-') || rest.bytes().all(|byte| byte.is_ascii_digit())
        })
    };
    for group in document.groups().iter().filter(|group| belongs(group)) {
        for key in keys {
            let Some(value) = document.get(group, key) else {
                continue;
            };
            if let Some(fault) = fault(value, getter) {
                let place = file.place_at(value.span().start());
                report.add(place, format!("`{key}`: {fault}"));
            }
        }
    }
}

/// What a getter has against a value.
fn fault(value: IniValue<'_>, getter: Getter) -> Option<String> {
    match getter {
        Getter::Boolean => value
            .boolean()
            .err()
            .map(|error| error.message().to_owned()),
        Getter::Double => value.double().err().map(|error| error.message().to_owned()),
        Getter::Text => {
            let text = String::from_utf8_lossy(value.raw());
            let comment = text.find(" #").or_else(|| text.find("\t#"))?;
            Some(format!("`{}` is part of the text", text[comment..].trim()))
        }
    }
}
