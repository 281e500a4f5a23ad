//! A change that takes place, or does not, without a crash.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use ds_orchestrate::transaction::{
    FileChange, Recovery, Step, TransactionError, apply, apply_observed, recover,
};

use super::{contents, journal, three_files};
use crate::support::{files_below, folder, mode, put, set_mode};

#[test]
fn all_files_are_changed() {
    let folder = folder();
    let changes = three_files(folder.path());
    set_mode(&changes[1].path, 0o640);
    let mut steps = Vec::new();
    apply_observed(&changes, &journal(folder.path()), &mut |step| {
        steps.push(step);
    })
    .expect("nothing is in the way");
    assert_eq!(contents(folder.path()), ["new", "new", "new"]);
    assert_eq!(mode(&changes[1].path), 0o640);
    let replaced = (1..=3).map(Step::Replaced);
    let expected: Vec<Step> = [Step::Staged, Step::Announced]
        .into_iter()
        .chain(replaced)
        .chain([Step::Done])
        .collect();
    assert_eq!(steps, expected);
    assert_eq!(
        recover(&journal(folder.path())).expect("it is done"),
        Recovery::Nothing
    );
}

#[test]
fn old_and_new_contents_are_kept() {
    let folder = folder();
    let changes = three_files(folder.path());
    let journal = journal(folder.path());
    apply(&changes, &journal).expect("nothing is in the way");
    for (index, name) in ["a.txt", "b.txt", "c.txt"].iter().enumerate() {
        for (which, content) in [
            ("before", &changes[index].before),
            ("after", &changes[index].after),
        ] {
            let copy = journal.join(format!("{index:02}-{which}-{name}"));
            assert_eq!(&fs::read(copy).expect("it is kept"), content);
        }
    }
}

#[test]
fn an_empty_list_and_changes_that_change_nothing() {
    let folder = folder();
    let mut same = three_files(folder.path());
    for change in &mut same {
        change.after.clone_from(&change.before);
    }
    for changes in [vec![], same] {
        let mut steps = Vec::new();
        apply_observed(&changes, &journal(folder.path()), &mut |step| {
            steps.push(step);
        })
        .expect("nothing to do");
        assert_eq!(steps, []);
        assert!(!journal(folder.path()).exists(), "no journal of nothing");
        assert_eq!(
            recover(&journal(folder.path())).expect("nothing happened"),
            Recovery::Nothing
        );
    }
}

#[test]
fn only_what_changes_is_touched() {
    let folder = folder();
    let mut changes = three_files(folder.path());
    changes[1].after = changes[1].before.clone();
    // A read-only file that stays as it is, is no obstacle.
    set_mode(&changes[1].path, 0o444);
    apply(&changes, &journal(folder.path())).expect("nothing is in the way");
    assert_eq!(contents(folder.path()), ["new", "old", "new"]);
}

/// Checks that `changes` are refused with `expected` and that nothing at all was written.
#[track_caller]
fn check_refused(root: &Path, changes: &[FileChange], expected: &str) {
    let before = files_below(root);
    let contents_before = contents(root);
    let error = apply(changes, &journal(root)).expect_err("it is refused");
    assert_eq!(error.to_string(), expected);
    assert_eq!(
        (files_below(root), contents(root)),
        (before, contents_before)
    );
    assert_eq!(
        recover(&journal(root)).expect("nothing happened"),
        Recovery::Nothing
    );
}

#[test]
fn a_file_that_changed_meanwhile() {
    let folder = folder();
    let changes = three_files(folder.path());
    put(&changes[2].path, "mine\n");
    let path = changes[2].path.display();
    check_refused(
        folder.path(),
        &changes,
        &format!("`{path}` changed since it was read; nothing was written"),
    );
}

#[test]
fn a_file_that_is_read_only() {
    let folder = folder();
    let changes = three_files(folder.path());
    set_mode(&changes[1].path, 0o444);
    let path = changes[1].path.display();
    check_refused(
        folder.path(),
        &changes,
        &format!("`{path}` is read-only; nothing was written"),
    );
}

#[test]
fn a_file_that_is_gone() {
    let folder = folder();
    let changes = three_files(folder.path());
    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    fs::remove_file(&changes[1].path).expect("it is there");
    let path = changes[1].path.display();
    check_refused(folder.path(), &changes, &format!("cannot read `{path}`"));
}

#[test]
fn one_file_under_two_names() {
    let folder = folder();
    let mut changes = three_files(folder.path());
    symlink("a.txt", folder.path().join("link")).expect("a link");
    changes.push(FileChange {
        path: folder.path().join("link"),
        before: changes[0].before.clone(),
        after: b"another\n".to_vec(),
    });
    let path = fs::canonicalize(&changes[0].path).expect("it is there");
    check_refused(
        folder.path(),
        &changes,
        &format!(
            "`{}` is to be changed under two names; nothing was written",
            path.display()
        ),
    );
}

#[test]
fn a_journal_that_cannot_be_written() {
    let folder = folder();
    let changes = three_files(folder.path());
    put(
        &folder.path().join("edits"),
        "a file where the folder should be",
    );
    let error = apply(&changes, &journal(folder.path())).expect_err("no journal, no change");
    assert!(
        matches!(
            error,
            TransactionError::Io {
                action: "create",
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(contents(folder.path()), ["old", "old", "old"]);
}

#[test]
fn a_file_that_cannot_be_replaced_takes_back_those_before_it() {
    let folder = folder();
    let mut changes = three_files(folder.path());
    let below = folder.path().join("below");
    fs::create_dir(&below).expect("an empty folder");
    changes[2].path = below.join("c.txt");
    put(&changes[2].path, &changes[2].before);
    let error = apply_observed(&changes, &journal(folder.path()), &mut |step| {
        if step == Step::Replaced(2) {
            #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
            fs::remove_dir_all(&below).expect("it is there");
        }
    })
    .expect_err("the folder is gone");
    assert!(
        matches!(
            error,
            TransactionError::Io {
                action: "write",
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(contents(folder.path())[..2], ["old", "old"]);
    assert_eq!(
        recover(&journal(folder.path())).expect("it was undone"),
        Recovery::Nothing
    );
    assert_eq!(
        contents(folder.path())[..2],
        ["old", "old"],
        "nor does it come back"
    );
}

#[test]
fn a_journal_that_dsprof_did_not_write() {
    let folder = folder();
    let path = folder.path().join("journal.json");
    for text in [
        "",
        "{",
        r#"{"state": "half", "files": []}"#,
        r#"{"state": "applying", "files": [], "more": 1}"#,
    ] {
        put(&path, text);
        let error = recover(folder.path()).expect_err("no journal");
        assert!(
            matches!(&error, TransactionError::Journal { path: named, .. } if *named == path),
            "{error}"
        );
    }
}

#[test]
fn no_journal_at_all() {
    let folder = folder();
    let nothing = |path: &Path| recover(path).expect("there is nothing");
    assert_eq!(nothing(&folder.path().join("missing")), Recovery::Nothing);
    assert_eq!(nothing(folder.path()), Recovery::Nothing);
    // What is not of a change is not touched.
    put(&folder.path().join("notes-before-lunch.txt"), "");
    assert_eq!(nothing(folder.path()), Recovery::Nothing);
    assert_eq!(files_below(folder.path()), ["notes-before-lunch.txt"]);
}
