//! The nodes of a service-maker file.

use crate::error::{Error, ErrorKind};
use crate::text_edit::{Span, TextEdit};
use crate::yaml::{YamlDocument, YamlKind, YamlNode};

/// The nodes, in the order of the file.
pub(crate) fn nodes(document: &YamlDocument) -> Vec<YamlNode<'_>> {
    let list = document
        .group("deepstream")
        .and_then(|group| group.last("nodes"));
    list.into_iter().flat_map(YamlNode::items).collect()
}

/// The edit that gives properties of one node their values.
pub(super) fn set(
    document: &YamlDocument,
    node: usize,
    values: &[(&str, String)],
) -> Result<TextEdit, Error> {
    let Some(node) = nodes(document).get(node).copied() else {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("there is no node {node}"),
        ));
    };
    let Some(properties) = node
        .last("properties")
        .filter(|node| node.kind() == YamlKind::Mapping)
    else {
        return add_properties(document, node, values);
    };
    let mut edit = TextEdit::empty();
    for (property, value) in values {
        // The program looks a property up under either spelling.
        let spelt = property.replace('-', "_");
        let name = if properties.last(&spelt).is_some() {
            &spelt
        } else {
            *property
        };
        edit = edit.union(properties.set_key(name, value)?)?;
    }
    Ok(edit)
}

/// Adds a `properties:` mapping below the last key of a node, indented as the node's own keys and,
/// one step further, as other nodes do.
fn add_properties(
    document: &YamlDocument,
    node: YamlNode<'_>,
    values: &[(&str, String)],
) -> Result<TextEdit, Error> {
    let cannot = || {
        let error = Error::new(
            ErrorKind::NotEditable,
            "the node has no `properties`, and they cannot be added here",
        );
        error.at(node.place())
    };
    let text = document.as_bytes();
    if node.last("properties").is_some() || text.get(node.span().start()) == Some(&b'{') {
        return Err(cannot());
    }
    let (first, _) = node.entries().next().ok_or_else(cannot)?;
    let (last_key, last_value) = node.entries().next_back().ok_or_else(cannot)?;
    let column = |node: YamlNode<'_>| node.place().column - 1;
    let own = column(first);
    let step = nodes(document)
        .into_iter()
        .find_map(|other| {
            let (outer, _) = other.entries().next()?;
            let (inner, _) = other.last("properties")?.entries().next()?;
            column(inner).checked_sub(column(outer))
        })
        .filter(|step| *step > 0)
        .unwrap_or(2);
    let newline = if text.windows(2).any(|pair| pair == b"\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let from = last_value.span().end().max(last_key.span().end());
    let line_end = text[from..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(text.len(), |length| from + length);
    let at = if text[from..line_end].ends_with(b"\r") {
        line_end - 1
    } else {
        line_end
    };
    let mut added = format!("{newline}{}properties:", " ".repeat(own));
    for (property, value) in values {
        added.push_str(newline);
        added.push_str(&" ".repeat(own + step));
        added.push_str(property);
        added.push_str(": ");
        added.push_str(value);
    }
    let edit = TextEdit::replace(Span::at(at), added);
    // Only an edit that reads back as asked is given out.
    let after = YamlDocument::parse(&edit.apply(text)?)?;
    let place = nodes(document)
        .iter()
        .position(|other| other.span() == node.span());
    let reads_back = place.is_some_and(|place| {
        nodes(&after)
            .get(place)
            .and_then(|node| node.last("properties"))
            .is_some_and(|properties| {
                values.iter().all(|(name, value)| {
                    properties.last(name).and_then(YamlNode::text) == Some(value)
                })
            })
    });
    if reads_back { Ok(edit) } else { Err(cannot()) }
}
