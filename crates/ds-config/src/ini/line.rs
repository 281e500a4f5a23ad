//! One line of a key file, read as GLib's `gkeyfile.c` reads it.
//!
//! GLib handles a line as a C string: what follows a NUL byte does not exist for it.

use crate::text_edit::Span;

/// One line with its terminator. The lines of a document tile its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// The whole line, terminator included.
    pub(crate) span: Span,
    /// The line without `\n`, and without the one `\r` before it.
    pub(crate) content: Span,
    /// What the line says.
    pub(crate) kind: LineKind,
}

/// What a line says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// A blank line or a comment.
    Trivia,
    /// `[name]`, without the brackets.
    Group { name: Span },
    /// `key=value`.
    Entry(Entry),
    /// A line with `=` whose key GLib refuses.
    BadKey,
    /// A line for which GLib refuses the whole file, and why.
    Refused(&'static str),
}

/// The parts of a `key=value` line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The key without the blanks round it.
    pub(crate) key: Span,
    /// From the end of the key to the start of the value: `=` and the blanks round it.
    pub(crate) separator: Span,
    /// The value: leading blanks are gone, trailing ones are part of it.
    pub(crate) value: Span,
    /// Whether GLib drops the entry as a translation: `key[xx]=`.
    pub(crate) translation: bool,
}

/// What GLib's `g_ascii_isspace` takes for a blank; the vertical tab is none.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | 0x0c | b'\r')
}

/// Splits a text into lines.
pub(crate) fn scan(text: &[u8]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let newline = text[start..].iter().position(|byte| *byte == b'\n');
        let (end, content_end) = match newline {
            Some(length) => {
                let newline = start + length;
                let has_return = length > 0 && text[newline - 1] == b'\r';
                (newline + 1, newline - usize::from(has_return))
            }
            None => (text.len(), text.len()),
        };
        let content = Span::new(start, content_end);
        lines.push(Line {
            span: Span::new(start, end),
            content,
            kind: classify(text, content),
        });
        start = end;
    }
    lines
}

/// Decides what one line says.
fn classify(text: &[u8], content: Span) -> LineKind {
    let bytes = &text[content.start..content.end];
    let visible = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    let Some(indent) = bytes[..visible].iter().position(|byte| !is_space(*byte)) else {
        return LineKind::Trivia;
    };
    let start = content.start + indent;
    let line = &bytes[indent..visible];
    if line[0] == b'#' {
        return LineKind::Trivia;
    }
    if let Some(name) = group_name(line) {
        let span = Span::new(start + 1, start + 1 + name.len());
        return if name_is_legal(name) {
            LineKind::Group { name: span }
        } else {
            LineKind::Refused("the group name is empty or holds a bracket or control character")
        };
    }
    let Some(equals) = line.iter().position(|byte| *byte == b'=') else {
        return LineKind::Refused(why_no_entry(line));
    };
    if equals == 0 {
        return LineKind::Refused("the key before `=` is empty");
    }
    let key_len = trim_end(&line[..equals]).len();
    let key = &line[..key_len];
    let Some(translation) = key_kind(key) else {
        return LineKind::BadKey;
    };
    let value_start = line[equals + 1..]
        .iter()
        .position(|byte| !is_space(*byte))
        .map_or(line.len(), |blanks| equals + 1 + blanks);
    LineKind::Entry(Entry {
        key: Span::new(start, start + key_len),
        separator: Span::new(start + key_len, start + value_start),
        value: Span::new(start + value_start, start + line.len()),
        translation,
    })
}

/// The text between the brackets if the line is a group header: `[…]` and at most blanks after it.
fn group_name(line: &[u8]) -> Option<&[u8]> {
    let close = line
        .strip_prefix(b"[")?
        .iter()
        .position(|byte| *byte == b']')?
        + 1;
    let rest = &line[close + 1..];
    rest.iter()
        .all(|byte| matches!(byte, b' ' | b'\t'))
        .then(|| &line[1..close])
}

/// Whether GLib takes a group name.
fn name_is_legal(name: &[u8]) -> bool {
    !name.is_empty()
        && !name
            .iter()
            .any(|byte| *byte == b'[' || byte.is_ascii_control())
}

/// Whether a key names a translation; `None` where GLib refuses the key.
fn key_kind(key: &[u8]) -> Option<bool> {
    let Some(bracket) = key.iter().position(|byte| matches!(byte, b'[' | b']')) else {
        return Some(false);
    };
    let name = &key[..bracket];
    if name.is_empty() || name.ends_with(b" ") || key[bracket] == b']' {
        return None;
    }
    let locale = key[bracket + 1..].strip_suffix(b"]")?;
    let locale = std::str::from_utf8(locale).ok()?;
    let legal = locale
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@'));
    // An empty pair of brackets is no locale for GLib, and stays part of the key.
    legal.then_some(!locale.is_empty())
}

/// Why a line that is neither blank, comment nor group holds no `=` either, in words that help.
fn why_no_entry(line: &[u8]) -> &'static str {
    match line {
        [b';', ..] => "`;` begins no comment here, only `#` does",
        [b'/', b'/', ..] => "`//` begins no comment here, only `#` does",
        [0xef, 0xbb, 0xbf, ..] | [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            "the file begins with a byte order mark"
        }
        [b'[', rest @ ..] if rest.contains(&b']') => "text stands after the group header",
        [b'[', ..] => "the group header is not closed",
        _ if line.contains(&b':') => "a YAML line stands in a key file",
        _ => "the line is no `key=value`, group or comment",
    }
}

/// A slice without its trailing blanks.
pub(crate) fn trim_end(bytes: &[u8]) -> &[u8] {
    let len = bytes
        .iter()
        .rposition(|byte| !is_space(*byte))
        .map_or(0, |last| last + 1);
    &bytes[..len]
}
