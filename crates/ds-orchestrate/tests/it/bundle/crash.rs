//! A run that dies in the middle, or runs out of room.

use std::cell::RefCell;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::rc::Rc;

use ds_orchestrate::bundle::{Bundle, RecordedBundle, StageName, StageState};
use ds_orchestrate::process::{Flow, Interrupt, Live, Record, RunError, Runner};
use ds_orchestrate::{Error, ErrorKind};

use super::inputs;
use crate::support::{child_task, folder, run_again, run_again_on_a_full_disk, sh};

/// Measures one thing, and dies while it measures the next.
fn die_in_the_sweep(root: &Path) {
    let bundle = Rc::new(RefCell::new(
        Bundle::open(root, inputs()).expect("a new bundle"),
    ));
    let record = Record::new(Live::new(Interrupt::default()), Rc::clone(&bundle));
    record
        .run_quietly(&sh("hw/identity", "echo gpu"))
        .expect("sh runs");
    bundle
        .borrow_mut()
        .set_stage(StageName::Hw, StageState::Finished)
        .expect("the folder is writable");
    bundle
        .borrow_mut()
        .set_stage(StageName::Sweep, StageState::Started)
        .expect("the folder is writable");
    record
        .run(
            &sh("sweep/b1/load", "echo window; sleep 0.2; echo never seen"),
            &mut |_, _| -> Flow { std::process::abort() },
        )
        .expect("it never returns");
}

#[test]
fn what_was_written_survives_and_the_run_is_resumed() {
    if let Some(task) = child_task() {
        die_in_the_sweep(Path::new(&task));
        return;
    }
    let folder = folder();
    let root = folder.path();
    let this = "bundle::crash::what_was_written_survives_and_the_run_is_resumed";
    let status = run_again(this, &root.display().to_string());
    // SIGABRT, and no ordinary end.
    assert_eq!(status.signal(), Some(6), "{status}");

    // What had been printed is there, and is no finished command yet.
    let printed = fs::read_to_string(root.join("commands/0002-sh.stdout")).expect("it was written");
    assert_eq!(printed, "window\n");
    let recorded = RecordedBundle::open(root).expect("it can be read");
    let purposes = |bundle: &RecordedBundle| -> Vec<String> {
        bundle
            .commands()
            .expect("commands")
            .into_iter()
            .map(|c| c.purpose)
            .collect()
    };
    assert_eq!(purposes(&recorded), ["hw/identity"]);
    assert_eq!(
        recorded.manifest().stage(StageName::Hw),
        Some(&StageState::Finished)
    );
    assert_eq!(
        recorded.manifest().stage(StageName::Sweep),
        Some(&StageState::Started)
    );
    let finished = recorded.read("commands/0001-sh.json").expect("it is whole");

    // The lock died with the process, and the command runs again under its number.
    let bundle = Rc::new(RefCell::new(
        Bundle::open(root, inputs()).expect("the same run"),
    ));
    Record::new(Live::new(Interrupt::default()), bundle)
        .run_quietly(&sh("sweep/b1/load", "echo again"))
        .expect("sh runs");
    let resumed = RecordedBundle::open(root).expect("a bundle");
    assert_eq!(purposes(&resumed), ["hw/identity", "sweep/b1/load"]);
    assert_eq!(
        resumed.read("commands/0001-sh.json").expect("it is whole"),
        finished
    );
    assert_eq!(
        resumed
            .read("commands/0002-sh.stdout")
            .expect("it is whole"),
        b"again\n"
    );
}

/// Measures one thing, and then one that prints more than there is room for.
fn fill_the_disk(root: &Path) {
    let bundle = Rc::new(RefCell::new(
        Bundle::open(root, inputs()).expect("a new bundle"),
    ));
    let record = Record::new(Live::new(Interrupt::default()), bundle);
    record
        .run_quietly(&sh("hw/identity", "echo gpu"))
        .expect("sh runs");
    let mut seen = 0;
    let error = record
        .run(
            &sh("sweep/b1/load", "head -c 1000000 /dev/zero"),
            &mut |_, chunk| {
                seen += chunk.len();
                Flow::Continue
            },
        )
        .expect_err("it cannot be stored");
    // The program itself did not suffer.
    assert_eq!(seen, 1_000_000);
    let RunError::Bundle(_) = &error else {
        panic!("{error}");
    };
    let file = root.join("commands/0002-sh.stdout");
    assert_eq!(
        error.to_string(),
        format!("cannot write `{}`", file.display())
    );
    assert_eq!(Error::from(error).kind(), ErrorKind::Internal);
}

#[test]
fn a_full_disk_leaves_a_bundle_that_can_be_read() {
    if let Some(task) = child_task() {
        fill_the_disk(Path::new(&task));
        return;
    }
    let folder = folder();
    let this = "bundle::crash::a_full_disk_leaves_a_bundle_that_can_be_read";
    let status = run_again_on_a_full_disk(this, &folder.path().display().to_string());
    assert!(status.success(), "{status}");
    let recorded = RecordedBundle::open(folder.path()).expect("it can be read");
    let commands = recorded.commands().expect("commands");
    assert_eq!(
        commands
            .iter()
            .map(|c| c.purpose.as_str())
            .collect::<Vec<_>>(),
        ["hw/identity"]
    );
    for file in recorded.manifest().files.keys() {
        recorded.verify(file).expect("it is whole");
    }
    // With room again, the run goes on.
    Bundle::open(folder.path(), inputs()).expect("the same run");
}
