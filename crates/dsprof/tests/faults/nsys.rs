//! nsys is missing, old, lying, broken, or hangs. The run goes on without a trace and says why.

use std::time::Duration;

use crate::machine::Machine;
use crate::ran::{Ran, Running, check_readable};
use crate::{Fault, Tried, is_live};

pub(crate) const FAULTS: &[Fault] = &[
    Fault::new("nsys is missing", missing),
    Fault::new("nsys cannot be executed", not_executable),
    Fault::new("nsys is too old", too_old),
    Fault::new("nsys ends with 0 and without a report", no_report),
    Fault::new("nsys fails", fails),
    Fault::new("nsys exports garbage", garbage),
    Fault::new("nsys hangs", hangs),
];

/// A run without a trace: everything else is there, and the reason.
fn check_without_trace(machine: &Machine, ran: Ran, reason: &str) {
    ran.check(0).says("No trace").says(reason);
    check_readable(&machine.bundle());
}

fn missing() -> Tried {
    let machine = Machine::new();
    machine.remove("bin/nsys");
    let ran = machine.run(
        machine
            .tune()
            .env("PATH", machine.path("bin").display().to_string() + ":/bin"),
    );
    check_without_trace(&machine, ran, "`nsys` was not found");
    Tried::Passed(1)
}

fn not_executable() -> Tried {
    let machine = Machine::new();
    let nsys = machine.path("not-executable");
    machine.put("not-executable", "");
    let ran = machine.run(machine.tune().arg("--nsys").arg(&nsys));
    check_without_trace(&machine, ran, "could not run `");
    Tried::Passed(1)
}

fn too_old() -> Tried {
    let machine = Machine::new();
    machine.put(
        "refuse",
        "echo \"unrecognised option '--cuda-graph-trace=node'\" >&2; kill -9 $(cat \"$DSPROF_MACHINE/agent\"); exit 1",
    );
    let old = "2019.3.1.85-c2e9e2d";
    let ran = machine.run(machine.tune().env("DSPROF_NSYS_VERSION", old));
    check_without_trace(&machine, ran, "");
    Tried::Passed(1)
}

fn no_report() -> Tried {
    let machine = Machine::new();
    machine.put("refuse", "echo 'Collecting data...'; exit 0");
    let ran = machine.run(&mut machine.tune());
    check_without_trace(&machine, ran, "");
    Tried::Passed(1)
}

fn fails() -> Tried {
    let machine = Machine::new();
    machine.put(
        "refuse",
        "echo 'the agent could not be started' >&2; exit 1",
    );
    machine.install("gzip", "#!/bin/sh\nexit 1\n");
    let ran = machine.run(&mut machine.tune());
    check_without_trace(&machine, ran, "");
    Tried::Passed(1)
}

fn garbage() -> Tried {
    let machine = Machine::new();
    machine.install("gzip", "#!/bin/sh\necho this is no database\n");
    let ran = machine.run(&mut machine.tune());
    check_without_trace(&machine, ran, "");
    Tried::Passed(1)
}

fn hangs() -> Tried {
    if !is_live() {
        return Tried::Skipped("it waits for as long as nsys may take; set DSPROF_LIVE=1");
    }
    for name in ["version", "capture", "export"] {
        let machine = Machine::new();
        machine.put(&format!("block-{name}"), "");
        let ran = Running::start(&machine, &mut machine.tune())
            .within(Duration::from_secs(900))
            .end();
        check_without_trace(&machine, ran, "timed out");
    }
    Tried::Passed(3)
}
