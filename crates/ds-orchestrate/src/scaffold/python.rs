//! A graph as a program on pyservicemaker.

use std::fmt::Write as _;

use super::graph::{Chain, Graph, Property};

/// The program, with `head` as its documentation.
pub(super) fn program(graph: &Graph, head: &[String]) -> String {
    let mut out = format!("\"\"\"{}\"\"\"\n\n", head.join("\n"));
    out.push_str(
        "import os\n\n\
         from pyservicemaker import Pipeline\n\n\n\
         def main():\n\
         \x20   # Paths below are relative to this file.\n\
         \x20   os.chdir(os.path.dirname(os.path.abspath(__file__)))\n\
         \x20   pipeline = Pipeline(\"dsprof\")\n",
    );
    for node in graph.nodes() {
        let properties: Vec<String> = node
            .properties
            .iter()
            .map(|(name, value)| format!("\"{name}\": {}", literal(value)))
            .collect();
        let properties = match properties.as_slice() {
            [] => String::new(),
            _ => format!(", {{{}}}", properties.join(", ")),
        };
        let (factory, name) = (node.factory, &node.name);
        let _ = writeln!(
            out,
            "    pipeline.add(\"{factory}\", \"{name}\"{properties})"
        );
    }
    for chain in &graph.chains {
        out.push_str(&links(chain));
    }
    out.push_str("    pipeline.start().wait()\n\n\nif __name__ == \"__main__\":\n    main()\n");
    out
}

/// The links of one chain. A mux and a tee give their pads on request.
fn links(chain: &Chain) -> String {
    let mut out = String::new();
    let names: Vec<String> = chain
        .nodes
        .iter()
        .map(|node| format!("\"{}\"", node.name))
        .collect();
    if let (Some(tee), Some(first)) = (&chain.from, names.first()) {
        let _ = writeln!(
            out,
            "    pipeline.link((\"{tee}\", {first}), (\"src_%u\", \"\"))"
        );
    }
    if names.len() > 1 {
        let _ = writeln!(out, "    pipeline.link({})", names.join(", "));
    }
    if let (Some((element, _)), Some(last)) = (&chain.to, names.last()) {
        let _ = writeln!(
            out,
            "    pipeline.link(({last}, \"{element}\"), (\"\", \"sink_%u\"))"
        );
    }
    out
}

fn literal(value: &Property) -> String {
    match value {
        Property::Number(number) => number.to_string(),
        Property::Flag(true) => "True".to_owned(),
        Property::Flag(false) => "False".to_owned(),
        Property::Text(text) => {
            let escaped = text.replace('\\', r"\\").replace('"', "\\\"");
            format!("\"{}\"", escaped.replace('\n', r"\n"))
        }
    }
}
