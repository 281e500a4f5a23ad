#![no_main]
//! Key files: the lines are the text, lookups do not panic, an edit reads back and settles.

use ds_config::{IniAssignment, IniDocument, IniType};
use ds_config_fuzz::{applied, assert_settled, value_for};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let document = IniDocument::parse(text);
    assert!(
        document.lines().flatten().eq(text),
        "the lines are not the text"
    );
    for group in document.groups().iter().take(4) {
        let _ = document.group_place(group);
        for key in document.keys(group).take(4) {
            for value in document.get_all(group, &key) {
                let _ = value.string();
                let _ = value.string_list();
                let _ = value.integer();
                let _ = value.integer_list();
                let _ = value.boolean();
                let _ = value.double();
            }
            write(&document, group, &key);
        }
        write(&document, group, "a-key-of-the-fuzzer");
    }
    write(&document, "a-group-of-the-fuzzer", "key");
});

/// Writes a text and numbers to a key, and reads them back.
fn write(document: &IniDocument, group: &str, key: &str) {
    check(
        document,
        group,
        key,
        value_for(document.as_bytes()),
        IniType::String,
    );
    for read_as in [IniType::Integer, IniType::IntegerList, IniType::Double] {
        check(document, group, key, "4", read_as);
    }
    check(document, group, key, "1", IniType::Boolean);
}

fn check(document: &IniDocument, group: &str, key: &str, value: &str, read_as: IniType) {
    let assignments = [IniAssignment {
        group,
        key,
        value,
        read_as,
    }];
    let Some(after) = applied(document.as_bytes(), document.set(&assignments)) else {
        return;
    };
    let after = IniDocument::parse(after);
    let read = after.get(group, key).expect("the key is there");
    let reads_back = match read_as {
        IniType::Integer => read.integer() == Ok(4),
        IniType::IntegerList => read.integer_list() == Ok(vec![4]),
        IniType::Boolean => read.boolean() == Ok(true),
        IniType::Double => read.double().is_ok_and(|number| number.to_string() == "4"),
        _ => read.string().as_deref() == Ok(value),
    };
    assert!(
        reads_back,
        "{read_as:?} {value:?} reads as {:?}",
        read.raw()
    );
    assert_settled(after.set(&assignments));
}
