#![no_main]
//! Python programs: the text is kept, spans lie in it, an edit reads back and settles.

use ds_config::PythonDocument;
use ds_config_fuzz::{applied, assert_settled, value_for};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(document) = PythonDocument::parse(text) else {
        return;
    };
    assert_eq!(document.as_bytes(), text);
    for (number, element) in document.elements().iter().enumerate() {
        assert!(element.span.end() <= text.len(), "{element:?}");
        let _ = document.place(element.span.start());
        if number < 3 {
            for property in element.properties.iter().take(2) {
                check(&document, number, &property.name);
            }
            check(&document, number, "a-property-of-the-fuzzer");
        }
    }
    for (number, launch) in document.launches().iter().enumerate().take(2) {
        let Ok(graph) = &launch.graph else { continue };
        for (position, element) in graph.elements.iter().enumerate().take(3) {
            for property in element.properties.iter().take(2) {
                check_launch(&document, number, position, &property.name);
            }
            check_launch(&document, number, position, "a-property-of-the-fuzzer");
        }
    }
});

fn check(document: &PythonDocument, element: usize, name: &str) {
    let value = value_for(document.as_bytes());
    let Some(after) = applied(document.as_bytes(), document.set(element, name, value)) else {
        return;
    };
    let after = PythonDocument::parse(&after).expect("an edited program is read");
    assert_settled(after.set(element, name, value));
}

fn check_launch(document: &PythonDocument, launch: usize, element: usize, name: &str) {
    let value = value_for(document.as_bytes());
    let edit = document.set_launch(launch, element, name, value);
    let Some(after) = applied(document.as_bytes(), edit) else {
        return;
    };
    let after = PythonDocument::parse(&after).expect("an edited program is read");
    assert_settled(after.set_launch(launch, element, name, value));
}
