//! Opening a bundle for writing: new, resumed, refused.

use std::fs;
use std::path::Path;

use ds_orchestrate::bundle::{
    Bundle, BundleError, Inputs, Manifest, SCHEMA, StageName, StageState,
};

use super::inputs;
use crate::support::{files_below, folder, put};

/// Makes a bundle and reads its `bundle.json`.
fn made(root: &Path) -> String {
    Bundle::open(root, inputs()).expect("a new bundle");
    fs::read_to_string(root.join("bundle.json")).expect("it was written")
}

#[test]
fn a_new_bundle_says_what_it_is_for() {
    let folder = folder();
    let root = folder.path().join("not/there/yet");
    Bundle::open(&root, inputs()).expect("a new bundle");
    let manifest = Manifest::read(&root).expect("a manifest");
    assert_eq!(manifest, Manifest::new(inputs()));
    assert_eq!(
        (manifest.schema.as_str(), manifest.inputs),
        (SCHEMA, inputs())
    );
    assert_eq!(files_below(&root), [".lock", "bundle.json"]);
}

#[test]
fn the_same_inputs_resume_it() {
    let folder = folder();
    let mut bundle = Bundle::open(folder.path(), inputs()).expect("a new bundle");
    bundle.write("hw/a", b"a").expect("the folder is writable");
    bundle
        .set_stage(StageName::Hw, StageState::Finished)
        .expect("the folder is writable");
    bundle
        .set_stage(StageName::Sweep, StageState::Started)
        .expect("the folder is writable");
    let before = bundle.manifest().clone();
    drop(bundle);
    let resumed = Bundle::open(folder.path(), inputs()).expect("the same run");
    assert_eq!(resumed.manifest(), &before);
    assert_eq!(
        resumed.manifest().stage(StageName::Hw),
        Some(&StageState::Finished)
    );
    assert_eq!(
        resumed.manifest().stage(StageName::Sweep),
        Some(&StageState::Started)
    );
    assert_eq!(resumed.manifest().stage(StageName::Report), None);
}

/// A change of the inputs and the item, the recorded and the present value that the refusal names.
#[track_caller]
fn check_refused(change: impl FnOnce(&mut Inputs), item: &str, recorded: &str, now: &str) {
    let folder = folder();
    let before = made(folder.path());
    let mut other = inputs();
    change(&mut other);
    let error = Bundle::open(folder.path(), other).expect_err("another run");
    let expected = format!(
        "`{}` belongs to another run: {item} was `{recorded}`, now it is `{now}`",
        folder.path().display()
    );
    assert_eq!(error.to_string(), expected);
    let after = fs::read_to_string(folder.path().join("bundle.json")).expect("it is there");
    assert_eq!(after, before, "a refused bundle is not touched");
}

#[test]
fn another_command() {
    check_refused(
        |inputs| inputs.command = "sweep".into(),
        "command",
        "tune",
        "sweep",
    );
}

#[test]
fn another_pipeline() {
    check_refused(
        |inputs| inputs.pipeline = Some("b.sh".into()),
        "pipeline",
        "pipeline.sh",
        "b.sh",
    );
    check_refused(
        |inputs| inputs.pipeline = None,
        "pipeline",
        "pipeline.sh",
        "(none)",
    );
}

#[test]
fn another_argument() {
    let set = |inputs: &mut Inputs, name: &str, value: &str| {
        inputs.arguments.insert(name.into(), value.into())
    };
    check_refused(|inputs| drop(set(inputs, "fps", "25")), "fps", "30", "25");
    check_refused(
        |inputs| drop(set(inputs, "seconds", "5")),
        "seconds",
        "(none)",
        "5",
    );
    check_refused(
        |inputs| drop(inputs.arguments.remove("streams")),
        "streams",
        "8",
        "(none)",
    );
}

#[test]
fn another_content_of_a_file_of_the_pipeline() {
    check_refused(
        |inputs| {
            drop(
                inputs
                    .pipeline_files
                    .insert("infer.txt".into(), "cc".into()),
            );
        },
        "SHA-256 of infer.txt",
        "bb",
        "cc",
    );
    check_refused(
        |inputs| drop(inputs.pipeline_files.remove("infer.txt")),
        "SHA-256 of infer.txt",
        "bb",
        "(none)",
    );
}

#[test]
fn another_provenance() {
    check_refused(
        |inputs| inputs.provenance = None,
        "provenance",
        "measured here",
        "(none)",
    );
}

#[test]
fn another_dsprof_version() {
    let folder = folder();
    let version = Manifest::new(inputs()).dsprof;
    let text = made(folder.path());
    put(
        &folder.path().join("bundle.json"),
        text.replace(
            &format!("\"dsprof\": \"{version}\""),
            "\"dsprof\": \"99.0.0\"",
        ),
    );
    let error = Bundle::open(folder.path(), inputs()).expect_err("another version");
    let BundleError::OtherInputs {
        item,
        recorded,
        now,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(
        (item.as_str(), recorded.as_str(), now),
        ("dsprof version", "99.0.0", version)
    );
}

#[test]
fn a_second_run_at_the_same_time() {
    let folder = folder();
    let first = Bundle::open(folder.path(), inputs()).expect("a new bundle");
    let error = Bundle::open(folder.path(), inputs()).expect_err("it is in use");
    assert_eq!(
        error.to_string(),
        format!("`{}` is in use by another run", folder.path().display())
    );
    drop(first);
    Bundle::open(folder.path(), inputs()).expect("it is free again");
}

#[test]
fn a_folder_with_something_else_in_it() {
    let folder = folder();
    put(&folder.path().join("holiday.jpg"), "");
    let error = Bundle::open(folder.path(), inputs()).expect_err("somebody's folder");
    assert!(matches!(error, BundleError::NotABundle { .. }), "{error}");
    assert_eq!(
        files_below(folder.path()),
        ["holiday.jpg"],
        "nothing is added to it"
    );
}

#[test]
fn what_a_killed_run_leaves_before_its_first_save_is_no_obstacle() {
    let folder = folder();
    put(&folder.path().join(".lock"), "");
    put(&folder.path().join(".tmpAbCdEf"), "{");
    fs::create_dir(folder.path().join("edits")).expect("an empty folder");
    Bundle::open(folder.path(), inputs()).expect("a new bundle");
}

#[test]
fn a_file_in_the_place_of_the_folder() {
    let folder = folder();
    let path = folder.path().join("file");
    put(&path, "");
    let error = Bundle::open(&path, inputs()).expect_err("no folder");
    assert_eq!(
        error.to_string(),
        format!("cannot create `{}`", path.display())
    );
}

#[test]
fn a_folder_that_cannot_be_written() {
    // Here not even root can make a folder.
    let path = Path::new("/proc/sys/kernel/dsprof");
    let error = Bundle::open(path, inputs()).expect_err("nobody can make a folder there");
    assert_eq!(error.to_string(), "cannot create `/proc/sys/kernel/dsprof`");
}

#[test]
fn a_bundle_that_cannot_be_understood_is_not_overwritten() {
    let folder = folder();
    let path = folder.path().join("bundle.json");
    put(&path, "{");
    let error = Bundle::open(folder.path(), inputs()).expect_err("half a bundle");
    assert!(matches!(error, BundleError::Malformed { .. }), "{error}");
    assert_eq!(fs::read_to_string(&path).expect("it is there"), "{");
}
