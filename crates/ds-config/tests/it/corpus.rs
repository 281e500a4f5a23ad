//! Real files, where the shared corpus is at hand: told apart, read, and edited one value at a time.

use std::collections::BTreeMap;
use std::path::PathBuf;

use ds_config::{Change, Knob, KnobKind, KnobSetting, KnobValue, Pipeline, detect};
use sha2::{Digest, Sha256};

use crate::table::rows;

/// The corpus, beside the repository.
fn corpus() -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    path.is_dir().then_some(path)
}

/// A row of the table of what is expected.
struct Expected {
    path: String,
    form: String,
    parsed: bool,
    bytes: Vec<u8>,
}

/// Every file of the corpus, checked against the hash in the table.
fn files(corpus: &std::path::Path) -> Vec<Expected> {
    let rows = rows("corpus-expected.tsv");
    assert_eq!(rows.len(), 662);
    rows.into_iter()
        .map(|row| {
            let [path, sha256, form, parsed] = <[String; 4]>::try_from(row).expect("four columns");
            let bytes = std::fs::read(corpus.join(&path)).expect("the corpus is complete");
            let hash: String = Sha256::digest(&bytes)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert_eq!(hash, sha256, "{path}");
            Expected {
                path,
                form,
                parsed: parsed == "yes",
                bytes,
            }
        })
        .collect()
}

fn resolve(path: &str, bytes: &[u8]) -> Result<Pipeline, ds_config::Error> {
    Pipeline::resolve(path, &BTreeMap::from([(path.to_owned(), bytes.to_vec())]))
}

#[test]
fn every_file_is_what_the_table_says() {
    let Some(corpus) = corpus() else {
        println!("skipped: ../shared is not there");
        return;
    };
    println!("shared-test: corpus_forms");
    for file in files(&corpus) {
        let detection = detect(&file.bytes);
        let form = detection.form.to_string();
        let as_expected =
            form == file.form || form.starts_with("other: ") && file.form.starts_with("other: ");
        assert!(
            as_expected,
            "{}: {form} for {} ({})",
            file.path, file.form, detection.because
        );
        let outcome = resolve(&file.path, &file.bytes);
        assert_eq!(
            outcome.is_ok(),
            file.parsed,
            "{}: {:?}",
            file.path,
            outcome.err()
        );
        let Ok(pipeline) = outcome else { continue };
        assert_eq!(pipeline.files[0].bytes(), file.bytes, "{}", file.path);
    }
}

/// Another value that the knob can have.
fn other(setting: &KnobSetting) -> Option<KnobValue> {
    Some(
        match (setting.target.knob.kind(), setting.value.as_ref()?) {
            (KnobKind::Integer, KnobValue::Integer(value))
                if setting.target.knob == Knob::QueueLeaky =>
            {
                KnobValue::Integer((value + 1) % 3)
            }
            (KnobKind::Integer, KnobValue::Integer(value)) => KnobValue::Integer(value + 1),
            (KnobKind::Flag, KnobValue::Flag(value)) => KnobValue::Flag(!value),
            (KnobKind::List, KnobValue::List(items)) => {
                KnobValue::List(items.iter().map(|item| item + 1).collect())
            }
            (KnobKind::Path, KnobValue::Text(value)) => {
                KnobValue::Text(format!("other/{value}").replace(' ', "_"))
            }
            (KnobKind::Name, KnobValue::Text(value)) if value != "fakesink" => {
                KnobValue::from("fakesink")
            }
            _ => return None,
        },
    )
}

/// Changes one knob, and holds the change to the bytes of its value.
fn edit_one(file: &Expected, pipeline: &Pipeline, setting: &KnobSetting, value: &KnobValue) {
    let at = format!("{} {:?}", file.path, setting.target.knob);
    let change = pipeline
        .set(setting.target, value.clone())
        .unwrap_or_else(|error| panic!("{at}: {error}"));
    let [edit] = change.files.as_slice() else {
        panic!("{at}: {change:?}")
    };
    let replaces_element = setting.target.knob == Knob::SinkKind;
    if !replaces_element {
        let [indel] = edit.edit.indels() else {
            panic!("{at}: {edit:?}")
        };
        let place = setting.place.as_ref().expect("a value has a place").place;
        let old = indel.delete.of(&file.bytes).expect("the edit fits");
        let line = file.bytes[..indel.delete.start()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        assert_eq!(line, place.line, "{at}: the edit is on another line");
        assert!(
            !old.contains(&b'\n') && !old.is_empty(),
            "{at}: {:?}",
            String::from_utf8_lossy(old)
        );
        if let Some(KnobValue::Integer(number)) = &setting.value {
            let old = String::from_utf8_lossy(old);
            let nicks = ["no", "upstream", "downstream"];
            let is_nick = setting.target.knob == Knob::QueueLeaky && nicks.contains(&old.as_ref());
            let is_value = old.trim_matches(['"', '\'']) == number.to_string();
            assert!(
                is_value || is_nick,
                "{at}: `{old}` is replaced, more than {number}"
            );
        }
    }
    let bytes = edit.edit.apply(&file.bytes).expect("the edit fits");
    let again = resolve(&file.path, &bytes).unwrap_or_else(|error| panic!("{at}: {error}"));
    if matches!(setting.target.knob, Knob::OsdEnable | Knob::TilerEnable)
        && value.flag() == Some(false)
    {
        // What is switched off is no element any more.
        assert_eq!(again.elements.len() + 1, pipeline.elements.len(), "{at}");
        assert_eq!(again.disabled.len(), pipeline.disabled.len() + 1, "{at}");
        return;
    }
    assert_eq!(
        again.set(setting.target, value.clone()),
        Ok(Change::default()),
        "{at}: twice is not once"
    );
    for (before, after) in pipeline.knobs().iter().zip(again.knobs()) {
        assert_eq!(
            before.target, after.target,
            "{at}: the knobs are others now"
        );
        if before.target == setting.target {
            assert_eq!(
                after.value.as_ref(),
                Some(value),
                "{at}: the value does not read back"
            );
        } else if !replaces_element && before.not_editable.is_none() {
            assert_eq!(
                before.value, after.value,
                "{at}: {:?} has changed too",
                before.target.knob
            );
        }
    }
}

#[test]
fn every_knob_of_every_file_takes_another_value() {
    let Some(corpus) = corpus() else {
        println!("skipped: ../shared is not there");
        return;
    };
    println!("shared-test: corpus_edits");
    let mut tried = 0;
    for file in files(&corpus).iter().filter(|file| file.parsed) {
        let pipeline = resolve(&file.path, &file.bytes).expect("the table says that it is read");
        for setting in pipeline
            .knobs()
            .iter()
            .filter(|setting| setting.not_editable.is_none())
        {
            if let Some(value) = other(setting) {
                edit_one(file, &pipeline, setting, &value);
                tried += 1;
            }
        }
    }
    assert!(tried > 2000, "only {tried} edits were tried");
}
