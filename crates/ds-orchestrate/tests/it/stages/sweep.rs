//! The batch sweep: what each batch gives, and each way in which it gives nothing.

use ds_ceilings::{Batch, Fraction, StreamCount};
use ds_derive::{Failure, Outcome as Point};
use ds_orchestrate::process::{CommandSpec, Exit, Outcome, RunError};
use ds_orchestrate::{
    Counted, Error, Launch, Patience, SweepReading, SweepRequest, SweptBatch, batches_to_try, sweep,
};

use super::{console, dmon, steady, with_session};
use crate::support::{Fake, not_found, outcome};

fn request(batches: &[u32]) -> SweepRequest {
    SweepRequest {
        launch: Launch::parse("load --batch {batch} --seconds {seconds}").expect("a command"),
        batches: batches
            .iter()
            .filter_map(|batch| Batch::new(*batch))
            .collect(),
        seconds: 30,
        repeat: 1,
        patience: Patience::new(30),
        counted: Counted::ByEmitter,
    }
}

fn is_sampler(spec: &CommandSpec) -> bool {
    spec.program == "nvidia-smi"
}

fn sampled() -> Result<Outcome, RunError> {
    Ok(outcome(Exit::Stopped, dmon(), ""))
}

/// Sweeps with a load that answers by its batch; the sampler works.
fn swept(request: &SweepRequest, load: impl Fn(u32) -> Outcome) -> (SweepReading, Vec<String>) {
    let fake = Fake::new(|spec| {
        if is_sampler(spec) {
            return sampled();
        }
        Ok(load(spec.args[1].parse().expect("a batch")))
    });
    let (reading, events) = with_session(&fake, None, |session| sweep(session, request));
    (reading.expect("the load exists"), events)
}

fn rates(batch: &SweptBatch) -> Vec<f64> {
    match &batch.point.outcome {
        Point::Ran { windows } => windows.iter().map(|rate| rate.get()).collect(),
        Point::Failed { why, detail } => panic!("{why}: {detail}"),
    }
}

#[test]
fn powers_of_two_and_the_limit_itself() {
    let tried = |limit| {
        batches_to_try(limit)
            .into_iter()
            .map(Batch::get)
            .collect::<Vec<_>>()
    };
    assert_eq!(tried(0), [0; 0]);
    assert_eq!(tried(1), [1]);
    assert_eq!(tried(8), [1, 2, 4, 8]);
    assert_eq!(tried(9), [1, 2, 4, 8, 9]);
    assert_eq!(tried(u32::MAX).len(), 33);
}

#[test]
fn batches_run_in_order_each_with_its_sampler() {
    let fake = Fake::new(|spec| {
        if is_sampler(spec) {
            sampled()
        } else {
            Ok(outcome(Exit::Code(0), steady(50.0), ""))
        }
    });
    let (reading, events) =
        with_session(&fake, None, |session| sweep(session, &request(&[1, 2, 4])));
    let reading = reading.expect("the load exists");
    let mut asked = fake.asked();
    let commands: Vec<String> = asked
        .iter()
        .filter(|spec| !is_sampler(spec))
        .map(ToString::to_string)
        .collect();
    let expected = [1, 2, 4].map(|batch| format!("load --batch {batch} --seconds 30"));
    assert_eq!(commands, expected);
    assert_eq!(
        reading
            .batches
            .iter()
            .map(|b| b.command.clone())
            .collect::<Vec<_>>(),
        expected
    );
    // No purpose twice: a replay tells commands apart by it.
    asked.sort_by(|a, b| a.purpose.cmp(&b.purpose));
    asked.dedup_by(|a, b| a.purpose == b.purpose);
    assert_eq!(asked.len(), 9, "a load and two samplers each");
    let announced: Vec<&String> = events
        .iter()
        .filter(|event| event.contains(" of 3)"))
        .collect();
    assert_eq!(announced.len(), 3, "{events:?}");
}

#[test]
fn a_rate_that_grows_with_the_batch() {
    let (reading, _) = swept(&request(&[1, 2]), |batch| {
        outcome(Exit::Code(0), steady(100.0 * f64::from(batch)), "")
    });
    assert_eq!(rates(&reading.batches[0]), [100.0; 8]);
    assert_eq!(rates(&reading.batches[1]), [200.0; 8]);
    let points = reading.points();
    assert_eq!(
        (points[1].batch.get(), points[1].streams),
        (2, StreamCount::new(2))
    );
    let load = reading.batches[0].load.as_ref().expect("it was sampled");
    assert_eq!(load.sm, Fraction::new(0.9));
    assert_eq!(load.decoder, Fraction::new(0.2));
}

#[test]
fn paced_sources_are_measured_as_they_are() {
    let (reading, _) = swept(&request(&[4]), |_| {
        outcome(
            Exit::Code(0),
            console(&[&[30.0, 30.0, 30.0, 30.0][..]; 9]),
            "",
        )
    });
    assert_eq!(rates(&reading.batches[0]), [120.0; 8]);
}

/// The load of one batch and how the sweep reads it.
#[track_caller]
fn check_failure(load: &Outcome, expected: Failure) {
    let (reading, _) = swept(&request(&[1, 2, 4]), |batch| {
        if batch == 2 {
            load.clone()
        } else {
            outcome(Exit::Code(0), steady(50.0), "")
        }
    });
    let Point::Failed { why, detail } = &reading.batches[1].point.outcome else {
        panic!("{:?}", reading.batches[1].point.outcome);
    };
    assert_eq!(*why, expected, "{detail}");
    // The others are measured all the same.
    assert_eq!(rates(&reading.batches[0]).len(), 8);
    assert_eq!(rates(&reading.batches[2]).len(), 8);
}

#[test]
fn out_of_memory() {
    for text in [
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB",
        "RuntimeError: CUDA_ERROR_OUT_OF_MEMORY",
        "cudaErrorMemoryAllocation",
    ] {
        check_failure(&outcome(Exit::Code(1), "", text), Failure::OutOfMemory);
        // The text counts before the rate that was printed until then.
        check_failure(
            &outcome(Exit::Signal(6), steady(50.0) + text, ""),
            Failure::OutOfMemory,
        );
    }
}

#[test]
fn an_engine_that_cannot_be_built() {
    let text = "0:00:01 ERROR nvinfer: build engine file failed\n";
    check_failure(&outcome(Exit::Code(255), "", text), Failure::EngineBuild);
}

#[test]
fn a_stall() {
    let mut windows: Vec<&[f64]> = vec![&[50.0]; 8];
    windows.extend([&[0.0][..]; 6]);
    check_failure(
        &outcome(Exit::Stopped, console(&windows), ""),
        Failure::Stall,
    );
}

#[test]
fn a_load_that_was_given_up_after_it_had_run() {
    check_failure(&outcome(Exit::GivenUp, steady(50.0), ""), Failure::Stall);
    // One window, which is partial, and then nothing.
    check_failure(
        &outcome(Exit::GivenUp, console(&[&[50.0]]), ""),
        Failure::Stall,
    );
    let silent = "**PERF:  0.00 (0.00)\t\n".repeat(8);
    check_failure(&outcome(Exit::GivenUp, silent, ""), Failure::ZeroFps);
    // At the end of its stream it only did not end.
    let ended = steady(50.0) + "** INFO: <bus_callback:301>: Received EOS. Exiting ...\n";
    let (reading, _) = swept(&request(&[1]), |_| {
        outcome(Exit::GivenUp, ended.clone(), "")
    });
    assert_eq!(rates(&reading.batches[0]), [50.0; 8]);
}

#[test]
fn a_line_that_was_cut_is_no_rate() {
    for (exit, windows) in [(Exit::Stopped, 8), (Exit::Code(0), 9)] {
        let (reading, _) = swept(&request(&[1]), |_| {
            outcome(exit, steady(50.0) + "**PERF:  5.00 (5.00)", "")
        });
        assert_eq!(rates(&reading.batches[0]).len(), windows, "{exit}");
    }
}

#[test]
fn texts_about_memory_are_no_failure_of_a_load_that_ran() {
    let text = "[TRT] Skipping tactic 3: out of memory\n".to_owned() + &steady(50.0);
    let (reading, _) = swept(&request(&[1]), |_| outcome(Exit::Code(0), text.clone(), ""));
    assert_eq!(rates(&reading.batches[0]), [50.0; 8]);
}

#[test]
fn a_load_that_the_kernel_may_have_ended() {
    let (reading, _) = swept(&request(&[1]), |_| {
        outcome(Exit::Signal(9), "loading\n", "")
    });
    let Point::Failed { why, detail } = &reading.batches[0].point.outcome else {
        panic!("it was ended");
    };
    assert_eq!(*why, Failure::Crash);
    assert_eq!(
        detail,
        "signal 9, which the kernel sends where memory has run out; it said last: loading"
    );
}

/// Sweeps one batch three times with loads that differ from run to run.
fn thrice(load: impl Fn(usize) -> Outcome) -> SweptBatch {
    let fake = Fake::new(|spec| {
        if is_sampler(spec) {
            return sampled();
        }
        let run = spec.purpose.split('-').nth(1).map_or(1, |run| {
            run.parse::<usize>().expect("the number of the run")
        });
        Ok(load(run))
    });
    let mut request = request(&[8]);
    request.repeat = 3;
    let (reading, _) = with_session(&fake, None, |session| sweep(session, &request));
    let mut batches = reading.expect("the load exists").batches;
    let loads: Vec<String> = fake
        .purposes()
        .into_iter()
        .filter(|purpose| purpose.contains("load"))
        .collect();
    assert_eq!(
        loads,
        ["sweep/b8/load", "sweep/b8/load-2", "sweep/b8/load-3"]
    );
    batches.remove(0)
}

#[test]
fn repeated_runs_are_taken_together_and_their_spread_is_told() {
    let swept = thrice(|run| outcome(Exit::Code(0), steady([99.0, 100.0, 101.0][run - 1]), ""));
    assert_eq!(rates(&swept).len(), 24);
    // (101 - 99) / 100.
    let spread = swept.spread().expect("three runs");
    assert!((spread - 0.02).abs() < 1e-9, "{spread}");
    let notes = SweepReading {
        batches: vec![swept],
    }
    .notes();
    assert_eq!(
        notes,
        ["batch 8: 3 runs, their means within 2.0 % of each other"]
    );
}

#[test]
fn a_run_that_fails_among_others_is_told() {
    let swept = thrice(|run| match run {
        2 => outcome(Exit::Signal(11), "", "segmentation fault"),
        _ => outcome(Exit::Code(0), steady(100.0), ""),
    });
    assert_eq!(rates(&swept).len(), 16);
    let notes = SweepReading {
        batches: vec![swept],
    }
    .notes();
    assert_eq!(
        notes,
        [
            "batch 8: 2 runs, their means within 0.0 % of each other; 1 of 3 runs gave no rate: crashed"
        ]
    );
    let failed = thrice(|_| outcome(Exit::Signal(11), "", "segmentation fault"));
    assert!(matches!(failed.point.outcome, Point::Failed { .. }));
}

#[test]
fn memory_is_the_most_that_was_in_use_on_the_gpu() {
    let fake = Fake::new(|spec| match spec.purpose.as_str() {
        "sweep/b1/memory" => Ok(outcome(
            Exit::Stopped,
            "0, 500\n1, 9000\n0, 2048\n1, 9000\n0, 1024\n0, 99",
            "",
        )),
        _ if is_sampler(spec) => sampled(),
        _ => Ok(outcome(Exit::Code(0), steady(50.0), "")),
    });
    let (reading, _) = with_session(&fake, None, |session| sweep(session, &request(&[1])));
    let reading = reading.expect("the load exists");
    assert_eq!(
        reading.batches[0].memory.map(ds_ceilings::Bytes::mib),
        Some(2048)
    );
    assert_eq!(
        reading.notes(),
        ["GPU memory in use at most: 2.0 GiB at batch 1"]
    );
}

#[test]
fn a_crash() {
    check_failure(&outcome(Exit::Signal(11), steady(50.0), ""), Failure::Crash);
    check_failure(&outcome(Exit::Code(1), "", "no such file"), Failure::Crash);
}

#[test]
fn nothing_but_zeros() {
    // The pipeline says that it runs, and no frame comes: that is a stall. Where nobody says so, it is a rate of zero.
    let running = console(&[&[0.0][..]; 8]);
    check_failure(&outcome(Exit::Code(0), running, ""), Failure::Stall);
    let silent = "**PERF:  0.00 (0.00)\t\n".repeat(8);
    check_failure(&outcome(Exit::Code(0), silent, ""), Failure::ZeroFps);
}

#[test]
fn a_pipeline_that_never_runs() {
    let text = "** INFO: <bus_callback:291>: Pipeline ready\n\n".to_owned()
        + &"**PERF:  0.00 (0.00)\t\n".repeat(8);
    let load = outcome(Exit::TimedOut, text, "");
    let (reading, _) = swept(&request(&[1]), |_| load.clone());
    assert!(matches!(
        reading.batches[0].point.outcome,
        Point::Failed { .. }
    ));
    assert_eq!(
        reading.batches[0].status,
        Some(ds_orchestrate::FpsStatus::NeverRunning)
    );
}

#[test]
fn a_load_that_prints_no_rate() {
    check_failure(
        &outcome(Exit::TimedOut, "loading the model\n", ""),
        Failure::Timeout,
    );
    check_failure(
        &outcome(Exit::GivenUp, "loading the model\n", ""),
        Failure::Silent,
    );
    check_failure(
        &outcome(Exit::Code(0), "done\n", ""),
        Failure::NoSteadyWindow,
    );
}

#[test]
fn the_last_line_says_what_went_wrong() {
    let load = outcome(
        Exit::Code(1),
        "on stdout\n",
        "first\nsegmentation fault\n\n",
    );
    let (reading, events) = swept(&request(&[1]), |_| load.clone());
    let Point::Failed { detail, .. } = &reading.batches[0].point.outcome else {
        panic!("it crashed");
    };
    assert_eq!(detail, "segmentation fault");
    assert!(
        events.iter().any(|event| event.ends_with("crashed")),
        "{events:?}"
    );
}

#[test]
fn a_rate_on_standard_error() {
    let (reading, _) = swept(&request(&[1]), |_| outcome(Exit::Code(0), "", steady(50.0)));
    assert_eq!(rates(&reading.batches[0]), [50.0; 8]);
}

/// What fpsdisplaysink prints behind a mux: buffers, each a batch.
fn buffers() -> String {
    let place = "/GstPipeline:pipeline0/GstFPSDisplaySink:fpssink: last-message";
    (1..10)
        .map(|n| {
            format!(
                "{place} = rendered: {}, dropped: 0, current: 10.00, average: 10.00\n",
                n * 10
            )
        })
        .collect()
}

#[test]
fn buffers_behind_the_mux_are_batches() {
    let mut request = request(&[1, 4]);
    request.counted = Counted::Batches;
    let (reading, _) = swept(&request, |_| outcome(Exit::Code(0), buffers(), ""));
    assert_eq!(rates(&reading.batches[0]), [10.0; 8]);
    assert_eq!(rates(&reading.batches[1]), [40.0; 8]);
}

#[test]
fn frames_are_not_multiplied_by_the_batch() {
    let mut request = request(&[4]);
    request.counted = Counted::Batches;
    let (reading, _) = swept(&request, |_| outcome(Exit::Code(0), steady(50.0), ""));
    assert_eq!(rates(&reading.batches[0]), [50.0; 8]);
}

#[test]
fn buffers_of_unknown_size_are_no_rate() {
    let (reading, _) = swept(&request(&[4]), |_| outcome(Exit::Code(0), buffers(), ""));
    let Point::Failed { why, detail } = &reading.batches[0].point.outcome else {
        panic!("{:?}", reading.batches[0].point.outcome);
    };
    assert_eq!(*why, Failure::NoSteadyWindow);
    assert!(detail.contains("buffers, not frames"), "{detail}");
}

/// A sampler that does not work: the reason that is noted, while the rate is measured.
#[track_caller]
fn check_without_load(sampler: impl Fn(&CommandSpec) -> Result<Outcome, RunError>, expected: &str) {
    let fake = Fake::new(|spec| {
        if is_sampler(spec) {
            sampler(spec)
        } else {
            Ok(outcome(Exit::Code(0), steady(50.0), ""))
        }
    });
    let (reading, _) = with_session(&fake, None, |session| sweep(session, &request(&[1])));
    let reading = reading.expect("the load exists");
    assert_eq!(rates(&reading.batches[0]), [50.0; 8]);
    assert_eq!(reading.batches[0].load, Err(expected.to_owned()));
}

#[test]
fn a_sampler_that_does_not_work_is_noted() {
    check_without_load(|spec| Err(not_found(spec)), "`nvidia-smi` was not found");
    check_without_load(
        |_| {
            Ok(outcome(
                Exit::Code(1),
                "Not supported on the device(s)\n",
                "",
            ))
        },
        "nvidia-smi dmon ended (exit status 1): Not supported on the device(s)",
    );
    check_without_load(
        |_| {
            Ok(outcome(
                Exit::Stopped,
                dmon().replace("    0     90", "    1     90"),
                "",
            ))
        },
        "GPU 0 did no work while it was sampled",
    );
}

#[test]
fn a_load_that_does_not_exist_ends_the_sweep() {
    let fake = Fake::new(|spec| {
        if is_sampler(spec) {
            sampled()
        } else {
            Err(not_found(spec))
        }
    });
    let (reading, _) = with_session(&fake, None, |session| sweep(session, &request(&[1, 2])));
    let error = reading.expect_err("there is no load");
    assert!(
        matches!(error, Error::Run(RunError::NotFound { .. })),
        "{error}"
    );
    let loads = fake
        .purposes()
        .into_iter()
        .filter(|purpose| purpose.ends_with("/load"))
        .count();
    assert_eq!(loads, 1, "the second batch was not tried");
}

#[test]
fn an_interrupt_ends_the_sweep() {
    let fake = Fake::new(|spec| {
        Err(RunError::Interrupted {
            program: spec.program.clone(),
        })
    });
    let (reading, _) = with_session(&fake, None, |session| sweep(session, &request(&[1, 2])));
    let error = reading.expect_err("it was interrupted");
    assert_eq!(error.kind(), ds_orchestrate::ErrorKind::Interrupted);
}
