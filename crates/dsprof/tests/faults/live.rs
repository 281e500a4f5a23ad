//! The same with a real nsys, where one is on `PATH`: its agent and what it profiles leave the group of the command.

use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Signal, kill_process};

use crate::machine::Machine;
use crate::ran::{Running, check_readable, pause};
use crate::{Fault, Tried, is_live};

pub(crate) const FAULTS: &[Fault] = &[
    Fault::new("live: a run with nsys that nothing disturbs", undisturbed),
    Fault::new("live: kill -9 of nsys while it captures", nsys_killed),
    Fault::new("live: kill -9 of dsprof while nsys captures", dsprof_killed),
    Fault::new("live: SIGINT while nsys captures", interrupted),
];

fn nsys() -> Result<PathBuf, Tried> {
    if !is_live() {
        return Err(Tried::Skipped("set DSPROF_LIVE=1"));
    }
    #[expect(clippy::disallowed_methods, reason = "nsys is looked for on PATH")]
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join("nsys"))
        .find(|file| file.is_file())
        .ok_or(Tried::Skipped("no nsys on PATH"))
}

/// Runs the main job with that nsys, and hands the run over once it captures: the load under it has begun.
fn capturing(disturb: impl FnOnce(&Machine, Running<'_>)) -> Tried {
    let nsys = match nsys() {
        Ok(nsys) => nsys,
        Err(skipped) => return skipped,
    };
    let machine = Machine::new();
    // What nsys profiles is a child of its launcher.
    machine.put(
        "shout",
        "if [ \"$1\" = 2 ] && tr '\\0' '\\n' < /proc/$PPID/cmdline | grep -q nsys-launcher; then say captured; sleep 20; fi",
    );
    let mut command = machine.tune();
    command.arg("--nsys").arg(nsys);
    let mut running = Running::start(&machine, &mut command).within(Duration::from_secs(600));
    running.wait_for("captured");
    disturb(&machine, running);
    check_readable(&machine.bundle());
    Tried::Passed(1)
}

fn undisturbed() -> Tried {
    capturing(|_, running| drop(running.end().check(0)))
}

fn nsys_killed() -> Tried {
    capturing(|machine, running| {
        // nsys itself is the child of dsprof that leads the group in which its launcher is.
        let script = "for p in /proc/[0-9]*; do \
                      if tr '\\0' ' ' < $p/cmdline | grep -q 'nsys profile' && \
                      tr '\\0' '\\n' < $p/environ | grep -qx \"DSPROF_FAULT=$DSPROF_FAULT\"; \
                      then echo ${p#/proc/}; fi; done 2>/dev/null";
        let output = machine
            .command("sh")
            .args(["-c", script])
            .output()
            .expect("sh runs");
        let ids = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut killed = 0;
        for id in ids.lines().filter_map(|id| id.parse().ok()) {
            let id = rustix::process::Pid::from_raw(id).expect("an id");
            killed += usize::from(kill_process(id, Signal::KILL).is_ok());
        }
        assert!(killed > 0, "nsys was not found among: {ids}");
        running.end().check(0).says("signal 9");
    })
}

fn dsprof_killed() -> Tried {
    capturing(|_, running| {
        running.signal(Signal::KILL);
        running.end().check_signal(Signal::KILL);
    })
}

fn interrupted() -> Tried {
    let first = capturing(|_, running| {
        running.signal(Signal::INT);
        running.end().check(130).says("interrupted while `");
    });
    if let Tried::Skipped(_) = first {
        return first;
    }
    // And at some moments behind it, in which nsys writes its report.
    for moment in [100, 700, 1900] {
        capturing(|_, running| {
            pause(moment);
            running.signal(Signal::INT);
            running.end().check(130);
        });
    }
    Tried::Passed(4)
}
