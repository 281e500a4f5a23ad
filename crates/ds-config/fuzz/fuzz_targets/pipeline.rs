#![no_main]
//! Several files: detected, resolved, and edited one knob at a time.
//!
//! The input is a bundle of files. A line `%%% NAME` begins one; the first file is the entry.

use std::collections::BTreeMap;

use ds_config::{Change, Knob, KnobKind, KnobSetting, KnobValue, Pipeline, detect};
use libfuzzer_sys::fuzz_target;

type Files = BTreeMap<String, Vec<u8>>;

fuzz_target!(|bundle: &[u8]| {
    let Some((entry, files)) = unpack(bundle) else {
        return;
    };
    for bytes in files.values() {
        let _ = detect(bytes);
    }
    let Ok(pipeline) = Pipeline::resolve(&entry, &files) else {
        return;
    };
    let _ = pipeline.streams();
    let editable = pipeline
        .knobs()
        .iter()
        .filter(|setting| setting.not_editable.is_none());
    // An input that has many knobs would be slow; its bytes choose the ones that are tried.
    let skip = bundle.len() % 7;
    for setting in editable.skip(skip).step_by(7).take(6) {
        let _ = pipeline.path_of(setting);
        edit(&entry, &files, &pipeline, setting);
    }
});

/// The entry and the files of a bundle.
fn unpack(bundle: &[u8]) -> Option<(String, Files)> {
    let mut files = Files::new();
    let mut entry = None;
    let mut name = None;
    for line in bundle.split_inclusive(|byte| *byte == b'\n') {
        if let Some(rest) = line.strip_prefix(b"%%% ") {
            let path = str::from_utf8(rest.trim_ascii()).ok()?.to_owned();
            entry.get_or_insert_with(|| path.clone());
            files.insert(path.clone(), Vec::new());
            name = Some(path);
        } else {
            files.get_mut(name.as_ref()?)?.extend_from_slice(line);
        }
    }
    Some((entry?, files))
}

/// Another value of a knob. Knobs that decide which files and elements there are have none here.
fn other(setting: &KnobSetting) -> Option<KnobValue> {
    Some(match (setting.target.knob.kind(), &setting.value) {
        (KnobKind::Integer, _) if setting.target.knob == Knob::QueueLeaky => KnobValue::Integer(1),
        (KnobKind::Integer, _) => KnobValue::Integer(7),
        (KnobKind::List, _) => KnobValue::List(vec![3, 4, 5]),
        (KnobKind::Path, _) if setting.target.knob == Knob::InferModelEngineFile => {
            KnobValue::from("a b/model.engine")
        }
        _ => return None,
    })
}

fn edit(entry: &str, files: &Files, pipeline: &Pipeline, setting: &KnobSetting) {
    let Some(value) = other(setting) else { return };
    let Ok(change) = pipeline.set(setting.target, value.clone()) else {
        return;
    };
    let mut files = files.clone();
    for file in &change.files {
        let bytes = files.get_mut(&file.path).expect("an edited file was read");
        *bytes = file.edit.apply(bytes).expect("an edit fits its file");
    }
    let after = Pipeline::resolve(entry, &files).expect("an edited pipeline is read");
    let held = after.knob(setting.target).expect("the knob is still there");
    assert_eq!(held.value.as_ref(), Some(&value), "{:?}", setting.target);
    assert_eq!(after.set(setting.target, value), Ok(Change::default()));
}
