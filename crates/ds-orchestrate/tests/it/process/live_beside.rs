//! A program with a sampler beside it.

use std::sync::atomic::Ordering;
use std::time::Duration;

use ds_orchestrate::process::{
    CommandSpec, Exit, Flow, Heard, Interrupt, Live, Outcome, RunError, Runner,
};

use crate::support::{assert_nothing_left, folder, sh, sh_with_id};

fn beside(
    main: &CommandSpec,
    side: &CommandSpec,
) -> Result<(Outcome, Result<Outcome, RunError>), RunError> {
    let (outcome, mut sampled) = Live::new(Interrupt::default()).run_beside(
        main,
        std::slice::from_ref(side),
        &mut |_| Flow::Continue,
    )?;
    Ok((outcome, sampled.remove(0)))
}

#[test]
fn the_sampler_is_stopped_with_the_program() {
    let folder = folder();
    let pidfile = folder.path().join("pid");
    let side = sh_with_id(&pidfile, "while :; do echo sample; sleep 0.05; done");
    let (main, sampled) =
        beside(&sh("main", "sleep 0.4; echo result; exit 4"), &side).expect("sh runs");
    assert_eq!(
        (main.exit, main.stdout_text().as_str()),
        (Exit::Code(4), "result\n")
    );
    let sampled = sampled.expect("it ran");
    assert_eq!(sampled.exit, Exit::Stopped);
    assert!(
        sampled.stdout_text().starts_with("sample\nsample\n"),
        "{}",
        sampled.stdout_text()
    );
    assert_nothing_left(&pidfile);
}

#[test]
fn a_missing_sampler_does_not_spoil_the_program() {
    let side = CommandSpec::new("side", "dsprof-no-such-program", [""; 0]);
    let (main, sampled) = beside(&sh("main", "echo result"), &side).expect("sh runs");
    assert_eq!(
        (main.exit, main.stdout_text().as_str()),
        (Exit::Code(0), "result\n")
    );
    assert!(matches!(sampled, Err(RunError::NotFound { .. })));
}

#[test]
fn a_sampler_that_dies_early_keeps_its_status_output_and_own_time() {
    let side = sh("side", "echo gone >&2; exit 3");
    let (main, sampled) = beside(&sh("main", "sleep 0.8"), &side).expect("sh runs");
    assert_eq!(main.exit, Exit::Code(0));
    let sampled = sampled.expect("it ran");
    assert_eq!(
        (sampled.exit, sampled.stderr_text().as_str()),
        (Exit::Code(3), "gone\n")
    );
    let (side, main) = (
        sampled.duration.expect("measured"),
        main.duration.expect("measured"),
    );
    assert!(side < main, "{side:?} of {main:?}");
}

#[test]
fn a_sampler_is_read_while_the_program_is_silent() {
    // More than the pipe and the backlog hold, one piece a write.
    let script = "i=0; while [ $i -lt 3000 ]; do echo $i; i=$((i+1)); done; exit 0";
    let (_, sampled) = beside(&sh("main", "sleep 0.9"), &sh("side", script)).expect("sh runs");
    let expected: String = (0..3000).map(|i| format!("{i}\n")).collect();
    assert_eq!(sampled.expect("it ran").stdout_text(), expected);
}

#[test]
fn a_sampler_whose_time_is_up_is_ended() {
    let folder = folder();
    let pidfile = folder.path().join("pid");
    let side = sh_with_id(&pidfile, "sleep 300").timeout(Duration::from_millis(100));
    let (main, sampled) = beside(&sh("main", "sleep 0.6; echo result"), &side).expect("sh runs");
    assert_eq!(main.stdout_text(), "result\n");
    assert_eq!(sampled.expect("it ran").exit, Exit::TimedOut);
    assert_nothing_left(&pidfile);
}

#[test]
fn a_missing_program_takes_its_sampler_with_it() {
    let folder = folder();
    let pidfile = folder.path().join("pid");
    // The shell is given the time to write its id: it ends by itself only long after.
    let side = sh_with_id(&pidfile, "trap 'exit 0' TERM; sleep 300 & wait");
    let main = CommandSpec::new("main", "dsprof-no-such-program", [""; 0]);
    let error = beside(&main, &side).expect_err("there is no such program");
    assert!(matches!(error, RunError::NotFound { .. }));
    if pidfile.exists() {
        assert_nothing_left(&pidfile);
    }
}

#[test]
fn an_interrupt_ends_both() {
    let folder = folder();
    let (main_id, side_id) = (folder.path().join("main"), folder.path().join("side"));
    let wait_for = format!(
        "while [ ! -s '{}' ]; do sleep 0.02; done; echo ready; sleep 300",
        side_id.display()
    );
    let interrupt = Interrupt::default();
    let flag = interrupt.flag();
    let error = Live::new(interrupt)
        .run_beside(
            &sh_with_id(&main_id, &wait_for),
            &[sh_with_id(&side_id, "sleep 300")],
            &mut |heard| {
                if let Heard::Main(..) = heard {
                    flag.store(true, Ordering::Relaxed);
                }
                Flow::Continue
            },
        )
        .expect_err("it was interrupted");
    assert!(matches!(error, RunError::Interrupted { .. }));
    assert_nothing_left(&main_id);
    assert_nothing_left(&side_id);
}

#[test]
fn the_watch_hears_everybody_and_the_silence() {
    let mut heard = [0; 3];
    let (main, sampled) = Live::new(Interrupt::default())
        .run_beside(
            &sh("main", "sleep 0.3; echo result"),
            &[sh("a", "echo a; sleep 300"), sh("b", "echo b; sleep 300")],
            &mut |said| {
                match said {
                    Heard::Main(..) => heard[0] += 1,
                    Heard::Side(index, _, text) => {
                        assert_eq!(text, ["a\n", "b\n"][index].as_bytes());
                        heard[1] += 1;
                    }
                    Heard::Nothing => heard[2] += 1,
                }
                Flow::Continue
            },
        )
        .expect("sh runs");
    assert_eq!(main.exit, Exit::Code(0));
    assert_eq!((heard[0], heard[1]), (1, 2));
    assert!(heard[2] > 2, "nothing was said for 0.3 s");
    let outputs: Vec<_> = sampled
        .into_iter()
        .map(|side| side.expect("it ran").stdout_text())
        .collect();
    assert_eq!(outputs, ["a\n", "b\n"]);
}

#[test]
fn a_silent_program_can_be_given_up() {
    let folder = folder();
    let pidfile = folder.path().join("pid");
    let mut moments = 0;
    let (main, _) = Live::new(Interrupt::default())
        .run_beside(
            &sh_with_id(&pidfile, "echo one; sleep 300"),
            &[],
            &mut |heard| {
                moments += u32::from(heard == Heard::Nothing);
                if moments > 5 {
                    Flow::GiveUp
                } else {
                    Flow::Continue
                }
            },
        )
        .expect("sh runs");
    assert_eq!(
        (main.exit, main.stdout_text().as_str()),
        (Exit::GivenUp, "one\n")
    );
    assert_nothing_left(&pidfile);
}
