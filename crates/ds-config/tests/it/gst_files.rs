//! Scripts and documents with several command lines, each with all that is found in them.

use std::fmt::Write as _;

use ds_config::GstScript;

use crate::table::testdata;

/// The commands of a file: elements with their places, properties with the bytes of their values.
fn show(name: &str) -> String {
    let text = std::fs::read(testdata("gst").join(name)).expect("the file is there");
    let script = GstScript::parse(text.as_slice());
    let mut out = String::new();
    for command in script.commands() {
        writeln!(out, "{} {:?}", command.place, command.liveness).expect("a string takes text");
        for (name, value) in &command.environment {
            writeln!(out, "  {name}={value}").expect("a string takes text");
        }
        if let Some(fault) = &command.fault {
            writeln!(out, "  fault {fault}").expect("a string takes text");
        }
        let graph = match &command.graph {
            Ok(graph) => graph,
            Err(error) => {
                writeln!(out, "  refused {error}").expect("a string takes text");
                continue;
            }
        };
        for element in &graph.elements {
            let place = script.place(element.span.start());
            let opaque = if element.opaque { " (opaque)" } else { "" };
            writeln!(
                out,
                "  {place} {} `{}`{opaque}",
                element.factory, element.name
            )
            .expect("a string takes text");
            for property in &element.properties {
                let place = script.place(property.value_span.start());
                let written = property.value_span.of(&text).expect("a span of the file");
                let written = String::from_utf8_lossy(written);
                let blocked = property
                    .blocked
                    .as_ref()
                    .map(|blocked| format!(", {blocked}"));
                let blocked = blocked.unwrap_or_default();
                writeln!(
                    out,
                    "    {place} {} = `{}` in `{written}`{blocked}",
                    property.name, property.value
                )
                .expect("a string takes text");
            }
        }
        let ends = graph.links.iter().map(|link| {
            let end = |index: usize, pad: &Option<String>| {
                let pad = pad
                    .as_deref()
                    .map(|pad| format!(".{pad}"))
                    .unwrap_or_default();
                format!("{}{pad}", graph.elements[index].name)
            };
            let caps = link
                .caps
                .as_deref()
                .map(|caps| format!(" [{caps}]"))
                .unwrap_or_default();
            format!(
                "{}{caps} > {}",
                end(link.from, &link.from_pad),
                end(link.to, &link.to_pad)
            )
        });
        for link in ends {
            writeln!(out, "  {link}").expect("a string takes text");
        }
    }
    out
}

#[test]
fn scripts_and_documents_are_read_command_by_command() {
    for name in [
        "two_cameras.sh",
        "loop.sh",
        "readme.md",
        "quoting.sh",
        "crlf.md",
        "docker.sh",
        "branches.sh",
        "broken.md",
    ] {
        insta::assert_snapshot!(format!("gst_{}", name.replace('.', "_")), show(name));
    }
}
