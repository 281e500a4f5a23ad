//! `--tracks`: from a dump to the interval.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::support::{bundle, output_of, put, root, run};

/// A pipeline with a tracker: the shipped one, with the group that it lacks.
fn with_tracker(folder: &Path) -> String {
    let from = root().join("testdata/pipelines/resnet152/deepstream-app");
    for file in std::fs::read_dir(from).expect("the pipeline") {
        let file = file.expect("a file").path();
        std::fs::copy(&file, folder.join(file.file_name().expect("a name"))).expect("a copy");
    }
    let app = folder.join("app.txt");
    let text = std::fs::read_to_string(&app).expect("a configuration");
    put(
        &app,
        &(text
            + "\n[tracker]\nenable=1\ntracker-width=480\ntracker-height=288\nll-lib-file=libnvds_nvmultiobjecttracker.so\n"),
    );
    app.to_str().expect("UTF-8").to_owned()
}

/// 200 objects one behind the other, each for four frames; of every `lost_of` one changes its id in the middle.
fn dump(path: &Path, lost_of: u64) {
    let mut lines = String::new();
    for frame in 0..860_u64 {
        let object = frame / 4;
        let is_lost = lost_of > 0 && object.is_multiple_of(lost_of) && frame % 4 >= 2;
        let id = if is_lost { 10_000 + object } else { object };
        let objects = if object < 200 {
            // Neighbours are far apart, so that nobody takes another's place.
            format!(
                "{{\"id\":{id},\"label\":\"car\",\"bbox\":[{},0,100,100]}}",
                (object % 40) * 400
            )
        } else {
            String::new()
        };
        let _ = writeln!(
            lines,
            "{{\"stream\":0,\"frame\":{frame},\"objects\":[{objects}]}}"
        );
    }
    put(path, &lines);
}

fn interval(plan: &Value) -> &Value {
    let knobs = plan["knobs"].as_array().expect("knobs");
    knobs
        .iter()
        .find(|knob| knob["rule"] == "R4a")
        .expect("a row of R4a")
}

#[test]
fn the_interval_follows_from_what_survives() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = with_tracker(folder.path());
    // Every lost object is two ids, one replaced and one kept: with n of 200 lost, 200 of 200 + n are kept.
    for (lost_of, k, percent, expected) in [
        (0, 2, 100.0, "2"),
        (200, 2, 99.5, "2"),
        // 10 lost: 200 / 210 = 95.24 %, at most 1.
        (20, 1, 95.24, "1"),
        (20, 2, 95.24, "0"),
        // 50 lost: 200 / 250.
        (4, 1, 80.0, "0"),
    ] {
        let file = folder.path().join(format!("tracks-{lost_of}.jsonl"));
        dump(&file, lost_of);
        let tracks = format!("{k}={}", file.display());
        let plan: Value = serde_json::from_str(&output_of(&[
            "derive", &app, "--tracks", &tracks, "--format", "json",
        ]))
        .expect("JSON");
        assert_eq!(plan["tracks"][0]["retention_percent"], percent, "{lost_of}");
        assert_eq!(interval(&plan)["new"], expected, "{lost_of} at {k}");
    }
}

#[test]
fn the_interval_of_the_pipeline_stands_for_one_that_is_not_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = with_tracker(folder.path());
    let file = folder.path().join("tracks.jsonl");
    dump(&file, 0);
    let text = output_of(&["derive", &app, "--tracks", file.to_str().expect("UTF-8")]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "Track id retention",
        "100.0 % of the ids survive at interval 0",
        "`interval=1`",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    let path = file.to_str().expect("UTF-8");
    let plan: Value = serde_json::from_str(&output_of(&[
        "derive", &app, "--tracks", path, "--format", "json",
    ]))
    .expect("JSON");
    assert_eq!(interval(&plan)["new"], "0");
    let because = interval(&plan)["because"].to_string();
    assert!(
        because.contains("no interval above 0 was measured"),
        "{because}"
    );
}

#[test]
fn a_bad_line_is_status_3_with_its_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = with_tracker(folder.path());
    let file = folder.path().join("tracks.jsonl");
    put(
        &file,
        "{\"stream\":0,\"frame\":0,\"objects\":[]}\n{\"stream\":0}\n",
    );
    let ran = run(&["derive", &app, "--tracks", file.to_str().expect("UTF-8")]);
    assert_eq!(ran.status, 3);
    assert!(
        ran.stderr.contains("tracks.jsonl:2: missing field `frame`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_bundle_keeps_what_the_dump_held() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("tracks.jsonl");
    dump(&file, 20);
    let tracks = format!("1={}", file.display());
    let copy = folder.path().join("copy");
    let copy = copy.to_str().expect("UTF-8");
    let recording = bundle("h200-resnet152");
    let first = output_of(&[
        "tune", "--replay", &recording, "--tracks", &tracks, "--bundle", copy,
    ]);
    assert!(
        first.contains("95.2 % of the ids survive at interval 1"),
        "{first}"
    );
    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    let moved = std::fs::rename(&file, folder.path().join("away"));
    moved.expect("a new name");
    assert_eq!(output_of(&["tune", "--replay", copy]), first);
}
