//! Pipeline texts inside `Gst.parse_launch(…)`.

use tree_sitter::Node;

use super::call::Call;
use super::names::Names;
use super::syntax::{items, prefix, source, span};
use super::{PyComputed, PyFilledIn, PyLaunch, PyValue};
use crate::error::{Error, ErrorKind};
use crate::gst_launch::{Blocked, GstGraph};
use crate::line_index::LineIndex;
use crate::text_edit::Span;

pub(super) fn read<'t>(
    call: &Call<'t>,
    names: &Names<'t>,
    text: &'t [u8],
    lines: &LineIndex,
) -> Option<PyLaunch> {
    let argument = *call.positional.first()?;
    let written = names.follow(argument).map_or(argument, |lead| lead.value);
    let mut masked = Masked {
        bytes: vec![b' '; text.len()],
        filled_in: Vec::new(),
    };
    let graph = graph(written, text, names, &mut masked).map_err(|error| match error.place() {
        Some(_) => error,
        None => error.at(lines.place(text, written.start_byte())),
    });
    Some(PyLaunch {
        span: span(written),
        graph,
        filled_in: masked.filled_in,
    })
}

fn graph<'t>(
    node: Node<'t>,
    text: &'t [u8],
    names: &Names<'t>,
    masked: &mut Masked,
) -> Result<GstGraph, Error> {
    let strings = match node.kind() {
        "string" => vec![node],
        "concatenated_string" => items(node),
        _ => {
            return Err(Error::new(
                ErrorKind::NotEditable,
                format!(
                    "the pipeline text is put together when the program runs: `{}`",
                    first_line(source(node, text))
                ),
            ));
        }
    };
    let mut ends_in_word = false;
    for string in strings {
        let content = masked.take(string, text, names);
        let inner = content.of(&masked.bytes).unwrap_or_default();
        if ends_in_word
            && inner
                .first()
                .is_some_and(|byte| !byte.is_ascii_whitespace())
        {
            return Err(Error::new(
                ErrorKind::NotEditable,
                "a word of the pipeline text goes on in the next literal",
            ));
        }
        ends_in_word = inner.last().is_some_and(|byte| !byte.is_ascii_whitespace());
    }
    let mut graph = GstGraph::parse_string(&masked.bytes, span(node))?;
    masked.restore(&mut graph, text);
    Ok(graph)
}

/// What the braces of an f-string hold. With a format or a conversion the text is not the value's.
fn filled_in<'t>(interpolation: Node<'t>, text: &'t [u8], names: &Names<'t>) -> PyValue {
    match items(interpolation)[..] {
        [expression] => names.value(expression),
        _ => PyValue::Computed {
            expression: source(interpolation, text).to_owned(),
            why: PyComputed::Expression,
        },
    }
}

/// The first line of an expression, for a message.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// A copy of the file, offset for offset, in which only pipeline text is not blank.
struct Masked {
    bytes: Vec<u8>,
    /// What an f-string fills in.
    filled_in: Vec<PyFilledIn>,
}

impl Masked {
    /// Copies the content of one string literal; gives its span without the quotes.
    fn take<'t>(&mut self, string: Node<'t>, text: &'t [u8], names: &Names<'t>) -> Span {
        let raw = prefix(string, text).contains(['r', 'R']);
        let mut cursor = string.walk();
        let mut start = None;
        let mut end = string.start_byte();
        for child in string.named_children(&mut cursor) {
            let part = span(child);
            match child.kind() {
                "string_start" => {
                    start = Some(part.end());
                    end = part.end();
                }
                "string_content" => {
                    self.copy(part, text);
                    if !raw {
                        self.resolve_escapes(part);
                    }
                    end = part.end();
                }
                "interpolation" => {
                    // One word, whatever the expression holds.
                    self.copy(part, text);
                    for byte in &mut self.bytes[part.start()..part.end()] {
                        if !byte.is_ascii_alphanumeric() {
                            *byte = b'_';
                        }
                    }
                    self.filled_in.push(PyFilledIn {
                        span: part,
                        value: filled_in(child, text, names),
                    });
                    end = part.end();
                }
                _ => {}
            }
        }
        Span::new(start.unwrap_or(end), end)
    }

    fn copy(&mut self, part: Span, text: &[u8]) {
        self.bytes[part.start()..part.end()].copy_from_slice(&text[part.start()..part.end()]);
    }

    /// Blanks what an escape adds: what remains is what the launch parser sees, blanks apart.
    fn resolve_escapes(&mut self, part: Span) {
        let bytes = &mut self.bytes[part.start()..part.end()];
        let mut at = 0;
        let mut quoted = false;
        while at + 1 < bytes.len() {
            let pair = [bytes[at], bytes[at + 1]];
            match pair {
                // The blank must not fall between the quotes.
                [b'\\', quote @ (b'"' | b'\'')] if quoted => {
                    bytes[at..at + 2].copy_from_slice(&[quote, b' ']);
                    quoted = false;
                }
                [b'\\', b'"' | b'\''] => {
                    bytes[at] = b' ';
                    quoted = true;
                }
                [b'\\', b'\n' | b'\r' | b'n' | b't' | b'r'] => bytes[at..at + 2].fill(b' '),
                [b'\\', _] => bytes[at] = b' ',
                _ => {
                    at += 1;
                    continue;
                }
            }
            at += 2;
        }
    }

    /// Gives the graph the text of the file back where an f-string fills something in, and blocks
    /// those values.
    fn restore(&self, graph: &mut GstGraph, text: &[u8]) {
        let shown = |span: Span| {
            let bytes = span.of(text).unwrap_or_default();
            String::from_utf8_lossy(bytes).into_owned()
        };
        for element in &mut graph.elements {
            if self.fills_in(element.span) {
                element.factory = shown(element.span);
                element.opaque = true;
            }
            for property in &mut element.properties {
                if self.fills_in(property.value_span) {
                    property.value = shown(property.value_span);
                    property.blocked = Some(Blocked::Expansion(property.value.clone()));
                }
            }
            if let Some(name) = element.property("name") {
                element.name = name.value.clone();
            } else if element.opaque {
                element.name.clone_from(&element.factory);
            }
        }
    }

    fn fills_in(&self, span: Span) -> bool {
        self.filled_in
            .iter()
            .any(|part| part.span.start() < span.end() && span.start() < part.span.end())
    }
}
