//! Where and how a Python program takes a property that it does not set.

use tree_sitter::Node;

use super::syntax::items;
use crate::style::{before_on_line, indent, line_end, line_ending};

/// Where and how an element takes a property that the program does not set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Insertion {
    /// Nowhere: the element has no variable, or its statement shares a line with another.
    None,
    At {
        at: usize,
        before: String,
        item: Item,
        after: &'static str,
        /// Where the item before it lacks its comma, on a line of its own.
        comma: Option<usize>,
    },
}

/// How a new property is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    form: Form,
    pub(super) quote: char,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Form {
    /// `variable.set_property("name", value)`
    Statement { variable: String },
    /// `"name": value`
    Pair,
    /// `{"name": value}`
    Dictionary,
    /// `name=value`, with underscores
    Keyword,
}

impl Item {
    pub(super) fn render(&self, name: &str, value: &str) -> String {
        let quote = self.quote;
        match &self.form {
            Form::Statement { variable } => {
                format!("{variable}.set_property({quote}{name}{quote}, {value})")
            }
            Form::Pair => format!("{quote}{name}{quote}: {value}"),
            Form::Dictionary => format!("{{{quote}{name}{quote}: {value}}}"),
            Form::Keyword => format!("{}={value}", name.replace('-', "_")),
        }
    }
}

impl Insertion {
    /// The quote that the program uses round this place.
    pub(super) fn quote(&self) -> char {
        match self {
            Self::None => '"',
            Self::At { item, .. } => item.quote,
        }
    }

    /// A statement below `after`, at the indent of the one that makes the element.
    pub(super) fn statement(
        text: &[u8],
        after: Node<'_>,
        made: Node<'_>,
        variable: &str,
        quote: char,
    ) -> Self {
        let end = line_end(text, after.end_byte());
        let behind = text[after.end_byte()..end].trim_ascii();
        let shares_line = !behind.is_empty() && !behind.starts_with(b"#");
        let Some(indent) = own_indent(text, made.start_byte()).filter(|_| !shares_line) else {
            return Self::None;
        };
        if after.has_error() {
            return Self::None;
        }
        Self::At {
            at: end,
            before: format!("{}{indent}", line_ending(text)),
            item: Item {
                form: Form::Statement {
                    variable: variable.to_owned(),
                },
                quote,
            },
            after: "",
            comma: None,
        }
    }

    /// A pair of a dictionary.
    pub(super) fn pair(text: &[u8], dictionary: Node<'_>, quote: char) -> Self {
        Self::in_brackets(text, dictionary, Form::Pair, quote)
    }

    /// A dictionary as one more argument.
    pub(super) fn dictionary(text: &[u8], arguments: Node<'_>, quote: char) -> Self {
        Self::in_brackets(text, arguments, Form::Dictionary, quote)
    }

    /// A keyword argument.
    pub(super) fn keyword(text: &[u8], arguments: Node<'_>, quote: char) -> Self {
        Self::in_brackets(text, arguments, Form::Keyword, quote)
    }

    /// An item after the last one between two brackets: on a line of its own where that one has
    /// one, with a trailing comma where that one has it.
    fn in_brackets(text: &[u8], brackets: Node<'_>, form: Form, quote: char) -> Self {
        let item = Item { form, quote };
        let at = |at, before: &str, after, comma| Self::At {
            at,
            before: before.to_owned(),
            item: item.clone(),
            after,
            comma,
        };
        // Where a bracket is missing the parser makes one up, of no width.
        let is_closed = text[..brackets.end_byte()].ends_with(b")")
            || text[..brackets.end_byte()].ends_with(b"}");
        if brackets.has_error() || !is_closed {
            return Self::None;
        }
        let Some(last) = items(brackets).last().copied() else {
            return at(brackets.start_byte() + 1, "", "", None);
        };
        let last_end = last.end_byte();
        let close = brackets.end_byte() - 1;
        let comma = comma_between(text, last_end, close);
        let own_line = own_indent(text, last.start_byte());
        let Some(indent) = own_line.filter(|_| text[last_end..close].contains(&b'\n')) else {
            return match comma {
                Some(comma) => at(comma + 1, " ", ",", None),
                None => at(last_end, ", ", "", None),
            };
        };
        let line = format!("{}{indent}", line_ending(text));
        match comma {
            Some(comma) => at(line_end(text, comma), &line, ",", None),
            None => at(line_end(text, last_end), &line, "", Some(last_end)),
        }
    }
}

/// The indent of a line on which nothing stands before an offset.
fn own_indent(text: &[u8], offset: usize) -> Option<String> {
    let before = before_on_line(text, offset);
    let blank = before.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    blank.then(|| indent(text, offset))
}

/// The first comma between two offsets that no comment holds.
fn comma_between(text: &[u8], from: usize, to: usize) -> Option<usize> {
    let mut in_comment = false;
    for (offset, byte) in text.iter().enumerate().take(to).skip(from) {
        match byte {
            b'\n' => in_comment = false,
            b'#' => in_comment = true,
            b',' if !in_comment => return Some(offset),
            _ => {}
        }
    }
    None
}
