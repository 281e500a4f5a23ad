//! `dsprof new`, and what the other commands say of its files.

use crate::support::{output_of, run};

#[test]
fn what_is_written_passes_lint_and_leaves_derive_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("wall");
    let out = out.to_str().expect("UTF-8");
    let text = output_of(&[
        "new",
        "--onnx",
        "resnet18.onnx",
        "--dims",
        "3;224;224",
        "--source",
        "rtsp://camera%d/stream",
        "--streams",
        "4",
        "--task",
        "classify",
        "--form",
        "app-txt",
        "--dir",
        out,
    ]);
    assert!(
        text.starts_with(
            "4 RTSP streams of 1920x1080 at 30 frames/s, classification, as a deepstream-app txt.\n"
        ),
        "{text}"
    );
    let entry = format!("{out}/benchmark.txt");
    output_of(&["lint", "--for", "benchmark", "--fail-on", "note", &entry]);
    output_of(&["derive", "--check", "--source-size", "1920x1080", &entry]);
    // A second time nothing is written over.
    let again = run(&[
        "new", "--onnx", "m.onnx", "--source", "a.mp4", "--form", "app-txt", "--dir", out,
    ]);
    assert_eq!(again.status, 2, "{}", again.stderr);
}

#[test]
fn without_a_folder_the_files_are_printed() {
    let text = output_of(&[
        "new",
        "--onnx",
        "m.onnx",
        "--dims",
        "3;224;224",
        "--source",
        "usb:0",
        "--format",
        "json",
    ]);
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["schema"], "dsprof.new/1");
    assert_eq!(document["written"], false);
    let files = document["files"].as_array().expect("files");
    let paths: Vec<&str> = files
        .iter()
        .filter_map(|file| file["path"].as_str())
        .collect();
    assert_eq!(paths, ["pipeline/benchmark.sh", "pipeline/infer.txt"]);
}

#[test]
fn a_model_is_needed_except_for_a_vlm() {
    let without = |task: &str| run(&["new", "--source", "a.mp4", "--task", task]).status;
    assert_eq!(without("detect"), 2);
    assert_eq!(without("vlm"), 0);
}
