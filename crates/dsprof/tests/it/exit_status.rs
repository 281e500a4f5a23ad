//! Every exit status, and messages for bad input that say what to do.

use std::fs;

use crate::support::{bundle, program, put, run};

const PIPELINE: &str = "testdata/pipelines/resnet152/deepstream-app/app.txt";

#[track_caller]
fn check(args: &[&str], status: i32, message: &str) {
    let ran = run(args);
    assert_eq!(ran.status, status, "{args:?}\n{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains(message),
        "{args:?} said:\n{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
}

#[test]
fn a_missing_pipeline_is_status_3() {
    check(&["tune", "nowhere.txt"], 3, "cannot read `nowhere.txt`");
    check(&["inspect", "nowhere.txt"], 3, "cannot read `nowhere.txt`");
}

#[test]
fn an_empty_or_foreign_file_is_status_3() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text, message) in [
        ("empty.txt", "", "empty.txt"),
        ("prose.txt", "A letter to nobody.\n", "prose.txt"),
        ("Dockerfile", "FROM scratch\nRUN true\n", "Dockerfile"),
    ] {
        let path = folder.path().join(name);
        put(&path, text);
        check(&["inspect", path.to_str().expect("UTF-8")], 3, message);
    }
}

#[test]
fn a_file_that_its_parser_refuses_is_named_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("app.txt");
    put(
        &path,
        "[application]\nenable-perf-measurement=1\n[streammux]\nbatch-size 4\n",
    );
    check(&["inspect", path.to_str().expect("UTF-8")], 3, "app.txt:4");
}

#[test]
fn numbers_that_make_no_sense_are_status_2() {
    check(&["derive", PIPELINE, "--streams", "0"], 2, "--streams 0");
    for fps in ["0", "-30", "NaN", "inf"] {
        check(
            &["derive", PIPELINE, "--streams", "4", "--fps", fps],
            2,
            "a frame rate is a number above 0",
        );
    }
    check(
        &["derive", PIPELINE, "--streams", "4", "--dims", "3;0;9"],
        2,
        "give channels, height and width",
    );
    check(
        &[
            "sweep",
            PIPELINE,
            "--max-batch",
            "0",
            "--launch",
            "x {batch}",
        ],
        2,
        "--max-batch 0",
    );
    check(
        &["sweep", PIPELINE, "--launch", "x"],
        2,
        "has no `{batch}` in it",
    );
    check(
        &["sweep", PIPELINE, "--launch", "x 'y"],
        2,
        "a single quote is not closed",
    );
    check(&["tune", PIPELINE, "--seconds", "0"], 2, "0 seconds");
    check(&["capacity"], 2, "nothing to compute from");
    check(&["nonsense"], 2, "unrecognized subcommand");
}

#[test]
fn an_unknown_gpu_is_status_2_and_names_similar_ones() {
    check(
        &["hw", "--gpu", "NVIDIA H2000"],
        2,
        "no GPU named `NVIDIA H2000` is known",
    );
    check(
        &["hw", "--gpu", "NVIDIA GeForce RTX 3080"],
        2,
        "stands for several products",
    );
}

#[test]
fn a_machine_without_nvidia_smi_is_status_4_with_a_hint() {
    check(&["hw"], 4, "`nvidia-smi` is not installed");
    check(&["hw"], 4, "hint: ");
    check(
        &["tune", PIPELINE, "--launch", "load {batch}"],
        4,
        "`nvidia-smi` is not installed",
    );
}

#[test]
fn a_load_that_does_not_exist_is_status_4() {
    check(
        &["sweep", PIPELINE, "--launch", "no-such-load {batch}"],
        4,
        "`no-such-load` was not found",
    );
}

#[test]
fn a_folder_that_is_no_bundle_is_status_3() {
    let folder = tempfile::tempdir().expect("a folder");
    check(
        &["tune", "--replay", folder.path().to_str().expect("UTF-8")],
        3,
        "holds no bundle.json",
    );
}

#[test]
fn a_changed_recording_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy");
    let copy = copy.to_str().expect("UTF-8");
    assert_eq!(
        run(&["hw", "--replay", &bundle("h200-resnet50"), "--bundle", copy]).status,
        0
    );
    let file = format!("{copy}/commands/0001-nvidia-smi.stdout");
    let text = fs::read_to_string(&file)
        .expect("an output")
        .replace("H200", "H100");
    put(&file, &text);
    check(
        &["hw", "--replay", copy],
        3,
        "is not the file that was recorded",
    );
}

#[test]
fn another_run_on_a_bundle_is_refused_with_the_item_that_differs() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy");
    let copy = copy.to_str().expect("UTF-8");
    let recording = bundle("h200-resnet50");
    assert_eq!(
        run(&["sweep", "--replay", &recording, "--bundle", copy]).status,
        0
    );
    check(
        &[
            "sweep", "--replay", &recording, "--bundle", copy, "--codec", "h264",
        ],
        3,
        "codec was `(none)`, now it is `h264`",
    );
}

#[test]
fn a_limit_that_is_exceeded_is_status_11() {
    let recording = bundle("h200-resnet152-graphs");
    assert_eq!(
        run(&["capacity", "--replay", &recording, "--require", "67"]).status,
        0
    );
    check(
        &["capacity", "--replay", &recording, "--require", "68"],
        11,
        "67 streams fit, 68 are required",
    );
}

#[test]
fn every_help_shows_an_example() {
    for command in [
        "tune", "inspect", "hw", "sweep", "derive", "profile", "capacity",
    ] {
        let ran = run(&[command, "--help"]);
        assert!(
            ran.stdout.contains("Example:\n  dsprof "),
            "{command}\n{}",
            ran.stdout
        );
    }
}

#[test]
fn a_directory_that_cannot_be_written_is_status_1() {
    check(
        &[
            "hw",
            "--replay",
            &bundle("h200-resnet50"),
            "--bundle",
            "/proc/nowhere/bundle",
        ],
        1,
        "cannot create `/proc/nowhere/bundle`",
    );
}

#[test]
fn an_interrupt_ends_the_load_keeps_the_bundle_and_is_status_130() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("bundle");
    let mark = folder.path().join("started");
    let load = format!(
        "/bin/sh -c ': {{batch}}; echo $$ > {}; exec sleep 60'",
        mark.display()
    );
    let mut child = program(crate::support::dsprof(&[]).get_program())
        .current_dir(crate::support::root())
        .args(["sweep", PIPELINE, "--launch", &load, "--bundle"])
        .arg(&kept)
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("dsprof runs");
    let load = loop {
        if let Some(id) = fs::read_to_string(&mark)
            .ok()
            .filter(|id| id.ends_with('\n'))
        {
            break id.trim().to_owned();
        }
        assert!(
            child.try_wait().expect("a child").is_none(),
            "dsprof ended before its load began"
        );
        std::thread::yield_now();
    };
    let signalled = program("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(signalled.expect("kill runs").success());
    let status = child.wait().expect("dsprof ends");
    assert_eq!(status.code(), Some(130));
    assert!(
        !std::path::Path::new(&format!("/proc/{load}")).exists(),
        "the load has ended"
    );
    let manifest = fs::read_to_string(kept.join("bundle.json")).expect("a manifest");
    assert!(manifest.contains("interrupted while"), "{manifest}");
}
