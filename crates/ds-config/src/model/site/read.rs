//! Reads a knob at a place, as the program reads it there.

use super::{Locator, Reading, app_sink, launch, nodes, write};
use crate::error::{Error, ErrorKind};
use crate::ini::{IniType, IniValue};
use crate::model::document::{Document, SourceFile};
use crate::model::knob::{Knob, KnobKind, KnobValue};
use crate::python::{PyKind, PyValue, PythonDocument};
use crate::textproto::{TextProtoDocument, TextProtoValue};
use crate::yaml::YamlNode;

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
        ) => document.get(group, key).map_or(Reading::Absent, |value| {
            read_ini(file, value, *read_as, knob)
        }),
        (Document::Yaml(document), Locator::Yaml { group, key }) => document
            .value(group, key)
            .map_or(Reading::Absent, |node| read_yaml(file, node, key, knob)),
        (Document::Yaml(document), Locator::ServiceMaker { node, property }) => {
            let properties = nodes(document)
                .get(*node)
                .and_then(|node| node.last("properties"));
            let value = properties.and_then(|all| {
                all.last(property)
                    .or_else(|| all.last(&property.replace('-', "_")))
            });
            value.map_or(Reading::Absent, |node| {
                read_node(file, node, property, knob)
            })
        }
        (Document::Proto(document), Locator::Proto { path }) => read_proto(document, path, knob),
        (Document::Csv(document), Locator::Csv { row, column }) => {
            let Some(cell) = document.rows().nth(*row).and_then(|row| row.get(column)) else {
                return Reading::Absent;
            };
            let value = cell.int().map(|number| number_or_flag(knob, number.into()));
            Reading::or_invalid(value, file, cell.span().start(), || {
                format!("the cell of `{column}` is no whole number")
            })
        }
        (Document::Python(document), Locator::Python { element, property }) => {
            read_python(document, *element, property, knob)
        }
        _ => launch::read(file, locator, knob),
    }
}

/// A number as the kind of value that a knob takes.
fn number_or_flag(knob: Knob, number: i64) -> KnobValue {
    match knob.kind() {
        KnobKind::Flag => KnobValue::Flag(number != 0),
        KnobKind::Name => {
            KnobValue::Text(app_sink(number).map_or_else(|| number.to_string(), str::to_owned))
        }
        _ => KnobValue::Integer(number),
    }
}

/// Reads a value of a key file with the getter that the program uses.
fn read_ini(file: &SourceFile, value: IniValue<'_>, read_as: IniType, knob: Knob) -> Reading {
    let at = value.span().start();
    let read = match (knob.kind(), read_as) {
        (KnobKind::Flag, IniType::Boolean) => value.boolean().map(KnobValue::Flag),
        (KnobKind::Integer | KnobKind::Flag | KnobKind::Name, _) => value
            .integer()
            .map(|number| number_or_flag(knob, number.into())),
        (KnobKind::List, _) => value.integer_list().map(KnobValue::List),
        (KnobKind::Path, _) => value.string().map(KnobValue::Text),
    };
    match read {
        Ok(value) => Reading::Value { value, at },
        Err(error) => Reading::Invalid {
            error: error.in_file(&file.path),
            at,
        },
    }
}

/// Reads a value of a YAML file as the open parsers do: flags are C integers.
fn read_yaml(file: &SourceFile, node: YamlNode<'_>, key: &str, knob: Knob) -> Reading {
    let text = node.text_lossy().unwrap_or_default();
    let value = match knob.kind() {
        KnobKind::Integer | KnobKind::Flag | KnobKind::Name => {
            node.int().map(|number| number_or_flag(knob, number.into()))
        }
        KnobKind::List => {
            let items = text.split(';').map(|item| item.trim().parse().ok());
            items.collect::<Option<_>>().map(KnobValue::List)
        }
        KnobKind::Path => node.text().map(|text| KnobValue::Text(text.to_owned())),
    };
    Reading::or_invalid(value, file, node.span().start(), || {
        format!("yaml-cpp cannot read `{text}` as the value of `{key}`, and the program ends")
    })
}

/// Reads a property of a service-maker node, where textual booleans are the custom.
fn read_node(file: &SourceFile, node: YamlNode<'_>, property: &str, knob: Knob) -> Reading {
    let text = node.text_lossy().unwrap_or_default();
    let value = match knob.kind() {
        KnobKind::Integer => node.int().map(|number| KnobValue::Integer(number.into())),
        KnobKind::Flag => node
            .boolean()
            .or_else(|| node.int().map(|number| number != 0))
            .map(KnobValue::Flag),
        _ => node.text().map(|text| KnobValue::Text(text.to_owned())),
    };
    Reading::or_invalid(value, file, node.span().start(), || {
        format!("`{text}` is no value for `{property}`")
    })
}

/// Reads a field of a text protobuf.
fn read_proto(document: &TextProtoDocument, path: &[&str], knob: Knob) -> Reading {
    let Some(field) = document.get(path) else {
        return Reading::Absent;
    };
    let at = field.span().start();
    let written = field.span().of(document.as_bytes()).unwrap_or_default();
    let written = String::from_utf8_lossy(written).into_owned();
    match field.value() {
        TextProtoValue::Integer(value) => match i64::try_from(*value) {
            Ok(number) => Reading::Value {
                value: number_or_flag(knob, number),
                at,
            },
            Err(_) => Reading::Absent,
        },
        _ => Reading::Computed {
            reason: format!("a template fills in `{written}`"),
            written,
            at,
        },
    }
}

/// Reads a property that a Python program sets.
fn read_python(document: &PythonDocument, element: usize, property: &str, knob: Knob) -> Reading {
    let found = document
        .elements()
        .get(element)
        .and_then(|element| element.property(property));
    let Some(property) = found else {
        return Reading::Absent;
    };
    let written = property.span.of(document.as_bytes()).unwrap_or_default();
    let written = String::from_utf8_lossy(written).into_owned();
    let computed = |reason: String| Reading::Computed {
        written: written.clone(),
        at: property.span.start(),
        reason,
    };
    let literal = match &property.value {
        PyValue::Literal(literal) | PyValue::Constant { literal, .. } => literal,
        PyValue::List { .. } => return computed("a list stands here".to_owned()),
        PyValue::Computed { expression, why } => {
            let expression = expression.lines().next().unwrap_or_default();
            return computed(format!("`{expression}` is {why}"));
        }
    };
    let value = match (knob.kind(), literal.kind) {
        (KnobKind::Integer, _) => literal.integer().map(KnobValue::Integer),
        (KnobKind::Flag, _) => literal.integer().map(|number| KnobValue::Flag(number != 0)),
        (KnobKind::Path | KnobKind::Name, PyKind::Text) => {
            Some(KnobValue::Text(literal.text.clone()))
        }
        _ => None,
    };
    match value {
        Some(value) => Reading::Value {
            value,
            at: literal.span.start(),
        },
        None => computed(format!("`{written}` is no value of this kind")),
    }
}

/// Why a value that can be read cannot be changed where it stands.
///
/// Only a program can stand in the way, by using or setting the value elsewhere too; all other
/// places take every value that their knob can have.
pub(crate) fn obstacle(file: &SourceFile, locator: &Locator, knob: Knob) -> Option<String> {
    let (
        Document::Python(program),
        Locator::Python {
            element: index,
            property,
        },
    ) = (&file.document, locator)
    else {
        return None;
    };
    let element = program.elements().get(*index)?;
    let of_this_name = element
        .properties
        .iter()
        .filter(|held| held.name == *property);
    let is_plain = of_this_name.count() == 1
        && match &element.property(property)?.value {
            PyValue::Literal(_) => true,
            PyValue::Constant { other_uses, .. } => other_uses.is_empty(),
            _ => false,
        };
    if is_plain {
        return None;
    }
    let value = trial(knob).to_string();
    let error = program.obstacle(*index, property, &value)?;
    if error.kind() != ErrorKind::NotEditable {
        return None;
    }
    // What stands behind the colon is what to do about the value of the attempt.
    let reason = error.message().split(": set ").next().unwrap_or_default();
    Some(reason.to_owned())
}

/// Of each element that a program makes, whether a property can be added to it; none for any other
/// document.
pub(crate) fn open_elements(file: &SourceFile) -> Vec<bool> {
    match &file.document {
        Document::Python(program) => program.open_elements(),
        _ => Vec::new(),
    }
}

/// Why nothing can be added to an element of a program.
pub(crate) const NO_PLACE_IN_PROGRAM: &str = "the program has no place where it could be added";

/// Why nothing can be added to the element that a place belongs to, whichever knob it is. The
/// elements of a program are [`open_elements`] all at once.
pub(crate) fn closed(file: &SourceFile, locator: &Locator, knob: Knob) -> Option<String> {
    match (&file.document, locator) {
        (_, Locator::ServiceMaker { .. }) => attempt(file, locator, knob)
            .map(|_| "the node has no `properties` that it could be added to".to_owned()),
        (_, Locator::Gst { property, .. } | Locator::PythonLaunch { property, .. }) => {
            let (graph, element) = launch::graph(&file.document, locator)?;
            let edit = graph.set_property(element, property, &trial(knob).to_string());
            let error = edit.err()?;
            (error.kind() == ErrorKind::NotEditable).then(|| error.message().to_owned())
        }
        _ => None,
    }
}

/// Tries to write a value, and gives the reason why that cannot be.
fn attempt(file: &SourceFile, locator: &Locator, knob: Knob) -> Option<Error> {
    let value = trial(knob);
    let one = super::Write {
        locator,
        knob,
        value: &value,
    };
    let error = write(file, &[one]).err()?;
    (error.kind() == ErrorKind::NotEditable).then_some(error)
}

/// A value that a knob can have, to find out whether one can be written.
fn trial(knob: Knob) -> KnobValue {
    match knob.kind() {
        KnobKind::Integer => KnobValue::Integer(1),
        KnobKind::Flag => KnobValue::Flag(true),
        KnobKind::List => KnobValue::List(vec![3, 1, 1]),
        KnobKind::Path => KnobValue::Text("x".to_owned()),
        KnobKind::Name => KnobValue::Text("fakesink".to_owned()),
    }
}
