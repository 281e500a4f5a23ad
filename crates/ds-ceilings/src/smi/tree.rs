//! `nvidia-smi -q` and `-q -x` as one kind of tree, so that one reader serves both.

use crate::error::{Error, Output, SmiFailure};

/// Outputs nest six levels deep. What lies deeper than this is no report, and is cut so that a
/// hostile input cannot exhaust the stack.
const MAX_DEPTH: usize = 32;

/// A named section or value with what stands below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    /// The text beside or inside the name; empty for a pure section.
    pub(super) value: String,
    pub(super) children: Vec<Self>,
}

impl Section {
    /// The first child of this name.
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// The section at the end of a path.
    pub(super) fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter()
            .try_fold(self, |section, name| section.child(name))
    }
}

/// Reads the XML form.
pub(super) fn from_xml(text: &str) -> Result<Section, Error> {
    if text.trim().is_empty() {
        return Err(Error::Empty {
            output: Output::Xml,
        });
    }
    // The output names its schema in a DOCTYPE, which the reader refuses unless told otherwise.
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    let document = roxmltree::Document::parse_with_options(text, options).map_err(|error| {
        if let Some(failure) = SmiFailure::from_text(text) {
            return failure.into();
        }
        let position = error.pos();
        Error::Xml {
            output: Output::Xml,
            line: position.row,
            column: position.col,
            detail: error.to_string(),
        }
    })?;
    Ok(from_element(document.root_element(), 0))
}

fn from_element(element: roxmltree::Node<'_, '_>, depth: usize) -> Section {
    let children = element
        .children()
        .filter(|_| depth < MAX_DEPTH)
        .filter(roxmltree::Node::is_element);
    let mut section = Section {
        name: element.tag_name().name().to_owned(),
        value: element.text().unwrap_or_default().trim().to_owned(),
        children: children
            .map(|child| from_element(child, depth + 1))
            .collect(),
    };
    // `<gpu id="00000000:00:06.0">`: the address is what the text form prints beside `GPU`.
    if let Some(id) = element.attribute("id") {
        id.clone_into(&mut section.value);
    }
    section
}

/// Reads the text form: nesting by indentation, `name : value`, `GPU address` for each GPU.
pub(super) fn from_text(text: &str) -> Result<Section, Error> {
    if let Some(failure) = SmiFailure::from_text(text) {
        return Err(failure.into());
    }
    if text.trim().is_empty() {
        return Err(Error::Empty {
            output: Output::Text,
        });
    }
    // The open sections, outermost first, each with the indentation at which it stands.
    let mut open: Vec<(usize, Section)> = Vec::new();
    let mut root = Section::default();
    for line in text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('='))
    {
        let indent = line.len() - line.trim_start().len();
        while open.len() >= MAX_DEPTH || open.last().is_some_and(|(depth, _)| *depth >= indent) {
            close(&mut open, &mut root);
        }
        open.push((indent, section_of(line.trim())));
    }
    while !open.is_empty() {
        close(&mut open, &mut root);
    }
    Ok(root)
}

/// Hangs the innermost open section below the one around it.
fn close(open: &mut Vec<(usize, Section)>, root: &mut Section) {
    if let Some((_, section)) = open.pop() {
        open.last_mut()
            .map_or(root, |(_, parent)| parent)
            .children
            .push(section);
    }
}

fn section_of(line: &str) -> Section {
    // A PCI address holds colons but no blank before them, which tells it from `name : value`.
    let (name, value) = match line.strip_prefix("GPU ") {
        Some(address) if address.contains(':') && !address.contains(" :") => ("GPU", address),
        _ => line
            .split_once(" : ")
            .unwrap_or((line.trim_end_matches(':'), "")),
    };
    Section {
        name: name.trim().to_owned(),
        value: value.trim().to_owned(),
        children: Vec::new(),
    }
}
