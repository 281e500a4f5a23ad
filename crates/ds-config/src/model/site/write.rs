//! Writes knobs to their places in one file.

use super::{Locator, launch, nodes};
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
        _ => TextEdit::empty(),
    };
    check_columns(file, writes)?;
    for (write, dropped) in writes.iter().zip(&mut dropped) {
        let one = match (&file.document, write.locator) {
            (Document::Yaml(document), Locator::Yaml { group, key }) => {
                document.set(group, key, &key_text(file, write)?)?
            }
            (Document::Proto(document), Locator::Proto { path }) => {
                document.set(path, &write.value.to_string())?
            }
            (Document::Csv(document), Locator::Csv { row, column }) => {
                write_cell(document, *row, column, &write.value.to_string())?
            }
            (Document::Python(document), Locator::Python { element, property }) => {
                document.set(*element, property, &write.value.to_string())?
            }
            _ => {
                let (edit, lost) = write_launch(file, write)?;
                *dropped = lost;
                edit
            }
        };
        edit = edit.union(one)?;
    }
    Ok((edit, dropped))
}

/// Refuses different values for the rows of a new column: all rows get one.
fn check_columns(file: &SourceFile, writes: &[Write<'_>]) -> Result<(), Error> {
    let Document::Csv(table) = &file.document else {
        return Ok(());
    };
    for (position, write) in writes.iter().enumerate() {
        let Locator::Csv { column, .. } = write.locator else {
            continue;
        };
        let is_new = !table.columns().any(|name| name == column.as_bytes());
        let differs = writes[..position].iter().any(|other| {
            matches!(other.locator, Locator::Csv { column: held, .. } if held == column)
                && other.value != write.value
        });
        if is_new && differs {
            let message = format!("the new column `{column}` takes one value for all rows");
            return Err(Error::new(ErrorKind::Conflict, message));
        }
    }
    Ok(())
}

/// Writes to a cell, or to a new column: that needs a cell in every row, and all get the same.
fn write_cell(
    document: &SourcesCsv,
    row: usize,
    column: &str,
    text: &str,
) -> Result<TextEdit, Error> {
    let has_column = document.columns().any(|name| name == column.as_bytes());
    if has_column {
        document.set(row, column, text)
    } else {
        document.set_column(column, text)
    }
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

/// Writes to a launch text.
fn write_launch(file: &SourceFile, write: &Write<'_>) -> Result<(TextEdit, Vec<String>), Error> {
    let Some((graph, element)) = launch::graph(&file.document, write.locator) else {
        return Ok((TextEdit::empty(), Vec::new()));
    };
    match write.locator {
        Locator::Gst { property, .. } | Locator::PythonLaunch { property, .. } => {
            let old = graph
                .elements
                .get(element)
                .and_then(|element| element.property(property));
            let text = match write.value {
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
            };
            let edit = match (&file.document, write.locator) {
                (Document::Gst(script), Locator::Gst { command, .. }) => {
                    script.set_property(*command, element, property, &text)?
                }
                (Document::Python(program), Locator::PythonLaunch { launch, .. }) => {
                    program.set_launch(*launch, element, property, &text)?
                }
                _ => TextEdit::empty(),
            };
            Ok((edit, Vec::new()))
        }
        _ => {
            let factory = fakesink(write.value)?;
            graph.replace_element(element, factory, |property| {
                FAKESINK_PROPERTIES.contains(&property)
            })
        }
    }
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
