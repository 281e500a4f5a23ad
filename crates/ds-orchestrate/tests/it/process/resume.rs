//! A second run on a bundle goes on where the first one stopped.

use std::cell::RefCell;
use std::rc::Rc;

use ds_orchestrate::bundle::{StageName, StageState};
use ds_orchestrate::process::{CommandSpec, Exit, Record, Replay, Resume, Runner};

use super::record::{open, recorded};
use crate::support::{Fake, files_below, folder, outcome};

fn command(purpose: &str) -> CommandSpec {
    CommandSpec::new(purpose, "load", [purpose])
}

/// A runner that prints `printed` and notes what it was asked.
fn printing(printed: &'static str, asked: &Rc<RefCell<Vec<String>>>) -> Fake<'static> {
    let asked = Rc::clone(asked);
    Fake::new(move |spec| {
        asked.borrow_mut().push(spec.purpose.clone());
        Ok(outcome(Exit::Code(0), printed, ""))
    })
}

#[test]
fn finished_stages_answer_from_the_bundle_and_the_rest_runs() {
    let folder = folder();
    let asked = Rc::default();
    {
        let bundle = open(folder.path());
        let first = Record::new(printing("first", &asked), Rc::clone(&bundle));
        first.run_quietly(&command("hw/identity")).expect("it runs");
        bundle
            .borrow_mut()
            .set_stage(StageName::Hw, StageState::Finished)
            .expect("a bundle");
        bundle
            .borrow_mut()
            .set_stage(StageName::Sweep, StageState::Started)
            .expect("a bundle");
        first
            .run_quietly(&command("sweep/b1/load"))
            .expect("it runs");
    }
    let kept = std::fs::read(folder.path().join("commands/0001-load.json")).expect("a record");
    asked.borrow_mut().clear();

    let bundle = open(folder.path());
    assert!(
        !folder.path().join("commands/0002-load.json").exists(),
        "the broken stage is forgotten"
    );
    let finished = bundle.borrow().manifest().finished();
    assert_eq!(finished, [StageName::Hw]);
    let earlier = Replay::new(recorded(folder.path())).expect("commands");
    let second = Resume::new(
        finished,
        earlier,
        Record::new(printing("second", &asked), Rc::clone(&bundle)),
    );
    let printed = |purpose: &str| {
        second
            .run_quietly(&command(purpose))
            .expect("it runs")
            .stdout_text()
    };
    assert_eq!(printed("hw/identity"), "first");
    assert_eq!(printed("sweep/b1/load"), "second");
    assert_eq!(
        *asked.borrow(),
        ["sweep/b1/load"],
        "what is finished does not run again"
    );

    assert_eq!(
        std::fs::read(folder.path().join("commands/0001-load.json")).expect("a record"),
        kept
    );
    let commands = files_below(folder.path())
        .into_iter()
        .filter(|f| f.ends_with("load.json"))
        .count();
    assert_eq!(commands, 2, "nothing is recorded twice");
}

#[test]
fn a_finished_stage_stays_finished_while_it_is_read_again() {
    let folder = folder();
    let bundle = open(folder.path());
    for state in [
        StageState::Started,
        StageState::Finished,
        StageState::Started,
    ] {
        bundle
            .borrow_mut()
            .set_stage(StageName::Hw, state)
            .expect("a bundle");
    }
    assert_eq!(
        bundle.borrow().manifest().stage(StageName::Hw),
        Some(&StageState::Finished)
    );
}

#[test]
fn a_finished_stage_that_asks_for_another_command_is_an_error() {
    let folder = folder();
    let asked = Rc::default();
    let bundle = open(folder.path());
    Record::new(printing("first", &asked), Rc::clone(&bundle))
        .run_quietly(&command("hw/identity"))
        .expect("it runs");
    let earlier = Replay::new(recorded(folder.path())).expect("commands");
    let resume = Resume::new(vec![StageName::Hw], earlier, printing("second", &asked));
    let error = resume
        .run_quietly(&command("hw/report"))
        .expect_err("it was never recorded");
    assert!(
        error.to_string().contains("holds no command for hw/report"),
        "{error}"
    );
}
