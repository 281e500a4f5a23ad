#![no_main]
//! Text protobuf: the text is kept, lookups do not panic, an edit reads back and settles.

use ds_config::{NVINFERSERVER, TextProtoDocument, TextProtoMessage, TextProtoValue};
use ds_config_fuzz::{applied, assert_settled, value_for};
use libfuzzer_sys::fuzz_target;

/// Paths to numbers and texts, at several depths of the schema.
const NUMBERS: [&[&str]; 3] = [
    &["infer_config", "max_batch_size"],
    &["input_control", "interval"],
    &["infer_config", "unique_id"],
];
const TEXTS: [&[&str]; 2] = [
    &["infer_config", "postprocess", "labelfile_path"],
    &["infer_config", "custom_lib", "path"],
];

fuzz_target!(|text: &[u8]| {
    let Ok(document) = TextProtoDocument::parse(text, &NVINFERSERVER) else {
        return;
    };
    assert_eq!(document.as_bytes(), text);
    let _ = document.refusal();
    look(document.root(), text.len());
    for path in NUMBERS {
        check(&document, path, "4", |value| {
            *value == TextProtoValue::Integer(4)
        });
    }
    for path in TEXTS {
        let value = value_for(text);
        let wanted = TextProtoValue::String(value.as_bytes().to_vec());
        check(&document, path, value, |held| *held == wanted);
    }
});

fn look(message: &TextProtoMessage, len: usize) {
    for field in message.fields() {
        assert!(
            field.span().end() <= len,
            "a field lies outside of the text"
        );
        if let TextProtoValue::Message(inner) = field.value() {
            look(inner, len);
        }
    }
}

fn check(
    document: &TextProtoDocument,
    path: &[&str],
    value: &str,
    reads_back: impl Fn(&TextProtoValue) -> bool,
) {
    let Some(after) = applied(document.as_bytes(), document.set(path, value)) else {
        return;
    };
    let after = TextProtoDocument::parse(&after, &NVINFERSERVER).expect("an edited file is read");
    let field = after.get(path).expect("the field is there");
    assert!(
        reads_back(field.value()),
        "{path:?} reads as {:?}",
        field.value()
    );
    assert_settled(after.set(path, value));
}
