//! `dsprof derive` writes what it shows, and nothing else.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{bundle, output_of, put, root, run};

/// A copy of a shipped pipeline in a folder of its own.
struct Copy {
    folder: TempDir,
    entry: String,
}

impl Copy {
    fn of(form: &str, entry: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for file in
            fs::read_dir(root().join("testdata/pipelines/resnet152").join(form)).expect("the form")
        {
            let file = file.expect("a file").path();
            fs::copy(&file, folder.path().join(file.file_name().expect("a name"))).expect("a copy");
        }
        let entry = folder
            .path()
            .join(entry)
            .to_str()
            .expect("a UTF-8 path")
            .to_owned();
        Self { folder, entry }
    }

    fn derive(&self, more: &[&str]) -> crate::support::Ran {
        let recording = bundle("h200-resnet152");
        let mut args = vec!["derive", &self.entry, "--replay", &recording];
        args.extend(more);
        run(&args)
    }

    fn texts(&self) -> Vec<(String, String)> {
        let mut texts: Vec<_> = fs::read_dir(self.folder.path())
            .expect("the folder")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.is_file())
            .map(|path| (name(&path), fs::read_to_string(&path).expect("text")))
            .collect();
        texts.sort();
        texts
    }
}

fn name(path: &Path) -> String {
    path.file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned()
}

/// Applies a unified diff as `patch -p1` does, for hunks that fit exactly.
fn patched(before: &str, diff: &str, file: &str) -> String {
    let mut lines: Vec<&str> = before.split_inclusive('\n').collect();
    let mut offset = 0_isize;
    let mut inside = false;
    let mut at = 0_usize;
    for line in diff.split_inclusive('\n') {
        if let Some(path) = line.strip_prefix("+++ ") {
            inside = path.trim_end().ends_with(file);
        } else if line.starts_with("--- ") {
            inside = false;
        } else if inside && let Some(hunk) = line.strip_prefix("@@ -") {
            let first: isize = hunk
                .split([',', ' '])
                .next()
                .expect("a number")
                .parse()
                .expect("a number");
            at = usize::try_from(first - 1 + offset).expect("a line");
        } else if inside {
            match line.split_at(1) {
                (" ", rest) => {
                    assert_eq!(lines[at], rest, "context of {file}");
                    at += 1;
                }
                ("-", rest) => {
                    assert_eq!(lines.remove(at), rest, "removed from {file}");
                    offset -= 1;
                }
                ("+", rest) => {
                    lines.insert(at, rest);
                    at += 1;
                    offset += 1;
                }
                _ => {}
            }
        }
    }
    lines.concat()
}

#[track_caller]
fn check_form(form: &str, entry: &str) {
    let copy = Copy::of(form, entry);
    let before = copy.texts();
    let shown = copy.derive(&[]);
    assert_eq!(
        (shown.status, copy.texts() == before),
        (0, true),
        "without --apply nothing is written"
    );
    assert_eq!(copy.derive(&["--check"]).status, 10);

    let applied = copy.derive(&["--apply"]);
    assert_eq!(applied.status, 0, "{}", applied.stderr);
    let after = copy.texts();
    for ((file, old), (_, new)) in before.iter().zip(&after) {
        assert_eq!(
            patched(old, &shown.stdout, file),
            *new,
            "{file} changes by exactly the diff"
        );
    }

    assert_eq!(copy.derive(&["--check"]).status, 0);
    assert_eq!(copy.derive(&["--apply"]).status, 0);
    assert_eq!(copy.texts(), after, "twice is the same as once");
}

#[test]
fn a_gst_launch_script_changes_by_exactly_the_diff() {
    check_form("gst-launch", "pipeline.sh");
}

#[test]
fn a_deepstream_app_file_and_its_model_change_by_exactly_the_diff() {
    check_form("deepstream-app", "app.txt");
}

#[test]
fn the_plan_of_the_gst_launch_script() {
    let args = [
        "derive",
        "testdata/pipelines/resnet152/gst-launch/pipeline.sh",
        "--replay",
        &bundle("h200-resnet152"),
    ];
    insta::assert_snapshot!(output_of(&args));
}

#[test]
fn the_plan_of_the_deepstream_app() {
    let args = [
        "derive",
        "testdata/pipelines/resnet152/deepstream-app/app.txt",
        "--replay",
        &bundle("h200-resnet152"),
    ];
    insta::assert_snapshot!(output_of(&args));
}

#[test]
fn modes_are_kept_and_old_contents_stay_beside() {
    let copy = Copy::of("gst-launch", "pipeline.sh");
    fs::set_permissions(&copy.entry, fs::Permissions::from_mode(0o750)).expect("a mode");
    let before = fs::read(&copy.entry).expect("a script");
    copy.derive(&["--apply"]);
    let mode = fs::metadata(&copy.entry)
        .expect("a script")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750);
    let kept = Path::new(&format!(
        "{}.dsprof/edits/0001/00-before-pipeline.sh",
        copy.entry
    ))
    .to_owned();
    assert_eq!(fs::read(kept).expect("the old content"), before);
}

#[test]
fn an_interrupted_change_is_completed_by_the_next_run() {
    let copy = Copy::of("deepstream-app", "app.txt");
    let before = copy.texts();
    copy.derive(&["--apply"]);
    let after = copy.texts();
    // What a run leaves that dies behind the first of two renames: one file old, the journal not ended.
    let journal = format!("{}.dsprof/edits/0001/journal.json", copy.entry);
    let text = fs::read_to_string(&journal)
        .expect("a journal")
        .replace("\"applied\"", "\"applying\"");
    put(&journal, &text);
    let (file, old) = &before[1];
    put(copy.folder.path().join(file), old);

    let next = copy.derive(&[]);
    assert!(
        next.stderr.contains("completed an interrupted change"),
        "{}",
        next.stderr
    );
    assert_eq!(copy.texts(), after);
}

#[test]
fn without_a_recording_the_batch_is_a_preset_and_says_so() {
    let text = output_of(&[
        "derive",
        "testdata/pipelines/resnet152/deepstream-app/app.txt",
        "--streams",
        "20",
        "--format",
        "json",
    ]);
    let plan: serde_json::Value = serde_json::from_str(&text).expect("a plan");
    assert_eq!(plan["final_batch"], 16);
    assert!(plan["notes"].to_string().contains("preset"), "{plan}");
}
