//! U1: keys that nothing reads.

use super::{Look, Report, Rule, Severity};
use crate::detect::Form;
use crate::lint::written;
use crate::model::{Document, Role, SourceFile};

/// A key that nothing reads.
pub(super) const U1: Rule = Rule {
    id: "DS050",
    code: "U1",
    severity: Severity::Note,
    title: "a key that is unknown or dead",
    reason: "It is passed over with a warning at most; on a command line an unknown property ends the command.",
    guard: "Keys that a newer release may have brought: only dead keys and misspelt ones are reported.",
    remedy: "remove the key, or write it as the reader spells it",
    fixed_by: None,
    check,
};

/// Keys that DeepStream 9.1 does not read any more, and why.
const DEAD: [(&str, &str); 2] = [
    (
        "num-decode-surfaces",
        "it is for a decoder that no longer exists",
    ),
    ("cuda-memory-type", "the key is `nvbuf-memory-type`"),
];

/// Keys that the readers of DeepStream 9.1 spell with hyphens; with underscores they are others.
const HYPHENATED: [&str; 24] = [
    "batch-size",
    "batched-push-timeout",
    "config-file",
    "cudadec-memtype",
    "enable-padding",
    "file-loop",
    "gie-unique-id",
    "gpu-id",
    "infer-dims",
    "int8-calib-file",
    "labelfile-path",
    "live-source",
    "ll-config-file",
    "ll-lib-file",
    "model-engine-file",
    "network-mode",
    "network-type",
    "num-detected-classes",
    "num-sources",
    "nvbuf-memory-type",
    "onnx-file",
    "process-mode",
    "tracker-height",
    "tracker-width",
];

fn check(look: &Look<'_>, report: &mut Report<'_>) {
    for file in &look.pipeline.files {
        let is_keyed = matches!(
            file.form,
            Form::AppTxt | Form::AppYml | Form::NvinferTxt | Form::NvinferYml | Form::TrackerTxt
        );
        if is_keyed {
            dead_keys(file, report);
        }
    }
    for element in &look.pipeline.elements {
        let is_uri_bin = element.factory == "nvurisrcbin" && element.role == Role::Source;
        // In a group of deepstream-app the key is one of the application's own.
        let is_element = look
            .file(&element.place.path)
            .is_some_and(|file| matches!(file.document, Document::Gst(_) | Document::Python(_)));
        if is_uri_bin
            && is_element
            && let Some(written) = look.own(element, "nvbuf-memory-type")
        {
            report
                .add(
                    written.place.clone(),
                    "nvurisrcbin has no `nvbuf-memory-type`",
                )
                .severity = Severity::Error;
        }
    }
}

fn dead_keys(file: &SourceFile, report: &mut Report<'_>) {
    for group in crate::resolve::groups(file) {
        for written in written::of_group(file, &group) {
            let dead = DEAD.iter().find(|(key, _)| *key == written.key);
            let message = match dead {
                Some((key, why)) => format!("nothing reads `{key}`: {why}"),
                None if is_misspelt(&written.key) => format!(
                    "nothing reads `{}`: the key is `{}`",
                    written.key,
                    written.key.replace('_', "-")
                ),
                None => continue,
            };
            report.add(written.place.clone(), message);
        }
    }
}

/// Whether a key with underscores is a known one with hyphens.
fn is_misspelt(key: &str) -> bool {
    key.contains('_') && HYPHENATED.contains(&key.replace('_', "-").as_str())
}
