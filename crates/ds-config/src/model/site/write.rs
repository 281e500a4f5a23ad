//! Writes knobs to their places in one file.

use std::collections::BTreeMap;

use super::{Locator, launch, nodes};
use crate::assignment::PropertyAssignment;
use crate::error::{Error, ErrorKind};
use crate::ini::{IniAssignment, IniType};
use crate::model::document::{Document, SourceFile};
use crate::model::knob::{Knob, KnobValue};
use crate::sources_csv::SourcesCsv;
use crate::text_edit::TextEdit;
use crate::yaml::{YamlDocument, YamlNode};

/// One value to be written to a place of a file.
#[derive(Clone, Copy)]
pub(crate) struct Write<'a> {
    pub(crate) locator: &'a Locator,
    pub(crate) knob: Knob,
    pub(crate) value: &'a KnobValue,
}

/// The edit of one file, and for each write the properties that a new element lacks.
pub(crate) fn write(
    file: &SourceFile,
    writes: &[Write<'_>],
) -> Result<(TextEdit, Vec<Vec<String>>), Error> {
    let mut dropped = vec![Vec::new(); writes.len()];
    let mut edit = match &file.document {
        Document::Ini(document) => {
            let texts: Vec<String> = writes
                .iter()
                .map(|write| key_text(file, write))
                .collect::<Result<_, _>>()?;
            let assignments: Vec<IniAssignment<'_>> = writes
                .iter()
                .zip(&texts)
                .filter_map(|(write, value)| match write.locator {
                    Locator::Ini {
                        group,
                        key,
                        read_as,
                    } => Some(IniAssignment {
                        group,
                        key,
                        value,
                        read_as: *read_as,
                    }),
                    _ => None,
                })
                .collect();
            document.set(&assignments)?
        }
        Document::Yaml(document) => write_nodes(document, writes)?,
        Document::Gst(_) | Document::Python(_) => write_properties(file, writes)?,
        Document::Csv(table) => write_cells(table, writes)?,
        _ => TextEdit::empty(),
    };
    for (write, dropped) in writes.iter().zip(&mut dropped) {
        let one = match (&file.document, write.locator) {
            (Document::Yaml(document), Locator::Yaml { group, key }) => {
                document.set(group, key, &key_text(file, write)?)?
            }
            (Document::Proto(document), Locator::Proto { path }) => {
                document.set(path, &write.value.to_string())?
            }
            (_, Locator::GstFactory { .. } | Locator::PythonLaunchFactory { .. }) => {
                let (edit, lost) = write_factory(file, write)?;
                *dropped = lost;
                edit
            }
            _ => TextEdit::empty(),
        };
        edit = edit.union(one)?;
    }
    Ok((edit, dropped))
}

/// Writes to the cells of a table. A new column needs a cell in every row, and all get the same: it
/// is refused different values.
fn write_cells(table: &SourcesCsv, writes: &[Write<'_>]) -> Result<TextEdit, Error> {
    let mut edit = TextEdit::empty();
    let mut added: BTreeMap<&str, &KnobValue> = BTreeMap::new();
    for write in writes {
        let Locator::Csv { row, column } = write.locator else {
            continue;
        };
        let text = write.value.to_string();
        let one = if table.columns().any(|name| name == column.as_bytes()) {
            table.set(*row, column, &text)?
        } else {
            match added.insert(column, write.value) {
                None => table.set_column(column, &text)?,
                Some(held) if held == write.value => continue,
                Some(_) => {
                    let message = format!("the new column `{column}` takes one value for all rows");
                    return Err(Error::new(ErrorKind::Conflict, message));
                }
            }
        };
        edit = edit.union(one)?;
    }
    Ok(edit)
}

/// Writes to the nodes of a service-maker file, all properties of one node at once.
fn write_nodes(document: &YamlDocument, writes: &[Write<'_>]) -> Result<TextEdit, Error> {
    let mut by_node: Vec<(usize, Vec<(&str, String)>)> = Vec::new();
    for write in writes {
        let Locator::ServiceMaker { node, property } = write.locator else {
            continue;
        };
        let old = nodes(document)
            .get(*node)
            .and_then(|node| node.last("properties"))
            .and_then(|properties| properties.last(property));
        let text = match write.value {
            // These files write flags as words; a flag that is a number stays one.
            KnobValue::Flag(on) if old.and_then(YamlNode::int).is_none() => on.to_string(),
            value => value.to_string(),
        };
        match by_node.iter_mut().find(|(held, _)| held == node) {
            Some((_, values)) => values.push((property, text)),
            None => by_node.push((*node, vec![(property, text)])),
        }
    }
    let mut edit = TextEdit::empty();
    for (node, values) in by_node {
        edit = edit.union(nodes::set(document, node, &values)?)?;
    }
    Ok(edit)
}

/// Where the elements stand whose properties are written together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Host {
    Program,
    Launch(usize),
    Command(usize),
}

/// Writes properties of elements that a script or a program makes, all of one pipeline at once: each
/// edit is made sure of by reading the file again.
fn write_properties(file: &SourceFile, writes: &[Write<'_>]) -> Result<TextEdit, Error> {
    let placed: Vec<(Host, usize, &str, String)> = writes
        .iter()
        .filter_map(|write| {
            let (host, element, property) = match write.locator {
                Locator::Python { element, property } => (Host::Program, *element, *property),
                Locator::PythonLaunch {
                    launch,
                    element,
                    property,
                } => (Host::Launch(*launch), *element, *property),
                Locator::Gst {
                    command,
                    element,
                    property,
                } => (Host::Command(*command), *element, *property),
                _ => return None,
            };
            Some((host, element, property, property_text(file, write)))
        })
        .collect();
    let mut hosts: Vec<Host> = Vec::new();
    for (host, ..) in &placed {
        if !hosts.contains(host) {
            hosts.push(*host);
        }
    }
    hosts.into_iter().try_fold(TextEdit::empty(), |edit, host| {
        let assignments: Vec<PropertyAssignment<'_>> = placed
            .iter()
            .filter(|(held, ..)| *held == host)
            .map(|(_, element, name, value)| PropertyAssignment {
                element: *element,
                name,
                value,
            })
            .collect();
        edit.union(match (&file.document, host) {
            (Document::Python(program), Host::Program) => program.set_all(&assignments)?,
            (Document::Python(program), Host::Launch(launch)) => {
                program.set_launch_all(launch, &assignments)?
            }
            (Document::Gst(script), Host::Command(command)) => {
                script.set_properties(command, &assignments)?
            }
            _ => TextEdit::empty(),
        })
    })
}

/// The text of a value for a property, in the spelling of the one that stands in a launch text.
fn property_text(file: &SourceFile, write: &Write<'_>) -> String {
    let old = launch::graph(&file.document, write.locator)
        .and_then(|(graph, element)| graph.elements.get(element))
        .zip(write.locator.property())
        .and_then(|(element, property)| element.property(property));
    match write.value {
        // What is spelt as a word stays a word.
        KnobValue::Flag(on) if old.is_some_and(|old| old.value.len() > 1) => on.to_string(),
        KnobValue::Integer(value)
            if old.is_some_and(|old| launch::LEAKY_NICKS.contains(&old.value.as_str())) =>
        {
            let nick = usize::try_from(*value)
                .ok()
                .and_then(|value| launch::LEAKY_NICKS.get(value));
            nick.map_or_else(|| value.to_string(), |nick| (*nick).to_owned())
        }
        value => value.to_string(),
    }
}

/// Puts another element in the place of one of a launch text.
fn write_factory(file: &SourceFile, write: &Write<'_>) -> Result<(TextEdit, Vec<String>), Error> {
    let Some((graph, element)) = launch::graph(&file.document, write.locator) else {
        return Ok((TextEdit::empty(), Vec::new()));
    };
    let factory = fakesink(write.value)?;
    graph.replace_element(element, factory, |property| {
        FAKESINK_PROPERTIES.contains(&property)
    })
}

/// The properties of fakesink and of its base classes, from `gst-inspect-1.0 fakesink` of GStreamer
/// 1.22.
const FAKESINK_PROPERTIES: [&str; 22] = [
    "name",
    "parent",
    "sync",
    "max-lateness",
    "qos",
    "async",
    "ts-offset",
    "enable-last-sample",
    "blocksize",
    "render-delay",
    "throttle-time",
    "max-bitrate",
    "processing-deadline",
    "state-error",
    "silent",
    "dump",
    "signal-handoffs",
    "drop-out-of-segment",
    "can-activate-push",
    "can-activate-pull",
    "num-buffers",
    "last-message",
];

/// The only sink that can take another's place without knowing more of the pipeline.
fn fakesink(value: &KnobValue) -> Result<&'static str, Error> {
    match value.text() {
        Some("fakesink") => Ok("fakesink"),
        _ => Err(Error::new(
            ErrorKind::InvalidValue,
            format!("`{value}` cannot take the place of a sink, only `fakesink` can"),
        )),
    }
}

/// The text of a value for a key file or a YAML mapping.
fn key_text(file: &SourceFile, write: &Write<'_>) -> Result<String, Error> {
    if write.knob == Knob::SinkKind {
        fakesink(write.value)?;
        return Ok("1".to_owned());
    }
    // GLib's boolean getter takes words too; a value that is one stays one.
    if let (
        Document::Ini(document),
        Locator::Ini {
            group,
            key,
            read_as: IniType::Boolean,
        },
        KnobValue::Flag(on),
    ) = (&file.document, write.locator, write.value)
        && document
            .get(group, key)
            .is_some_and(|old| old.raw().len() > 3 && old.boolean().is_ok())
    {
        return Ok(on.to_string());
    }
    Ok(write.value.to_string())
}
