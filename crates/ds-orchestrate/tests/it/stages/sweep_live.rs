//! The sweep over real processes: shell loads that print as pipelines do, or do not.

use std::time::{Duration, Instant};

use ds_ceilings::Batch;
use ds_derive::{Failure, Outcome as Point};
use ds_orchestrate::process::{Interrupt, Live};
use ds_orchestrate::{Counted, Launch, Patience, SweepRequest, SweptBatch, sweep};

use super::with_session;
use crate::support::{assert_no_mark, folder};

/// Prints one line of fpsdisplaysink with this rate every twentieth of a second, without end.
const PRINTS: &str = r#"rate() { echo "/GstPipeline:p/GstFPSDisplaySink:s: last-message = rendered: 9, dropped: 0, current: $1, average: 1.0"; sleep 0.05; }"#;

/// Times that no slow machine comes near. A test shortens what it waits for.
fn patience() -> Patience {
    Patience {
        longest: Duration::from_secs(30),
        warm_up: Duration::from_secs(300),
        engine_build: Duration::from_secs(300),
        stall: Duration::from_secs(300),
    }
}

/// The same with a load that is soon taken for stalled.
fn short_of_patience_with_stalls() -> Patience {
    Patience {
        stall: Duration::from_secs(2),
        ..patience()
    }
}

/// The same with a load that soon has to show something.
fn short_of_patience_at_first() -> Patience {
    Patience {
        warm_up: Duration::from_secs(5),
        ..patience()
    }
}

/// Sweeps batch 4 with a shell load, whose buffers are batches.
fn swept(script: &str, patience: Patience) -> (SweptBatch, Duration, Vec<String>) {
    let folder = folder();
    let mark = folder.path().display().to_string();
    let script = format!("export DSPROF_MARK={mark}; : {{batch}}; {PRINTS}; {script}");
    let request = SweepRequest {
        launch: Launch::from_words(vec!["sh".into(), "-c".into(), script]).expect("a command"),
        batches: Batch::new(4).into_iter().collect(),
        seconds: 30,
        repeat: 1,
        patience,
        counted: Counted::Batches,
    };
    #[expect(clippy::disallowed_methods, reason = "how long it took is the case")]
    let began = Instant::now();
    let live = Live::new(Interrupt::default());
    let (reading, events) = with_session(&live, None, |session| sweep(session, &request));
    let took = began.elapsed();
    let swept = reading.expect("sh runs").batches.remove(0);
    drop(live);
    assert_no_mark(&mark);
    (swept, took, events)
}

fn windows(swept: &SweptBatch) -> Vec<f64> {
    match &swept.point.outcome {
        Point::Ran { windows } => windows.iter().map(|rate| rate.get()).collect(),
        Point::Failed { why, detail } => panic!("{why}: {detail}"),
    }
}

#[track_caller]
fn check_failed(swept: &SweptBatch, expected: Failure, said: &str) {
    let Point::Failed { why, detail } = &swept.point.outcome else {
        panic!("{:?}", swept.point.outcome);
    };
    assert_eq!(*why, expected, "{detail}");
    assert!(detail.contains(said), "{detail}");
}

#[test]
fn buffers_that_hardly_differ_are_measured_no_longer_than_a_sixth() {
    let (swept, took, events) = swept("while :; do rate 10.0; rate 10.02; done", patience());
    // Four frames a buffer.
    let windows = windows(&swept);
    assert!(windows.len() >= 6, "{windows:?}");
    assert!(windows.iter().all(|rate| (39.9..40.2).contains(rate)));
    assert!(took < Duration::from_secs(30), "{took:?}");
    // The rates that are shown are those of frames too.
    assert!(events.iter().any(|event| event == "40.0 fps"), "{events:?}");
}

#[test]
fn rates_that_differ_are_measured_to_the_end() {
    let (swept, took, _) = swept(
        "while :; do rate 10.0; rate 30.0; done",
        Patience {
            longest: Duration::from_secs(5),
            ..patience()
        },
    );
    assert!(!windows(&swept).is_empty());
    assert!(took >= Duration::from_secs(5), "{took:?}");
}

#[test]
fn a_silent_load_is_given_up_and_told_so() {
    let (swept, took, _) = swept("echo loading; sleep 300", short_of_patience_at_first());
    check_failed(&swept, Failure::Silent, "it said last: loading");
    assert!(took < Duration::from_secs(300), "{took:?}");
}

#[test]
fn a_load_that_builds_an_engine_is_given_longer() {
    // The text is cut between two pieces of output.
    let script = "printf 'Trying to create engine '; sleep 0.2; echo from model files; sleep 6; \
                  while :; do rate 10.0; done";
    let (swept, took, _) = swept(script, short_of_patience_at_first());
    assert!(took > Duration::from_secs(6));
    assert!(
        windows(&swept)
            .iter()
            .all(|rate| (39.9..40.1).contains(rate))
    );
}

#[test]
fn a_load_that_falls_silent_after_it_ran_is_a_stall() {
    let (swept, took, _) = swept(
        "rate 10.0; rate 10.0; rate 10.0; sleep 300",
        short_of_patience_with_stalls(),
    );
    check_failed(&swept, Failure::Stall, "");
    assert!(took < Duration::from_secs(300), "{took:?}");
}

#[test]
fn a_load_that_falls_to_zero_is_a_stall() {
    let (swept, took, _) = swept(
        "rate 10.0; rate 10.0; rate 10.0; while :; do rate 0.0; done",
        short_of_patience_with_stalls(),
    );
    check_failed(&swept, Failure::Stall, "");
    assert!(took < Duration::from_secs(300), "{took:?}");
}

#[test]
fn a_load_of_zeros_has_no_frames() {
    let (swept, took, _) = swept("while :; do rate 0.0; done", short_of_patience_at_first());
    check_failed(&swept, Failure::ZeroFps, "");
    assert!(took < Duration::from_secs(300), "{took:?}");
}

#[test]
fn a_load_that_is_killed_or_runs_out_of_memory_crashes() {
    let (killed, ..) = swept("rate 10.0; kill -9 $$", patience());
    check_failed(&killed, Failure::Crash, "signal 9");
    let (full, ..) = swept(
        "rate 10.0; echo CUDA_ERROR_OUT_OF_MEMORY >&2; exit 1",
        patience(),
    );
    check_failed(&full, Failure::OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY");
}

#[test]
fn rates_on_standard_error_are_rates() {
    let (swept, took, _) = swept("while :; do rate 10.0; done >&2", patience());
    assert!(windows(&swept).len() >= 6);
    assert!(took < Duration::from_secs(30), "{took:?}");
}
