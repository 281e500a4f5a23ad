//! A recording that answers in place of programs.

use std::fs;
use std::path::Path;

use ds_orchestrate::bundle::BundleError;
use ds_orchestrate::process::{
    CommandSpec, Exit, Flow, Interrupt, Live, Outcome, Record, Replay, RunError, Runner,
};
use tempfile::TempDir;

use super::record::{open, recorded};
use crate::support::{Fake, folder, outcome, put};

fn asked() -> CommandSpec {
    let mut spec = CommandSpec::new("sweep/b8/load", "load", ["--batch=8", "--seconds", "30"])
        .produces("sweep/b8.log");
    spec.env = vec![("GPU".into(), "0".into())];
    spec
}

/// A recording of one command that left a file.
fn recording() -> TempDir {
    let folder = folder();
    let root = folder.path().to_owned();
    let fake = Fake::new(move |_| {
        put(&root.join("sweep/b8.log"), "a log");
        Ok(outcome(Exit::Code(0), "rate 8", "warning"))
    });
    Record::new(fake, open(folder.path()))
        .run_quietly(&asked())
        .expect("it runs");
    folder
}

fn replay(root: &Path) -> Replay {
    Replay::new(recorded(root)).expect("commands")
}

fn ask(root: &Path, change: impl FnOnce(&mut CommandSpec)) -> Result<Outcome, RunError> {
    let mut spec = asked();
    change(&mut spec);
    replay(root).run_quietly(&spec)
}

/// A change of the command and the two sides that the refusal shows.
#[track_caller]
fn check_refused(change: impl FnOnce(&mut CommandSpec), asked: &str, recorded: &str) {
    let folder = recording();
    let error = ask(folder.path(), change)
        .expect_err("another command")
        .to_string();
    let shown: Vec<&str> = error.lines().skip(1).map(str::trim).collect();
    assert_eq!(
        shown,
        [
            format!("asked for: {asked}"),
            format!("recorded:  {recorded}")
        ]
    );
    assert!(
        error.contains(&folder.path().display().to_string()),
        "{error}"
    );
}

#[test]
fn the_same_command_is_answered() {
    let folder = recording();
    let mut seen = Vec::new();
    let outcome = replay(folder.path())
        .run(&asked(), &mut |_, chunk| {
            seen.extend_from_slice(chunk);
            Flow::Continue
        })
        .expect("it is recorded");
    assert_eq!(
        outcome,
        crate::support::outcome(Exit::Code(0), "rate 8", "warning")
    );
    assert_eq!(seen, b"rate 8warning");
}

#[test]
fn limits_do_not_tell_commands_apart() {
    let folder = recording();
    ask(folder.path(), |spec| {
        spec.timeout *= 2;
        spec.output_cap = 1;
    })
    .expect("the same command");
}

#[test]
fn one_changed_flag_shows_both() {
    check_refused(
        |spec| spec.args[2] = "60".into(),
        "GPU=0 load --batch=8 --seconds 60",
        "GPU=0 load --batch=8 --seconds 30",
    );
}

#[test]
fn one_flag_more_shows_both() {
    check_refused(
        |spec| spec.args.push("two words".into()),
        "GPU=0 load --batch=8 --seconds 30 'two words'",
        "GPU=0 load --batch=8 --seconds 30",
    );
}

#[test]
fn another_program_shows_both() {
    check_refused(
        |spec| spec.program = "./load".into(),
        "GPU=0 ./load --batch=8 --seconds 30",
        "GPU=0 load --batch=8 --seconds 30",
    );
}

#[test]
fn another_variable_shows_both() {
    check_refused(
        |spec| spec.env[0].1 = "1".into(),
        "GPU=1 load --batch=8 --seconds 30",
        "GPU=0 load --batch=8 --seconds 30",
    );
}

#[test]
fn another_purpose_is_another_command() {
    check_refused(
        |spec| spec.purpose = "sweep/b16/load".into(),
        "GPU=0 load --batch=8 --seconds 30",
        "nothing",
    );
}

#[test]
fn files_are_copied_to_the_new_bundle() {
    let folder = recording();
    let target = self::folder();
    replay(folder.path())
        .copy_files_to(target.path())
        .run_quietly(&asked())
        .expect("it is recorded");
    let copied = fs::read_to_string(target.path().join("sweep/b8.log")).expect("it was copied");
    assert_eq!(copied, "a log");
}

#[test]
fn a_replay_can_be_recorded() {
    let folder = recording();
    let target = self::folder();
    let again = Record::new(
        replay(folder.path()).copy_files_to(target.path()),
        open(target.path()),
    );
    let first = again.run_quietly(&asked()).expect("it is recorded");
    let second = replay(target.path())
        .run_quietly(&asked())
        .expect("it is recorded again");
    assert_eq!(first, second);
    // Everything is the same, to the last byte of every file.
    for file in recorded(folder.path()).manifest().files.keys() {
        let bytes = |root: &Path| fs::read(root.join(file)).expect("both have it");
        assert_eq!(bytes(folder.path()), bytes(target.path()), "{file}");
    }
}

#[test]
fn a_file_that_was_changed_is_refused() {
    for file in [
        "sweep/b8.log",
        "commands/0001-load.stdout",
        "commands/0001-load.stderr",
    ] {
        let folder = recording();
        let path = folder.path().join(file);
        put(&path, "other");
        let error = ask(folder.path(), |_| {}).expect_err("it was changed");
        assert!(
            matches!(&error, RunError::Bundle(BundleError::Changed { path: named }) if *named == path),
            "{error}"
        );
    }
}

#[test]
fn a_file_that_is_gone_is_refused() {
    let folder = recording();
    let path = folder.path().join("sweep/b8.log");
    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    fs::remove_file(&path).expect("it is there");
    let error = ask(folder.path(), |_| {}).expect_err("it is gone");
    assert_eq!(
        error.to_string(),
        format!("cannot read `{}`", path.display())
    );
}

#[test]
fn a_command_that_was_changed_is_refused() {
    let folder = recording();
    let path = folder.path().join("commands/0001-load.json");
    let text = fs::read_to_string(&path).expect("a command");
    put(&path, text.replace("--batch=8", "--batch=9"));
    let error = Replay::new(recorded(folder.path())).expect_err("it was changed");
    assert!(matches!(error, BundleError::Changed { .. }), "{error}");
}

#[test]
fn a_sampler_that_was_not_recorded_is_refused() {
    let folder = recording();
    let side = CommandSpec::new("sweep/b8/dmon", "nvidia-smi", ["dmon"]);
    let (_, mut sampled) = replay(folder.path())
        .run_beside(&asked(), &[side], &mut |_| Flow::Continue)
        .expect("the load is recorded");
    let error = sampled.remove(0).expect_err("there is no sampler");
    assert!(matches!(error, RunError::NotRecorded { .. }), "{error}");
}

#[test]
fn a_moved_recording_still_answers() {
    let first = folder();
    let live = Live::new(Interrupt::default()).with_bundle_root(first.path());
    let spec = CommandSpec::new("make", "sh", ["-c", "echo made > \"$0\"", "[BUNDLE]/made"])
        .produces("made");
    Record::new(live, open(first.path()))
        .run_quietly(&spec)
        .expect("sh runs");
    let moved = folder();
    let target = moved.path().join("elsewhere");
    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    fs::rename(first.path(), &target).expect("both are on one disk");
    replay(&target).run_quietly(&spec).expect("it is recorded");
}
