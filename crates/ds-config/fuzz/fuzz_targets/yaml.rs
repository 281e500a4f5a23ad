#![no_main]
//! YAML: the text is kept, lookups do not panic, an edit reads back and settles.

use ds_config::{YamlDocument, YamlNode};
use ds_config_fuzz::{applied, assert_settled, value_for};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let Ok(document) = YamlDocument::parse(text) else {
        return;
    };
    assert_eq!(document.as_bytes(), text);
    if let Some(root) = document.root() {
        look(root);
    }
    for (name, group) in document.groups().take(4) {
        let Some(name) = name.text() else { continue };
        for (key, _) in group.entries().take(4) {
            if let Some(key) = key.text() {
                check(&document, name, key);
            }
        }
        check(&document, name, "a-key-of-the-fuzzer");
    }
    check(&document, "a-group-of-the-fuzzer", "key");
});

/// Reads a tree in every way, and sees that its spans lie in the text.
fn look(node: YamlNode<'_>) {
    let _ = (node.kind(), node.place(), node.bytes(), node.text_lossy());
    let _ = (node.int(), node.uint(), node.double(), node.boolean());
    for (key, value) in node.entries() {
        look(key);
        look(value);
    }
    node.items().for_each(look);
}

fn check(document: &YamlDocument, group: &str, key: &str) {
    let value = value_for(document.as_bytes());
    let Some(after) = applied(document.as_bytes(), document.set(group, key, value)) else {
        return;
    };
    let after = YamlDocument::parse(&after).expect("an edited file is read");
    let read = after.value(group, key).and_then(YamlNode::text);
    assert_eq!(read, Some(value), "in `{group}`, `{key}`");
    assert_settled(after.set(group, key, value));
}
