//! What a program leaves behind: in its group, out of it, and when dsprof itself is killed.

use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use ds_orchestrate::process::{
    CommandSpec, Exit, Flow, Interrupt, Live, OutputStream, RunError, Runner,
};
use rustix::process::{Signal, kill_process};

use crate::support::{assert_no_mark, child_task, folder, is_marked, put, run_again, sh};

/// A program that leaves two behind, one of them in a session of its own as nsys leaves its agent, and goes on as `then`
/// says. All of them ignore SIGTERM.
fn leaving(mark: &str, then: &str) -> CommandSpec {
    let mut spec = sh(
        "test",
        &format!("trap '' TERM; sleep 300 & setsid sh -c 'sleep 300 & echo ready; wait' & {then}"),
    );
    spec.env = vec![("DSPROF_MARK".into(), mark.to_owned())];
    spec
}

#[test]
fn who_left_the_group_is_ended_with_a_program_whose_time_is_up() {
    let folder = folder();
    let mark = folder.path().display().to_string();
    let live = Live::new(Interrupt::default());
    let spec = leaving(&mark, "wait").timeout(Duration::from_millis(500));
    let outcome = live.run_quietly(&spec).expect("sh runs");
    assert_eq!(outcome.exit, Exit::TimedOut);
    // The run goes on, and with it the guard.
    assert_no_mark(&mark);
}

#[test]
fn who_left_the_group_is_ended_with_a_program_that_failed() {
    for end in ["exit 3", "kill -9 $$"] {
        let folder = folder();
        let mark = folder.path().display().to_string();
        let live = Live::new(Interrupt::default());
        let spec = leaving(&mark, &format!("sleep 0.3; {end}"));
        let outcome = live.run_quietly(&spec).expect("sh runs");
        assert!(!outcome.exit.is_success());
        assert_no_mark(&mark);
    }
}

#[test]
fn who_left_the_group_of_a_program_that_ended_well_stays_until_the_run_ends() {
    let folder = folder();
    let mark = folder.path().display().to_string();
    let live = Live::new(Interrupt::default());
    let clone = live.clone();
    let outcome = live
        .run_quietly(&leaving(&mark, "sleep 0.3; exit 0"))
        .expect("sh runs");
    assert_eq!(outcome.exit, Exit::Code(0));
    drop(live);
    assert!(is_marked(&mark), "a session that another command will stop");
    drop(clone);
    assert_no_mark(&mark);
}

/// Starts what leaves two behind, with another beside it, and is killed once all of them run.
fn be_killed(mark: &str) {
    let side = CommandSpec {
        env: vec![("DSPROF_MARK".into(), mark.to_owned())],
        ..sh("side", "trap '' TERM; while :; do sleep 1; done")
    };
    let this = rustix::process::getpid();
    let _ =
        Live::new(Interrupt::default()).run_beside(&leaving(mark, "wait"), &[side], &mut |heard| {
            if let ds_orchestrate::process::Heard::Main(OutputStream::Stdout, _) = heard {
                kill_process(this, Signal::KILL).expect("it may");
            }
            Flow::Continue
        });
}

#[test]
fn a_run_that_is_killed_leaves_nothing() {
    if let Some(task) = child_task() {
        be_killed(&task);
        return;
    }
    let folder = folder();
    let mark = folder.path().join("mark").display().to_string();
    let this = "process::orphans::a_run_that_is_killed_leaves_nothing";
    let status = run_again(this, &mark);
    assert_eq!(status.signal(), Some(9), "{status}");
    assert_no_mark(&mark);
}

#[test]
fn the_output_of_a_c_program_arrives_line_by_line() {
    let folder = folder();
    let flag = folder.path().join("seen");
    // sed keeps a block of its output back where that goes to a pipe, and ends only once its first line was seen.
    let script = format!(
        "(echo a; while [ ! -e '{}' ]; do sleep 0.05; done) | sed s/a/b/",
        flag.display()
    );
    let outcome = Live::new(Interrupt::default())
        .run(&sh("test", &script).line_buffered(), &mut |_, chunk| {
            assert_eq!(chunk, b"b\n");
            put(&flag, "");
            Flow::Continue
        })
        .expect("sh runs");
    assert_eq!(
        (outcome.exit, outcome.stdout_text().as_str()),
        (Exit::Code(0), "b\n")
    );
    assert_eq!(
        outcome.through,
        ["PYTHONUNBUFFERED=1", "stdbuf", "-oL", "-eL"]
    );
}

#[test]
fn a_missing_program_is_missing_also_line_by_line() {
    for program in ["gst-launch-1.0", "deepstream-app"] {
        let mut spec = CommandSpec::new("test", program, [""; 0]).line_buffered();
        spec.env = vec![("PATH".into(), "/nowhere".into())];
        let error = Live::new(Interrupt::default())
            .run_quietly(&spec)
            .expect_err("there is none");
        assert!(matches!(error, RunError::NotFound { .. }), "{error:?}");
    }
}
