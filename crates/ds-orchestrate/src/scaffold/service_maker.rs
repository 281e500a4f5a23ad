//! A graph as a service-maker file.

use std::fmt::Write as _;

use super::graph::{Graph, Property};

/// The file, with `head` as comments in front.
pub(super) fn yaml(graph: &Graph, head: &[String]) -> String {
    let mut out = String::new();
    for line in head {
        let _ = writeln!(out, "# {line}");
    }
    out.push_str("deepstream:\n  nodes:\n");
    for node in graph.nodes() {
        let _ = writeln!(out, "  - type: {}\n    name: {}", node.factory, node.name);
        if !node.properties.is_empty() {
            out.push_str("    properties:\n");
        }
        for (name, value) in &node.properties {
            let _ = writeln!(out, "      {name}: {}", scalar(value));
        }
    }
    out.push_str("  edges:\n");
    for (from, to) in edges(graph) {
        match to.as_slice() {
            [to] => {
                let _ = writeln!(out, "    {from}: {to}");
            }
            several => {
                let _ = writeln!(out, "    {from}:");
                for to in several {
                    let _ = writeln!(out, "    - {to}");
                }
            }
        }
    }
    out
}

/// Each element with those behind it, in the order of the text.
pub(super) fn edges(graph: &Graph) -> Vec<(String, Vec<String>)> {
    let mut edges: Vec<(String, Vec<String>)> = Vec::new();
    let mut add = |from: &str, to: &str| match edges.iter_mut().find(|(name, _)| name == from) {
        Some((_, ends)) => ends.push(to.to_owned()),
        None => edges.push((from.to_owned(), vec![to.to_owned()])),
    };
    for chain in &graph.chains {
        let mut before = chain.from.clone();
        for node in &chain.nodes {
            if let Some(before) = &before {
                add(before, &node.name);
            }
            before = Some(node.name.clone());
        }
        if let (Some(before), Some((element, _))) = (&before, &chain.to) {
            add(before, element);
        }
    }
    edges
}

/// A value as YAML reads it back: a text that could be taken for something else is quoted.
fn scalar(value: &Property) -> String {
    match value {
        Property::Number(number) => number.to_string(),
        Property::Flag(flag) => flag.to_string(),
        Property::Text(text) => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=%+()".contains(c);
            let first = text.chars().next();
            if first.is_some_and(|c| c.is_ascii_alphabetic() || c == '/') && text.chars().all(plain)
            {
                text.clone()
            } else {
                format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\""))
            }
        }
    }
}
