//! Changes to single fields of a text protobuf file.

use super::parser::{TextProtoField, TextProtoMessage, TextProtoValue, parse_value};
use super::schema::{ProtoField, ProtoKind, ProtoLabel};
use super::{TextProtoDocument, parser};
use crate::error::{Error, ErrorKind};
use crate::style::{indent, line_end, line_ending, most_frequent, quoted};
use crate::text_edit::{Span, TextEdit};

/// Indentation of a nested field where the file shows none: that of NVIDIA's samples (DeepStream
/// 9.1, `config_infer_primary_yolo_nms.txt` and its neighbours under `configs/deepstream-app-triton`).
const DEFAULT_INDENT: usize = 2;

pub(super) fn set(
    document: &TextProtoDocument,
    path: &[&str],
    value: &str,
) -> Result<TextEdit, Error> {
    let mut message = &document.root;
    let mut braces = None;
    for (depth, name) in path.iter().enumerate() {
        let schema = message.schema.field(name.as_bytes()).ok_or_else(|| {
            Error::new(
                ErrorKind::NotFound,
                format!("the schema knows no field `{}`", path.join(".")),
            )
        })?;
        let rest = &path[depth + 1..];
        let Some(field) = message.get(name) else {
            return add(document, message, braces, schema, rest, value, path);
        };
        match (&field.value, rest) {
            (TextProtoValue::Message(inner), [_, ..]) => {
                message = inner;
                braces = Some(field.span);
            }
            (TextProtoValue::Message(_), []) => break,
            _ => return replace(document, message, field, value, path),
        }
    }
    Err(Error::new(
        ErrorKind::InvalidValue,
        format!("`{}` is a message and holds no value", path.join(".")),
    ))
}

fn replace(
    document: &TextProtoDocument,
    message: &TextProtoMessage,
    field: &TextProtoField,
    value: &str,
    path: &[&str],
) -> Result<TextEdit, Error> {
    let refuse = |why: String| {
        let place = document.place(field.span.start());
        Err(Error::new(ErrorKind::InvalidValue, why).at(place))
    };
    if field.value == TextProtoValue::Placeholder {
        return refuse("a placeholder of a template stands here".to_owned());
    }
    let name = field.name();
    let copies = message.fields.iter().filter(|field| field.name() == name);
    if field.schema.label() == ProtoLabel::Repeated && copies.count() > 1 {
        return refuse(format!("`{name}` holds several values"));
    }
    let written = field.span.of(&document.text).unwrap_or_default();
    let text = encode(field.schema, value, Some(written))?;
    if parse_value(text.as_bytes(), field.schema).as_ref() == Some(&field.value) {
        return Ok(TextEdit::empty());
    }
    verified(document, TextEdit::replace(field.span, text), path, 0)
}

/// Adds `schema`, and below it the fields of `rest`, to a message.
fn add(
    document: &TextProtoDocument,
    message: &TextProtoMessage,
    braces: Option<Span>,
    schema: &'static ProtoField,
    rest: &[&str],
    value: &str,
    path: &[&str],
) -> Result<TextEdit, Error> {
    if let group @ ProtoLabel::OneOf(_) = schema.label()
        && let Some(rival) = message
            .fields
            .iter()
            .find(|field| field.schema.label() == group)
    {
        let why = format!("`{}` excludes `{}`", rival.name(), schema.name());
        let place = document.place(rival.name_span.start());
        return Err(Error::new(ErrorKind::InvalidValue, why).at(place));
    }
    let layout = Layout::of(document, message, braces);
    let body = layout.field(document, schema, rest, value, 0)?;
    let edit = TextEdit::insert(layout.at, layout.wrap(&body));
    verified(document, edit, path, 1 + rest.len())
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
        let last_end = message.fields.last().map(|field| end_of(text, field));
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

    /// The text of a field `depth` messages below the layout's own, with the messages between it and
    /// its value.
    fn field(
        &self,
        document: &TextProtoDocument,
        schema: &'static ProtoField,
        rest: &[&str],
        value: &str,
        depth: usize,
    ) -> Result<String, Error> {
        let name = schema.name();
        let ProtoKind::Message(inner) = schema.kind() else {
            if !rest.is_empty() {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("the schema knows no field `{}` in `{name}`", rest.join(".")),
                ));
            }
            let value = encode(schema, value, None)?;
            return Ok(format!("{name}{}{value}", colon(document)));
        };
        let Some((next, deeper)) = rest.split_first() else {
            return Err(Error::new(
                ErrorKind::InvalidValue,
                format!("`{name}` is a message and holds no value"),
            ));
        };
        let Some(next) = inner.field(next.as_bytes()) else {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("the schema knows no field `{next}` in `{name}`"),
            ));
        };
        let body = self.field(document, next, deeper, value, depth + 1)?;
        Ok(match &self.indent {
            None => format!("{name} {{ {body} }}"),
            Some(indent) => {
                let eol = self.eol;
                let step = indent_step(document);
                let outer = format!("{indent}{:1$}", "", step * depth);
                format!("{name} {{{eol}{outer}{:step$}{body}{eol}{outer}}}", "")
            }
        })
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

/// The offset after a field, its separator and the bracket of its list.
fn end_of(text: &[u8], field: &TextProtoField) -> usize {
    if let Some(separator) = field.separator {
        return separator.end();
    }
    let start = field.span.end();
    let listed = field.schema.label() == ProtoLabel::Repeated
        && text[field.name_span.end()..field.span.start()].contains(&b'[');
    if listed {
        closing_bracket(text, start).unwrap_or(start)
    } else {
        start
    }
}

/// The offset after the `]` that ends a list whose last item ends at `from`.
fn closing_bracket(text: &[u8], from: usize) -> Option<usize> {
    let mut in_comment = false;
    for (offset, byte) in text.iter().enumerate().skip(from) {
        match byte {
            b'\n' => in_comment = false,
            b'#' => in_comment = true,
            b']' if !in_comment => return Some(offset + 1),
            _ => {}
        }
    }
    None
}

/// A value as the field writes it, in the style of the one that stands there.
fn encode(
    schema: &'static ProtoField,
    value: &str,
    written: Option<&[u8]>,
) -> Result<String, Error> {
    let text = match schema.kind() {
        ProtoKind::String => match written.and_then(<[u8]>::first) {
            Some(b'\'') => quoted(value, '\''),
            _ => quoted(value, '"'),
        },
        ProtoKind::Bool => {
            let flag = parse_value(value.as_bytes(), schema);
            let digit = written
                .and_then(<[u8]>::first)
                .is_some_and(u8::is_ascii_digit);
            match (flag, digit) {
                (Some(TextProtoValue::Bool(flag)), true) => u8::from(flag).to_string(),
                (Some(TextProtoValue::Bool(flag)), false) => flag.to_string(),
                _ => value.to_owned(),
            }
        }
        _ => value.to_owned(),
    };
    match parse_value(text.as_bytes(), schema) {
        Some(TextProtoValue::Placeholder) | None => Err(Error::new(
            ErrorKind::InvalidValue,
            format!("`{value}` is no value of `{}`", schema.name()),
        )),
        // What surrounds the number, such as a comment, must not come in with it.
        Some(_) if text.trim() != text || text.contains('#') && !is_string(schema) => {
            Err(Error::new(
                ErrorKind::InvalidValue,
                format!("`{value}` is no value of `{}`", schema.name()),
            ))
        }
        Some(_) => Ok(text),
    }
}

fn is_string(schema: &ProtoField) -> bool {
    schema.kind() == ProtoKind::String
}

/// The edit, if the edited text reads as asked and holds `added` fields more.
fn verified(
    document: &TextProtoDocument,
    edit: TextEdit,
    path: &[&str],
    added: usize,
) -> Result<TextEdit, Error> {
    let after = edit.apply(&document.text)?;
    let root = parser::parse(&after, document.root.schema);
    match root {
        Ok(root) if count(&root) == count(&document.root) + added => Ok(edit),
        _ => Err(Error::new(
            ErrorKind::InvalidValue,
            format!("`{}` cannot be written into this file", path.join(".")),
        )),
    }
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
