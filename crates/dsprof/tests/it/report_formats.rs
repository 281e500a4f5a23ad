//! The forms of a report, where they go, and what is said beside them.

use std::fs;

use crate::support::{bundle, dsprof, output_of, put, run};

const RECORDING: &str = "h200-resnet152-graphs";

fn tune(format: &str) -> String {
    output_of(&["tune", "--replay", &bundle(RECORDING), "--format", format])
}

#[test]
fn every_form_holds_every_number_of_the_tables() {
    let json: serde_json::Value = serde_json::from_str(&tune("json")).expect("JSON");
    let mut wanted: Vec<String> = Vec::new();
    for point in json["plateau"]["points"].as_array().expect("points") {
        wanted.push(format!("{:.1}", point["fps"].as_f64().expect("a rate")));
    }
    for kernel in json["trace"]["copies"].as_array().expect("copies") {
        wanted.push(kernel["name"].as_str().expect("a name").to_owned());
    }
    for limit in json["capacity"]["limits"].as_array().expect("limits") {
        wanted.push(limit["formula"].as_str().expect("a formula").to_owned());
    }
    assert!(wanted.len() > 12, "{wanted:?}");
    for format in ["text", "md", "html"] {
        let page = tune(format);
        for part in &wanted {
            assert!(page.contains(part), "{part} in {format}");
        }
    }
}

#[test]
fn html_holds_the_knobs_the_diff_and_each_ceiling_with_its_source() {
    let page = tune("html");
    let json: serde_json::Value = serde_json::from_str(&tune("json")).expect("JSON");
    for knob in json["knobs"].as_array().expect("knobs") {
        let name = knob["knob"].as_str().expect("a name");
        assert!(
            page.contains(&format!("<code>{name}</code>")) || knob["state"] == "unchanged",
            "{name}"
        );
    }
    for ceiling in json["hardware"]["ceilings"].as_array().expect("ceilings") {
        let label = ceiling["label"].as_str().expect("a label");
        assert!(page.contains(&format!("<td>{label}</td>")), "{label}");
    }
    assert!(page.contains("<span class=\"added\">+batch-size=64</span>"));
    assert!(page.contains("<svg class=\"chart\"") && page.contains("plateau, batch to configure"));
    for outside in ["<script", "http:", "https:", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn every_report_has_every_form() {
    let recording = bundle("h200-resnet152");
    for command in ["tune", "sweep", "profile", "derive", "capacity", "hw"] {
        let shown = |format| output_of(&[command, "--replay", &recording, "--format", format]);
        assert!(shown("html").starts_with("<!doctype html>"), "{command}");
        let text = shown("text");
        assert!(
            !text.contains("**") && !text.contains("|--"),
            "{command}\n{text}"
        );
        // Lines of a diff are as long as those of its files.
        let page = text.split("\n--- a/").next().expect("a page");
        for line in page.lines() {
            assert!(line.chars().count() <= 100, "{command}: {line}");
        }
        serde_json::from_str::<serde_json::Value>(&shown("json")).expect("JSON");
        assert!(
            shown("md").contains("|--") || command == "derive",
            "{command}"
        );
    }
}

#[test]
fn a_pipe_gets_the_same_whatever_the_locale_and_the_terminal_are() {
    let plain = tune("text");
    let mut other = dsprof(&["tune", "--replay", &bundle(RECORDING)]);
    other.envs([
        ("LC_ALL", "C"),
        ("COLUMNS", "60"),
        ("TERM", "xterm-256color"),
        ("CLICOLOR_FORCE", "1"),
    ]);
    let output = other.output().expect("dsprof runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), plain);
    assert!(plain.contains('█') && !plain.contains('\u{1b}'));
}

#[test]
fn colour_comes_when_it_is_asked_for() {
    let args = ["tune", "--replay", &bundle(RECORDING), "--color"];
    let with = |when| output_of(&[&args[..], &[when]].concat());
    assert!(with("always").contains("\u{1b}[1m"));
    assert_eq!(with("never"), with("auto"));
    // NO_COLOR declines what nobody asked for, and does not overrule who did.
    let mut asked = dsprof(&[&args[..], &["always"]].concat());
    let output = asked.env("NO_COLOR", "1").output().expect("dsprof runs");
    assert!(String::from_utf8_lossy(&output.stdout).contains("\u{1b}[1m"));
    let failed = run(&["inspect", "nowhere.txt", "--color", "always"]);
    assert!(
        failed.stderr.starts_with("\u{1b}[1;31merror:\u{1b}[0m "),
        "{}",
        failed.stderr
    );
}

#[test]
fn a_file_takes_the_report_in_the_form_that_its_ending_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = bundle(RECORDING);
    for (name, format) in [
        ("a.html", "html"),
        ("a.md", "md"),
        ("a.json", "json"),
        ("a", "text"),
    ] {
        let path = folder.path().join(name);
        let path = path.to_str().expect("UTF-8");
        let ran = run(&["tune", "--replay", &recording, "-o", path]);
        assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
        assert_eq!(ran.stderr, format!("wrote {path}\n"));
        assert_eq!(fs::read_to_string(path).expect("a report"), tune(format));
    }
    let ran = run(&["tune", "--replay", &recording, "-o", "/proc/nowhere/a.html"]);
    assert_eq!(ran.status, 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("cannot write `/proc/nowhere/a.html`"),
        "{}",
        ran.stderr
    );
}

#[test]
fn inspect_has_every_form_too() {
    for (format, beginning) in [
        ("text", "testdata/"),
        ("md", "# testdata/"),
        ("json", "{"),
        ("html", "<!doctype"),
    ] {
        let shown = output_of(&["inspect", PIPELINE, "--format", format]);
        assert!(
            shown.starts_with(beginning) && shown.contains("batched-push-timeout"),
            "{shown}"
        );
    }
}

/// A load in the shape of deepstream-app that ends by itself, with a window every moment.
fn load(folder: &std::path::Path) -> String {
    let script = folder.join("load.sh");
    put(
        &script,
        "echo '**PERF:  FPS 0 (Avg)'\nfor i in 1 2 3 4 5 6 7 8; do echo \"**PERF:  $((100 + $1)).00 (100.00)\"; done\n",
    );
    format!("/bin/sh {} {{batch}}", script.display())
}

const PIPELINE: &str = "testdata/pipelines/resnet152/deepstream-app/app.txt";

#[test]
fn progress_is_one_line_a_stage_and_a_batch() {
    let folder = tempfile::tempdir().expect("a folder");
    let load = load(folder.path());
    let args = ["sweep", PIPELINE, "--batches", "1,2,4", "--launch", &load];
    let ran = run(&args);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let lines: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(lines[0], "stage: sweep", "{}", ran.stderr);
    let batches: Vec<&&str> = lines
        .iter()
        .filter(|line| line.starts_with("sweep: batch"))
        .collect();
    assert_eq!(batches.len(), 3, "{}", ran.stderr);
    assert!(
        batches[1].starts_with("sweep: batch 2 (2 of 3): 102.00 frames/s over "),
        "{}",
        batches[1]
    );
    assert!(
        batches[0].ends_with(" left") && !batches[2].ends_with(" left"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stdout.contains("stage:"), "{}", ran.stdout);

    let quiet = run(&[&args[..], &["--quiet"]].concat());
    assert_eq!((quiet.status, quiet.stderr.as_str()), (0, ""));
    assert_eq!(quiet.stdout, ran.stdout);
}

#[test]
fn quiet_leaves_errors_and_reasons() {
    let ran = run(&["-q", "inspect", "nowhere.txt"]);
    assert_eq!(ran.status, 3);
    assert!(
        ran.stderr.starts_with("error: cannot read `nowhere.txt`"),
        "{}",
        ran.stderr
    );
    let ran = run(&[
        "-q",
        "capacity",
        "--replay",
        &bundle(RECORDING),
        "--require",
        "68",
    ]);
    assert_eq!(
        (ran.status, ran.stderr.as_str()),
        (11, "67 streams fit, 68 are required\n")
    );
}
