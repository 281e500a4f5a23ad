//! A graph as a shell script.

use std::fmt::Write as _;

use super::graph::{Chain, Graph, Node, Property};

/// The script, with `head` as comments in front.
pub(super) fn script(graph: &Graph, head: &[String]) -> String {
    let mut out = "#!/bin/sh\n".to_owned();
    for line in head {
        let _ = writeln!(out, "# {line}");
    }
    out.push_str("set -eu\ncd \"$(dirname \"$0\")\"\n\ngst-launch-1.0 -e");
    for chain in &graph.chains {
        out.push_str(" \\\n  ");
        out.push_str(&chain_text(chain));
    }
    out.push('\n');
    out
}

/// One chain. A source stands on one line; the others have a line for each element.
fn chain_text(chain: &Chain) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(chain.from.as_ref().map(|tee| format!("{tee}.")));
    parts.extend(chain.nodes.iter().map(node_text));
    if let Some((element, pad)) = &chain.to {
        parts.push(format!("{element}.{pad}"));
    }
    let link = if chain.to.is_some() {
        " ! "
    } else {
        " ! \\\n  "
    };
    parts.join(link)
}

fn node_text(node: &Node) -> String {
    if node.factory == "capsfilter"
        && let Some((_, Property::Text(caps))) = node.properties.first()
    {
        return quoted(caps);
    }
    let mut out = format!("{} name={}", node.factory, node.name);
    for (name, value) in &node.properties {
        let value = match value {
            Property::Text(text) => quoted(text),
            Property::Number(number) => number.to_string(),
            Property::Flag(flag) => flag.to_string(),
        };
        let _ = write!(out, " {name}={value}");
    }
    out
}

/// A word as the shell takes it literally.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=@%+".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
