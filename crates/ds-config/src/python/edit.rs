//! Changes to the values that a Python program sets.

use super::insertion::Insertion;
use super::{
    PyElement, PyKind, PyLaunch, PyLiteral, PyProperty, PyValue, PythonDocument, hyphenated,
    integer,
};
use crate::assignment::{PropertyAssignment, made_sure, not_taken_at};
use crate::error::{Error, ErrorKind};
use crate::gst_launch::{GstGraph, is_plain};
use crate::style::quoted;
use crate::text_edit::{Span, TextEdit};

pub(super) fn set(
    document: &PythonDocument,
    assignments: &[PropertyAssignment<'_>],
) -> Result<TextEdit, Error> {
    let not_taken = |one: &PropertyAssignment<'_>| {
        let element = document.elements.get(one.element);
        let start = element.map_or(0, |element| element.span.start());
        not_taken_at(document.place(start))(one)
    };
    made_sure(assignments, not_taken, |assignments| {
        let edit = assignments
            .iter()
            .try_fold(TextEdit::empty(), |edit, one| {
                edit.union(plan(document, one.element, one.name, one.value)?)
            })?;
        let is_taken = edit.is_empty() || {
            let after = PythonDocument::parse(&edit.apply(&document.text)?);
            after.is_ok_and(|after| {
                let taken = |one: &PropertyAssignment<'_>| after.has_taken(one);
                after.is_like(document) && assignments.iter().all(taken)
            })
        };
        Ok((edit, is_taken))
    })
}

/// The edit as it is meant, without the proof that the program then reads as asked.
pub(super) fn plan(
    document: &PythonDocument,
    index: usize,
    name: &str,
    value: &str,
) -> Result<TextEdit, Error> {
    let Some(element) = document.elements.get(index) else {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("there is no element {index}"),
        ));
    };
    let Some(property) = element.property(name) else {
        return add(document, element, name, value);
    };
    let elsewhere =
        |other: &PyProperty| other.name == property.name && other.block != property.block;
    let edit = if element.properties.iter().any(elsewhere) {
        Err("it is set in several branches".to_owned())
    } else {
        replace(
            document,
            name,
            &property.value,
            value,
            element.insertion.quote(),
        )
    };
    edit.map_err(|why| by_hand(document, property.span, name, value, &why))
}

/// Of each element, whether a property can be added to it.
///
/// All are tried in one text, which is then read once: a program of a hundred elements takes
/// milliseconds to read. If the elements do not all come back, each is tried by itself.
pub(super) fn open_elements(document: &PythonDocument) -> Vec<bool> {
    let probes: Vec<PropertyAssignment<'_>> = (0..document.elements.len()).map(probe).collect();
    let edits: Vec<Option<TextEdit>> = probes
        .iter()
        .map(|one| plan(document, one.element, one.name, one.value).ok())
        .collect();
    let together = edits
        .iter()
        .flatten()
        .cloned()
        .try_fold(TextEdit::empty(), TextEdit::union)
        .and_then(|edit| edit.apply(&document.text))
        .and_then(|text| PythonDocument::parse(&text));
    match together {
        Ok(after) if after.is_like(document) => probes
            .iter()
            .zip(&edits)
            .map(|(one, edit)| edit.is_some() && after.has_taken(one))
            .collect(),
        _ => probes
            .iter()
            .map(|one| set(document, &[*one]).is_ok())
            .collect(),
    }
}

/// A property that no element has, to find out whether one can be added.
fn probe(element: usize) -> PropertyAssignment<'static> {
    PropertyAssignment {
        element,
        name: "dsprof-probe",
        value: "1",
    }
}

pub(super) fn set_launch(
    document: &PythonDocument,
    number: usize,
    assignments: &[PropertyAssignment<'_>],
) -> Result<TextEdit, Error> {
    let Some(launch) = document.launches.get(number) else {
        let message = format!("there is no launch {number}");
        return Err(Error::new(ErrorKind::NotFound, message));
    };
    let graph = launch.graph.as_ref().map_err(Clone::clone)?;
    let not_taken = not_taken_at(document.place(launch.span.start()));
    made_sure(assignments, not_taken, |assignments| {
        let edit = assignments
            .iter()
            .try_fold(TextEdit::empty(), |edit, one| {
                edit.union(if is_blocked(graph, one) {
                    set_filled_in(document, launch, graph, one)?
                } else {
                    graph.set_property(one.element, one.name, one.value)?
                })
            })?;
        let is_taken = edit.is_empty() || {
            let after = PythonDocument::parse(&edit.apply(&document.text)?);
            after.is_ok_and(|after| {
                after.is_like(document) && launch_has_taken(&after, number, graph, assignments)
            })
        };
        Ok((edit, is_taken))
    })
}

/// Whether something else than the text itself gives a property its value.
fn is_blocked(graph: &GstGraph, assignment: &PropertyAssignment<'_>) -> bool {
    let element = graph.elements.get(assignment.element);
    let property = element.and_then(|element| element.property(assignment.name));
    property.is_some_and(|property| property.blocked.is_some())
}

/// Whether a pipeline text is the one before it with other values of some properties.
fn launch_has_taken(
    after: &PythonDocument,
    number: usize,
    before: &GstGraph,
    assignments: &[PropertyAssignment<'_>],
) -> bool {
    let Some(launch) = after.launches.get(number) else {
        return false;
    };
    let Ok(graph) = &launch.graph else {
        return false;
    };
    let (blocked, written): (Vec<_>, Vec<_>) = assignments
        .iter()
        .copied()
        .partition(|one| is_blocked(graph, one));
    let is_filled_in = |one: &PropertyAssignment<'_>| {
        let element = graph.elements.get(one.element);
        let property = element.and_then(|element| element.property(one.name));
        property
            .and_then(|property| launch.filling(property.value_span))
            .and_then(PyValue::literal)
            .is_some_and(|literal| holds(literal, one.value))
    };
    graph.has_taken(before, &written) && blocked.iter().all(is_filled_in)
}

/// Changes the constant that an f-string fills in.
fn set_filled_in(
    document: &PythonDocument,
    launch: &PyLaunch,
    graph: &GstGraph,
    assignment: &PropertyAssignment<'_>,
) -> Result<TextEdit, Error> {
    let PropertyAssignment {
        element,
        name,
        value,
    } = *assignment;
    let element = graph.elements.get(element);
    let Some(property) = element.and_then(|element| element.property(name)) else {
        return Ok(TextEdit::empty());
    };
    let span = property.value_span;
    let edit = match launch.filling(span) {
        Some(_) if !value.chars().all(is_plain) => {
            let message = format!("`{value}` cannot be filled in without quotes");
            return Err(
                Error::new(ErrorKind::InvalidValue, message).at(document.place(span.start()))
            );
        }
        Some(filling) => replace(document, name, filling, value, '"'),
        None => Err(format!(
            "`{}` is filled in when the program runs",
            property.value
        )),
    };
    edit.map_err(|why| by_hand(document, span, name, value, &why))
}

/// The edit that gives an expression another value, or why there is none.
fn replace(
    document: &PythonDocument,
    name: &str,
    held: &PyValue,
    value: &str,
    quote: char,
) -> Result<TextEdit, String> {
    let literal = match held {
        PyValue::Literal(literal) => literal,
        PyValue::Constant {
            name: constant,
            literal,
            other_uses,
        } => {
            let mut foreign = other_uses
                .iter()
                .filter(|offset| !gives_same_property(document, name, **offset));
            match foreign.next() {
                Some(offset) if !holds(literal, value) => {
                    let line = document.lines.line(*offset);
                    return Err(format!(
                        "the value of `{constant}` is used on line {line} too"
                    ));
                }
                _ => literal,
            }
        }
        PyValue::List { .. } => return Err("a list stands here".to_owned()),
        PyValue::Computed { expression, why } => {
            let expression = expression.lines().next().unwrap_or_default();
            return Err(format!("`{expression}` is {why}"));
        }
    };
    if holds(literal, value) {
        return Ok(TextEdit::empty());
    }
    let written = literal.span.of(&document.text).unwrap_or_default();
    let text = replacement(literal, written, value, quote);
    Ok(TextEdit::replace(literal.span, text))
}

fn add(
    document: &PythonDocument,
    element: &PyElement,
    name: &str,
    value: &str,
) -> Result<TextEdit, Error> {
    let Insertion::At {
        at,
        before,
        item,
        after,
        comma,
    } = &element.insertion
    else {
        let message = format!(
            "there is no place to add `{name}`: set it to `{value}` by hand where the element is \
             made"
        );
        let place = document.place(element.span.start());
        return Err(Error::new(ErrorKind::NotEditable, message).at(place));
    };
    let text = item.render(name, &expression(value, item.quote));
    let edit = TextEdit::insert(*at, format!("{before}{text}{after}"));
    match comma {
        Some(comma) => TextEdit::insert(*comma, ",").union(edit),
        None => Ok(edit),
    }
}

/// Whether an offset stands inside a value of the same property of any element.
fn gives_same_property(document: &PythonDocument, name: &str, offset: usize) -> bool {
    let inside = |span: Span| span.start() <= offset && offset < span.end();
    let elements = document.elements.iter();
    elements
        .flat_map(|element| &element.properties)
        .any(|other| other.name == hyphenated(name) && inside(other.span))
}

fn by_hand(document: &PythonDocument, span: Span, name: &str, value: &str, why: &str) -> Error {
    let message = format!("{why}: set `{}` to `{value}` by hand", hyphenated(name));
    Error::new(ErrorKind::NotEditable, message).at(document.place(span.start()))
}

/// Whether a literal already means the value.
fn holds(literal: &PyLiteral, value: &str) -> bool {
    let flag = |text: &str| match text {
        "1" | "true" | "True" => Some(true),
        "0" | "false" | "False" => Some(false),
        _ => None,
    };
    match literal.kind {
        PyKind::Text => literal.text == value,
        PyKind::Flag => flag(value) == Some(literal.text == "True"),
        PyKind::Number => {
            literal.text == value
                || literal
                    .integer()
                    .is_some_and(|number| integer(value) == Some(number))
        }
    }
}

/// A value in the style of the literal that it replaces.
fn replacement(literal: &PyLiteral, written: &[u8], value: &str, usual: char) -> String {
    let quote = written
        .iter()
        .find(|byte| matches!(byte, b'"' | b'\''))
        .map_or(usual, |byte| char::from(*byte));
    match (literal.kind, value) {
        (PyKind::Text, _) => quoted(value, quote),
        (PyKind::Flag, "1") => "True".to_owned(),
        (PyKind::Flag, "0") => "False".to_owned(),
        _ => expression(value, quote),
    }
}

/// A value as a Python expression: a number, a flag or a text in quotes.
fn expression(value: &str, quote: char) -> String {
    match value {
        "true" | "True" => return "True".to_owned(),
        "false" | "False" => return "False".to_owned(),
        _ => {}
    }
    let digits = value.strip_prefix('-').unwrap_or(value);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // Python refuses a whole number with a leading zero.
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    if is_digits(whole) && is_digits(fraction) && !leading_zero {
        value.to_owned()
    } else {
        quoted(value, quote)
    }
}

impl PyLaunch {
    /// What an f-string fills in as the whole of a value.
    fn filling(&self, value: Span) -> Option<&PyValue> {
        let part = self.filled_in.iter().find(|part| part.span == value)?;
        Some(&part.value)
    }
}

impl PythonDocument {
    /// Whether a program after an edit is otherwise the one before it.
    fn is_like(&self, before: &Self) -> bool {
        self.elements.len() == before.elements.len()
            && self.launches.len() == before.launches.len()
            && self.n_errors <= before.n_errors
    }

    /// Whether a property of an element reads as assigned.
    fn has_taken(&self, assignment: &PropertyAssignment<'_>) -> bool {
        let element = self.elements.get(assignment.element);
        let property = element.and_then(|element| element.property(assignment.name));
        let literal = property.and_then(|property| property.value.literal());
        literal.is_some_and(|literal| holds(literal, assignment.value))
    }
}
