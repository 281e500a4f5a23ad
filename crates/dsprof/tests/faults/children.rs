//! Programs that dsprof runs are killed while it goes on.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};

use crate::machine::Machine;
use crate::ran::{Running, check_readable, check_resumes};
use crate::{Fault, Tried};

pub(crate) const FAULTS: &[Fault] = &[
    Fault::new("kill -9 of a load in the sweep", load_in_the_sweep),
    Fault::new("kill -9 of the sampler", sampler),
    Fault::new("kill -9 of the load of the profile", load_of_the_profile),
    Fault::new("kill -9 of nsys", nsys),
    Fault::new("kill -9 of nsys while it exports", export),
];

/// Kills a script of the machine where it waits, and lets the others go on.
fn kill(machine: &Machine, name: &str) -> crate::ran::Ran {
    let block = format!("block-{name}");
    machine.put(&block, "");
    let mut running = Running::start(machine, &mut machine.tune());
    let id = running.wait_for(name);
    kill_process(id, Signal::KILL).expect("it runs");
    machine.remove(&block);
    running.end()
}

fn load_in_the_sweep() -> Tried {
    let machine = Machine::new();
    kill(&machine, "load-1")
        .check(0)
        .says("batch 1 gave no rate: crashed (signal 9");
    let report = fs::read_to_string(machine.bundle().join("report.md")).expect("a report");
    // The sweep went on.
    assert!(report.contains("| 2 | 201."), "{report}");
    check_readable(&machine.bundle());
    check_resumes(&machine);
    Tried::Passed(1)
}

fn sampler() -> Tried {
    let machine = Machine::new();
    kill(&machine, "dmon").check(0);
    check_readable(&machine.bundle());
    check_resumes(&machine);
    Tried::Passed(1)
}

fn load_of_the_profile() -> Tried {
    let machine = Machine::new();
    let mut running = Running::start(&machine, &mut machine.tune());
    // The whole pipeline runs with the batch of the plateau, once the sweep is over.
    let manifest = machine.bundle().join("bundle.json");
    running.wait_until("no profile", || {
        let text = fs::read_to_string(&manifest).ok()?;
        text.contains("\"profile\"").then_some(())
    });
    machine.put("block-load-2", "");
    let file = machine.path("at-load-2");
    let before = fs::read_to_string(&file).unwrap_or_default();
    let id = running.wait_until("no load", || {
        fs::read_to_string(&file).ok().filter(|now| *now != before)
    });
    let id: Option<Pid> = id.trim().parse().ok().and_then(Pid::from_raw);
    // On a slow machine the load may have begun, and ended, before it was looked for.
    let _ = kill_process(id.expect("an id"), Signal::KILL);
    machine.remove("block-load-2");
    running.end().check(0);
    check_readable(&machine.bundle());
    check_resumes(&machine);
    Tried::Passed(1)
}

fn nsys() -> Tried {
    let machine = Machine::new();
    // The next best capture takes its place, and the report says so.
    kill(&machine, "capture")
        .check(0)
        .says("ran `--cuda-graph-trace=graph`")
        .says("nsys ended (signal 9) and left no");
    check_readable(&machine.bundle());
    Tried::Passed(1)
}

fn export() -> Tried {
    let machine = Machine::new();
    kill(&machine, "export")
        .check(0)
        .says("No trace")
        .says("signal 9");
    check_readable(&machine.bundle());
    Tried::Passed(1)
}
