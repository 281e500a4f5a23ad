//! Opening a bundle for reading.

use std::fs;
use std::path::Path;

use ds_orchestrate::bundle::{
    Bundle, BundleError, RecordedBundle, StageName, StageState, hex_sha256,
};

use super::inputs;
use crate::support::{files_below, folder, put};

/// A finished bundle with files at several depths, one of them made by a program.
fn finished(root: &Path) {
    let mut bundle = Bundle::open(root, inputs()).expect("a new bundle");
    bundle
        .write("report.md", b"# Report\n")
        .expect("the folder is writable");
    bundle
        .write("sweep/b8/raw.log", &[0xff, 0, b'\n'])
        .expect("the folder is writable");
    put(&root.join("sweep/made"), "by a program");
    bundle.adopt("sweep/made").expect("it is there");
    bundle
        .set_stage(StageName::Report, StageState::Finished)
        .expect("the folder is writable");
}

#[track_caller]
fn check_error(text: &str, expected: impl FnOnce(&Path) -> String) {
    let folder = folder();
    put(&folder.path().join("bundle.json"), text);
    let error = RecordedBundle::open(folder.path())
        .expect_err("no bundle")
        .to_string();
    assert_eq!(error, expected(folder.path()));
}

#[test]
fn every_file_has_its_hash() {
    let folder = folder();
    finished(folder.path());
    let bundle = RecordedBundle::open(folder.path()).expect("a bundle");
    let hashed: Vec<&String> = bundle.manifest().files.keys().collect();
    let mut present = files_below(folder.path());
    present.retain(|file| file != "bundle.json" && file != ".lock");
    assert_eq!(hashed, present.iter().collect::<Vec<_>>());
    for (file, hash) in &bundle.manifest().files {
        let bytes = fs::read(folder.path().join(file)).expect("it is there");
        assert_eq!(*hash, hex_sha256(&bytes));
        assert_eq!(bundle.read(file).expect("it is what was recorded"), bytes);
        bundle.verify(file).expect("it is what was recorded");
    }
}

#[test]
fn the_hash_is_sha_256() {
    // The example of FIPS 180-2, appendix B.1.
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(hex_sha256(b"abc"), expected);
}

#[test]
fn a_rewritten_file_has_its_new_hash() {
    let folder = folder();
    let mut bundle = Bundle::open(folder.path(), inputs()).expect("a new bundle");
    for content in ["old", "new"] {
        bundle
            .write("file", content.as_bytes())
            .expect("the folder is writable");
    }
    bundle.save().expect("the folder is writable");
    let bundle = RecordedBundle::open(folder.path()).expect("a bundle");
    assert_eq!(
        bundle.read("file").expect("it is what was recorded"),
        b"new"
    );
}

#[test]
fn a_changed_file_and_one_that_was_never_recorded() {
    let folder = folder();
    finished(folder.path());
    put(&folder.path().join("report.md"), "# Report!\n");
    put(&folder.path().join("added"), "");
    let bundle = RecordedBundle::open(folder.path()).expect("a bundle");
    for file in ["report.md", "added"] {
        let expected = format!(
            "`{}` is not the file that was recorded: its SHA-256 differs from bundle.json",
            folder.path().join(file).display()
        );
        assert_eq!(
            bundle.read(file).expect_err("it differs").to_string(),
            expected
        );
        assert_eq!(
            bundle.verify(file).expect_err("it differs").to_string(),
            expected
        );
    }
}

#[test]
fn a_folder_without_bundle_json() {
    let folder = folder();
    for path in [folder.path().to_owned(), folder.path().join("missing")] {
        let error = RecordedBundle::open(&path)
            .expect_err("no bundle")
            .to_string();
        assert_eq!(
            error,
            format!("`{}` is no bundle: it holds no bundle.json", path.display())
        );
    }
}

#[test]
fn a_file_in_the_place_of_the_folder() {
    let folder = folder();
    let path = folder.path().join("file");
    put(&path, "");
    let error = RecordedBundle::open(&path).expect_err("no bundle");
    assert!(matches!(error, BundleError::NotABundle { .. }), "{error}");
}

#[test]
fn a_truncated_bundle_json() {
    let folder = folder();
    finished(folder.path());
    let path = folder.path().join("bundle.json");
    let whole = fs::read(&path).expect("it was written");
    // Without its last line end it is still whole.
    for length in 0..whole.len() - 1 {
        put(&path, &whole[..length]);
        let error = RecordedBundle::open(folder.path()).expect_err("it is cut");
        assert!(
            matches!(error, BundleError::Malformed { .. }),
            "at {length}: {error}"
        );
    }
}

#[test]
fn the_place_of_a_fault_is_told() {
    check_error("{\n  \"schema\": nonsense\n}", |root| {
        let path = root.join("bundle.json");
        format!(
            "`{}` is not what dsprof writes: expected ident at line 2 column 14",
            path.display()
        )
    });
}

#[test]
fn a_schema_of_the_future() {
    check_error(r#"{"schema": "dsprof.bundle/2", "more": 1}"#, |root| {
        format!(
            "`{}` has bundle schema dsprof.bundle/2, this dsprof reads dsprof.bundle/1",
            root.display()
        )
    });
}

#[test]
fn json_that_is_something_else() {
    for text in ["{}", "[]", "1", r#"{"schema": 1}"#] {
        check_error(text, |root| {
            format!(
                "`{}` has bundle schema (none), this dsprof reads dsprof.bundle/1",
                root.display()
            )
        });
    }
}

#[test]
fn a_field_that_dsprof_does_not_write() {
    let folder = folder();
    finished(folder.path());
    let path = folder.path().join("bundle.json");
    let text = fs::read_to_string(&path).expect("it was written");
    for (place, with) in [
        ("\"inputs\": {", "\"surprise\": 1,\n  \"inputs\": {"),
        (
            "\"command\": \"tune\"",
            "\"surprise\": 1,\n  \"command\": \"tune\"",
        ),
        (
            "\"name\": \"report\"",
            "\"surprise\": 1,\n  \"name\": \"report\"",
        ),
    ] {
        assert!(text.contains(place));
        put(&path, text.replace(place, with));
        let error = RecordedBundle::open(folder.path())
            .expect_err("a surprise")
            .to_string();
        assert!(error.contains("unknown field `surprise`"), "{error}");
    }
}

#[test]
fn a_file_outside_of_the_bundle() {
    let folder = folder();
    finished(folder.path());
    let path = folder.path().join("bundle.json");
    let text = fs::read_to_string(&path).expect("it was written");
    for outside in ["../report.md", "/etc/passwd", "a/../../b", ""] {
        put(
            &path,
            text.replace("\"report.md\"", &format!("\"{outside}\"")),
        );
        let error = RecordedBundle::open(folder.path())
            .expect_err("it lies outside")
            .to_string();
        assert!(
            error.ends_with(&format!("`{outside}` lies outside the bundle")),
            "{error}"
        );
    }
}
