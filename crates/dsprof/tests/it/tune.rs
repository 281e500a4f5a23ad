//! The main job on the shipped recordings.

use serde_json::Value;

use crate::support::{bundle, dsprof, output_of, program, run};

fn report(name: &str) -> Value {
    serde_json::from_str(&output_of(&[
        "tune",
        "--replay",
        &bundle(name),
        "--format",
        "json",
    ]))
    .expect("a JSON report")
}

#[test]
fn the_whole_report_of_the_readme_recording() {
    insta::assert_snapshot!(output_of(&["tune", "--replay", &bundle("h200-video-cnn")]));
}

#[test]
fn the_whole_report_of_inference_alone() {
    insta::assert_snapshot!(output_of(&[
        "tune",
        "--replay",
        &bundle("h200-resnet152-graphs")
    ]));
}

#[test]
fn the_whole_report_of_the_recording_without_a_plateau() {
    insta::assert_snapshot!(output_of(&["tune", "--replay", &bundle("h200-resnet152")]));
}

#[test]
fn the_whole_report_as_markdown() {
    insta::assert_snapshot!(output_of(&[
        "tune",
        "--replay",
        &bundle("h200-resnet152-graphs"),
        "--format",
        "md"
    ]));
}

#[test]
fn a_recorded_plateau_is_found() {
    let report = report("h200-resnet152-graphs");
    assert_eq!(report["schema"], "dsprof.report/1");
    assert_eq!(report["plateau"]["batch"], 64);
    assert_eq!(report["capacity"]["streams"], 67);
    assert_eq!(report["bound"]["kind"], "compute");
    let points = report["plateau"]["points"].as_array().expect("points");
    assert_eq!(points.len(), 9);
    assert!(
        points
            .iter()
            .all(|point| point["windows"].as_u64() >= Some(20)),
        "{points:?}"
    );
}

#[test]
fn a_whole_pipeline_has_its_decoders_and_counters_in_the_verdict() {
    let report = report("h200-video-cnn");
    assert_eq!(report["plateau"]["batch"], 32);
    // 2402.13 / 2316.21 = 1.037, below 1.05.
    assert_eq!(report["plateau"]["points"][6]["gain_percent"], 3.7);
    assert_eq!(report["capacity"]["streams"], 77);
    assert_eq!(report["bound"]["kind"], "compute");
    assert_eq!(report["bound"]["confidence"], "high");
    assert_eq!(report["e2e"]["streams"], 64);
    assert_eq!(report["no_trace"], Value::Null);
}

#[test]
fn a_plateau_that_was_not_reached_says_so() {
    let report = report("h200-resnet152");
    assert_eq!(report["plateau"]["batch"], Value::Null);
    assert_eq!(report["plateau"]["verdict"], "not reached at 32");
    assert_eq!(report["plateau"]["points"][5]["gain_percent"], 60.6);
    assert_eq!(report["plateau"]["points"][5]["sm_percent"], 99.0);
    assert_eq!(report["capacity"]["text"], "at least 57 streams");
    assert_eq!(report["bound"]["kind"], "host");
    // Windows behind the first: (42.00 + 41.09 + 52.14 + 51.72 + 56.29) / 5 x 8 streams = 389.18.
    assert_eq!(report["e2e"]["fps"], 389.18);
    let notes = report["plateau"]["notes"].to_string();
    assert!(
        notes.contains("provisional") && notes.contains("not reached"),
        "{notes}"
    );
}

#[test]
fn a_doubling_that_more_than_doubles_is_flagged() {
    let text = output_of(&["sweep", "--replay", &bundle("h200-resnet50")]);
    assert!(
        text.contains("from batch 16 to 32 a doubling more than doubles the rate (+119.6 %)"),
        "{text}"
    );
}

#[test]
fn a_run_without_a_profile_says_that_it_was_not_measured() {
    let report = report("h200-resnet50");
    assert_eq!(report["e2e"], Value::Null);
    assert_eq!(report["bound"], Value::Null);
    assert!(
        report["notes"]
            .to_string()
            .contains("the whole pipeline was not measured")
    );
}

#[test]
fn replaying_twice_gives_the_same_bytes() {
    let args = [
        "tune",
        "--replay",
        &bundle("h200-resnet152-graphs"),
        "--format",
        "json",
    ];
    assert_eq!(output_of(&args), output_of(&args));
}

#[test]
fn a_replay_into_a_new_bundle_can_itself_be_replayed() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy");
    let copy = copy.to_str().expect("a UTF-8 path");
    let first = output_of(&[
        "tune",
        "--replay",
        &bundle("h200-resnet152"),
        "--bundle",
        copy,
        "--format",
        "md",
    ]);
    assert_eq!(
        std::fs::read_to_string(format!("{copy}/report.md")).expect("a report"),
        first
    );
    assert_eq!(
        output_of(&["tune", "--replay", copy, "--format", "md"]),
        first
    );
}

#[test]
fn one_changed_argument_fails_and_shows_both_commands() {
    let ran = run(&[
        "tune",
        "--replay",
        &bundle("h200-resnet152-graphs"),
        "--seconds",
        "24",
    ]);
    assert_eq!(ran.status, 3, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("--batch 1 --seconds 24")
            && ran.stderr.contains("--batch 1 --seconds 23"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_single_stages_agree_with_the_whole() {
    let recording = bundle("h200-resnet152");
    let profile = output_of(&["profile", "--replay", &recording]);
    assert!(profile.contains("host, high confidence"), "{profile}");
    let hw = output_of(&["hw", "--replay", &recording]);
    for part in ["×132", "×7", "Gen5 x16"] {
        assert!(hw.contains(part), "{hw}");
    }
    let capacity = output_of(&["capacity", "--replay", &recording]);
    assert!(
        capacity.starts_with("at least 57 streams at 30 frames/s"),
        "{capacity}"
    );
}

#[test]
fn nothing_but_data_goes_to_standard_output_and_nothing_to_standard_error() {
    let ran = run(&["tune", "--replay", &bundle("h200-resnet152-graphs")]);
    assert_eq!(ran.stderr, "");
    assert!(ran.stdout.starts_with("testdata/pipelines"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = program(dsprof(&[]).get_program())
        .current_dir(crate::support::root())
        .args(["hw", "--list"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("dsprof runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}
