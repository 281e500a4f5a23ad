//! A service-maker file as a graph of objects.

use super::builder::Builder;
use super::mux::generation;
use super::object::{ENTRY, Host, Object, ObjectGraph, ObjectLink};
use super::pipeline;
use crate::error::{Error, ErrorKind};
use crate::model::{Document, nodes};
use crate::yaml::{YamlDocument, YamlNode};

/// Reads the nodes and edges of the first file.
pub(super) fn resolve(builder: &mut Builder<'_>) -> Result<(), Error> {
    let Document::Yaml(document) = &builder.file(ENTRY).document else {
        return Err(no_nodes());
    };
    let generation = generation(builder.environment("USE_NEW_NVSTREAMMUX").as_deref());
    let objects: Vec<Object> = nodes(document).into_iter().map(object).collect();
    if objects.is_empty() {
        return Err(no_nodes());
    }
    let links = links(document, &objects);
    let graph = ObjectGraph {
        objects,
        links,
        host: Host::ServiceMaker,
        generation,
    };
    pipeline::resolve(builder, &graph);
    Ok(())
}

/// One node.
fn object(node: YamlNode<'_>) -> Object {
    let text = |key: &str| {
        let value = node.last(key).and_then(YamlNode::text_lossy);
        value.unwrap_or_default().into_owned()
    };
    let properties = node
        .last("properties")
        .into_iter()
        .flat_map(YamlNode::entries);
    Object {
        factory: text("type"),
        name: text("name"),
        opaque: false,
        count: Some(1),
        offset: node.span().start(),
        properties: properties
            .filter_map(|(key, value)| {
                Some((
                    key.text()?.replace('_', "-"),
                    value.text().map(str::to_owned),
                ))
            })
            .collect(),
        listed_sources: None,
        flow: None,
    }
}

/// The links: each key of `edges` gives to the nodes of its value, pads left aside.
fn links(document: &YamlDocument, objects: &[Object]) -> Vec<ObjectLink> {
    let find = |end: YamlNode<'_>| {
        let text = end.text()?;
        let name = text.split_once('.').map_or(text, |(name, _)| name);
        objects.iter().position(|object| object.name == name)
    };
    let edges = document
        .group("deepstream")
        .and_then(|group| group.last("edges"));
    let mut links = Vec::new();
    for (from, to) in edges.into_iter().flat_map(YamlNode::entries) {
        let ends = std::iter::once(to).chain(to.items());
        for end in ends {
            if let (Some(from), Some(to)) = (find(from), find(end)) {
                links.push(ObjectLink {
                    from,
                    to,
                    caps: None,
                });
            }
        }
    }
    links
}

fn no_nodes() -> Error {
    Error::new(
        ErrorKind::NoPipeline,
        "there are no `nodes` under `deepstream`",
    )
}
