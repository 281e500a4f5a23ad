//! Handles into the tree of a YAML document.

use std::borrow::Cow;

use super::scan::{Data, Node};
use super::{YamlDocument, edit, reading};
use crate::error::Error;
use crate::line_index::Place;
use crate::text_edit::{Span, TextEdit};

/// What stands at a place of a YAML document, aliases followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum YamlKind {
    /// Nothing, `~` or `null`.
    Null,
    /// A single value.
    Scalar,
    /// A list, in block or flow style.
    Sequence,
    /// Keys with values, in block or flow style.
    Mapping,
}

/// One value or key of a [`YamlDocument`].
///
/// Reading follows an alias to its anchor; spans and edits concern the place itself.
#[derive(Debug, Clone, Copy)]
pub struct YamlNode<'a> {
    document: &'a YamlDocument,
    index: usize,
}

impl<'a> YamlNode<'a> {
    pub(super) fn new(document: &'a YamlDocument, index: usize) -> Self {
        Self { document, index }
    }

    pub(super) fn document(self) -> &'a YamlDocument {
        self.document
    }

    pub(super) fn index(self) -> usize {
        self.index
    }

    /// The node as written: an alias stays an alias.
    pub(super) fn raw(self) -> &'a Node {
        &self.document.nodes[self.index]
    }

    /// The node that is read here. An alias names an anchor, and no anchor stands on an alias.
    fn target(self) -> &'a Node {
        match self.raw().data {
            Data::Alias(target) => &self.document.nodes[target],
            _ => self.raw(),
        }
    }

    /// What is read here.
    #[must_use]
    pub fn kind(self) -> YamlKind {
        match &self.target().data {
            Data::Scalar(scalar) if scalar.null => YamlKind::Null,
            Data::Scalar(_) | Data::Alias(_) => YamlKind::Scalar,
            Data::Sequence(_) => YamlKind::Sequence,
            Data::Mapping(_) => YamlKind::Mapping,
        }
    }

    /// The bytes of the value as written: with its quotes, without its anchor, tag and comment.
    ///
    /// Empty where nothing is written. A block scalar (`|`, `>`) is its text without the header.
    #[must_use]
    pub fn span(self) -> Span {
        self.raw().span
    }

    /// Where the value begins.
    #[must_use]
    pub fn place(self) -> Place {
        self.document.place(self.span().start())
    }

    /// The value as yaml-cpp hands it over, quotes and escapes resolved; `None` for lists and
    /// mappings. A null reads as `null`.
    #[must_use]
    pub fn bytes(self) -> Option<&'a [u8]> {
        match &self.target().data {
            Data::Scalar(scalar) if scalar.null => Some(b"null"),
            Data::Scalar(scalar) => Some(&scalar.value),
            _ => None,
        }
    }

    /// [`YamlNode::bytes`] where they are UTF-8.
    #[must_use]
    pub fn text(self) -> Option<&'a str> {
        str::from_utf8(self.bytes()?).ok()
    }

    /// [`YamlNode::bytes`] for a message: bytes that are not UTF-8 are shown as replacement
    /// characters.
    #[must_use]
    pub fn text_lossy(self) -> Option<Cow<'a, str>> {
        self.bytes().map(String::from_utf8_lossy)
    }

    /// The value read as a C `int`; `None` where yaml-cpp throws.
    ///
    /// `0x10` is 16 and `010` is 8. nvinfer, deepstream-app and the new nvstreammux read their
    /// flags in this way, so `true` ends the program.
    #[must_use]
    pub fn int(self) -> Option<i32> {
        self.number().and_then(reading::int)
    }

    /// The value read as a C `unsigned int`; `None` where yaml-cpp throws.
    #[must_use]
    pub fn uint(self) -> Option<u32> {
        self.number().and_then(reading::uint)
    }

    /// The value read as a C++ `double`; `None` where yaml-cpp throws.
    #[must_use]
    pub fn double(self) -> Option<f64> {
        self.number().and_then(reading::double)
    }

    /// The value read as a C++ `bool`; `None` where yaml-cpp throws, as it does at `0` and `1`.
    #[must_use]
    pub fn boolean(self) -> Option<bool> {
        self.number().and_then(reading::boolean)
    }

    /// The text that a conversion starts from; a null converts to nothing.
    fn number(self) -> Option<&'a str> {
        match self.kind() {
            YamlKind::Scalar => self.text(),
            _ => None,
        }
    }

    /// The keys and values of a mapping in the order of the text, repeated keys included; nothing
    /// for any other kind. Merge keys (`<<`) are keys like any other: yaml-cpp does not apply them.
    pub fn entries(self) -> impl DoubleEndedIterator<Item = (Self, Self)> {
        let entries = match &self.target().data {
            Data::Mapping(entries) => entries.as_slice(),
            _ => &[],
        };
        let document = self.document;
        entries
            .iter()
            .map(move |&(key, value)| (Self::new(document, key), Self::new(document, value)))
    }

    /// The items of a list; nothing for any other kind.
    pub fn items(self) -> impl DoubleEndedIterator<Item = Self> {
        let items = match &self.target().data {
            Data::Sequence(items) => items.as_slice(),
            _ => &[],
        };
        let document = self.document;
        items.iter().map(move |&index| Self::new(document, index))
    }

    /// The value of the first such key, which is what a lookup by name finds.
    #[must_use]
    pub fn first(self, key: &str) -> Option<Self> {
        self.entries()
            .find(|(name, _)| name.bytes() == Some(key.as_bytes()))
            .map(|(_, value)| value)
    }

    /// The value of the last such key, which is what a loop over all keys is left with.
    #[must_use]
    pub fn last(self, key: &str) -> Option<Self> {
        self.entries()
            .rfind(|(name, _)| name.bytes() == Some(key.as_bytes()))
            .map(|(_, value)| value)
    }

    /// Replaces the value that stands here, keeping its quotes, its comment and all other bytes.
    ///
    /// Setting the value that is read already is the empty edit. A flow list or flow mapping gives
    /// way to the scalar.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`](crate::ErrorKind::InvalidValue) for a block scalar, a block list
    /// or a block mapping, and inside of what an alias repeats elsewhere, where the change would be
    /// made too.
    pub fn set(self, value: &str) -> Result<TextEdit, Error> {
        edit::set(self, value)
    }

    /// Gives a key of this mapping its value: replaces the last such key's value, or adds the key
    /// after the last live one in the style of its neighbours.
    ///
    /// A place without a value (`property:`) becomes a mapping.
    ///
    /// # Errors
    ///
    /// As [`YamlNode::set`]; also [`ErrorKind::InvalidValue`](crate::ErrorKind::InvalidValue) where
    /// this is a list or a scalar, or an alias of a mapping that stands elsewhere.
    pub fn set_key(self, key: &str, value: &str) -> Result<TextEdit, Error> {
        match self.last(key) {
            Some(node) => node.set(value),
            None => edit::add_key(self, key, value),
        }
    }
}
