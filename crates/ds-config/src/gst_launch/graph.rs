//! What a launch text describes: elements, their properties, and the links between them.

use super::edit::{Blocked, Quoting};
use crate::text_edit::Span;

/// The elements and links of one `gst-launch-1.0` command or one `gst_parse_launch` string.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct GstGraph {
    /// The elements, in the order of the text.
    pub elements: Vec<GstElement>,
    /// The links, in the order of the text.
    pub links: Vec<GstLink>,
}

/// One element.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GstElement {
    /// The factory, `nvinfer` for instance; the text of a variable where the shell fills it in.
    pub factory: String,
    /// The name by which references reach it: that of the `name` property, otherwise the one that
    /// GStreamer gives, `nvinfer0` for instance.
    pub name: String,
    /// Where the factory stands in the file.
    pub span: Span,
    /// Whether the factory is a shell variable or a placeholder, so that nothing is known of it.
    pub opaque: bool,
    /// The properties in the order of the text, `name` among them. A property may come twice.
    pub properties: Vec<GstProperty>,
    /// The end of the word that holds the factory.
    pub(crate) factory_end: usize,
    /// The end of the last word that belongs to the element.
    pub(crate) end: usize,
    /// How a property is quoted that is put behind the factory.
    pub(crate) insert_quoting: Quoting,
}

/// A property that the text gives to an element.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GstProperty {
    /// The name as GStreamer looks it up: with `-` where the text has `_`.
    pub name: String,
    /// The value, without the quotes that the shell or the launch parser takes off.
    pub value: String,
    /// Where the name stands in the file.
    pub name_span: Span,
    /// Where the value stands in the file, without quotes.
    pub value_span: Span,
    /// Why the value cannot be changed in place, where it cannot.
    pub blocked: Option<Blocked>,
    /// The whole words of the assignment, quotes included.
    pub(crate) words: Span,
    /// The sign between name and value, with its blanks.
    pub(crate) separator: String,
    /// How the characters of the value are quoted in the file.
    pub(crate) quoting: Quoting,
}

/// A link from one element to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GstLink {
    /// The index of the element that gives.
    pub from: usize,
    /// The pad that gives, where the text names one.
    pub from_pad: Option<String>,
    /// The index of the element that takes.
    pub to: usize,
    /// The pad that takes, where the text names one.
    pub to_pad: Option<String>,
    /// The caps that the link is held to, where the text gives some.
    pub caps: Option<String>,
}

impl GstElement {
    /// The value that counts for a property: the last one given. `_` in names equals `-`.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&GstProperty> {
        self.properties_named(name).last()
    }

    /// Every value given to a property; all but the last are without effect.
    pub fn properties_named(&self, name: &str) -> impl DoubleEndedIterator<Item = &GstProperty> {
        let name = name.replace('_', "-");
        self.properties
            .iter()
            .filter(move |property| property.name == name)
    }
}
