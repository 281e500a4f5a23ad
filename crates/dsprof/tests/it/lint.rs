//! `dsprof lint`: findings in every format, and the exit status that CI asks for.

use serde_json::Value;

use crate::support::{output_of, run};
use crate::trace_support::write_file;

const APP: &str = "testdata/pipelines/resnet152/deepstream-app/app.txt";

/// A pipeline with one fault that is a warning, DS001: a mux batch below the number of sources.
const SMALL_BATCH: &str = "[source0]\nenable=1\ntype=3\nnum-sources=4\nuri=file:///cam%d.mp4\n[streammux]\nbatch-size=1\n";

#[test]
fn the_findings_of_the_shipped_pipeline() {
    insta::assert_snapshot!(output_of(&["lint", APP]));
}

#[test]
fn the_line_at_fault_is_shown_with_a_caret() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = write_file(folder.path(), "app.txt", SMALL_BATCH.as_bytes());
    let text = output_of(&["lint", &app]);
    let expected = format!(
        "warning[DS001]: the mux batch is 1, and there are 4 sources\n --> {app}:7:12\n  |\n7 | batch-size=1\n  |            ^\n"
    );
    assert!(text.contains(&expected), "{text}");
}

#[test]
fn a_comment_allows_a_finding() {
    let folder = tempfile::tempdir().expect("a folder");
    let allowed = SMALL_BATCH.replace("batch-size=1", "# dsprof: allow DS001\nbatch-size=1");
    let app = write_file(folder.path(), "app.txt", allowed.as_bytes());
    assert!(!output_of(&["lint", &app]).contains("DS001"));
}

#[test]
fn status_11_only_where_a_finding_is_as_grave_as_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = write_file(folder.path(), "app.txt", SMALL_BATCH.as_bytes());
    let json = output_of(&["lint", "--format", "json", &app]);
    let found: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(found["schema"], "dsprof.lint/1");
    let findings = found["findings"].as_array().expect("findings");
    for (level, at_least) in [
        ("note", &["note", "warning", "error"][..]),
        ("warning", &["warning", "error"]),
        ("error", &["error"]),
    ] {
        let is_over = findings
            .iter()
            .any(|finding| at_least.contains(&finding["severity"].as_str().expect("a severity")));
        let status = run(&["lint", "--fail-on", level, &app]).status;
        assert_eq!(status, if is_over { 11 } else { 0 }, "{level}\n{json}");
    }
    assert_eq!(run(&["lint", "--fail-on", "warning", &app]).status, 11);
}

#[test]
fn every_format_holds_every_finding() {
    let json: Value =
        serde_json::from_str(&output_of(&["lint", "--format", "json", APP])).expect("JSON");
    let count = json["findings"].as_array().map_or(0, Vec::len);
    assert!(count > 3, "{json}");
    let sarif: Value =
        serde_json::from_str(&output_of(&["lint", "--format", "sarif", APP])).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let results = sarif["runs"][0]["results"].as_array().expect("results");
    assert_eq!(results.len(), count);
    let rules = &sarif["runs"][0]["tool"]["driver"]["rules"];
    for result in results {
        let at = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
        assert_eq!(rules[at]["id"], result["ruleId"]);
    }
    let junit = output_of(&["lint", "--format", "junit", APP]);
    assert_eq!(junit.matches("<testcase ").count(), count);
    let markdown = output_of(&["lint", "--format", "md", APP]);
    assert_eq!(markdown.matches("\n| ").count(), count, "{markdown}");
}

#[test]
fn a_file_that_is_named_twice_is_reported_once() {
    assert_eq!(output_of(&["lint", APP, APP]), output_of(&["lint", APP]));
}

#[test]
fn what_cannot_be_checked_is_status_3() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text, message) in [
        (
            "Dockerfile",
            "FROM scratch\nRUN true\n",
            "cannot be checked",
        ),
        ("prose.txt", "A letter to nobody.\n", "cannot be checked"),
    ] {
        let path = write_file(folder.path(), name, text.as_bytes());
        let ran = run(&["lint", &path]);
        assert_eq!((ran.status, ran.stdout.as_str()), (3, ""), "{name}");
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    let missing = run(&["lint", "nowhere.txt"]);
    assert_eq!(missing.status, 3);
    assert!(missing.stderr.contains("nowhere.txt"), "{}", missing.stderr);
    assert_eq!(run(&["lint"]).status, 2);
    assert_eq!(run(&["lint", "--fps", "0", APP]).status, 2);
    assert_eq!(run(&["lint", "--deepstream", "nine", APP]).status, 2);
}
