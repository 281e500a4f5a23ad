//! The keys that a file gives to an element, in whatever syntax.
//!
//! [`Pipeline`] holds the settings that can be changed; a rule also looks at others, and at what is
//! written without effect.

use std::collections::BTreeMap;

use crate::detect::Form;
use crate::gst_launch::{GstElement, GstGraph};
use crate::ini::IniDocument;
use crate::model::{Document, Element, FilePlace, Pipeline, SourceFile, nodes};
use crate::python::{PyElement, PyOrigin};
use crate::sources_csv::SourceRow;
use crate::yaml::YamlNode;

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    /// The key as GStreamer knows it, or as the file spells it where that counts.
    pub(super) key: String,
    /// The value as text; `None` where a program computes it.
    pub(super) value: Option<String>,
    /// Where the value stands.
    pub(super) place: FilePlace,
}

impl Written {
    /// The whole number at the start of the value, as GLib takes it: a comment may follow a blank.
    pub(super) fn integer(&self) -> Option<i64> {
        self.value
            .as_deref()?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    }

    /// Whether the value switches something on.
    pub(super) fn is_on(&self) -> bool {
        let word = self.value.as_deref().unwrap_or_default().trim();
        ["1", "true", "yes"]
            .iter()
            .any(|on| word.eq_ignore_ascii_case(on))
    }
}

/// The keys of a group of a key file or of a top-level YAML mapping; of a key given twice the last.
pub(super) fn of_group(file: &SourceFile, group: &str) -> Vec<Written> {
    match &file.document {
        Document::Ini(document) => of_ini(file, document, group),
        Document::Yaml(document) => document
            .group(group)
            .map(|node| of_mapping(file, node))
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The keys that are written on an element itself: in its group, or as its properties.
pub(super) fn of_element(pipeline: &Pipeline, element: &Element) -> Vec<Written> {
    let Some(file) = pipeline
        .files
        .iter()
        .find(|file| file.path == element.place.path)
    else {
        return Vec::new();
    };
    let starts_here = starts_at(file, element);
    let starts_here = &starts_here;
    match &file.document {
        Document::Yaml(document) if document.group("deepstream").is_some() => nodes(document)
            .into_iter()
            .filter(|node| starts_here(node.span().start()))
            .filter_map(|node| node.last("properties"))
            .flat_map(|properties| of_mapping(file, properties))
            .map(|written| Written {
                key: written.key.replace('_', "-"),
                ..written
            })
            .collect(),
        // By itself the file of a tracker holds its group, and the element has the factory's name.
        Document::Ini(_) if file.form == Form::TrackerTxt => of_group(file, "tracker"),
        Document::Ini(_) | Document::Yaml(_) => of_group(file, &element.name),
        Document::Csv(table) => table
            .rows()
            .filter(|row| starts_here(row.span().start()))
            .flat_map(|row| of_row(file, table.columns(), row))
            .collect(),
        Document::Gst(script) => script
            .commands()
            .iter()
            .filter_map(|command| command.graph.as_ref().ok())
            .flat_map(|graph| of_graph(file, graph, starts_here))
            .collect(),
        Document::Python(program) => {
            let made = program
                .elements()
                .iter()
                .filter(|made| starts_here(made.span.start()))
                .flat_map(|made| of_python(file, made));
            let parsed = program
                .launches()
                .iter()
                .filter_map(|launch| launch.graph.as_ref().ok())
                .flat_map(|graph| of_graph(file, graph, starts_here));
            made.chain(parsed).collect()
        }
        Document::Proto(_) | Document::Opaque => Vec::new(),
    }
}

/// Whether a step of a Python Flow makes the element. A Flow fills in what is not written.
pub(super) fn is_flow(pipeline: &Pipeline, element: &Element) -> bool {
    pipeline.files.iter().any(|file| {
        let Document::Python(program) = &file.document else {
            return false;
        };
        let starts_here = starts_at(file, element);
        file.path == element.place.path
            && program.elements().iter().any(|made| {
                matches!(made.origin, PyOrigin::Flow(_)) && starts_here(made.span.start())
            })
    })
}

/// Whether an offset is the place of an element. Asked of every element of a file, so that the line
/// is compared before the column is counted.
fn starts_at(file: &SourceFile, element: &Element) -> impl Fn(usize) -> bool {
    let place = element.place.place;
    let line = file.line_range(place.line);
    move |offset| line.contains(&offset) && file.place(offset) == place
}

fn of_ini(file: &SourceFile, document: &IniDocument, group: &str) -> Vec<Written> {
    last_ones(document.pairs(group).map(|(key, value)| Written {
        key: key.into_owned(),
        value: Some(String::from_utf8_lossy(value.raw()).trim_end().to_owned()),
        place: file.place_at(value.span().start()),
    }))
}

fn of_mapping(file: &SourceFile, mapping: YamlNode<'_>) -> Vec<Written> {
    last_ones(mapping.entries().map(|(key, value)| Written {
        key: key.text_lossy().unwrap_or_default().into_owned(),
        value: value.text_lossy().map(|text| text.into_owned()),
        place: file.place_at(value.span().start()),
    }))
}

/// Of every key the last one, which counts, in the order of the text.
fn last_ones(all: impl Iterator<Item = Written>) -> Vec<Written> {
    let by_key: BTreeMap<String, Written> =
        all.map(|written| (written.key.clone(), written)).collect();
    let mut out: Vec<Written> = by_key.into_values().collect();
    out.sort_by(|a, b| a.place.cmp(&b.place));
    out
}

fn of_row<'t>(
    file: &SourceFile,
    columns: impl Iterator<Item = &'t [u8]>,
    row: SourceRow<'_>,
) -> Vec<Written> {
    columns
        .filter_map(|column| {
            let key = str::from_utf8(column).ok()?;
            let cell = row.get(key)?;
            Some(Written {
                key: key.to_owned(),
                value: Some(String::from_utf8_lossy(cell.bytes()).trim().to_owned()),
                place: file.place_at(cell.span().start()),
            })
        })
        .collect()
}

fn of_graph(
    file: &SourceFile,
    graph: &GstGraph,
    starts_here: impl Fn(usize) -> bool,
) -> Vec<Written> {
    graph
        .elements
        .iter()
        .filter(|element| starts_here(element.span.start()))
        .flat_map(|element| of_gst(file, element))
        .collect()
}

fn of_gst(file: &SourceFile, element: &GstElement) -> Vec<Written> {
    let counts = |name: &str, start: usize| {
        element
            .property(name)
            .is_some_and(|last| last.name_span.start() == start)
    };
    element
        .properties
        .iter()
        .filter(|property| counts(&property.name, property.name_span.start()))
        .map(|property| Written {
            key: property.name.clone(),
            value: property.blocked.is_none().then(|| property.value.clone()),
            place: file.place_at(property.value_span.start()),
        })
        .collect()
}

fn of_python(file: &SourceFile, element: &PyElement) -> Vec<Written> {
    let counts = |name: &str, start: usize| {
        element
            .property(name)
            .is_some_and(|last| last.span.start() == start)
    };
    element
        .properties
        .iter()
        .filter(|property| counts(&property.name, property.span.start()))
        .map(|property| {
            let literal = property.value.literal();
            Written {
                key: property.name.clone(),
                value: literal.map(|literal| match literal.integer() {
                    Some(number) => number.to_string(),
                    None => literal.text.clone(),
                }),
                place: file.place_at(property.span.start()),
            }
        })
        .collect()
}
