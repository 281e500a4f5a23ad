//! The coarse shape of a text: enough to tell the forms apart, tolerant of every fault.

use std::borrow::Cow;

/// A text with what its lines look like.
pub(super) struct Outline<'a> {
    pub(super) text: Cow<'a, str>,
    /// `[group]` headers with the keys below them, comments left out.
    pub(super) groups: Vec<Group>,
    /// Top-level `key:` lines with the keys one level below them.
    pub(super) yaml: Vec<Group>,
}

/// A name with the keys below it.
pub(super) struct Group {
    pub(super) name: String,
    pub(super) keys: Vec<String>,
}

impl<'a> Outline<'a> {
    /// Scans a text.
    pub(super) fn of(text: &'a [u8]) -> Self {
        let text = String::from_utf8_lossy(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text));
        let groups = key_file_groups(&text);
        let yaml = yaml_groups(&text);
        Self { text, groups, yaml }
    }

    /// Whether the key file has a group of this name.
    pub(super) fn has_group(&self, name: &str) -> bool {
        self.groups.iter().any(|group| group.name == name)
    }

    /// Whether the YAML has a top-level key of this name.
    pub(super) fn has_top(&self, name: &str) -> bool {
        self.yaml.iter().any(|group| group.name == name)
    }

    /// The keys of a top-level YAML mapping.
    pub(super) fn keys_of_top(&self, name: &str) -> impl Iterator<Item = &str> {
        let groups = self.yaml.iter().filter(move |group| group.name == name);
        groups.flat_map(|group| group.keys.iter().map(String::as_str))
    }

    /// The first of `keys` that a key-file group holds.
    pub(super) fn key_of_group<'k>(&self, name: &str, keys: &[&'k str]) -> Option<&'k str> {
        first_key(&self.groups, name, keys)
    }

    /// The first of `keys` that a top-level YAML mapping holds.
    pub(super) fn key_of_top<'k>(&self, name: &str, keys: &[&'k str]) -> Option<&'k str> {
        first_key(&self.yaml, name, keys)
    }
}

fn first_key<'k>(groups: &[Group], name: &str, keys: &[&'k str]) -> Option<&'k str> {
    keys.iter().copied().find(|key| {
        groups
            .iter()
            .filter(|group| group.name == name)
            .any(|group| group.keys.iter().any(|held| held == key))
    })
}

/// The groups of a key file. A text whose first line that says something is neither a header nor an
/// assignment is no key file.
fn key_file_groups(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for line in text.split(['\n', '\r']).map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let header = line
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
            .filter(|(_, rest)| rest.trim_start().is_empty() || rest.trim_start().starts_with('#'));
        if let Some((name, _)) = header {
            groups.push(Group {
                name: name.to_owned(),
                keys: Vec::new(),
            });
        } else if let (Some((key, _)), Some(group)) = (line.split_once('='), groups.last_mut()) {
            group.keys.push(key.trim().to_owned());
        } else if groups.is_empty() && !is_assignment(line) {
            return groups;
        }
    }
    groups
}

/// Whether a line gives a key a value. One that has words before its first `=` is a command.
fn is_assignment(line: &str) -> bool {
    line.split_once('=')
        .is_some_and(|(key, _)| !key.trim().contains([' ', '\t']))
}

/// The top-level keys of a YAML text and the keys one level below them.
fn yaml_groups(text: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut child_indent = None;
    for line in text.lines() {
        let body = line.trim_start();
        if body.is_empty() || body.starts_with(['#', '%']) || body.starts_with("---") {
            continue;
        }
        let indent = line.len() - body.len();
        let Some(key) = yaml_key(body) else {
            continue;
        };
        if indent == 0 {
            groups.push(Group {
                name: key.to_owned(),
                keys: Vec::new(),
            });
            child_indent = None;
        } else if let Some(group) = groups.last_mut()
            && *child_indent.get_or_insert(indent) == indent
        {
            group.keys.push(key.to_owned());
        }
    }
    groups
}

/// The key of a `key: value` line.
fn yaml_key(body: &str) -> Option<&str> {
    let (key, rest) = body.split_once(':')?;
    let key = key.trim_end().trim_matches(['"', '\'']);
    let is_name = !key.is_empty()
        && key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    (is_name && (rest.is_empty() || rest.starts_with([' ', '\t']))).then_some(key)
}
