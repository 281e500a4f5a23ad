//! Key files: the `[group]` and `key=value` syntax that GLib's `GKeyFile` reads.
//!
//! deepstream-app, nvinfer, nvdsanalytics, nvdspreprocess and the new nvstreammux all read their
//! `.txt` files this way. The reading here is that of GLib 2.74, down to the values that it refuses.

mod edit;
mod line;
mod value;

use std::borrow::Cow;
use std::collections::BTreeMap;

use self::line::{Entry, Line, LineKind};
use crate::error::{Error, ErrorKind};
use crate::line_index::{LineIndex, Place};
use crate::text_edit::Span;

pub use self::edit::{IniAssignment, IniType};
pub use self::value::IniValue;

/// A key file that keeps every byte of its text.
///
/// Parsing never fails. A file that GLib refuses as a whole says so in [`IniDocument::refusal`],
/// and cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IniDocument {
    text: Vec<u8>,
    index: LineIndex,
    lines: Vec<Line>,
    sections: Vec<Section>,
    /// The sections of each group, by its name.
    groups: BTreeMap<Vec<u8>, Vec<usize>>,
    refusal: Option<Error>,
}

/// A group header and the live entries under it. Sections of one name make up one group.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Section {
    name: Span,
    /// The line of the header.
    header: usize,
    /// The lines of the entries, translations left out.
    entries: Vec<usize>,
}

impl IniDocument {
    /// Reads a text.
    #[must_use]
    pub fn parse(text: impl Into<Vec<u8>>) -> Self {
        let text = text.into();
        let index = LineIndex::new(&text);
        let lines = line::scan(&text);
        let mut sections: Vec<Section> = Vec::new();
        let mut refusal = None;
        for (number, line) in lines.iter().enumerate() {
            let reason = match &line.kind {
                LineKind::Trivia => continue,
                LineKind::Group { name } => {
                    sections.push(Section {
                        name: *name,
                        header: number,
                        entries: Vec::new(),
                    });
                    continue;
                }
                LineKind::Entry(_) | LineKind::BadKey if sections.is_empty() => {
                    if text.contains(&b'\r') && !text.contains(&b'\n') {
                        "a key stands before any group: the lines end in CR alone"
                    } else {
                        "a key stands before any group"
                    }
                }
                LineKind::Entry(entry) => {
                    let current = sections.last_mut().filter(|_| !entry.translation);
                    if let Some(section) = current {
                        section.entries.push(number);
                    }
                    continue;
                }
                LineKind::BadKey => "the key holds a bracket in a place where none may stand",
                LineKind::Refused(reason) => reason,
            };
            refusal.get_or_insert_with(|| {
                Error::new(ErrorKind::Refused, reason).at(index.place(&text, line.span.start))
            });
        }
        let mut groups: BTreeMap<Vec<u8>, Vec<usize>> = BTreeMap::new();
        for (number, section) in sections.iter().enumerate() {
            let name = text[section.name.start..section.name.end].to_vec();
            groups.entry(name).or_default().push(number);
        }
        Self {
            text,
            index,
            lines,
            sections,
            groups,
            refusal,
        }
    }

    /// The text, byte for byte as it was given.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// Why GLib refuses the file, with the first line it refuses; such a file never worked.
    #[must_use]
    pub fn refusal(&self) -> Option<&Error> {
        self.refusal.as_ref()
    }

    /// The lines, terminators included; one after the other they are the text.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.lines.iter().map(|line| self.slice(line.span))
    }

    /// The names of the groups, each once, in the order of their first headers.
    #[must_use]
    pub fn groups(&self) -> Vec<Cow<'_, str>> {
        let is_first = |number: &usize, section: &Section| {
            let sections = self.groups.get(self.slice(section.name));
            sections.and_then(|sections| sections.first()) == Some(number)
        };
        self.sections
            .iter()
            .enumerate()
            .filter(|(number, section)| is_first(number, section))
            .map(|(_, section)| String::from_utf8_lossy(self.slice(section.name)))
            .collect()
    }

    /// Whether a group of this name exists.
    #[must_use]
    pub fn has_group(&self, group: &str) -> bool {
        self.sections_named(group).next().is_some()
    }

    /// The place of the first header of a group.
    #[must_use]
    pub fn group_place(&self, group: &str) -> Option<Place> {
        let section = self.sections_named(group).next()?;
        Some(self.index.place(&self.text, section.name.start - 1))
    }

    /// The name and the offset of every group header, repeated ones included.
    pub(crate) fn headers(&self) -> impl Iterator<Item = (Vec<u8>, usize)> {
        self.sections
            .iter()
            .map(|section| (self.slice(section.name).to_vec(), section.name.start - 1))
    }

    /// The keys of a group with their values, in order; a key given twice is listed twice.
    pub(crate) fn pairs<'a>(
        &'a self,
        group: &'a str,
    ) -> impl Iterator<Item = (Cow<'a, str>, IniValue<'a>)> {
        self.entries(group).map(|(_, entry)| {
            let key = String::from_utf8_lossy(self.slice(entry.key));
            (key, self.value(entry))
        })
    }

    /// The keys of a group in order; a key given twice is listed twice.
    pub fn keys<'a>(&'a self, group: &'a str) -> impl Iterator<Item = Cow<'a, str>> {
        self.entries(group)
            .map(|(_, entry)| String::from_utf8_lossy(self.slice(entry.key)))
    }

    /// The value that counts: the last one given to the key, in whichever section of the group.
    #[must_use]
    pub fn get(&self, group: &str, key: &str) -> Option<IniValue<'_>> {
        let (_, entry) = self.find(group, key)?;
        Some(self.value(entry))
    }

    /// Every value given to the key, in order; all but the last are without effect.
    pub fn get_all<'a>(
        &'a self,
        group: &'a str,
        key: &'a str,
    ) -> impl Iterator<Item = IniValue<'a>> {
        self.entries(group)
            .filter(move |(_, entry)| self.slice(entry.key) == key.as_bytes())
            .map(|(_, entry)| self.value(entry))
    }

    /// The line and entry of the value that counts.
    fn find(&self, group: &str, key: &str) -> Option<(usize, Entry)> {
        self.entries(group)
            .filter(|(_, entry)| self.slice(entry.key) == key.as_bytes())
            .last()
    }

    /// The live entries of a group, with their line numbers from 0.
    fn entries<'a>(&'a self, group: &'a str) -> impl Iterator<Item = (usize, Entry)> + 'a {
        self.sections_named(group)
            .flat_map(|section| &section.entries)
            .filter_map(|number| match self.lines[*number].kind {
                LineKind::Entry(entry) => Some((*number, entry)),
                _ => None,
            })
    }

    /// The sections that make up a group.
    fn sections_named(&self, group: &str) -> impl Iterator<Item = &Section> {
        let numbers = self
            .groups
            .get(group.as_bytes())
            .map_or(&[][..], Vec::as_slice);
        numbers.iter().map(|number| &self.sections[*number])
    }

    /// The value of an entry.
    fn value(&self, entry: Entry) -> IniValue<'_> {
        IniValue {
            raw: self.slice(entry.value),
            span: entry.value,
            place: self.index.place(&self.text, entry.value.start),
        }
    }

    /// The bytes of a span that this document made.
    fn slice(&self, span: Span) -> &[u8] {
        &self.text[span.start..span.end]
    }
}
