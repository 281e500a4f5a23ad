//! G5: values of a YAML file at which its reader throws.

use super::{Look, Report, Rule, Severity};
use crate::detect::Form;
use crate::error::ErrorKind;
use crate::lint::context::DeepStreamVersion;
use crate::model::{Document, FilePlace, SourceFile};
use crate::yaml::{YamlDocument, YamlKind, YamlNode};

/// A value that ends the program.
pub(super) const G5: Rule = Rule {
    id: "DS055",
    code: "G5",
    severity: Severity::Error,
    title: "a YAML value at which the reader throws: a textual boolean, a `;` at the end of a list, an unknown mux key",
    reason: "Flags are read as whole numbers and lists as texts with `;` between; what does not convert is thrown at, and \
             nobody catches it. An unknown key in `streammux:` is fatal as well.",
    guard: "Forms of another reader: service-maker files, where textual booleans are the custom, the tracker library's, \
            the sample apps'; keys of the mux in a release after 9.1.",
    remedy: "write 0 or 1, lists as `3;544;960`, and only keys of the mux that the release knows",
    fixed_by: None,
    check,
};

/// The release whose keys of the mux are listed here.
const KNOWN: DeepStreamVersion = DeepStreamVersion { major: 9, minor: 1 };

/// The keys that deepstream-app's YAML reader knows in `streammux:`
/// (`deepstream_streammux_yaml.cpp`, DeepStream 9.1).
const MUX_KEYS: [&str; 22] = [
    "width",
    "height",
    "gpu-id",
    "live-source",
    "buffer-pool-size",
    "batch-size",
    "batched-push-timeout",
    "enable-padding",
    "frame-duration",
    "nvbuf-memory-type",
    "config-file-path",
    "compute-hw",
    "attach-sys-ts",
    "frame-num-reset-on-stream-reset",
    "frame-num-reset-on-eos",
    "num-surfaces-per-frame",
    "interpolation-method",
    "sync-inputs",
    "max-latency",
    "async-process",
    "drop-pipeline-eos",
    "failsafe-flush-count",
];

/// Lists of whole numbers that are read as one text.
const LISTS: [&str; 3] = ["infer-dims", "operate-on-class-ids", "filter-out-class-ids"];

fn check(look: &Look<'_>, report: &mut Report<'_>) {
    for fault in &look.pipeline.faults {
        let file = fault.path().and_then(|path| look.file(path));
        let is_yaml = file.is_some_and(|file| {
            matches!(file.document, Document::Yaml(_)) && file.form != Form::ServiceMakerYml
        });
        if let (ErrorKind::InvalidValue, Some(path), Some(place)) =
            (fault.kind(), fault.path(), fault.place())
            && is_yaml
        {
            let path = path.to_owned();
            let place = FilePlace { path, place };
            if !look.is_template(&place) {
                report.add(place, fault.message());
            }
        }
    }
    for file in &look.pipeline.files {
        let is_read_here = matches!(
            file.form,
            Form::AppYml | Form::NvinferYml | Form::MuxPolicyYml
        );
        if let (Document::Yaml(document), true) = (&file.document, is_read_here) {
            values(file, document, report);
            let is_newer = look.context.version.is_some_and(|version| version > KNOWN);
            if file.form == Form::AppYml && !is_newer {
                mux_keys(file, document, report);
            }
        }
    }
}

fn values(file: &SourceFile, document: &YamlDocument, report: &mut Report<'_>) {
    for (_, group) in document.groups() {
        for (key, value) in group.entries() {
            let key = key.text_lossy().unwrap_or_default();
            if let Some(message) = fault(&key, value) {
                report.add(file.place_at(value.span().start()), message);
            }
        }
    }
}

/// What the reader throws at.
fn fault(key: &str, value: YamlNode<'_>) -> Option<String> {
    if LISTS.contains(&key) {
        return match value.text() {
            Some(text) if text.trim_end().ends_with(';') => {
                Some(format!("`{key}` ends in `;`, which opens an empty item"))
            }
            None if value.kind() == YamlKind::Sequence => Some(format!(
                "`{key}` is a YAML list; the reader takes one text with `;` between"
            )),
            _ => None,
        };
    }
    let text = value.text()?;
    let is_flag_word = value.boolean().is_some() && !matches!(text, "y" | "n" | "Y" | "N");
    is_flag_word.then(|| format!("`{key}` is `{text}`; flags are whole numbers here: 0 or 1"))
}

fn mux_keys(file: &SourceFile, document: &YamlDocument, report: &mut Report<'_>) {
    for (key, _) in document
        .group("streammux")
        .into_iter()
        .flat_map(YamlNode::entries)
    {
        let name = key.text_lossy().unwrap_or_default();
        if !MUX_KEYS.contains(&name.as_ref()) {
            let message =
                format!("deepstream-app ends at the unknown key `{name}` in `streammux:`");
            report.add(file.place_at(key.span().start()), message);
        }
    }
}
