//! Changes to single values of a YAML document.
//!
//! Where a line may go in YAML depends on the lines round it, so every edit is applied to a copy
//! and read back before it is handed out: all other values must be as they were.

use std::fmt::Write as _;

use super::scan::{Anchor, Context, Data, Node, Style};
use super::{YamlDocument, YamlKind, YamlNode, reading};
use crate::error::{Error, ErrorKind};
use crate::style::{before_on_line, line_end, line_ending, most_frequent};
use crate::text_edit::{Span, TextEdit};

/// Indentation of a first key where the file shows none: that of NVIDIA's sample applications
/// (`src/apps/sample_apps/deepstream-test2/dstest2_pgie_config.yml`, DeepStream 9.1 source).
const DEFAULT_INDENT: usize = 2;

pub(super) fn set(node: YamlNode<'_>, value: &str) -> Result<TextEdit, Error> {
    let raw = node.raw();
    let refuse = |why: &str| {
        Err(invalid(
            node,
            format!("{why} stands here and is not replaced"),
        ))
    };
    refuse_shared(node)?;
    let (span, style) = match &raw.data {
        Data::Alias(_) => (raw.span, Style::Plain),
        Data::Scalar(scalar) if scalar.style == Style::Block => return refuse("a block scalar"),
        Data::Scalar(scalar) if scalar.value == value.as_bytes() && !scalar.null => {
            return Ok(TextEdit::empty());
        }
        Data::Scalar(scalar) => (raw.span, scalar.style),
        Data::Sequence(_) | Data::Mapping(_) if raw.context == Context::Flow => {
            (raw.span, Style::Plain)
        }
        Data::Sequence(_) => return refuse("a block list"),
        Data::Mapping(_) => return refuse("a block mapping"),
    };
    let text = encode(value, style, raw.context);
    let edit = if span.is_empty() {
        after_colon(node.document(), span.start(), &text)
    } else {
        TextEdit::replace(span, text)
    };
    let document = node.document();
    let changed = Change {
        removed: node.index()..raw.next,
        added: vec![Added::Scalar(value)],
        grows: None,
    };
    changed.verified(document, edit, node)
}

/// Refuses a change inside of what an alias repeats elsewhere: it would be made there too.
fn refuse_shared(node: YamlNode<'_>) -> Result<(), Error> {
    let around = node.document().nodes[..=node.index()].iter();
    let mut shared = around.filter(|outer| outer.anchor == Anchor::Used);
    if shared.any(|outer| node.index() < outer.next) {
        return Err(invalid(
            node,
            "the anchor here is used elsewhere in the file, where the change would be made too",
        ));
    }
    Ok(())
}

/// Writes a value where a key has none. The span of such a value is the end of its key.
fn after_colon(document: &YamlDocument, key_end: usize, text: &str) -> TextEdit {
    let rest = &document.text[key_end..];
    let blanks = rest
        .iter()
        .take_while(|b| matches!(b, b' ' | b'\t'))
        .count();
    match rest.get(blanks) {
        Some(b':') => TextEdit::insert(key_end + blanks + 1, format!(" {text}")),
        _ => TextEdit::insert(key_end, format!(": {text}")),
    }
}

pub(super) fn add_key(node: YamlNode<'_>, key: &str, value: &str) -> Result<TextEdit, Error> {
    refuse_shared(node)?;
    let raw = node.raw();
    let document = node.document();
    let name = encode(key, Style::Plain, raw.context);
    let text = encode(value, Style::Plain, raw.context);
    let (edit, change) = match (&raw.data, node.kind()) {
        (Data::Mapping(entries), _) => {
            let edit = match (raw.context, entries.last()) {
                (Context::Flow, Some(&(_, last))) => {
                    TextEdit::insert(document.nodes[last].end, format!(", {name}: {text}"))
                }
                (Context::Flow, None) => {
                    TextEdit::insert(raw.span.start() + 1, format!("{name}: {text}"))
                }
                (Context::Block, _) => {
                    let indent = entries.last().map_or(0, |&(key, _)| column(document, key));
                    let separator = separator(document, entries);
                    add_line(
                        document,
                        raw.end,
                        indent,
                        &format!("{name}{separator}{text}"),
                    )
                }
            };
            let change = Change {
                removed: raw.next..raw.next,
                added: vec![Added::Scalar(key), Added::Scalar(value)],
                grows: Some(node.index()),
            };
            (edit, change)
        }
        // `property:` with nothing under it; `property: ~` stays as it is.
        (Data::Scalar(_), YamlKind::Null) if raw.span.is_empty() && node.index() > 0 => {
            let indent = column(document, node.index() - 1) + indent_step(document);
            let edit = add_line(document, raw.end, indent, &format!("{name}: {text}"));
            let change = Change {
                removed: node.index()..raw.next,
                added: vec![Added::Mapping, Added::Scalar(key), Added::Scalar(value)],
                grows: None,
            };
            (edit, change)
        }
        _ => {
            return Err(invalid(
                node,
                format!("no mapping that could take `{key}` stands here"),
            ));
        }
    };
    change.verified(document, edit, node)
}

/// Adds a top-level group with one key after the last live line of the document.
pub(super) fn add_group(
    document: &YamlDocument,
    group: &str,
    key: &str,
    value: &str,
) -> Result<TextEdit, Error> {
    let Some(root) = document.root() else {
        return Err(Error::new(
            ErrorKind::InvalidValue,
            "the file holds no mapping that could take a group",
        ));
    };
    let Data::Mapping(entries) = &root.raw().data else {
        return Err(invalid(root, "the top of the file is no mapping"));
    };
    let eol = line_ending(&document.text);
    let blank = if has_blank_line_between(document, entries) {
        eol
    } else {
        ""
    };
    let indent = " ".repeat(indent_step(document));
    let line = format!(
        "{}:{eol}{indent}{}: {}",
        encode(group, Style::Plain, Context::Block),
        encode(key, Style::Plain, Context::Block),
        encode(value, Style::Plain, Context::Block),
    );
    let at = line_end(&document.text, root.raw().end);
    let edit = TextEdit::insert(at, format!("{eol}{blank}{line}"));
    let change = Change {
        removed: root.raw().next..root.raw().next,
        added: vec![
            Added::Scalar(group),
            Added::Mapping,
            Added::Scalar(key),
            Added::Scalar(value),
        ],
        grows: Some(0),
    };
    change.verified(document, edit, root)
}

/// Inserts a line below the one that holds `offset`. A missing final newline stays missing.
fn add_line(document: &YamlDocument, offset: usize, indent: usize, line: &str) -> TextEdit {
    let eol = line_ending(&document.text);
    TextEdit::insert(
        line_end(&document.text, offset),
        format!("{eol}{:indent$}{line}", ""),
    )
}

/// The column of a node, from 0, in characters.
fn column(document: &YamlDocument, index: usize) -> usize {
    let before = before_on_line(&document.text, document.nodes[index].span.start());
    let before = before.strip_prefix(b"\xef\xbb\xbf").unwrap_or(before);
    String::from_utf8_lossy(before).chars().count()
}

/// How far the keys of the first nested block mapping stand in from its own key.
fn indent_step(document: &YamlDocument) -> usize {
    let Some(Data::Mapping(entries)) = document.nodes.first().map(|node| &node.data) else {
        return DEFAULT_INDENT;
    };
    entries
        .iter()
        .find_map(|&(key, value)| match &document.nodes[value] {
            Node {
                data: Data::Mapping(inner),
                context: Context::Block,
                ..
            } => {
                let first = inner.first()?.0;
                column(document, first).checked_sub(column(document, key))
            }
            _ => None,
        })
        .unwrap_or(DEFAULT_INDENT)
}

/// What stands between key and value in most lines of a mapping.
fn separator(document: &YamlDocument, entries: &[(usize, usize)]) -> String {
    let separators = entries.iter().filter_map(|&(key, value)| {
        let (key, value) = (&document.nodes[key], &document.nodes[value]);
        let written = matches!(value.data, Data::Scalar(_)) && !value.span.is_empty();
        let between = document.bytes(Span::new(key.span.end(), value.span.start()));
        let is_separator = |byte: &u8| matches!(byte, b' ' | b'\t' | b':');
        let plain = written && between.iter().all(is_separator);
        str::from_utf8(between).ok().filter(|_| plain)
    });
    most_frequent(separators).unwrap_or(": ").to_owned()
}

/// Whether the groups of a file are set apart by blank lines.
fn has_blank_line_between(document: &YamlDocument, entries: &[(usize, usize)]) -> bool {
    entries.windows(2).any(|pair| {
        let above = document.nodes[pair[0].1].end;
        let below = document.nodes[pair[1].0].span.start();
        let between = document.bytes(Span::new(above, below));
        let lines = between.split(|byte| *byte == b'\n');
        // The first piece ends the line above; the last one begins the line below.
        let breaks = between.iter().filter(|byte| **byte == b'\n').count();
        lines
            .take(breaks)
            .skip(1)
            .any(|line| line.trim_ascii().is_empty())
    })
}

/// A scalar in the style of the one that it replaces, quoted where it must be.
fn encode(value: &str, style: Style, context: Context) -> String {
    let printable = value.chars().all(|c| !c.is_control() && c != '\u{FEFF}');
    match style {
        Style::Plain if is_plain(value, context) => value.to_owned(),
        Style::Single if printable => format!("'{}'", value.replace('\'', "''")),
        _ => double_quoted(value),
    }
}

/// Whether a value reads as itself without quotes.
fn is_plain(value: &str, context: Context) -> bool {
    let mut chars = value.chars();
    let Some(first) = chars.next() else {
        return false;
    };
    let opens = match first {
        '-' | '?' | ':' => chars.next().is_some_and(|c| c != ' '),
        ',' | '[' | ']' | '{' | '}' | '#' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%'
        | '@' | '`' | ' ' => false,
        _ => true,
    };
    let in_flow = |c: char| matches!(c, ',' | '[' | ']' | '{' | '}');
    opens
        && !reading::is_null(value.as_bytes())
        && !value.starts_with("---")
        && !value.starts_with("...")
        && !value.ends_with([' ', ':'])
        && !value.contains(": ")
        && !value.contains(" #")
        && !value.chars().any(|c| c.is_control() || c == '\u{FEFF}')
        && (context == Context::Block || !value.chars().any(in_flow))
}

fn double_quoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push('"');
    for c in value.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() || c == '\u{FEFF}' => {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// What an edit is meant to do to the tree.
struct Change<'a> {
    /// Nodes of the old tree that go.
    removed: std::ops::Range<usize>,
    /// Nodes of the new tree that come in their place.
    added: Vec<Added<'a>>,
    /// The mapping that gains one key.
    grows: Option<usize>,
}

enum Added<'a> {
    Scalar(&'a str),
    Mapping,
}

impl Added<'_> {
    fn is(&self, node: &Node) -> bool {
        match (self, &node.data) {
            (Self::Scalar(text), Data::Scalar(scalar)) => {
                scalar.value == text.as_bytes() && !scalar.null
            }
            (Self::Mapping, Data::Mapping(entries)) => entries.len() == 1,
            _ => false,
        }
    }
}

impl Change<'_> {
    /// The edit, if the edited text reads as the old one with this change and no other.
    fn verified(
        &self,
        document: &YamlDocument,
        edit: TextEdit,
        place: YamlNode<'_>,
    ) -> Result<TextEdit, Error> {
        let after = YamlDocument::parse(&edit.apply(&document.text)?);
        if after.is_ok_and(|after| self.describes(&document.nodes, &after.nodes)) {
            Ok(edit)
        } else {
            Err(invalid(
                place,
                "the value cannot be written here without changing how others are read",
            ))
        }
    }

    fn describes(&self, before: &[Node], after: &[Node]) -> bool {
        let resume = self.removed.start + self.added.len();
        let tail = before.len() - self.removed.end;
        if after.len() != resume + tail {
            return false;
        }
        let head = before[..self.removed.start].iter().zip(after).enumerate();
        let added = self.added.iter().zip(&after[self.removed.start..]);
        let tails = before[self.removed.end..].iter().zip(&after[resume..]);
        head.into_iter().all(|(index, (old, new))| {
            let growth = usize::from(self.grows == Some(index));
            same(old, new, growth)
        }) && added.into_iter().all(|(added, node)| added.is(node))
            && tails.into_iter().all(|(old, new)| same(old, new, 0))
    }
}

/// Whether two nodes read alike, `growth` new keys apart.
fn same(old: &Node, new: &Node, growth: usize) -> bool {
    match (&old.data, &new.data) {
        (Data::Scalar(old), Data::Scalar(new)) => old.value == new.value && old.null == new.null,
        (Data::Sequence(old), Data::Sequence(new)) => old.len() == new.len(),
        (Data::Mapping(old), Data::Mapping(new)) => old.len() + growth == new.len(),
        (Data::Alias(_), Data::Alias(_)) => true,
        _ => false,
    }
}

fn invalid(node: YamlNode<'_>, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidValue, message).at(node.place())
}
