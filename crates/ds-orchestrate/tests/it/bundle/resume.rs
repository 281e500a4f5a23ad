//! What a second run on a bundle keeps, and what it forgets; what it answers is told in `process::resume`.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::rc::Rc;

use ds_orchestrate::bundle::{Bundle, RecordedBundle, StageName, StageState};
use ds_orchestrate::process::{
    CommandSpec, Exit, Flow, Outcome, Record, Replay, Resume, RunError, Runner,
};

use super::inputs;
use crate::support::{Fake, files_below, folder, outcome, put, sh};

fn open(root: &Path) -> Rc<RefCell<Bundle>> {
    Rc::new(RefCell::new(
        Bundle::open(root, inputs()).expect("the same run"),
    ))
}

fn answers(text: &str) -> Fake<'static> {
    let text = text.to_owned();
    Fake::new(move |_| Ok(outcome(Exit::Code(0), text.clone(), "")))
}

/// A run that finished one stage and broke off in the next, which had left a file by then.
fn broken_off(root: &Path) {
    let bundle = open(root);
    let record = Record::new(answers("first run"), Rc::clone(&bundle));
    record.run_quietly(&sh("hw/identity", "")).expect("it runs");
    bundle
        .borrow_mut()
        .set_stage(StageName::Hw, StageState::Finished)
        .expect("the folder is writable");
    bundle
        .borrow_mut()
        .set_stage(StageName::Sweep, StageState::Started)
        .expect("the folder is writable");
    let left = root.join("left.log");
    let leaving = Fake::new(move |_| {
        put(&left, "by the sweep");
        Ok(outcome(Exit::Code(0), "first run", ""))
    });
    Record::new(leaving, bundle)
        .run_quietly(&sh("sweep/b1/load", "").produces("left.log"))
        .expect("it runs");
}

fn purposes(root: &Path) -> Vec<String> {
    let commands = RecordedBundle::open(root)
        .expect("a bundle")
        .commands()
        .expect("commands");
    commands
        .into_iter()
        .map(|command| command.purpose)
        .collect()
}

#[test]
fn what_did_not_finish_is_forgotten_with_its_files() {
    let folder = folder();
    broken_off(folder.path());
    assert_eq!(purposes(folder.path()), ["hw/identity", "sweep/b1/load"]);
    let kept = fs::read(folder.path().join("commands/0001-sh.json")).expect("it is there");
    drop(open(folder.path()));
    assert_eq!(purposes(folder.path()), ["hw/identity"]);
    let expected = [
        ".lock",
        "bundle.json",
        "commands/0001-sh.json",
        "commands/0001-sh.stderr",
        "commands/0001-sh.stdout",
    ];
    assert_eq!(files_below(folder.path()), expected);
    assert_eq!(
        fs::read(folder.path().join("commands/0001-sh.json")).expect("it is there"),
        kept
    );
}

#[test]
fn a_file_that_is_gone_already_is_forgotten_too() {
    let folder = folder();
    broken_off(folder.path());
    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    fs::remove_file(folder.path().join("left.log")).expect("it is there");
    drop(open(folder.path()));
    assert_eq!(purposes(folder.path()), ["hw/identity"]);
}

#[test]
fn a_number_is_not_given_twice() {
    let folder = folder();
    let bundle = open(folder.path());
    let record = Record::new(answers(""), Rc::clone(&bundle));
    record
        .run_quietly(&sh("sweep/b1/load", ""))
        .expect("it runs");
    record.run_quietly(&sh("hw/identity", "")).expect("it runs");
    bundle
        .borrow_mut()
        .set_stage(StageName::Hw, StageState::Finished)
        .expect("the folder is writable");
    drop((record, bundle));
    // The first command is forgotten; the second keeps its number.
    Record::new(answers(""), open(folder.path()))
        .run_quietly(&sh("profile/clean", ""))
        .expect("it runs");
    let commands = RecordedBundle::open(folder.path())
        .expect("a bundle")
        .commands()
        .expect("commands");
    let found: Vec<(usize, &str)> = commands
        .iter()
        .map(|c| (c.seq, c.purpose.as_str()))
        .collect();
    assert_eq!(found, [(2, "hw/identity"), (3, "profile/clean")]);
}

/// A second run over a broken one, in which programs would answer otherwise.
fn resumed(root: &Path) -> Resume<Record<Fake<'static>>> {
    let bundle = open(root);
    let finished = bundle.borrow().manifest().finished();
    let recorded = Replay::new(RecordedBundle::open(root).expect("a bundle")).expect("commands");
    Resume::new(
        finished,
        recorded,
        Record::new(answers("second run"), bundle),
    )
}

#[test]
fn a_sampler_goes_where_its_program_goes() {
    let folder = folder();
    broken_off(folder.path());
    let runner = resumed(folder.path());
    let beside = |main: &str,
                  side: &str|
     -> Result<(Outcome, Result<Outcome, RunError>), RunError> {
        let (main, side): (CommandSpec, CommandSpec) = (sh(main, ""), sh(side, ""));
        let (outcome, mut sampled) = runner.run_beside(&main, &[side], &mut |_| Flow::Continue)?;
        Ok((outcome, sampled.remove(0)))
    };
    let (main, side) = beside("sweep/b1/load", "sweep/b1/dmon").expect("both run");
    assert_eq!(main.stdout_text(), "second run");
    assert_eq!(side.expect("it runs").stdout_text(), "second run");
    let (_, sampled) = beside("hw/identity", "hw/dmon").expect("the load is recorded");
    let error = sampled.expect_err("there was no sampler");
    assert!(matches!(error, RunError::NotRecorded { .. }), "{error}");
}
