#![no_main]
//! Scripts with pipelines: the text is kept, spans lie in it, an edit reads back and settles.

use ds_config::{GstGraph, GstScript, Span};
use ds_config_fuzz::{applied, assert_settled, value_for};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let _ = GstGraph::parse_string(text, Span::new(0, text.len()));
    let script = GstScript::parse(text);
    assert_eq!(script.as_bytes(), text);
    for (number, command) in script.commands().iter().enumerate().take(3) {
        let Ok(graph) = &command.graph else { continue };
        for link in &graph.links {
            let n_elements = graph.elements.len();
            assert!(link.from < n_elements && link.to < n_elements, "{link:?}");
        }
        for (position, element) in graph.elements.iter().enumerate().take(4) {
            assert!(element.span.end() <= text.len(), "{element:?}");
            for property in element.properties.iter().take(3) {
                assert!(property.value_span.end() <= text.len(), "{property:?}");
                let _ = (property.integer(), property.boolean());
                check(&script, number, position, &property.name);
            }
            check(&script, number, position, "a-property-of-the-fuzzer");
        }
    }
});

fn check(script: &GstScript, command: usize, element: usize, name: &str) {
    let value = value_for(script.as_bytes());
    let before = graph(script, command).expect("it was there before");
    let edit = script.set_property(command, element, name, value);
    let Some(after) = applied(script.as_bytes(), edit) else {
        return;
    };
    let after = GstScript::parse(after);
    let graph_after = graph(&after, command).expect("an edited pipeline is read");
    assert_eq!(
        graph_after.elements.len(),
        before.elements.len(),
        "`{name}`, {value:?}"
    );
    let property = graph_after.elements[element]
        .property(name)
        .expect("it is there");
    assert_eq!(property.value, value, "`{name}`");
    assert_settled(after.set_property(command, element, name, value));
}

fn graph(script: &GstScript, command: usize) -> Option<&GstGraph> {
    script.commands().get(command)?.graph.as_ref().ok()
}
