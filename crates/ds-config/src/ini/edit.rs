//! Surgical edits of key files.

use super::line::{is_space, trim_end};
use super::{IniDocument, IniValue};
use crate::error::{Error, ErrorKind};
use crate::text_edit::{Span, TextEdit};

/// Which getter the program uses for a key. It decides what may stay behind the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IniType {
    /// `g_key_file_get_integer`: a blank and a comment may follow.
    Integer,
    /// `g_key_file_get_integer_list`: a blank and a comment may follow the last item.
    IntegerList,
    /// `g_key_file_get_boolean`: blanks may follow.
    Boolean,
    /// `g_key_file_get_double`: nothing may follow.
    Double,
    /// `g_key_file_get_string`: what follows belongs to the value.
    String,
    /// `g_key_file_get_string_list`: what follows belongs to the last item.
    StringList,
}

/// A value to be given to a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IniAssignment<'a> {
    /// The group, without brackets.
    pub group: &'a str,
    /// The key.
    pub key: &'a str,
    /// The value as the program is to read it; escapes are added here where a string needs them.
    pub value: &'a str,
    /// Which getter reads the key.
    pub read_as: IniType,
}

impl IniDocument {
    /// The edit that gives keys their values; empty where every value already stands there.
    ///
    /// A key that exists keeps its place: the last occurrence is changed, in its value bytes only.
    /// A missing key goes behind the last live entry of its group, in the style of that entry. A
    /// missing group goes to the end of the file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Refused`] for a file that GLib refuses, [`ErrorKind::InvalidValue`] for a name
    /// or a value that cannot be written, [`ErrorKind::Conflict`] for a key named twice.
    pub fn set(&self, assignments: &[IniAssignment<'_>]) -> Result<TextEdit, Error> {
        if let Some(refusal) = self.refusal() {
            return Err(refusal.clone());
        }
        let mut edit = TextEdit::empty();
        let mut new_groups: Vec<&str> = Vec::new();
        for (position, assignment) in assignments.iter().enumerate() {
            let named_before = assignments[..position]
                .iter()
                .any(|other| other.group == assignment.group && other.key == assignment.key);
            if named_before {
                return Err(Error::new(
                    ErrorKind::Conflict,
                    format!(
                        "`{}` of [{}] is set twice",
                        assignment.key, assignment.group
                    ),
                ));
            }
            check_names(assignment)?;
            let opens_group =
                !self.has_group(assignment.group) && !new_groups.contains(&assignment.group);
            if opens_group {
                new_groups.push(assignment.group);
            }
        }
        for assignment in assignments.iter().filter(|a| self.has_group(a.group)) {
            edit = edit.union(self.set_in_group(assignment))?;
        }
        for group in new_groups {
            let members = assignments.iter().filter(|a| a.group == group);
            edit = edit.union(self.append_group(group, members))?;
        }
        Ok(edit)
    }

    /// Replaces or inserts a key of an existing group.
    fn set_in_group(&self, assignment: &IniAssignment<'_>) -> TextEdit {
        let text = encode(assignment);
        let Some((_, entry)) = self.find(assignment.group, assignment.key) else {
            return self.insert_key(assignment.group, assignment.key, &text);
        };
        let old = self.value(entry);
        let mut span = replaceable(old.raw, entry.value, assignment.read_as);
        if assignment.read_as == IniType::IntegerList && !keeps_list(old, span, &text) {
            span = entry.value;
        }
        if self.slice(span) == text.as_bytes() {
            return TextEdit::empty();
        }
        TextEdit::replace(span, text)
    }

    /// Puts a key behind the last live entry of its group.
    fn insert_key(&self, group: &str, key: &str, value: &str) -> TextEdit {
        let last = self.entries(group).last();
        let (anchor, indent, separator) = match last {
            Some((number, entry)) => {
                let line = &self.lines[number];
                let indent = Span::new(line.content.start, entry.key.start);
                let separator = String::from_utf8_lossy(self.slice(entry.separator));
                // What follows the sign of an empty value is no style.
                let separator = if entry.value.is_empty() {
                    separator.trim_end()
                } else {
                    separator.as_ref()
                };
                (number, indent, separator.to_owned())
            }
            None => {
                let header = self
                    .sections_named(group)
                    .next()
                    .map_or(0, |section| section.header);
                (header, Span::at(0), "=".to_owned())
            }
        };
        let line = &self.lines[anchor];
        let indent = String::from_utf8_lossy(self.slice(indent)).into_owned();
        let entry = format!("{indent}{key}{separator}{value}");
        let terminated = line.span.end > line.content.end;
        let newline = self.newline();
        if terminated {
            let own = Span::new(line.content.end, line.span.end);
            let own = String::from_utf8_lossy(self.slice(own));
            TextEdit::insert(line.span.end, format!("{entry}{own}"))
        } else {
            // The file ends without a newline and keeps doing so.
            TextEdit::insert(line.span.end, format!("{newline}{entry}"))
        }
    }

    /// Puts a new group at the end of the file.
    fn append_group<'a>(
        &self,
        group: &str,
        members: impl Iterator<Item = &'a IniAssignment<'a>>,
    ) -> TextEdit {
        let newline = self.newline();
        let mut lines = vec![format!("[{group}]")];
        lines.extend(members.map(|member| format!("{}={}", member.key, encode(member))));
        let body = lines.join(newline);
        let end = self.text.len();
        let ends_in_newline = self.text.ends_with(b"\n");
        let ends_in_blank_line = self
            .lines
            .last()
            .is_none_or(|line| trim_end(self.slice(line.content)).is_empty());
        let text = match (self.text.is_empty(), ends_in_newline, ends_in_blank_line) {
            (true, _, _) => format!("{body}{newline}"),
            (false, true, true) => format!("{body}{newline}"),
            (false, true, false) => format!("{newline}{body}{newline}"),
            (false, false, _) => format!("{newline}{newline}{body}"),
        };
        TextEdit::insert(end, text)
    }

    /// The line end of the file: that of its first line.
    fn newline(&self) -> &'static str {
        let first = self.lines.first();
        if first.is_some_and(|line| self.slice(line.span).ends_with(b"\r\n")) {
            "\r\n"
        } else {
            "\n"
        }
    }
}

/// The part of an old value that gives way to a new one.
fn replaceable(raw: &[u8], span: Span, read_as: IniType) -> Span {
    let kept_from = match read_as {
        IniType::Integer | IniType::IntegerList => raw
            .windows(2)
            .position(|pair| is_space(pair[0]) && pair[1] == b'#')
            .unwrap_or(raw.len()),
        IniType::Boolean => raw.len(),
        IniType::Double | IniType::String | IniType::StringList => return span,
    };
    let len = trim_end(&raw[..kept_from]).len();
    Span::new(span.start, span.start + len)
}

/// Whether a list is read as its text alone if what stands behind `span` stays there: to GLib a
/// comment is a part of the last item, and what it holds of separators, escapes and bytes that are
/// not UTF-8 counts.
fn keeps_list(old: IniValue<'_>, span: Span, text: &str) -> bool {
    let tail = &old.raw[span.len()..];
    let read = |raw: &[u8]| IniValue { raw, ..old }.integer_list();
    tail.is_empty() || read(&[text.as_bytes(), tail].concat()) == read(text.as_bytes())
}

/// The bytes that make the getter read the value.
fn encode(assignment: &IniAssignment<'_>) -> String {
    let value = assignment.value;
    match assignment.read_as {
        IniType::String | IniType::StringList => {
            let mut text = value
                .replace('\\', "\\\\")
                .replace('\n', "\\n")
                .replace('\r', "\\r");
            if let Some(rest) = text.strip_prefix(' ') {
                text = format!("\\s{rest}");
            } else if let Some(rest) = text.strip_prefix('\t') {
                text = format!("\\t{rest}");
            }
            text
        }
        _ => value.to_owned(),
    }
}

/// Refuses names and values that would not be read back.
fn check_names(assignment: &IniAssignment<'_>) -> Result<(), Error> {
    let bad_name = |name: &str| {
        name.is_empty()
            || name.trim() != name
            || name.starts_with('#')
            || name
                .chars()
                .any(|c| matches!(c, '[' | ']' | '=') || c.is_control())
    };
    let numeric = !matches!(assignment.read_as, IniType::String | IniType::StringList);
    let bad_value = assignment.value.contains('\0')
        || numeric
            && (assignment.value.trim() != assignment.value
                || assignment.value.contains(['\n', '#']));
    if bad_name(assignment.group) || bad_name(assignment.key) || bad_value {
        return Err(Error::new(
            ErrorKind::InvalidValue,
            format!(
                "`{}={}` cannot be written to [{}]",
                assignment.key, assignment.value, assignment.group
            ),
        ));
    }
    Ok(())
}
