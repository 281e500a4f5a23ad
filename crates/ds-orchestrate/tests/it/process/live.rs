//! One program at a time.

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use ds_orchestrate::process::{
    CommandSpec, Exit, Flow, Interrupt, Live, OutputStream, RunError, Runner,
};

use crate::support::{
    assert_no_mark, assert_nothing_left, folder, put, set_mode, sh, sh_with_id, sleep,
};

fn live() -> Live {
    Live::new(Interrupt::default())
}

#[test]
fn the_exit_status_is_told() {
    for status in [0, 1, 3, 255] {
        let outcome = live()
            .run_quietly(&sh("test", &format!("exit {status}")))
            .expect("sh runs");
        assert_eq!(outcome.exit, Exit::Code(status));
        assert_eq!(outcome.exit.is_success(), status == 0);
    }
}

#[test]
fn a_foreign_signal_is_told() {
    for (name, number) in [("TERM", 15), ("KILL", 9), ("ABRT", 6)] {
        let outcome = live()
            .run_quietly(&sh("test", &format!("kill -{name} $$")))
            .expect("sh runs");
        assert_eq!(outcome.exit, Exit::Signal(number), "{name}");
    }
}

#[test]
fn a_timeout_also_ends_a_grandchild_that_ignores_sigterm() {
    let folder = folder();
    let pidfile = folder.path().join("pid");
    let spec = sh_with_id(
        &pidfile,
        "(trap '' TERM; echo below; exec sleep 300) & wait",
    )
    .timeout(Duration::from_millis(300));
    let outcome = live().run_quietly(&spec).expect("sh runs");
    assert_eq!(
        (outcome.exit, outcome.stdout_text().as_str()),
        (Exit::TimedOut, "below\n")
    );
    assert_nothing_left(&pidfile);
}

#[test]
fn a_timeout_ends_a_leader_that_ignores_sigterm_after_the_grace_period() {
    let folder = folder();
    let pidfile = folder.path().join("pid");
    let spec = sh_with_id(
        &pidfile,
        "trap 'echo asked' TERM; while :; do sleep 0.05; done",
    )
    .timeout(Duration::from_millis(100));
    let outcome = live().run_quietly(&spec).expect("sh runs");
    // It was asked first, and what it answered is kept.
    assert_eq!(
        (outcome.exit, outcome.stdout_text().as_str()),
        (Exit::TimedOut, "asked\n")
    );
    let duration = outcome.duration.expect("it was measured");
    assert!(
        (Duration::from_secs(3)..Duration::from_secs(10)).contains(&duration),
        "{duration:?}"
    );
    assert_nothing_left(&pidfile);
}

#[test]
fn what_a_finished_program_left_running_is_ended() {
    let folder = folder();
    let pidfile = folder.path().join("pid");
    let outcome = live()
        .run_quietly(&sh_with_id(&pidfile, "sleep 300 & echo done"))
        .expect("sh runs");
    // The one below holds both pipes open; it must not hold up the run.
    assert_eq!(
        (outcome.exit, outcome.stdout_text().as_str()),
        (Exit::Code(0), "done\n")
    );
    assert!(outcome.duration.expect("it was measured") < Duration::from_secs(10));
    assert_nothing_left(&pidfile);
}

#[test]
fn a_program_that_closes_its_output_is_waited_for() {
    let outcome = live()
        .run_quietly(&sh("test", "echo last; exec >&- 2>&-; sleep 0.3; exit 5"))
        .expect("sh runs");
    assert_eq!(
        (outcome.exit, outcome.stdout_text().as_str()),
        (Exit::Code(5), "last\n")
    );
    let silent = sh("test", "exec >&- 2>&-; sleep 300").timeout(Duration::from_millis(100));
    assert_eq!(
        live().run_quietly(&silent).expect("sh runs").exit,
        Exit::TimedOut
    );
}

#[test]
fn a_descendant_that_left_the_group_does_not_hold_up_the_run() {
    // It keeps the output open, prints without end, and ends by itself.
    let escaped = "setsid sh -c 'for i in $(seq 200); do echo more; sleep 0.01; done' &";
    let outcome = live()
        .run_quietly(&sh("test", &format!("{escaped} echo done")))
        .expect("sh runs");
    assert_eq!(outcome.exit, Exit::Code(0));
    assert!(outcome.stdout_text().contains("done\n"));
    assert!(
        outcome.stdout_text().lines().count() < 150,
        "it was not read to its end"
    );
}

#[test]
fn output_over_the_cap_is_counted_and_seen_but_not_kept() {
    let mut spec = sh("test", "head -c 100000 /dev/zero; printf 12345 >&2");
    spec.output_cap = 1000;
    let mut seen = 0;
    let outcome = live()
        .run(&spec, &mut |_, chunk| {
            seen += chunk.len();
            Flow::Continue
        })
        .expect("sh runs");
    assert_eq!(outcome.stdout, vec![0; 1000]);
    assert_eq!(outcome.stderr, b"12345");
    assert_eq!((outcome.dropped, seen), (99_000, 100_005));
}

#[test]
fn fifty_megabytes_of_output() {
    let mut spec = sh("test", "head -c 50000000 /dev/zero");
    spec.output_cap = 1 << 20;
    let mut seen = 0;
    let outcome = live()
        .run(&spec, &mut |_, chunk| {
            seen += chunk.len();
            Flow::Continue
        })
        .expect("sh runs");
    assert_eq!(outcome.exit, Exit::Code(0));
    assert_eq!(seen, 50_000_000);
    assert_eq!((outcome.stdout.len() as u64) + outcome.dropped, 50_000_000);
}

#[test]
fn a_slow_reader_loses_nothing() {
    let mut seen = 0;
    let outcome = live()
        .run(
            &sh("test", "head -c 20000000 /dev/zero"),
            &mut |_, chunk| {
                seen += chunk.len();
                sleep(Duration::from_millis(3));
                Flow::Continue
            },
        )
        .expect("sh runs");
    assert_eq!((outcome.exit, seen), (Exit::Code(0), 20_000_000));
    assert_eq!((outcome.stdout.len(), outcome.dropped), (20_000_000, 0));
}

#[test]
fn bytes_that_are_no_utf_8_are_kept() {
    let outcome = live()
        .run_quietly(&sh("test", r"printf 'a\377\376b'"))
        .expect("sh runs");
    assert_eq!(outcome.stdout, b"a\xff\xfeb");
    assert_eq!(outcome.stdout_text(), "a\u{fffd}\u{fffd}b");
}

#[test]
fn chunks_arrive_in_order_while_it_runs() {
    let script = "echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three";
    let mut seen = Vec::new();
    live()
        .run(&sh("test", script), &mut |stream, chunk| {
            seen.push((stream, String::from_utf8_lossy(chunk).into_owned()));
            Flow::Continue
        })
        .expect("sh runs");
    let expected = [
        (OutputStream::Stdout, "one\n"),
        (OutputStream::Stderr, "two\n"),
        (OutputStream::Stdout, "three\n"),
    ];
    assert_eq!(
        seen,
        expected.map(|(stream, text)| (stream, text.to_owned()))
    );
}

#[test]
fn the_chunks_together_are_the_output() {
    let script = "i=0; while [ $i -lt 2000 ]; do echo $i; i=$((i+1)); done";
    let mut seen = Vec::new();
    let outcome = live()
        .run(&sh("test", script), &mut |_, chunk| {
            seen.extend_from_slice(chunk);
            Flow::Continue
        })
        .expect("sh runs");
    let expected: String = (0..2000).map(|i| format!("{i}\n")).collect();
    assert_eq!(String::from_utf8_lossy(&seen), expected);
    assert_eq!(outcome.stdout, seen);
}

#[test]
fn a_sink_that_has_seen_enough_stops_the_program() {
    let folder = folder();
    let pidfile = folder.path().join("pid");
    let mut lines = 0;
    let outcome = live()
        .run(
            &sh_with_id(&pidfile, "while :; do echo line; sleep 0.02; done"),
            &mut |_, chunk| {
                lines += chunk.iter().filter(|b| **b == b'\n').count();
                if lines >= 3 {
                    Flow::Stop
                } else {
                    Flow::Continue
                }
            },
        )
        .expect("sh runs");
    assert_eq!(outcome.exit, Exit::Stopped);
    assert!(outcome.stdout_text().starts_with("line\nline\nline\n"));
    assert_nothing_left(&pidfile);
}

#[test]
fn what_is_printed_after_enough_was_seen_is_not_kept() {
    let script = "trap 'echo ending; exit 0' TERM; echo measured; while :; do sleep 0.02; done";
    let outcome = live()
        .run(&sh("test", script), &mut |_, _| Flow::Stop)
        .expect("sh runs");
    assert_eq!(
        (outcome.exit, outcome.stdout_text().as_str()),
        (Exit::Stopped, "measured\n")
    );
    // The shell may have a word to say about its last sleep.
    assert!(outcome.dropped >= "ending\n".len() as u64);
}

#[test]
fn the_end_of_a_long_output_is_kept_as_well() {
    let mut spec = sh(
        "test",
        "i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo the error",
    );
    spec.output_cap = 1000;
    let outcome = live().run_quietly(&spec).expect("sh runs");
    let text = outcome.stdout_text();
    assert!(text.starts_with("line 0\nline 1\n"), "{text}");
    assert!(text.ends_with("line 2999\nthe error\n"), "{text}");
    // Every line is one that was printed.
    assert!(text.lines().all(|line| {
        line == "the error"
            || line
                .strip_prefix("line ")
                .is_some_and(|n| n.parse().is_ok_and(|n: u32| n < 3000))
    }));
    let all: usize = (0..3000).map(|i| format!("line {i}\n").len()).sum();
    assert_eq!(
        outcome.dropped,
        (all + "the error\n".len() - text.len()) as u64
    );
}

#[test]
fn an_interrupt_ends_the_program_and_the_run() {
    let folder = folder();
    let pidfile = folder.path().join("pid");
    let interrupt = Interrupt::default();
    let flag = interrupt.flag();
    let error = Live::new(interrupt)
        .run(
            &sh_with_id(
                &pidfile,
                "(trap '' TERM; exec sleep 300) & echo ready; wait",
            ),
            &mut |_, _| {
                flag.store(true, Ordering::Relaxed);
                Flow::Continue
            },
        )
        .expect_err("it was interrupted");
    assert_eq!(
        error.to_string(),
        "interrupted while `sh` ran; it was ended"
    );
    assert_nothing_left(&pidfile);
}

#[test]
fn an_interrupt_at_any_moment_leaves_nothing() {
    for delay in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144] {
        let folder = folder();
        let mark = folder.path().display().to_string();
        let interrupt = Interrupt::default();
        let flag = interrupt.flag();
        let mut spec = sh(
            "test",
            "(trap '' TERM; exec sleep 300) & sleep 300 & echo ready; wait",
        );
        spec.env = vec![("DSPROF_MARK".into(), mark.clone())];
        let raising = std::thread::spawn(move || {
            sleep(Duration::from_millis(delay));
            flag.store(true, Ordering::Relaxed);
        });
        let error = Live::new(interrupt)
            .run_quietly(&spec)
            .expect_err("it was interrupted");
        assert!(matches!(error, RunError::Interrupted { .. }), "{error}");
        raising.join().expect("it ends");
        assert_no_mark(&mark);
    }
}

#[test]
fn after_an_interrupt_nothing_starts() {
    let folder = folder();
    let trace = folder.path().join("ran");
    let interrupt = Interrupt::default();
    interrupt.flag().store(true, Ordering::Relaxed);
    let live = Live::new(interrupt);
    let spec = sh("test", &format!("touch '{}'", trace.display()));
    assert!(matches!(
        live.run_quietly(&spec),
        Err(RunError::Interrupted { .. })
    ));
    let beside = live.run_beside(&spec, std::slice::from_ref(&spec), &mut |_| Flow::Continue);
    assert!(matches!(beside, Err(RunError::Interrupted { .. })));
    assert!(!trace.exists());
}

#[test]
fn a_missing_program() {
    let spec = CommandSpec::new("test", "dsprof-no-such-program", ["x"]);
    let error = live().run_quietly(&spec).expect_err("there is none");
    assert!(matches!(error, RunError::NotFound { .. }));
    assert_eq!(error.to_string(), "`dsprof-no-such-program` was not found");
}

#[test]
fn a_program_that_a_search_through_a_closed_folder_does_not_find() {
    let folder = folder();
    // Only root may look into it.
    set_mode(folder.path(), 0o000);
    let mut spec = CommandSpec::new("test", "dsprof-no-such-program", [""; 0]);
    spec.env = vec![(
        "PATH".into(),
        format!("{}:/usr/bin:/bin", folder.path().display()),
    )];
    let error = live().run_quietly(&spec).expect_err("there is none");
    assert!(matches!(error, RunError::NotFound { .. }), "{error:?}");
    set_mode(folder.path(), 0o700);
}

#[test]
fn a_program_on_the_path_that_is_not_executable() {
    let folder = folder();
    put(&folder.path().join("program"), "#!/bin/sh\n");
    let mut spec = CommandSpec::new("test", "program", [""; 0]);
    spec.env = vec![("PATH".into(), folder.path().display().to_string())];
    let error = live()
        .run_quietly(&spec)
        .expect_err("it cannot be executed");
    assert!(matches!(error, RunError::Io { .. }), "{error:?}");
}

#[test]
fn a_file_that_is_not_executable() {
    let folder = folder();
    let program = folder.path().join("program");
    put(&program, "#!/bin/sh\n");
    set_mode(&program, 0o644);
    let name = program.display().to_string();
    let error = live()
        .run_quietly(&CommandSpec::new("test", &name, [""; 0]))
        .expect_err("it cannot be executed");
    let RunError::Io { source, .. } = &error else {
        panic!("{error}");
    };
    assert_eq!(source.kind(), std::io::ErrorKind::PermissionDenied);
    assert_eq!(error.to_string(), format!("could not run `{name}`"));
}

#[test]
fn standard_input_is_empty() {
    let outcome = live()
        .run_quietly(&sh("test", "cat; echo end"))
        .expect("sh runs");
    assert_eq!(
        (outcome.exit, outcome.stdout_text().as_str()),
        (Exit::Code(0), "end\n")
    );
}

#[test]
fn variables_are_set_on_top_of_the_inherited_ones() {
    let mut spec = sh("test", r#"printf '%s|%s' "$DSPROF_A" "${PATH:+path}""#);
    spec.env = vec![("DSPROF_A".into(), "two words, 'quoted'".into())];
    let outcome = live().run_quietly(&spec).expect("sh runs");
    assert_eq!(outcome.stdout_text(), "two words, 'quoted'|path");
}

#[test]
fn the_bundle_takes_its_place_in_arguments() {
    let folder = folder();
    let spec = CommandSpec::new("test", "sh", ["-c", "echo here > \"$0\"", "[BUNDLE]/made"]);
    let outcome = live()
        .with_bundle_root(folder.path())
        .run_quietly(&spec)
        .expect("sh runs");
    assert_eq!(outcome.exit, Exit::Code(0));
    let made = fs::read_to_string(folder.path().join("made")).expect("it was made there");
    assert_eq!(made, "here\n");
    let echoed = live()
        .run_quietly(&CommandSpec::new("test", "echo", ["[BUNDLE]/made"]))
        .expect("echo runs");
    assert_eq!(
        echoed.stdout_text(),
        "[BUNDLE]/made\n",
        "without a bundle it stays"
    );
}

#[test]
fn the_wall_time_is_measured() {
    let outcome = live()
        .run_quietly(&sh("test", "sleep 0.3"))
        .expect("sh runs");
    let duration = outcome.duration.expect("it was measured");
    assert!(
        (Duration::from_millis(300)..Duration::from_secs(10)).contains(&duration),
        "{duration:?}"
    );
}
