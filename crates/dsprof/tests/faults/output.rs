//! Programs that print what nobody expects, and much of it.

use std::fs;
use std::time::Duration;

use crate::machine::Machine;
use crate::ran::{Running, check_readable, check_resumes};
use crate::{Fault, Tried, is_live};

pub(crate) const FAULTS: &[Fault] = &[
    Fault::new("a load that prints without end", flood),
    Fault::new("output that is no UTF-8", no_utf_8),
    Fault::new("lines without an end", no_lines),
];

/// What is kept of each of the two outputs of a command at most.
const CAP: u64 = 64 << 20;

fn flood() -> Tried {
    let machine = Machine::new();
    // Before batch 1 shows a rate it prints this: lines, and in the longer variant a gigabyte of one line behind them.
    let line = "x".repeat(1023);
    let zeros = if is_live() { 1000 } else { 0 };
    machine.put(
        "shout",
        &format!(
            "if [ \"$1\" = 1 ] && [ ! -e \"$DSPROF_MACHINE/shouted\" ]; then\n\
             : > \"$DSPROF_MACHINE/shouted\"\n\
             yes {line} | head -c 72M\n\
             head -c {zeros}M /dev/zero; echo\n\
             fi\n"
        ),
    );
    let ran = Running::start(&machine, &mut machine.tune())
        .within(Duration::from_secs(900))
        .end()
        .check(0)
        .says("of its output were not kept");
    // Twice the cap, for what is kept and what is read of it, and as much for dsprof itself and the last pieces.
    let limit = 4 * CAP / 1024;
    assert!(
        ran.peak_kb < limit,
        "{} kB at most, {limit} kB allowed",
        ran.peak_kb
    );
    println!(
        "  {} MB of output: dsprof had {} MB at most",
        zeros + 72,
        ran.peak_kb / 1024
    );
    let largest = fs::read_dir(machine.bundle().join("commands"))
        .expect("commands")
        .filter_map(|entry| Some(entry.ok()?.metadata().ok()?.len()))
        .max();
    assert!(largest.is_some_and(|size| size <= CAP), "{largest:?}");
    check_readable(&machine.bundle());
    check_resumes(&machine);
    Tried::Passed(1)
}

fn no_utf_8() -> Tried {
    let machine = Machine::new();
    machine.put(
        "shout",
        r#"printf 'caf\351 \377\376 \303(\n'; printf '\360\237\n' >&2; head -c 4096 /dev/urandom >&2; echo >&2"#,
    );
    machine.run(&mut machine.tune()).check(0);
    let report = fs::read_to_string(machine.bundle().join("report.md")).expect("a report");
    assert!(report.contains("| 2 | 201."), "{report}");
    check_readable(&machine.bundle());
    check_resumes(&machine);
    Tried::Passed(1)
}

fn no_lines() -> Tried {
    let machine = Machine::new();
    machine.put("shout", "head -c 5000000 /dev/zero; echo");
    machine.run(&mut machine.tune()).check(0);
    check_readable(&machine.bundle());
    check_resumes(&machine);
    Tried::Passed(1)
}
