//! G3 and G4: keys and groups that are given twice.

use std::collections::BTreeMap;

use super::{Look, Report, Rule, Severity};
use crate::detect::Form;
use crate::gst_launch::{GstElement, GstScript, Liveness};
use crate::model::{Document, SourceFile};
use crate::text_edit::Span;
use crate::yaml::YamlDocument;

/// A key given twice.
pub(super) const G3: Rule = Rule {
    id: "DS053",
    code: "G3",
    severity: Severity::Note,
    title: "a key is given twice in a group",
    reason: "The last one counts; Python's configparser refuses the file.",
    guard: "Programs, which may set a property in several branches; commands in comments; `customlib-props`, which adds \
            up.",
    remedy: "remove the one that does not count",
    fixed_by: None,
    check: keys,
};

/// A group given twice.
pub(super) const G4: Rule = Rule {
    id: "DS054",
    code: "G4",
    severity: Severity::Note,
    title: "a group is given twice",
    reason: "GLib merges the two; of two YAML groups the second is never read; Python's configparser refuses the file.",
    guard: "–",
    remedy: "merge the two",
    fixed_by: None,
    check: groups,
};

/// Properties that add up: the elements that load a library take one setting at a time.
const COLLECTED: [&str; 1] = ["customlib-props"];

fn keys(look: &Look<'_>, report: &mut Report<'_>) {
    for file in &look.pipeline.files {
        match &file.document {
            Document::Ini(document) => {
                for group in document.groups() {
                    let spans = document
                        .pairs(&group)
                        .map(|(key, value)| (key.into_owned(), value.span()));
                    repeated(file, &spans.collect::<Vec<_>>(), report);
                }
            }
            Document::Yaml(document) => {
                for (_, group) in document.groups() {
                    let spans = group.entries().map(|(key, value)| {
                        (
                            key.text_lossy().unwrap_or_default().into_owned(),
                            value.span(),
                        )
                    });
                    repeated(file, &spans.collect::<Vec<_>>(), report);
                }
            }
            Document::Gst(script) => {
                for element in live_elements(script) {
                    let spans = element
                        .properties
                        .iter()
                        .filter(|property| !COLLECTED.contains(&property.name.as_str()))
                        .map(|property| (property.name.clone(), property.value_span));
                    repeated(file, &spans.collect::<Vec<_>>(), report);
                }
            }
            _ => {}
        }
    }
}

fn live_elements(script: &GstScript) -> impl Iterator<Item = &GstElement> {
    script
        .commands()
        .iter()
        .filter(|command| command.liveness == Liveness::Live)
        .filter_map(|command| command.graph.as_ref().ok())
        .flat_map(|graph| &graph.elements)
}

/// Reports every value but the last of each key.
fn repeated(file: &SourceFile, values: &[(String, Span)], report: &mut Report<'_>) {
    let last: BTreeMap<&str, Span> = values
        .iter()
        .map(|(key, span)| (key.as_str(), *span))
        .collect();
    for (key, span) in values {
        let counts = last[key.as_str()];
        if counts == *span {
            continue;
        }
        let line = file.place(counts.start()).line;
        let message = if file.form == Form::TrackerTxt {
            format!("`{key}` is given again on line {line}; Python programs refuse this file")
        } else {
            format!("`{key}` is given again on line {line}, and that value counts")
        };
        report.add(file.place_at(span.start()), message);
    }
}

fn groups(look: &Look<'_>, report: &mut Report<'_>) {
    for file in &look.pipeline.files {
        let (headers, effect) = match &file.document {
            Document::Ini(document) => (document.headers().collect(), "GLib merges the two"),
            Document::Yaml(document) => (tops(document), "this one is never read"),
            _ => continue,
        };
        let mut first: BTreeMap<Vec<u8>, usize> = BTreeMap::new();
        for (name, offset) in headers {
            let line = file.place(offset).line;
            match first.get(&name) {
                None => {
                    first.insert(name, line);
                }
                Some(held) => {
                    let name = String::from_utf8_lossy(&name);
                    let message = format!("`{name}` stands on line {held} too: {effect}");
                    report.add(file.place_at(offset), message);
                }
            }
        }
    }
}

/// The top-level keys of a YAML file with their offsets.
fn tops(document: &YamlDocument) -> Vec<(Vec<u8>, usize)> {
    document
        .groups()
        .filter_map(|(key, _)| Some((key.bytes()?.to_vec(), key.span().start())))
        .collect()
}
