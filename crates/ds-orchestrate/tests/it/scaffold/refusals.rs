//! What cannot be made, and files that are not written over.

use std::path::Path;

use ds_ceilings::StreamCount;
use ds_derive::Dims;
use ds_orchestrate::scaffold::{
    ModelSource, NewForm, NewOutput, StatedModel, StreamSource, Task, scaffold, write_scaffold,
};

use super::{disk, made, request};

#[test]
fn deepstream_app_has_no_stage_for_these() {
    for task in [Task::Vlm, Task::Embed] {
        for form in [NewForm::AppTxt, NewForm::AppYml] {
            let request = request(task, &["/videos/a.mp4"], 1, &[], form);
            let error = scaffold(&request, Path::new("out"), None, &disk())
                .expect_err("refused")
                .to_string();
            assert!(error.contains("ask for"), "{error}");
        }
    }
}

#[test]
fn numbers_that_make_no_pipeline() {
    let mut none = request(Task::Detect, &["/videos/a.mp4"], 1, &[], NewForm::GstLaunch);
    none.streams = StreamCount::new(0);
    let few = request(
        Task::Detect,
        &["/videos/a.mp4", "/videos/b.mp4"],
        1,
        &[],
        NewForm::GstLaunch,
    );
    for request in [none, few] {
        assert!(scaffold(&request, Path::new("out"), None, &disk()).is_err());
    }
}

#[test]
fn a_file_that_is_no_model() {
    let mut request = request(Task::Detect, &["/videos/a.mp4"], 1, &[], NewForm::GstLaunch);
    request.model = ModelSource::Config("notes.txt".to_owned());
    let mut files = disk();
    files.insert("notes.txt".to_owned(), b"buy milk\n".to_vec());
    let error = scaffold(&request, Path::new("out"), None, &files)
        .expect_err("it is none")
        .to_string();
    assert!(
        error.starts_with("`notes.txt` is no configuration of nvinfer or nvinferserver"),
        "{error}"
    );
}

#[test]
fn sources_and_outputs_that_cannot_be_read() {
    for text in [
        "",
        "ftp://host/a.mp4",
        "usb:front",
        "/dev/videox",
        "a\nb.mp4",
    ] {
        assert!(StreamSource::parse(text).is_err(), "{text:?}");
    }
    for text in [
        "",
        "screen",
        "file:",
        "kafka:host/topic",
        "kafka:host:9092",
        "kafka:host:port/topic",
        "kafka:host:9092/",
        "file:a\nb",
    ] {
        assert!(NewOutput::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn nothing_is_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("new/deep");
    let request = request(
        Task::Detect,
        &["/videos/a.mp4"],
        2,
        &["display"],
        NewForm::AppYml,
    );
    let scaffold = scaffold(&request, &root, None, &disk()).expect("it can be made");
    write_scaffold(&scaffold).expect("the folder is empty");
    for (path, text) in &scaffold.files {
        assert_eq!(&std::fs::read(path).expect("it was written"), text);
    }
    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    std::fs::remove_file(root.join("sources.csv")).expect("it was written");
    let error = write_scaffold(&scaffold)
        .expect_err("most are there")
        .to_string();
    assert!(error.contains("nothing is written over"), "{error}");
    assert!(!root.join("sources.csv").exists(), "all or nothing");
}

#[test]
fn the_users_own_file_is_untouched_and_its_copy_finds_the_same_files() {
    let scaffold = made(&request(
        Task::Detect,
        &["/videos/a.mp4"],
        4,
        &[],
        NewForm::GstLaunch,
    ));
    let copy = scaffold
        .files
        .get(Path::new("out/infer.txt"))
        .expect("the copy");
    let copy = String::from_utf8_lossy(copy);
    for line in [
        "onnx-file=../models/a/detector.onnx",
        "model-engine-file=../models/a/detector.onnx_b16_gpu0_fp16.engine",
        "labelfile-path=../models/labels.txt",
        "network-mode=2",
        "infer-dims=3;544;960",
    ] {
        assert!(copy.lines().any(|l| l == line), "{line} in\n{copy}");
    }
}

#[test]
fn what_does_not_fit_on_its_bus_is_said() {
    let scaffold = made(&request(
        Task::Detect,
        &["usb:0", "usb:1"],
        2,
        &[],
        NewForm::GstLaunch,
    ));
    let notes = scaffold.notes.join("\n");
    // 2 x 1920 x 1080 pixels of 16 bits at 30 frames/s are 1990.7 Mbit/s.
    assert!(notes.contains("1990 Mbit/s"), "{notes}");
}

#[test]
fn the_engine_that_nvinfer_will_save_is_named() {
    let mut request = request(Task::Detect, &["/videos/a.mp4"], 3, &[], NewForm::AppTxt);
    request.model = ModelSource::Stated(StatedModel {
        dims: Dims::new(3, 224, 224),
        onnx: Some("models/a/net.onnx".to_owned()),
        ..StatedModel::default()
    });
    let scaffold = made(&request);
    let config = &scaffold.files[Path::new("out/infer.txt")];
    let config = String::from_utf8_lossy(config);
    assert!(
        config.contains("\nmodel-engine-file=../models/a/net.onnx_b3_gpu0_fp16.engine\n"),
        "{config}"
    );
}
