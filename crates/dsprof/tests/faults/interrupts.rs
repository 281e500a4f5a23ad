//! SIGINT and SIGTERM, at any moment and at bad ones.

use std::time::Duration;

use rustix::process::Signal;

use crate::machine::Machine;
use crate::ran::{Running, check_readable, check_resumes, pause};
use crate::{Fault, Tried, is_live, now};

pub(crate) const FAULTS: &[Fault] = &[
    Fault::new("SIGINT at random times", at_random_times),
    Fault::new("SIGTERM in the sweep and in a capture", terminated),
    Fault::new("SIGINT with a load that does not listen", deaf_load),
    Fault::new("SIGINT twice", twice),
];

/// Any number serves as the seed; the same gives the same times.
const SEED: u64 = 20_261_130;

/// The moments in which to interrupt, in microseconds below `span`: SplitMix64 (Steele, Lea and Flood, 2014).
fn moments(n: usize, span: Duration) -> Vec<u64> {
    let mut state = SEED;
    let span = u64::try_from(span.as_micros())
        .expect("a run of some seconds")
        .max(1);
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % span
    };
    (0..n).map(|_| next()).collect()
}

fn at_random_times() -> Tried {
    // How long a run takes here and now.
    let machine = Machine::new();
    let began = now();
    machine.run(&mut machine.tune()).check(0);
    let span = began.elapsed();
    let n = if is_live() { 100 } else { 10 };
    let mut interrupted = 0;
    for (index, moment) in moments(n, span).into_iter().enumerate() {
        let machine = Machine::new();
        let running = Running::start(&machine, &mut machine.tune());
        pause(moment / 1000);
        running.signal(Signal::INT);
        let ran = running.end();
        match (
            ran.status.code(),
            machine.bundle().join("bundle.json").exists(),
        ) {
            (Some(130), true) => {
                interrupted += 1;
                ran.says("interrupted while `")
                    .says("hint: the bundle keeps");
                check_readable(&machine.bundle());
            }
            // It came after the last program.
            (Some(0), true) => drop(check_readable(&machine.bundle())),
            // It came before anybody listened, and nothing had begun.
            (None, false) => drop(ran.check_signal(Signal::INT)),
            (None, true) => {
                ran.check_signal(Signal::INT);
                check_readable(&machine.bundle());
            }
            other => panic!("{other:?} after {moment} µs: {}", ran.stderr),
        }
        // Going on takes much longer than being interrupted.
        if index % 5 == 0 {
            check_resumes(&machine);
        }
    }
    assert!(interrupted > 0, "none of {n} came while a program ran");
    Tried::Passed(n)
}

fn terminated() -> Tried {
    for name in ["load-1", "capture"] {
        let machine = Machine::new();
        machine.put(&format!("block-{name}"), "");
        let mut running = Running::start(&machine, &mut machine.tune());
        running.wait_for(name);
        running.signal(Signal::TERM);
        running.end().check(130).says("interrupted while `");
        machine.remove(&format!("block-{name}"));
        check_readable(&machine.bundle());
        check_resumes(&machine);
    }
    Tried::Passed(2)
}

fn deaf_load() -> Tried {
    let machine = Machine::new();
    machine.put(
        "shout",
        "trap '' TERM INT; say deaf; while :; do sleep 0.1; done",
    );
    let mut running = Running::start(&machine, &mut machine.tune());
    running.wait_for("deaf");
    running.signal(Signal::INT);
    running
        .end()
        .check(130)
        .says("interrupted while `load` ran");
    machine.remove("shout");
    check_readable(&machine.bundle());
    check_resumes(&machine);
    Tried::Passed(1)
}

fn twice() -> Tried {
    let machine = Machine::new();
    machine.put(
        "shout",
        "trap '' TERM INT; say deaf; while :; do sleep 0.1; done",
    );
    let mut running = Running::start(&machine, &mut machine.tune());
    running.wait_for("deaf");
    running.signal(Signal::INT);
    pause(300);
    // Nobody who asks twice wants to wait for the grace period.
    running.signal(Signal::INT);
    running.end().check(130);
    // What is left is ended by the guard.
    check_readable(&machine.bundle());
    Tried::Passed(1)
}
