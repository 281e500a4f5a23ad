//! How a file is written, for edits that must look like the rest of it.

/// The offset of the line break behind `from`, or the end of the text.
pub(crate) fn line_end(text: &[u8], from: usize) -> usize {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let length = text[from..].iter().position(is_break);
    length.map_or(text.len(), |length| from + length)
}

/// The line ending of the first line, which is the one that a file uses throughout.
pub(crate) fn line_ending(text: &[u8]) -> &'static str {
    match text[line_end(text, 0)..] {
        [b'\r', b'\n', ..] => "\r\n",
        [b'\r', ..] => "\r",
        _ => "\n",
    }
}

/// What stands on the line of `offset` before it.
pub(crate) fn before_on_line(text: &[u8], offset: usize) -> &[u8] {
    let is_break = |byte: &u8| matches!(byte, b'\n' | b'\r');
    let start = text[..offset].iter().rposition(is_break);
    &text[start.map_or(0, |line_break| line_break + 1)..offset]
}

/// The blanks and tabs that begin the line of `offset`.
pub(crate) fn indent(text: &[u8], offset: usize) -> String {
    before_on_line(text, offset)
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .map(|byte| char::from(*byte))
        .collect()
}

/// The text that occurs most often; of equals the one that comes last.
pub(crate) fn most_frequent<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let mut seen: Vec<(&str, usize)> = Vec::new();
    for text in texts {
        match seen.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => seen.push((text, 1)),
        }
    }
    let (text, _) = seen.into_iter().max_by_key(|(_, count)| *count)?;
    Some(text)
}

/// A text in quotes, with backslash escapes as C, Python and text protobuf read them.
pub(crate) fn quoted(value: &str, quote: char) -> String {
    let mut out = String::with_capacity(value.len() + 2);
    out.push(quote);
    for c in value.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => out.extend(['\\', quote]),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}
