//! One place of one file that can hold a knob: how it is read and how it is written there.

use super::document::{Document, SourceFile};
use super::knob::{Knob, KnobKind, KnobValue};
use crate::error::{Error, ErrorKind};
use crate::gst_launch::{GstElement, GstGraph, GstScript};
use crate::ini::{IniAssignment, IniType};
use crate::text_edit::TextEdit;

/// A place in one of the pipeline's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// The position of the file among the pipeline's files.
    pub(crate) file: usize,
    /// The place in it.
    pub(crate) locator: Locator,
}

/// A place in a file of a certain syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Locator {
    /// A key of a key-file group.
    Ini {
        group: String,
        key: &'static str,
        read_as: IniType,
    },
    /// A key of a top-level YAML mapping.
    Yaml { group: String, key: &'static str },
    /// A field of a text protobuf.
    Proto { path: &'static [&'static str] },
    /// A column of the table of sources, for one row.
    Csv { row: usize, column: &'static str },
    /// A property of an element on a command line.
    Gst {
        command: usize,
        element: usize,
        property: &'static str,
    },
    /// The factory of an element on a command line.
    GstFactory { command: usize, element: usize },
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reading {
    /// Nothing.
    Absent,
    /// A value, at an offset of the file.
    Value { value: KnobValue, at: usize },
    /// Something that a program or the shell turns into a value.
    Computed {
        written: String,
        at: usize,
        reason: String,
    },
    /// A text that the program refuses.
    Invalid { error: Error, at: usize },
}

/// The sinks of deepstream-app by their `type`, as `deepstream_sink_bin.c` of DeepStream 9.1 makes
/// them on a GPU of its own.
const APP_SINKS: [(i32, &str); 6] = [
    (1, "fakesink"),
    (2, "nveglglessink"),
    (3, "filesink"),
    (4, "udpsink"),
    (5, "nvdrmvideosink"),
    (6, "nvmsgbroker"),
];

/// The factory that deepstream-app makes for a `type` of `[sinkN]`.
pub(crate) fn app_sink(kind: i64) -> Option<&'static str> {
    APP_SINKS
        .iter()
        .find(|(held, _)| i64::from(*held) == kind)
        .map(|(_, factory)| *factory)
}

/// Reads a place.
pub(crate) fn read(file: &SourceFile, locator: &Locator, knob: Knob) -> Reading {
    match (&file.document, locator) {
        (
            Document::Ini(document),
            Locator::Ini {
                group,
                key,
                read_as,
            },
        ) => {
            let Some(value) = document.get(group, key) else {
                return Reading::Absent;
            };
            let at = value.span().start();
            let read = match knob.kind() {
                KnobKind::Integer => value.integer().map(|v| KnobValue::Integer(v.into())),
                KnobKind::Flag if *read_as == IniType::Boolean => {
                    value.boolean().map(KnobValue::Flag)
                }
                KnobKind::Flag => value.integer().map(|v| KnobValue::Flag(v != 0)),
                KnobKind::List => value.integer_list().map(KnobValue::List),
                KnobKind::Path => value.string().map(KnobValue::Text),
                KnobKind::Name => value.integer().map(|v| {
                    KnobValue::Text(app_sink(v.into()).map_or_else(|| v.to_string(), str::to_owned))
                }),
            };
            read.map_or_else(
                |error| Reading::Invalid {
                    error: error.in_file(&file.path),
                    at,
                },
                |value| Reading::Value { value, at },
            )
        }
        (Document::Yaml(document), Locator::Yaml { group, key }) => {
            let Some(node) = document.value(group, key) else {
                return Reading::Absent;
            };
            let at = node.span().start();
            let text = node.text_lossy().unwrap_or_default().into_owned();
            let read = match knob.kind() {
                KnobKind::Integer => node.int().map(|v| KnobValue::Integer(v.into())),
                KnobKind::Flag => node.int().map(|v| KnobValue::Flag(v != 0)),
                KnobKind::List => text
                    .split(';')
                    .map(|item| item.trim().parse().ok())
                    .collect::<Option<_>>()
                    .map(KnobValue::List),
                KnobKind::Path => node.text().map(|v| KnobValue::Text(v.to_owned())),
                KnobKind::Name => node.int().map(|v| {
                    KnobValue::Text(app_sink(v.into()).map_or_else(|| v.to_string(), str::to_owned))
                }),
            };
            let invalid = || {
                let message = format!(
                    "yaml-cpp does not read `{text}` as `{key}` wants it, and the program ends"
                );
                let error = Error::new(ErrorKind::InvalidValue, message).at(file.place(at));
                Reading::Invalid {
                    error: error.in_file(&file.path),
                    at,
                }
            };
            read.map_or_else(invalid, |value| Reading::Value { value, at })
        }
        (Document::Proto(document), Locator::Proto { path }) => read_proto(document, path, knob),
        (Document::Csv(document), Locator::Csv { row, column }) => {
            let Some(cell) = document.rows().nth(*row).and_then(|row| row.get(column)) else {
                return Reading::Absent;
            };
            let at = cell.span().start();
            let read = match knob.kind() {
                KnobKind::Integer => cell.int().map(|v| KnobValue::Integer(v.into())),
                KnobKind::Flag => cell.int().map(|v| KnobValue::Flag(v != 0)),
                _ => cell.text().map(|v| KnobValue::Text(v.to_owned())),
            };
            let invalid = || {
                let error = Error::new(
                    ErrorKind::InvalidValue,
                    format!("the cell of `{column}` is no number"),
                );
                Reading::Invalid {
                    error: error.at(file.place(at)).in_file(&file.path),
                    at,
                }
            };
            read.map_or_else(invalid, |value| Reading::Value { value, at })
        }
        (
            Document::Gst(script),
            Locator::Gst {
                command,
                element,
                property,
            },
        ) => gst_element(script, *command, *element).map_or(Reading::Absent, |element| {
            read_gst(file, element, property, knob)
        }),
        (Document::Gst(script), Locator::GstFactory { command, element }) => {
            gst_element(script, *command, *element).map_or(Reading::Absent, |element| {
                Reading::Value {
                    value: KnobValue::Text(element.factory.clone()),
                    at: element.span.start(),
                }
            })
        }
        _ => Reading::Absent,
    }
}

/// Reads a field of a text protobuf.
fn read_proto(
    document: &crate::textproto::TextProtoDocument,
    path: &[&str],
    knob: Knob,
) -> Reading {
    use crate::textproto::TextProtoValue as Value;
    let Some(field) = document.get(path) else {
        return Reading::Absent;
    };
    let at = field.span().start();
    let written = String::from_utf8_lossy(field.span().of(document.as_bytes()).unwrap_or_default())
        .into_owned();
    let value = match (knob.kind(), field.value()) {
        (KnobKind::Integer, Value::Integer(value)) => {
            i64::try_from(*value).ok().map(KnobValue::Integer)
        }
        _ => None,
    };
    match value {
        Some(value) => Reading::Value { value, at },
        None => Reading::Computed {
            reason: format!("a template fills in `{written}`"),
            written,
            at,
        },
    }
}

/// Reads a property of an element on a command line.
fn read_gst(file: &SourceFile, element: &GstElement, property: &str, knob: Knob) -> Reading {
    let Some(property) = element.property(property) else {
        return Reading::Absent;
    };
    let at = property.value_span.start();
    if let Some(blocked) = &property.blocked {
        let written = property.value.clone();
        return Reading::Computed {
            written,
            at,
            reason: blocked.to_string(),
        };
    }
    let integer = || {
        property
            .integer()
            .and_then(|value| i64::try_from(value).ok())
    };
    let value = match knob.kind() {
        KnobKind::Integer if knob == Knob::QueueLeaky => {
            // The nicks of GstQueueLeaky, GStreamer 1.22.
            let nicks = ["no", "upstream", "downstream"];
            let nick = nicks
                .iter()
                .zip(0..)
                .find(|(nick, _)| **nick == property.value);
            nick.map(|(_, value)| value)
                .or_else(integer)
                .map(KnobValue::Integer)
        }
        KnobKind::Integer => integer().map(KnobValue::Integer),
        KnobKind::Flag => property.boolean().map(KnobValue::Flag),
        KnobKind::List => None,
        KnobKind::Path | KnobKind::Name => Some(KnobValue::Text(property.value.clone())),
    };
    let invalid = || {
        let message = format!(
            "GStreamer refuses `{}` for `{}`",
            property.value, property.name
        );
        let error = Error::new(ErrorKind::InvalidValue, message).at(file.place(at));
        Reading::Invalid {
            error: error.in_file(&file.path),
            at,
        }
    };
    value.map_or_else(invalid, |value| Reading::Value { value, at })
}

fn gst_graph(script: &GstScript, command: usize) -> Option<&GstGraph> {
    script.commands().get(command)?.graph.as_ref().ok()
}

fn gst_element(script: &GstScript, command: usize, element: usize) -> Option<&GstElement> {
    gst_graph(script, command)?.elements.get(element)
}

/// One value to be written to a place of a file.
#[derive(Clone, Copy)]
pub(crate) struct Write<'a> {
    pub(crate) locator: &'a Locator,
    pub(crate) knob: Knob,
    pub(crate) value: &'a KnobValue,
}

/// The edit of one file, and for each write the properties that the new element lacks.
pub(crate) fn write(
    file: &SourceFile,
    writes: &[Write<'_>],
) -> Result<(TextEdit, Vec<Vec<String>>), Error> {
    let mut edit = TextEdit::empty();
    let mut dropped = vec![Vec::new(); writes.len()];
    match &file.document {
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
            edit = document.set(&assignments)?;
        }
        Document::Yaml(document) => {
            for write in writes {
                if let Locator::Yaml { group, key } = write.locator {
                    edit = edit.union(document.set(group, key, &key_text(file, write)?)?)?;
                }
            }
        }
        Document::Proto(document) => {
            for write in writes {
                if let Locator::Proto { path } = write.locator {
                    edit = edit.union(document.set(path, &write.value.to_string())?)?;
                }
            }
        }
        Document::Csv(document) => {
            for write in writes {
                if let Locator::Csv { row, column } = write.locator {
                    let text = write.value.to_string();
                    let has_column = document.columns().any(|name| name == column.as_bytes());
                    let one = if has_column {
                        document.set(*row, column, &text)?
                    } else {
                        // A new column needs a cell in every row; the other rows get the same.
                        document.set_column(column, &text)?
                    };
                    edit = edit.union(one)?;
                }
            }
        }
        Document::Gst(script) => {
            for (write, dropped) in writes.iter().zip(&mut dropped) {
                let (one, lost) = write_gst(script, write)?;
                edit = edit.union(one)?;
                *dropped = lost;
            }
        }
        Document::Opaque => {}
    }
    Ok((edit, dropped))
}

/// Writes to a command line.
fn write_gst(script: &GstScript, write: &Write<'_>) -> Result<(TextEdit, Vec<String>), Error> {
    match write.locator {
        Locator::Gst {
            command,
            element,
            property,
        } => {
            let Some(graph) = gst_graph(script, *command) else {
                return Ok((TextEdit::empty(), Vec::new()));
            };
            let old = graph
                .elements
                .get(*element)
                .and_then(|element| element.property(property));
            let text = match write.value {
                // A flag that is spelt as a word stays a word.
                KnobValue::Flag(on) if old.is_some_and(|old| old.value.len() > 1) => on.to_string(),
                value => value.to_string(),
            };
            Ok((graph.set_property(*element, property, &text)?, Vec::new()))
        }
        Locator::GstFactory { command, element } => {
            let factory = fakesink(write.value)?;
            let Some(graph) = gst_graph(script, *command) else {
                return Ok((TextEdit::empty(), Vec::new()));
            };
            graph.replace_element(*element, factory, |property| {
                FAKESINK_PROPERTIES.contains(&property)
            })
        }
        _ => Ok((TextEdit::empty(), Vec::new())),
    }
}

/// The writable properties of fakesink and of its base class, from `gst-inspect-1.0 fakesink` of
/// GStreamer 1.22.
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
