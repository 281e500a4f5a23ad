//! A run that dies in the middle.

use std::cell::RefCell;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::rc::Rc;

use ds_orchestrate::bundle::{Bundle, RecordedBundle, StageName, StageState};
use ds_orchestrate::process::{Flow, Interrupt, Live, Record, Runner};

use super::inputs;
use crate::support::{child_task, folder, run_again, sh};

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
