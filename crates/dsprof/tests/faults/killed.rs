//! dsprof itself is killed: at each program that it runs, and at each stage that it says it is in.

use std::fs;

use rustix::process::Signal;

use crate::machine::Machine;
use crate::ran::{Running, check_readable, check_resumes};
use crate::{Fault, Tried};

pub(crate) const FAULTS: &[Fault] = &[
    Fault::new("kill -9 of dsprof while it reads the hardware", hardware),
    Fault::new("kill -9 of dsprof in the sweep", sweep),
    Fault::new("kill -9 of dsprof in the profile", profile),
    Fault::new("kill -9 of dsprof as soon as a stage is noted", stages),
    Fault::new("kill -9 of dsprof while it replays into a bundle", replay),
    Fault::new("SIGHUP, as when a terminal closes", hang_up),
    Fault::new("a second run on the same bundle", second_run),
];

/// Kills dsprof while it waits for these scripts, one after the other, each time on the bundle of the time before, and
/// lets it finish in the end.
fn at(names: &[&str]) -> Tried {
    let machine = Machine::new();
    for name in names {
        let block = format!("block-{name}");
        machine.put(&block, "");
        let file = machine.path(format!("at-{name}"));
        if file.exists() {
            machine.remove(&format!("at-{name}"));
        }
        let mut running = Running::start(&machine, &mut machine.tune());
        running.wait_for(name);
        running.signal(Signal::KILL);
        running.end().check_signal(Signal::KILL);
        machine.remove(&block);
        check_readable(&machine.bundle());
    }
    check_resumes(&machine);
    Tried::Passed(names.len())
}

fn hardware() -> Tried {
    at(&["query", "report"])
}

fn sweep() -> Tried {
    at(&["load-1", "dmon", "memory", "load-2"])
}

fn profile() -> Tried {
    at(&["version", "capture", "export"])
}

fn stages() -> Tried {
    const STAGES: [&str; 5] = ["inspect", "hw", "sweep", "derive", "profile"];
    for stage in STAGES {
        let machine = Machine::new();
        let manifest = machine.bundle().join("bundle.json");
        let mut running = Running::start(&machine, &mut machine.tune());
        let name = format!("\"name\": \"{stage}\"");
        running.wait_until(&format!("no stage {stage}"), || {
            fs::read_to_string(&manifest)
                .ok()?
                .contains(&name)
                .then_some(())
        });
        running.signal(Signal::KILL);
        // On the way from the look to the signal it may have come to its end.
        let ran = running.end();
        assert!(
            ran.status.code().is_none_or(|code| code == 0),
            "{}",
            ran.stderr
        );
        check_readable(&machine.bundle());
        check_resumes(&machine);
    }
    Tried::Passed(STAGES.len())
}

fn replay() -> Tried {
    let machine = Machine::new();
    machine.run(&mut machine.tune()).check(0);
    let copy = machine.path("copy");
    let replay = || {
        let mut command = machine.dsprof(&["tune", "--replay"]);
        command.arg(machine.bundle()).arg("--bundle").arg(&copy);
        command
    };
    let mut running = Running::start(&machine, &mut replay());
    running.wait_until("no bundle", || {
        copy.join("bundle.json").exists().then_some(())
    });
    running.signal(Signal::KILL);
    running.end();
    let first = machine.run(&mut replay()).check(0).stdout;
    check_readable(&copy);
    let mut command = machine.dsprof(&["tune", "--replay"]);
    let again = machine.run(command.arg(&copy)).check(0).stdout;
    assert_eq!(first, again);
    Tried::Passed(1)
}

fn hang_up() -> Tried {
    if hang_up_is_ignored() {
        return Tried::Skipped("SIGHUP is ignored here, as nohup asks, and dsprof keeps to that");
    }
    let machine = Machine::new();
    machine.put("block-load-1", "");
    let mut running = Running::start(&machine, &mut machine.tune());
    running.wait_for("load-1");
    running.signal(Signal::HUP);
    running.end().check_signal(Signal::HUP);
    machine.remove("block-load-1");
    check_readable(&machine.bundle());
    check_resumes(&machine);
    Tried::Passed(1)
}

/// Whether this process, and so whatever it starts, ignores SIGHUP: the first bit of the mask (proc(5)).
fn hang_up_is_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & 1 == 1)
}

fn second_run() -> Tried {
    let machine = Machine::new();
    machine.put("block-load-1", "");
    let mut first = Running::start(&machine, &mut machine.tune());
    first.wait_for("load-1");
    // `run` would wait for the processes of the first one too.
    let second = machine.tune().output().expect("it starts");
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(3), "{said}");
    assert!(said.contains("is in use by another run"), "{said}");
    machine.remove("block-load-1");
    first.end().check(0);
    check_readable(&machine.bundle());
    Tried::Passed(1)
}
