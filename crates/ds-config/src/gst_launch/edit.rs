//! Surgical edits of launch texts: a value in place, a missing property, another factory.

use std::fmt;

use super::graph::{GstElement, GstGraph, GstProperty};
use super::shell::{Glyph, Quote};
use crate::assignment::PropertyAssignment;
use crate::error::{Error, ErrorKind};
use crate::text_edit::{Span, TextEdit};

/// Why a value cannot be changed where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Blocked {
    /// The shell, or the reader of a manual, puts something else in this place.
    Expansion(String),
    /// The value is put together from parts in different quotes.
    MixedQuotes,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expansion(written) => {
                write!(f, "`{written}` is filled in when the pipeline is started")
            }
            Self::MixedQuotes => {
                f.write_str("the value is put together from parts in different quotes")
            }
        }
    }
}

/// How the characters of a value stand in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// All in one way of quoting of the shell.
    Shell(Quote),
    /// In a string that another program hands to the launch parser, quoted there or not.
    String,
    /// In several.
    Mixed,
    /// An expansion is among them.
    Expansion,
}

impl Quoting {
    /// The quoting of some characters.
    pub(super) fn of<'a>(glyphs: impl Iterator<Item = &'a Glyph>, words: WordState) -> Self {
        let mut first: Option<&Glyph> = None;
        let mut mixed = false;
        for glyph in glyphs {
            if glyph.expands {
                return Self::Expansion;
            }
            let start = *first.get_or_insert(glyph);
            mixed |= start.region != glyph.region;
        }
        match (mixed, words) {
            (true, _) => Self::Mixed,
            (false, WordState::OneString) => Self::String,
            (false, WordState::Words) => {
                Self::Shell(first.map_or(Quote::Bare, |glyph| glyph.quote))
            }
        }
    }

    /// Why a value in this quoting cannot be changed in place.
    pub(super) fn blocked(self, written: impl FnOnce() -> String) -> Option<Blocked> {
        match self {
            Self::Shell(_) | Self::String => None,
            Self::Mixed => Some(Blocked::MixedQuotes),
            Self::Expansion => Some(Blocked::Expansion(written())),
        }
    }

    /// The value as it must stand in the file.
    fn encode(self, value: &str) -> Result<String, Error> {
        let plain = !value.is_empty() && value.chars().all(is_plain);
        let impossible = || {
            let message = format!("`{value}` cannot be written in these quotes");
            Err(Error::new(ErrorKind::InvalidValue, message))
        };
        // Quotes and backslashes have a meaning of their own for the launch parser.
        if value.is_empty()
            || value
                .chars()
                .any(|c| c.is_control() || matches!(c, '"' | '\'' | '\\'))
        {
            return impossible();
        }
        match self {
            _ if plain => Ok(value.to_owned()),
            Self::Shell(Quote::Bare) => Ok(format!("'{value}'")),
            Self::Shell(Quote::Single) => Ok(value.to_owned()),
            Self::Shell(Quote::Double) => Ok(value.replace('$', "\\$").replace('`', "\\`")),
            Self::Shell(Quote::Nested) | Self::String | Self::Mixed | Self::Expansion => {
                impossible()
            }
        }
    }
}

/// Whether a launch text came as words or as one string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WordState {
    Words,
    OneString,
}

/// Whether a character means itself to the shell and to the launch parser.
pub(crate) fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '-' | '.' | '/' | ':' | '+' | '%' | ',' | '=' | '@')
}

impl GstGraph {
    /// The edit that gives a property its value; empty where the value already stands there.
    ///
    /// Of a property given twice the last one is changed, inside its quotes. A missing property
    /// goes behind the last one of the element.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotEditable`] where the shell fills in the value or the element, and for a new
    /// `name`: links and other programs refer to an element by it,
    /// [`ErrorKind::InvalidValue`] for a value that the quotes in the file cannot hold.
    pub fn set_property(&self, element: usize, name: &str, value: &str) -> Result<TextEdit, Error> {
        let element = self.editable(element)?;
        let held = element.property(name);
        if let Some(blocked) = held.and_then(|property| property.blocked.as_ref()) {
            return Err(Error::new(ErrorKind::NotEditable, blocked.to_string()));
        }
        if name == "name" && element.name != value {
            let message = format!("other places refer to `{}` by its name", element.name);
            return Err(Error::new(ErrorKind::NotEditable, message));
        }
        let Some(property) = held else {
            return insert(element, name, value);
        };
        if property.value == value {
            return Ok(TextEdit::empty());
        }
        let text = property.quoting.encode(value)?;
        Ok(TextEdit::replace(property.value_span, text))
    }

    /// The edit that puts another factory in the place of an element's own, and takes away the
    /// properties that the other one lacks. Gives the names of those beside it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotEditable`] where the shell fills in the element.
    pub fn replace_element(
        &self,
        element: usize,
        factory: &str,
        has_property: impl Fn(&str) -> bool,
    ) -> Result<(TextEdit, Vec<String>), Error> {
        let element = self.editable(element)?;
        let mut edit = TextEdit::empty();
        if element.factory != factory {
            edit = TextEdit::replace(element.span, factory);
        }
        let mut dropped = Vec::new();
        let mut kept_to = element.factory_end;
        for property in &element.properties {
            if !has_property(&property.name) {
                edit = edit.union(TextEdit::delete(Span::new(kept_to, property.words.end)))?;
                dropped.push(property.name.clone());
            }
            kept_to = property.words.end;
        }
        Ok((edit, dropped))
    }

    /// Whether this graph is `before` with other values of some properties.
    pub(crate) fn has_taken(&self, before: &Self, assignments: &[PropertyAssignment<'_>]) -> bool {
        let same = |one: &GstElement, other: &GstElement| {
            (&one.factory, &one.name, one.opaque) == (&other.factory, &other.name, other.opaque)
        };
        let reads_back = |one: &PropertyAssignment<'_>| {
            let element = self.elements.get(one.element);
            let property = element.and_then(|element| element.property(one.name));
            property.is_some_and(|property| property.value == one.value)
        };
        self.links == before.links
            && self.elements.len() == before.elements.len()
            && self
                .elements
                .iter()
                .zip(&before.elements)
                .all(|(one, other)| same(one, other))
            && assignments.iter().all(reads_back)
    }

    /// The element of an index, unless the shell fills it in.
    fn editable(&self, element: usize) -> Result<&GstElement, Error> {
        let Some(element) = self.elements.get(element) else {
            let message = format!("there is no element {element}");
            return Err(Error::new(ErrorKind::NotFound, message));
        };
        if element.opaque {
            let blocked = Blocked::Expansion(element.factory.clone());
            return Err(Error::new(ErrorKind::NotEditable, blocked.to_string()));
        }
        Ok(element)
    }
}

/// Puts a property behind the last one of an element, in the style of that one.
fn insert(element: &GstElement, name: &str, value: &str) -> Result<TextEdit, Error> {
    let last: Option<&GstProperty> = element.properties.last();
    let spaced = last.is_some_and(|property| property.separator == " = ");
    let separator = if spaced { " = " } else { "=" };
    let value = element.insert_quoting.encode(value)?;
    Ok(TextEdit::insert(
        element.end,
        format!(" {name}{separator}{value}"),
    ))
}
