//! A change whose process is killed after each of its steps.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use ds_orchestrate::transaction::{
    Recovery, Step, TransactionError, apply, apply_observed, recover,
};
use tempfile::TempDir;

use super::{change, contents, journal, three_files};
use crate::support::{child_task, folder, put, run_again};

/// Every step of a change of three files, and its name.
const STEPS: [(&str, Step); 6] = [
    ("staged", Step::Staged),
    ("announced", Step::Announced),
    ("first", Step::Replaced(1)),
    ("second", Step::Replaced(2)),
    ("third", Step::Replaced(3)),
    ("done", Step::Done),
];

/// Changes the three files and dies after the step that `task` names in front of the folder.
fn die(task: &str) {
    let (name, root) = task.split_once(' ').expect("step and folder");
    let (_, last) = STEPS
        .iter()
        .find(|(step, _)| *step == name)
        .expect("a step");
    let root = Path::new(root);
    let changes = ["a.txt", "b.txt", "c.txt"].map(|name| change(root, name));
    apply_observed(&changes, &journal(root), &mut |step| {
        if step == *last {
            std::process::abort();
        }
    })
    .expect("nothing is in the way");
}

/// A folder in which the process of a change died after a step.
#[track_caller]
fn crashed_after(test: &str, step: &str) -> TempDir {
    let folder = folder();
    three_files(folder.path());
    let task = format!("{step} {}", folder.path().display());
    let status = run_again(&format!("transaction::crash::{test}"), &task);
    assert_eq!(status.signal(), Some(6), "{status}");
    folder
}

fn completed(root: &Path) -> Recovery {
    let path = |name| fs::canonicalize(root.join(name)).expect("it is there");
    Recovery::Completed(["a.txt", "b.txt", "c.txt"].map(path).to_vec())
}

#[test]
fn every_step_is_completed_or_dropped() {
    if let Some(task) = child_task() {
        return die(&task);
    }
    for (step, _) in STEPS {
        let folder = crashed_after("every_step_is_completed_or_dropped", step);
        let root = folder.path();
        let (at_the_crash, expected, after) = match step {
            "staged" => (
                ["old", "old", "old"],
                Recovery::Dropped,
                ["old", "old", "old"],
            ),
            "announced" => (
                ["old", "old", "old"],
                completed(root),
                ["new", "new", "new"],
            ),
            "first" => (
                ["new", "old", "old"],
                completed(root),
                ["new", "new", "new"],
            ),
            "second" => (
                ["new", "new", "old"],
                completed(root),
                ["new", "new", "new"],
            ),
            "third" => (
                ["new", "new", "new"],
                completed(root),
                ["new", "new", "new"],
            ),
            _ => (
                ["new", "new", "new"],
                Recovery::Nothing,
                ["new", "new", "new"],
            ),
        };
        assert_eq!(contents(root), at_the_crash, "{step}");
        assert_eq!(
            recover(&journal(root)).expect("nothing is in the way"),
            expected,
            "{step}"
        );
        assert_eq!(contents(root), after, "{step}");
        // Once more finds nothing left to do.
        assert_eq!(
            recover(&journal(root)).expect("it is done"),
            Recovery::Nothing,
            "{step}"
        );
        assert_eq!(contents(root), after, "{step}");
    }
}

#[test]
fn a_dropped_change_can_be_made_again() {
    if let Some(task) = child_task() {
        return die(&task);
    }
    let folder = crashed_after("a_dropped_change_can_be_made_again", "staged");
    let root = folder.path();
    assert_eq!(
        recover(&journal(root)).expect("nothing is in the way"),
        Recovery::Dropped
    );
    apply(
        &["a.txt", "b.txt", "c.txt"].map(|name| change(root, name)),
        &journal(root),
    )
    .expect("nothing is in the way");
    assert_eq!(contents(root), ["new", "new", "new"]);
}

#[test]
fn a_file_that_somebody_edited_since_is_not_overwritten() {
    if let Some(task) = child_task() {
        return die(&task);
    }
    let folder = crashed_after(
        "a_file_that_somebody_edited_since_is_not_overwritten",
        "first",
    );
    let root = folder.path();
    let edited = fs::canonicalize(root.join("c.txt")).expect("it is there");
    put(&edited, "mine\n");
    for _ in 0..2 {
        let error = recover(&journal(root)).expect_err("it is neither old nor new");
        assert!(
            matches!(&error, TransactionError::Stuck { path, .. } if *path == edited),
            "{error}"
        );
        assert_eq!(contents(root), ["new", "old", "mine"]);
    }
    // Once the file is one of the two again, the change goes on from there.
    put(&edited, change(root, "c.txt").before);
    assert_eq!(
        recover(&journal(root)).expect("nothing is in the way"),
        completed(root)
    );
    assert_eq!(contents(root), ["new", "new", "new"]);
}

#[test]
fn a_file_that_was_removed_since() {
    if let Some(task) = child_task() {
        return die(&task);
    }
    let folder = crashed_after("a_file_that_was_removed_since", "first");
    let root = folder.path();
    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    fs::remove_file(root.join("b.txt")).expect("it is there");
    let error = recover(&journal(root)).expect_err("a file is missing");
    assert!(
        matches!(error, TransactionError::Io { action: "read", .. }),
        "{error}"
    );
    assert_eq!(contents(root), ["new", "gone", "old"]);
}

#[test]
fn a_new_content_that_was_changed_in_the_journal() {
    if let Some(task) = child_task() {
        return die(&task);
    }
    let folder = crashed_after("a_new_content_that_was_changed_in_the_journal", "announced");
    let root = folder.path();
    put(&journal(root).join("01-after-b.txt"), "other\n");
    let error = recover(&journal(root)).expect_err("it is not what was announced");
    assert!(matches!(error, TransactionError::Journal { .. }), "{error}");
    assert_eq!(contents(root), ["old", "old", "old"]);
}
