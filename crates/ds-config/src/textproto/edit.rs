//! Changes to single fields of a text protobuf file.

use super::parser::{TextProtoField, TextProtoMessage, TextProtoValue, parse_value};
use super::schema::{ProtoField, ProtoKind, ProtoLabel, ProtoMessage};
use super::{TextProtoDocument, parser};
use crate::error::{Error, ErrorKind};
use crate::style::{indent, line_end, line_ending, most_frequent, quoted};
use crate::text_edit::{Span, TextEdit};

/// Indentation of a nested field where the file shows none: that of NVIDIA's configurations under
/// `src/apps/tao_apps/configs/triton` (DeepStream 9.1 source).
const DEFAULT_INDENT: usize = 2;

pub(super) fn set(
    document: &TextProtoDocument,
    path: &[&str],
    value: &str,
) -> Result<TextEdit, Error> {
    let schemas = declared(document.root.schema, path)?;
    let mut message = &document.root;
    let mut braces = None;
    for (depth, schema) in schemas.iter().enumerate() {
        let Some(field) = message.get(schema.name()) else {
            let rest = &schemas[depth + 1..];
            let (edit, held) = add(document, message, braces, schema, rest, value)?;
            return verified(document, edit, path, &held, 1 + rest.len());
        };
        match &field.value {
            TextProtoValue::Message(inner) => {
                message = inner;
                braces = Some(field.span);
            }
            _ => {
                let (edit, held) = replace(document, message, field, value)?;
                return verified(document, edit, path, &held, 0);
            }
        }
    }
    Err(no_value(path))
}

/// The fields that a path names, of which the last one holds a value.
fn declared(root: &ProtoMessage, path: &[&str]) -> Result<Vec<&'static ProtoField>, Error> {
    let mut fields = Vec::new();
    let mut inner = Some(root);
    for name in path {
        let field = inner.and_then(|message| message.field(name.as_bytes()));
        let Some(field) = field else {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("the schema knows no field `{}`", path.join(".")),
            ));
        };
        inner = match field.kind() {
            ProtoKind::Message(message) => Some(message),
            _ => None,
        };
        fields.push(field);
    }
    match inner {
        None => Ok(fields),
        Some(_) => Err(no_value(path)),
    }
}

fn no_value(path: &[&str]) -> Error {
    Error::new(
        ErrorKind::InvalidValue,
        format!("`{}` is a message and holds no value", path.join(".")),
    )
}

/// The edit that replaces the value of a field, and the value that it then holds.
fn replace(
    document: &TextProtoDocument,
    message: &TextProtoMessage,
    field: &TextProtoField,
    value: &str,
) -> Result<(TextEdit, TextProtoValue), Error> {
    let refuse = |why: String| {
        let place = document.place(field.span.start());
        Err(Error::new(ErrorKind::InvalidValue, why).at(place))
    };
    if field.value == TextProtoValue::Placeholder {
        return refuse("a placeholder of a template stands here".to_owned());
    }
    let name = field.name();
    let mut copies = message.fields.iter().filter(|field| field.name() == name);
    if field.schema.label() == ProtoLabel::Repeated && copies.nth(1).is_some() {
        return refuse(format!("`{name}` holds several values"));
    }
    let written = field.span.of(&document.text).unwrap_or_default();
    let (text, held) = encode(field.schema, value, written)?;
    let edit = if held == field.value {
        TextEdit::empty()
    } else {
        TextEdit::replace(field.span, text)
    };
    Ok((edit, held))
}

/// The edit that adds a field to a message, with the fields of `rest` inside each other below it,
/// and the value that the last one then holds.
fn add(
    document: &TextProtoDocument,
    message: &TextProtoMessage,
    braces: Option<Span>,
    schema: &'static ProtoField,
    rest: &[&'static ProtoField],
    value: &str,
) -> Result<(TextEdit, TextProtoValue), Error> {
    let rival = message.fields.iter().find(|field| {
        matches!(schema.label(), ProtoLabel::OneOf(_)) && field.schema.label() == schema.label()
    });
    if let Some(rival) = rival {
        let why = format!("`{}` excludes `{}`", rival.name(), schema.name());
        let place = document.place(rival.name_span.start());
        return Err(Error::new(ErrorKind::InvalidValue, why).at(place));
    }
    let (text, held) = encode(rest.last().unwrap_or(&schema), value, b"")?;
    let layout = Layout::of(document, message, braces);
    let body = layout.field(document, schema, rest, &text, 0);
    Ok((TextEdit::insert(layout.at, layout.wrap(&body)), held))
}

/// Where a new field goes, and how its lines look.
struct Layout {
    at: usize,
    /// The blanks before the field, or `None` where it shares a line with its message.
    indent: Option<String>,
    eol: &'static str,
    /// Whether something stands before the insertion on which a new line must begin.
    follows: bool,
    /// What sets the new field apart from the one before it, where they share a line.
    before: String,
    /// What ends the new field.
    separator: String,
}

impl Layout {
    fn of(document: &TextProtoDocument, message: &TextProtoMessage, braces: Option<Span>) -> Self {
        let text = &document.text;
        let eol = line_ending(text);
        let (before, separator) = separators(text, message);
        let last_end = message.fields.last().map(|field| field.end);
        let inner = match braces {
            Some(span) => Span::new(span.start() + 1, span.end() - 1),
            None => Span::new(0, text.len()),
        };
        let from = last_end.unwrap_or(inner.start());
        let line_end = line_end(text, from);
        if line_end >= inner.end() && braces.is_some() {
            // The closing brace is on this line: the new field goes before it.
            return Self {
                at: from,
                indent: None,
                eol,
                follows: true,
                before,
                separator,
            };
        }
        let indent = match (message.fields.last(), braces) {
            (Some(field), _) => indent(text, field.name_span.start()),
            (None, Some(span)) => {
                let outer = indent(text, span.start());
                format!("{outer}{:1$}", "", indent_step(document))
            }
            (None, None) => String::new(),
        };
        let at = if last_end.is_none() && braces.is_none() {
            text.len()
        } else {
            line_end
        };
        Self {
            at,
            indent: Some(indent),
            eol,
            follows: at > 0 && text[at - 1] != b'\n',
            before,
            separator,
        }
    }

    /// The text of a field `depth` messages below the layout's own, with the fields of `rest`
    /// inside each other below it.
    fn field(
        &self,
        document: &TextProtoDocument,
        schema: &ProtoField,
        rest: &[&ProtoField],
        value: &str,
        depth: usize,
    ) -> String {
        let name = schema.name();
        let Some((next, deeper)) = rest.split_first() else {
            return format!("{name}{}{value}", colon(document));
        };
        let body = self.field(document, next, deeper, value, depth + 1);
        let Some(indent) = &self.indent else {
            return format!("{name} {{ {body} }}");
        };
        let eol = self.eol;
        let step = indent_step(document);
        let outer = format!("{indent}{:1$}", "", step * depth);
        format!("{name} {{{eol}{outer}{:step$}{body}{eol}{outer}}}", "")
    }

    fn wrap(&self, body: &str) -> String {
        let separator = &self.separator;
        match &self.indent {
            None => format!("{} {body}{separator}", self.before),
            Some(indent) if self.follows => format!("{}{indent}{body}{separator}", self.eol),
            Some(indent) => format!("{indent}{body}{separator}"),
        }
    }
}

/// The separator that a new field takes over, and the one that must be put before it.
fn separators(text: &[u8], message: &TextProtoMessage) -> (String, String) {
    let shown = |field: &TextProtoField| {
        let bytes = field.separator.and_then(|span| span.of(text));
        bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    match message.fields.last().map(shown) {
        Some(Some(separator)) => (String::new(), separator),
        Some(None) => {
            let others = message.fields.iter().rev().find_map(shown);
            (others.unwrap_or_default(), String::new())
        }
        None => (String::new(), String::new()),
    }
}

/// A value as the field writes it, in the style of what stands there, and as it is then read.
fn encode(
    schema: &'static ProtoField,
    value: &str,
    written: &[u8],
) -> Result<(String, TextProtoValue), Error> {
    let text = match schema.kind() {
        ProtoKind::String if written.starts_with(b"'") => quoted(value, '\''),
        ProtoKind::String => quoted(value, '"'),
        ProtoKind::Bool => match parse_value(value.as_bytes(), schema) {
            Some(TextProtoValue::Bool(flag)) if written.first().is_some_and(u8::is_ascii_digit) => {
                u8::from(flag).to_string()
            }
            Some(TextProtoValue::Bool(flag)) => flag.to_string(),
            _ => value.to_owned(),
        },
        _ => value.to_owned(),
    };
    // The parser passes over blanks and comments, which must not come in with a number.
    let is_one_word = !value.contains(|c: char| c.is_whitespace() || c == '#');
    let held = parse_value(text.as_bytes(), schema)
        .filter(|held| *held != TextProtoValue::Placeholder)
        .filter(|_| is_one_word || schema.kind() == ProtoKind::String);
    match held {
        Some(held) => Ok((text, held)),
        None => Err(Error::new(
            ErrorKind::InvalidValue,
            format!("`{value}` is no value of `{}`", schema.name()),
        )),
    }
}

/// The edit, if the edited text reads as asked and holds `added` fields more.
fn verified(
    document: &TextProtoDocument,
    edit: TextEdit,
    path: &[&str],
    held: &TextProtoValue,
    added: usize,
) -> Result<TextEdit, Error> {
    let after = edit.apply(&document.text)?;
    let root = parser::parse(&after, document.root.schema);
    let as_asked = root.is_ok_and(|root| {
        let field = root.find(path);
        field.is_some_and(|field| field.value == *held)
            && count(&root) == count(&document.root) + added
    });
    if as_asked {
        return Ok(edit);
    }
    Err(Error::new(
        ErrorKind::InvalidValue,
        format!("`{}` cannot be written into this file", path.join(".")),
    ))
}

/// How many fields a message holds, those of its messages included.
fn count(message: &TextProtoMessage) -> usize {
    message
        .fields
        .iter()
        .map(|field| match &field.value {
            TextProtoValue::Message(inner) => 1 + count(inner),
            _ => 1,
        })
        .sum()
}

/// What most fields of the file write between name and value.
fn colon(document: &TextProtoDocument) -> String {
    let mut colons = Vec::new();
    collect_colons(document, &document.root, &mut colons);
    most_frequent(colons).unwrap_or(": ").to_owned()
}

fn collect_colons<'a>(
    document: &'a TextProtoDocument,
    message: &TextProtoMessage,
    colons: &mut Vec<&'a str>,
) {
    for field in &message.fields {
        if let TextProtoValue::Message(inner) = &field.value {
            collect_colons(document, inner, colons);
            continue;
        }
        let between = Span::new(field.name_span.end(), field.span.start());
        let between = between.of(&document.text).unwrap_or_default();
        let is_colon = |byte: &u8| matches!(byte, b' ' | b'\t' | b':');
        if between.iter().all(is_colon) {
            colons.extend(str::from_utf8(between));
        }
    }
}

/// How far the first field on a line of its own stands in from the message that holds it.
fn indent_step(document: &TextProtoDocument) -> usize {
    fn step(text: &[u8], message: &TextProtoMessage) -> Option<usize> {
        message.fields.iter().find_map(|field| {
            let TextProtoValue::Message(inner) = &field.value else {
                return None;
            };
            let outer = indent(text, field.name_span.start()).len();
            let first = inner.fields.first()?.name_span.start();
            indent(text, first)
                .len()
                .checked_sub(outer)
                .filter(|step| *step > 0)
                .or_else(|| step(text, inner))
        })
    }
    step(&document.text, &document.root).unwrap_or(DEFAULT_INDENT)
}
