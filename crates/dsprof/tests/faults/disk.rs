//! There is no room, or no leave, to write.

use std::fs;
use std::process::Command;

use crate::machine::{Machine, PIPELINE};
use crate::ran::{Ran, check_readable, check_resumes};
use crate::{Fault, Tried};

pub(crate) const FAULTS: &[Fault] = &[
    Fault::new("a full disk", full_disk),
    Fault::new("a file that may not grow", file_size_limit),
    Fault::new("a read-only file system", read_only),
    Fault::new("a bundle that cannot be made", unwritable),
    Fault::new("a read-only pipeline", read_only_pipeline),
    Fault::new("standard output is full", full_output),
];

/// Runs a shell script in a name space of its own, in which it may mount what it likes; `None` where that takes rights
/// that the tests do not have.
fn mounted(machine: &Machine, script: &str) -> Option<Ran> {
    let may = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    if !may(machine
        .command("unshare")
        .args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"]))
    {
        return None;
    }
    fs::create_dir_all(machine.path("small")).expect("a folder");
    let mut command = machine.command("unshare");
    command
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(machine.path("small"));
    command
        .arg(env!("CARGO_BIN_EXE_dsprof"))
        .arg(machine.bundle());
    Some(machine.run(&mut command))
}

/// The main job on `$1/bundle` by dsprof in `$2`, in the words of a shell.
fn tune() -> String {
    format!(
        "\"$2\" tune {PIPELINE} --streams 4 --batches 1,2 --seconds 2 --trace-seconds 1 --launch 'load {{batch}} {{seconds}}' --bundle \"$1/bundle\""
    )
}

const NO_RIGHTS: &str =
    "mounting takes rights that are not there; a limit on the size of files stands in for it";

fn full_disk() -> Tried {
    // Room for the beginning; for the hardware, for a part of the sweep, for all but the trace.
    let sizes = [16, 64, 128, 400];
    for size in sizes {
        let machine = Machine::new();
        // The bundle is moved out of the name space before that ends, to be read, and to be gone on with.
        let script = format!(
            "mount -t tmpfs -o size={size}k none \"$1\" || exit 99; {}; status=$?; cp -r \"$1/bundle\" \"$3\"; exit $status",
            tune()
        );
        let Some(ran) = mounted(&machine, &script) else {
            return Tried::Skipped(NO_RIGHTS);
        };
        if size < 400 {
            ran.check(1)
                .says("No space left on device")
                .says("cannot ")
                .says("hint: make room");
        } else {
            // The trace alone finds no room: the run says so and either goes on or ends.
            assert!(matches!(ran.status.code(), Some(0 | 1)), "{}", ran.stderr);
        }
        if machine.bundle().join("bundle.json").exists() {
            check_readable(&machine.bundle());
            check_resumes(&machine);
        }
    }
    Tried::Passed(sizes.len())
}

/// What stands in for a full disk where nothing can be mounted: no file may grow over 4 KiB, and the signal that would
/// end the writer is ignored, so that writing fails as it does without room.
fn file_size_limit() -> Tried {
    let machine = Machine::new();
    fs::create_dir_all(machine.path("small")).expect("a folder");
    let script = format!(
        "trap '' 25; ulimit -f 8; {}; status=$?; ulimit -f unlimited; exit $status",
        tune()
    );
    let mut command = machine.command("sh");
    command
        .args(["-c", &script, "sh"])
        .arg(machine.path("small"));
    let ran = machine.run(command.arg(env!("CARGO_BIN_EXE_dsprof")));
    ran.check(1).says("File too large").says("cannot write `");
    check_readable(&machine.path("small/bundle"));
    Tried::Passed(1)
}

fn read_only() -> Tried {
    let machine = Machine::new();
    let script = format!("mount -t tmpfs -o ro none \"$1\" || exit 99; {}", tune());
    let Some(ran) = mounted(&machine, &script) else {
        return Tried::Skipped(NO_RIGHTS);
    };
    ran.check(1)
        .says("cannot create `")
        .says("Read-only file system")
        .says("hint: choose another directory");
    Tried::Passed(1)
}

fn unwritable() -> Tried {
    let machine = Machine::new();
    // A file stands where a folder is to be.
    machine.put("bundle", "");
    let ran = machine.run(&mut machine.tune());
    ran.check(1).says("cannot create `");
    let mut command = machine.dsprof(&["tune", PIPELINE, "--bundle", "/proc/nowhere/bundle"]);
    machine
        .run(&mut command)
        .check(1)
        .says("cannot create `/proc/nowhere/bundle`");
    Tried::Passed(2)
}

fn read_only_pipeline() -> Tried {
    let machine = Machine::new();
    let folder = "testdata/pipelines/resnet152/deepstream-app";
    let script = format!(
        "mount -t tmpfs none \"$1\" && cp {folder}/* \"$1\" && mount -o remount,ro \"$1\" || exit 99; \
         \"$2\" derive \"$1/app.txt\" --streams 4 --dims '3;448;448' --apply --bundle \"$3\"; status=$?; \
         diff -r {folder} \"$1\" && exit $status"
    );
    let Some(ran) = mounted(&machine, &script) else {
        return Tried::Skipped(NO_RIGHTS);
    };
    let status = ran.status.code().expect("it ends by itself");
    assert!(matches!(status, 1 | 3), "{}{}", ran.stdout, ran.stderr);
    ran.says("Read-only file system");
    Tried::Passed(1)
}

fn full_output() -> Tried {
    let machine = Machine::new();
    let mut command = machine.command("sh");
    let script = "\"$1\" tune --replay testdata/bundles/h200-resnet152-graphs > /dev/full";
    command.args(["-c", script, "sh", env!("CARGO_BIN_EXE_dsprof")]);
    machine
        .run(&mut command)
        .check(1)
        .says("cannot write to standard output")
        .says("No space left on device");
    Tried::Passed(1)
}
