//! YAML as yaml-cpp reads it, the library behind nvinfer, deepstream-app and the new nvstreammux.
//!
//! The events come from saphyr-parser. Three habits of yaml-cpp 0.7.0 are added in front of it:
//! directives without a `---` after them (the OpenCV header `%YAML:1.0`), tabs after a colon, and
//! bytes that are not UTF-8. What yaml-cpp throws at is an error of kind
//! [`ErrorKind::Refused`](crate::ErrorKind::Refused).

mod edit;
mod node;
mod reading;
mod scan;

pub use node::{YamlKind, YamlNode};

use crate::error::Error;
use crate::line_index::{LineIndex, Place};
use crate::text_edit::{Span, TextEdit};
use scan::Node;

/// One YAML file: its bytes, and the tree of its first document with the byte span of each value.
///
/// Of several documents in one file yaml-cpp loads the first, so the others are only carried
/// along.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlDocument {
    text: Vec<u8>,
    lines: LineIndex,
    /// In the order of the text, parents before children; the first one is the root.
    nodes: Vec<Node>,
}

impl YamlDocument {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused), with line and column, where yaml-cpp
    /// refuses the file too.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let lines = LineIndex::new(text);
        let nodes = scan::scan(text, &lines)?;
        Ok(Self {
            text: text.to_vec(),
            lines,
            nodes,
        })
    }

    /// The file, byte for byte.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// The top of the first document; `None` for a file that holds only comments.
    #[must_use]
    pub fn root(&self) -> Option<YamlNode<'_>> {
        (!self.nodes.is_empty()).then(|| YamlNode::new(self, 0))
    }

    /// The top-level keys with their values, in the order of the file, repeated ones included.
    pub fn groups(&self) -> impl Iterator<Item = (YamlNode<'_>, YamlNode<'_>)> {
        self.root().into_iter().flat_map(YamlNode::entries)
    }

    /// A group by its name. Of two groups with one name the first is read and the second never.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<YamlNode<'_>> {
        self.root()?.first(name)
    }

    /// The value that a DeepStream parser ends up with: the last such key of the first such group.
    ///
    /// The parsers look a group up by its name and then loop over its keys.
    #[must_use]
    pub fn value(&self, group: &str, key: &str) -> Option<YamlNode<'_>> {
        self.group(group)?.last(key)
    }

    /// Gives a key of a group its value: replaces the value that is read now, adds the key where
    /// the group lacks it, and adds the group where the file lacks it.
    ///
    /// # Errors
    ///
    /// See [`YamlNode::set`] and [`YamlNode::set_key`].
    pub fn set(&self, group: &str, key: &str, value: &str) -> Result<TextEdit, Error> {
        match self.group(group) {
            Some(node) => node.set_key(key, value),
            None => edit::add_group(self, group, key, value),
        }
    }

    /// The line and column of a byte offset.
    #[must_use]
    pub fn place(&self, offset: usize) -> Place {
        self.lines.place(&self.text, offset)
    }

    /// The bytes of a span that was made from this document.
    fn bytes(&self, span: Span) -> &[u8] {
        span.of(&self.text).unwrap_or_default()
    }
}
