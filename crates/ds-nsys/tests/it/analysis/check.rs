//! Verdicts: on all recorded captures, and on small exports with one fault each.

use std::path::{Path, PathBuf};

use ds_nsys::{
    CaptureBound, CheckOptions, Emptiness, ExpectedTpot, FracNanos, GateId, GateState, Nanos, Note,
    Outcome, Purpose, Trace, Verdict, Window, WorkBasis,
};

use super::steps::without_ranges;
use super::synthetic::{Export, ONE, Place};
use crate::support::{open, shared, testdata};

fn verdict(trace: &Trace, purpose: Option<Purpose>) -> Verdict {
    trace
        .check(purpose, &CheckOptions::default())
        .expect("readable")
}

#[track_caller]
fn reason(verdict: &Verdict, id: GateId) -> &str {
    &verdict.gate(id).expect("all gates are answered").reason
}

#[track_caller]
fn state(verdict: &Verdict, id: GateId) -> GateState {
    verdict.gate(id).expect("all gates are answered").state
}

/// What a capture is expected to be judged.
struct Expected {
    capture: &'static str,
    purpose: Option<Purpose>,
    outcome: Outcome,
    decisive: Option<GateId>,
    bounds: &'static [CaptureBound],
}

const HOST: &[CaptureBound] = &[CaptureBound::Host];

const EXPECTED: [Expected; 13] = [
    Expected {
        capture: "decode_graph",
        purpose: Some(Purpose::Timing),
        outcome: Outcome::Pass,
        decisive: None,
        bounds: HOST,
    },
    Expected {
        capture: "decode_graph",
        purpose: Some(Purpose::Kernels),
        outcome: Outcome::Retry,
        decisive: Some(GateId::G1),
        bounds: HOST,
    },
    Expected {
        capture: "decode_node",
        purpose: None,
        outcome: Outcome::Pass,
        decisive: None,
        bounds: HOST,
    },
    Expected {
        capture: "decode_node",
        purpose: Some(Purpose::Kernels),
        outcome: Outcome::Pass,
        decisive: None,
        bounds: HOST,
    },
    Expected {
        capture: "decode_mixed",
        purpose: Some(Purpose::Decode),
        outcome: Outcome::Retry,
        decisive: Some(GateId::G8),
        bounds: &[],
    },
    Expected {
        capture: "decode_mixed",
        purpose: Some(Purpose::Timing),
        outcome: Outcome::Pass,
        decisive: None,
        bounds: &[],
    },
    Expected {
        capture: "infer_resnet152_b16",
        purpose: None,
        outcome: Outcome::Pass,
        decisive: None,
        bounds: HOST,
    },
    Expected {
        capture: "e2e_resnet152",
        purpose: None,
        outcome: Outcome::Retry,
        decisive: Some(GateId::G6),
        bounds: &[],
    },
    Expected {
        capture: "memcpy",
        purpose: None,
        outcome: Outcome::Pass,
        decisive: None,
        bounds: &[CaptureBound::Copies],
    },
    Expected {
        capture: "sync",
        purpose: None,
        outcome: Outcome::Pass,
        decisive: None,
        bounds: &[CaptureBound::Host, CaptureBound::Synchronization],
    },
    Expected {
        capture: "osrt",
        purpose: None,
        outcome: Outcome::Pass,
        decisive: None,
        bounds: &[],
    },
    Expected {
        capture: "idle",
        purpose: None,
        outcome: Outcome::Retry,
        decisive: Some(GateId::G13),
        bounds: &[],
    },
    Expected {
        capture: "nvtxonly",
        purpose: None,
        outcome: Outcome::Retry,
        decisive: Some(GateId::G4),
        bounds: &[],
    },
];

#[track_caller]
fn check(path: &Path, expected: &Expected) {
    let found = verdict(&open(path), expected.purpose);
    let name = path.display();
    assert_eq!(
        (found.outcome, found.decisive),
        (expected.outcome, expected.decisive),
        "{name}: {:#?}",
        found.gates
    );
    if !expected.bounds.is_empty() {
        let bound = found.bound.expect("work has a bound").bound;
        assert!(expected.bounds.contains(&bound), "{name}: {bound}");
    }
}

#[test]
fn small_captures_are_judged_as_they_should_be() {
    let mut judged = 0;
    for expected in &EXPECTED {
        let path = capture(expected.capture);
        if path.exists() {
            check(&path, expected);
            judged += 1;
        }
    }
    assert_eq!(judged, 8);
}

#[test]
fn large_captures_are_judged_as_they_should_be() {
    let Some(captures) = shared("captures") else {
        return;
    };
    // The small ones are judged from their copies in the test data.
    let large = |expected: &&Expected| !capture(expected.capture).exists();
    for expected in EXPECTED.iter().filter(large) {
        check(
            &captures.join(expected.capture).join("trace.sqlite"),
            expected,
        );
    }
    println!("shared-test: large_captures_are_judged_as_they_should_be");
}

/// A verdict must not rest on the program's own ranges, nor on the name of the file.
#[test]
fn verdicts_hold_without_ranges_and_under_another_name() {
    let Some(captures) = shared("captures") else {
        return;
    };
    // One copy of each capture serves the purposes that follow each other in the list.
    for expected in EXPECTED.chunk_by(|a, b| a.capture == b.capture) {
        let copy = without_ranges(&captures.join(expected[0].capture).join("trace.sqlite"));
        for expected in expected {
            check(&copy, expected);
        }
    }
    println!("shared-test: verdicts_hold_without_ranges_and_under_another_name");
}

fn capture(name: &str) -> PathBuf {
    testdata("captures").join(name).join("trace.sqlite.gz")
}

#[test]
fn an_idle_capture_says_what_ended_it() {
    let found = verdict(&open(&capture("idle")), None);
    assert!(
        reason(&found, GateId::G13).contains("`Delayed`"),
        "{}",
        reason(&found, GateId::G13)
    );
    assert_eq!(
        found
            .gate(GateId::G13)
            .and_then(|gate| gate.measured.as_ref())
            .expect("measured")
            .to_string(),
        "60.7 %"
    );
    // Both ends were cut, which does not matter where nothing happened.
    assert_eq!(state(&found, GateId::G6), GateState::Fail);
}

#[test]
fn a_capture_without_cuda_says_so() {
    let found = verdict(&open(&capture("nvtxonly")), None);
    assert_eq!(found.emptiness, Some(Emptiness::NotTraced));
    assert_eq!(reason(&found, GateId::G4), "CUDA was not traced");
}

#[test]
fn prompts_among_steps_are_a_note_for_timing() {
    let found = verdict(&open(&capture("decode_mixed")), Some(Purpose::Timing));
    assert!(
        found
            .notes
            .iter()
            .any(|note| matches!(note, Note::PrefillAmongSteps { steps: 39, .. })),
        "{:?}",
        found.notes
    );
}

#[test]
fn a_partial_capture_quotes_the_profiler() {
    let Some(captures) = shared("captures") else {
        return;
    };
    let found = verdict(&open(&captures.join("e2e_resnet152/trace.sqlite")), None);
    assert!(found.is_partial());
    assert!(
        reason(&found, GateId::G6).contains("\"Not all CUDA events might have been collected.\"")
    );
    println!("shared-test: a_partial_capture_quotes_the_profiler");
}

#[test]
fn busy_shares_are_named_by_what_they_are_of() {
    let Some(captures) = shared("captures") else {
        return;
    };
    for (name, session, span, work, basis) in [
        ("decode_node", "1.5 %", "8.6 %", "42.9 %", WorkBasis::Steps),
        (
            "decode_graph",
            "1.9 %",
            "19.0 %",
            "49.7 %",
            WorkBasis::Steps,
        ),
        (
            "infer_resnet152_b16",
            "9.6 %",
            "27.3 %",
            "37.2 %",
            WorkBasis::RepeatedRanges,
        ),
    ] {
        let found = verdict(&open(&captures.join(name).join("trace.sqlite")), None);
        let shares = &found.shares[0];
        let printed = [shares.of_session, shares.of_span, shares.of_work]
            .map(|s| s.expect("known").to_string());
        assert_eq!(printed, [session, span, work], "{name}");
        assert_eq!(shares.work.map(|(basis, _)| basis), Some(basis), "{name}");
    }
    println!("shared-test: busy_shares_are_named_by_what_they_are_of");
}

/// One second of steps, 1 ms each with two kernels of 200 µs.
fn healthy() -> Export {
    let mut export = Export::new().session(1_050_000_000);
    for step in 0..1_000 {
        let at = 1_000_000 * (step + 1);
        export.kernel(ONE, "gemm", at, at + 200_000);
        export.kernel(ONE, "gemm", at + 201_000, at + 401_000);
    }
    export
}

#[test]
fn a_sound_small_export_passes() {
    let (_file, trace) = healthy().open();
    let found = verdict(&trace, None);
    assert_eq!(found.outcome, Outcome::Pass, "{:#?}", found.gates);
    assert_eq!(found.purpose, Purpose::Decode);
    assert_eq!(found.gates.len(), 14);
    let ids: Vec<GateId> = found.gates.iter().map(|gate| gate.id).collect();
    assert!(ids.is_sorted());
}

#[test]
fn a_measured_time_per_token_is_held_against_every_rank() {
    let (_file, trace) = healthy().open();
    for (millis, tokens_per_step, expected) in [
        (1.0, 1.0, GateState::Pass),
        (0.9, 1.0, GateState::Pass),
        (0.5, 2.0, GateState::Pass),
        (0.5, 1.0, GateState::Fail),
        (1.2, 1.0, GateState::Fail),
    ] {
        let options = CheckOptions {
            expected_tpot: Some(ExpectedTpot {
                per_token: FracNanos(millis * 1e6),
                tokens_per_step,
            }),
            ..CheckOptions::default()
        };
        let found = trace.check(None, &options).expect("readable");
        assert_eq!(state(&found, GateId::G9), expected, "{millis} ms");
        let outcome = if expected == GateState::Pass {
            Outcome::Pass
        } else {
            Outcome::Retry
        };
        assert_eq!(found.outcome, outcome, "{millis} ms");
    }
}

/// A time per token is a mean: half of the steps at twice the length count as well.
#[test]
fn a_mean_is_reconciled_with_a_mean() {
    let mut export = Export::new().session(130_000_000);
    let mut at = 1_000_000;
    for step in 0..80 {
        export.graph(ONE, 3, at, at + 400_000);
        at += if step < 50 { 1_000_000 } else { 2_000_000 };
    }
    let (_file, trace) = export.open();
    let options = CheckOptions {
        // 50 steps of 1 ms and 29 of 2 ms: 1.367 ms in the mean.
        expected_tpot: Some(ExpectedTpot {
            per_token: FracNanos(1_370_000.0),
            tokens_per_step: 1.0,
        }),
        ..CheckOptions::default()
    };
    let found = trace.check(None, &options).expect("readable");
    assert_eq!(state(&found, GateId::G9), GateState::Pass);
    assert_eq!(
        found
            .gate(GateId::G9)
            .and_then(|gate| gate.measured.as_ref())
            .expect("measured")
            .to_string(),
        "0.2 %"
    );
}

#[test]
fn launches_without_work_are_told_from_no_calls_at_all() {
    let asked = || {
        Export::new()
            .session(1_000_000)
            .capture("CAPTURE_EVENT_TYPE", "Cuda")
            .capture("PROCESS_0:COLLECT_CUDA_TRACE", "true")
    };
    let (_file, trace) = asked()
        .diagnostic(2, "No CUDA events collected. Does the process use CUDA?")
        .open();
    let found = verdict(&trace, None);
    assert!(matches!(
        found.emptiness,
        Some(Emptiness::NoCudaEvents { .. })
    ));
    assert!(reason(&found, GateId::G4).contains("Does the process use CUDA?"));

    let mut export = asked();
    for at in 0..5 {
        export.call(1, "cudaLaunchKernel_v7000", at * 10 + 1, at * 10 + 5);
    }
    export.call(1, "cudaMalloc_v3020", 100, 200);
    let (_file, trace) = export.open();
    let found = verdict(&trace, None);
    assert_eq!(
        found.emptiness,
        Some(Emptiness::NoDeviceRows {
            launches: 5,
            quotes: Vec::new()
        })
    );
    assert_eq!(found.outcome, Outcome::Retry);
}

#[test]
fn the_profilers_own_words_explain_an_empty_capture() {
    let mut export = Export::new().session(1_000_000);
    export.call(1, "cudaLaunchKernel_v7000", 1, 5);
    let (_file, trace) = export
        .diagnostic(1, "Hardware tracing is used for CUDA kernels.")
        .diagnostic(1, "Profiling has started.")
        .open();
    let found = verdict(&trace, None);
    assert_eq!(
        found.emptiness,
        Some(Emptiness::NoDeviceRows {
            launches: 1,
            quotes: vec!["Hardware tracing is used for CUDA kernels.".to_owned()]
        })
    );
}

#[test]
fn a_driver_that_the_profiler_refuses_decides_first() {
    let text =
        "Installed CUDA driver version (13.0) is not supported by this build of Nsight Systems.";
    let (_file, trace) = Export::new().session(1_000_000).diagnostic(3, text).open();
    let found = verdict(&trace, None);
    assert_eq!(found.decisive, Some(GateId::G0));
    assert_eq!(
        reason(&found, GateId::G0),
        format!("the profiler says: \"{text}\"")
    );
    // Where work arrived all the same, the message refuses nothing.
    let (_file, trace) = healthy().diagnostic(3, text).open();
    assert_eq!(state(&verdict(&trace, None), GateId::G0), GateState::Pass);
}

#[test]
fn the_release_that_loses_rows_gets_its_own_hint() {
    let mut export = Export::new().session(1_000_000).sql(
        "UPDATE META_DATA_EXPORT SET value = '2024.6.2.225' WHERE name = 'EXPORT_PRODUCT_VERSION';",
    );
    export.call(1, "cuLaunchKernel", 1, 5);
    let (_file, trace) = export.open();
    let found = verdict(&trace, None);
    let action = found.gate(GateId::G4).and_then(|gate| gate.action.as_ref());
    assert!(
        action
            .expect("an action")
            .contains("CuptiUseRawGpuTimestamps=false")
    );
}

#[test]
fn graphs_alone_and_copies_alone_are_not_empty() {
    let mut graphs = Export::new().session(100_000_000);
    let mut copies = Export::new().session(100_000_000);
    for step in 0..10 {
        let at = 9_000_000 * step + 1_000_000;
        graphs.graph(ONE, 3, at, at + 5_000_000);
        copies.copy(ONE, at, at + 5_000_000);
    }
    let (_file, trace) = graphs.open();
    let found = verdict(&trace, Some(Purpose::Timing));
    assert_eq!(found.outcome, Outcome::Pass, "{:#?}", found.gates);
    assert!(reason(&found, GateId::G4).starts_with("graphs only"));
    assert!(found.notes.contains(&Note::GraphsAsAWhole { launches: 10 }));
    assert_eq!(
        verdict(&trace, Some(Purpose::Kernels)).decisive,
        Some(GateId::G1)
    );
    let (_file, trace) = copies.open();
    let found = verdict(&trace, None);
    assert_eq!(found.emptiness, None);
    assert_eq!(state(&found, GateId::G4), GateState::Pass);
}

#[test]
fn a_process_that_launched_and_has_no_work_is_named() {
    let mut export = healthy();
    for at in 0..7 {
        export.call(77, "cudaLaunchKernel_v7000", at * 10 + 1, at * 10 + 5);
    }
    let (_file, trace) = export.open();
    let found = verdict(&trace, None);
    assert_eq!(found.decisive, Some(GateId::G5));
    assert!(reason(&found, GateId::G5).contains("process 77 (7 launches)"));
}

#[test]
fn missing_ranks_are_missed_when_their_number_is_known() {
    let (_file, trace) = healthy().open();
    let options = |expected_ranks| CheckOptions {
        expected_ranks: Some(expected_ranks),
        ..CheckOptions::default()
    };
    let outcome = |n| trace.check(None, &options(n)).expect("readable").outcome;
    assert_eq!((outcome(1), outcome(2)), (Outcome::Pass, Outcome::Retry));
}

#[test]
fn gpus_without_work_are_a_note() {
    let gpus = "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);
        INSERT INTO TARGET_INFO_GPU VALUES (0, 'a'), (1, 'b');";
    let (_file, trace) = healthy().sql(gpus).open();
    let found = verdict(&trace, None);
    assert!(found.notes.contains(&Note::UnusedGpus {
        used: 1,
        present: 2
    }));
}

#[test]
fn a_claimed_mode_that_the_rows_contradict_fails() {
    let mut export = healthy().capture("PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE", "Node");
    export.graph(ONE, 3, 900, 1_900);
    let (_file, trace) = export.open();
    let found = verdict(&trace, Some(Purpose::Timing));
    assert_eq!(found.decisive, Some(GateId::G1));
}

#[test]
fn times_that_cannot_be_fail_above_one_in_a_thousand() {
    // 2,000 sound kernels and two or three without times.
    for (bad, expected) in [(2, GateState::Pass), (3, GateState::Fail)] {
        let mut export = healthy();
        for row in 0..bad {
            export.kernel_row(ONE, "gemm", 0, 0, 50_000 + row, None);
        }
        let (_file, trace) = export.open();
        let found = verdict(&trace, None);
        assert_eq!(state(&found, GateId::G6), expected, "{bad}");
        assert!(found.notes.contains(&Note::RowsDropped {
            rows: u64::try_from(bad).expect("small")
        }));
    }
    // Kernels before their launch are kept, and counted against the collection.
    let mut export = healthy();
    for at in 0..3 {
        let id = export.call(1, "cudaLaunchKernel_v7000", 5_000_000, 5_000_100);
        export.kernel_row(ONE, "gemm", 4_500_000 + at, 4_500_010 + at, id, None);
    }
    let (_file, trace) = export.open();
    let found = verdict(&trace, None);
    assert_eq!(state(&found, GateId::G6), GateState::Fail);
    assert!(reason(&found, GateId::G6).contains("3 kernels before their launch"));
}

#[test]
fn an_interrupted_collection_fails() {
    let (_file, trace) = healthy().diagnostic(1, "Profiling has started.").open();
    assert_eq!(verdict(&trace, None).decisive, Some(GateId::G6));
    let (_file, trace) = healthy()
        .diagnostic(1, "Profiling has started.")
        .diagnostic(1, "Profiling has stopped.")
        .open();
    assert_eq!(verdict(&trace, None).decisive, None);
}

#[test]
fn health_is_that_of_the_window_asked_for() {
    // Work in the first tenth only; the whole session is a failure, and so is the window behind the work.
    let mut export = Export::new().session(1_000_000_000);
    for step in 0..100 {
        let at = 1_000_000 * (step + 1);
        export.kernel(ONE, "gemm", at, at + 400_000);
    }
    let (_file, trace) = export.open();
    let of = |from, to| {
        let options = CheckOptions {
            window: Window {
                from: Nanos(from),
                to: Nanos(to),
            },
            ..CheckOptions::default()
        };
        trace.check(None, &options).expect("readable")
    };
    assert_eq!(verdict(&trace, None).decisive, Some(GateId::G13));
    assert_eq!(of(0, 110_000_000).outcome, Outcome::Pass);
    let behind = of(500_000_000, 1_000_000_000);
    assert_eq!(behind.decisive, Some(GateId::G4));
    // What the window lacks is not blamed on the capture.
    assert_eq!(
        reason(&behind, GateId::G4),
        "the window holds no GPU work; the session has some from 1.000 ms to 100.400 ms"
    );
    assert_eq!(state(&behind, GateId::G0), GateState::Pass);
    assert_eq!(
        reason(&behind, GateId::G5),
        "no rank has GPU work in the window"
    );
}

/// A window that ends between a launch and its kernel shows a process that launched and did nothing.
#[test]
fn a_window_that_shows_launches_alone_accuses_no_process() {
    let mut export = Export::new().session(10_000_000);
    export.kernel(ONE, "gemm", 1_000_000, 2_000_000);
    let id = export.call(2, "cudaLaunchKernel_v7000", 1_500_000, 1_500_100);
    export.kernel_row(
        Place { pid: 2, device: 0 },
        "gemm",
        5_000_000,
        6_000_000,
        id,
        None,
    );
    let (_file, trace) = export.open();
    let options = CheckOptions {
        window: Window {
            from: Nanos(0),
            to: Nanos(3_000_000),
        },
        ..CheckOptions::default()
    };
    let found = trace.check(None, &options).expect("readable");
    assert_eq!(state(&found, GateId::G5), GateState::Pass);
}

/// Why a capture is empty does not depend on the part that was asked for.
#[test]
fn a_window_of_an_empty_capture_is_explained_by_the_whole_of_it() {
    let mut export = Export::new().session(1_000_000);
    export.call(1, "cudaLaunchKernel_v7000", 100, 200);
    let (_file, trace) = export.open();
    let options = CheckOptions {
        window: Window {
            from: Nanos(500_000),
            to: Nanos(900_000),
        },
        ..CheckOptions::default()
    };
    let found = trace.check(None, &options).expect("readable");
    assert!(matches!(
        found.emptiness,
        Some(Emptiness::NoDeviceRows { launches: 1, .. })
    ));
}

#[test]
fn an_export_that_does_not_know_its_session_is_judged_by_its_calls() {
    let mut export = Export::new();
    for step in 0..100 {
        let at = 1_000_000 * (step + 1);
        export.kernel(ONE, "gemm", at, at + 400_000);
    }
    export.call(1, "cudaFree_v3020", 900_000_000, 900_000_100);
    let (_file, trace) = export.open();
    let found = verdict(&trace, None);
    assert_eq!(found.decisive, Some(GateId::G13));
    assert!(reason(&found, GateId::G13).contains("the last CUDA call"));
    // Without calls either there is nothing to judge by.
    let mut export = Export::new();
    for step in 0..100 {
        let at = 1_000_000 * (step + 1);
        export.kernel_row(ONE, "gemm", at, at + 400_000, step, None);
    }
    let (_file, trace) = export.open();
    assert_eq!(verdict(&trace, None).outcome, Outcome::Undecidable);
}

#[test]
fn an_export_cut_by_its_user_is_told_by_the_profilers_count() {
    let (_file, trace) = healthy()
        .diagnostic(1, "Number of CUDA events collected: \t5000.")
        .open();
    let found = verdict(&trace, None);
    assert!(found.notes.contains(&Note::FewerRowsThanCollected {
        rows: 4_000,
        collected: 5_000
    }));
}

#[test]
fn a_silent_parent_of_working_children_is_no_failure() {
    let mut export = healthy();
    for step in 0..1_000 {
        let at = 1_000_000 * (step + 1);
        export.kernel(Place { pid: 2, device: 0 }, "gemm", at, at + 400_000);
    }
    let quote = "No CUDA events collected. Does the process use CUDA?";
    let (_file, trace) = export.diagnostic(2, quote).open();
    let found = verdict(&trace, None);
    assert_eq!(found.outcome, Outcome::Pass, "{:#?}", found.gates);
    assert!(found.notes.contains(&Note::ProcessWithoutCuda {
        quote: quote.to_owned()
    }));
}

/// Gates that a purpose does not need change nothing.
#[test]
fn only_needed_gates_decide() {
    let mut export = Export::new().session(100_000_000);
    // Irregular work without steps.
    for at in [1, 7, 20, 44, 60, 95_i64] {
        export.kernel(ONE, "gemm", at * 1_000_000, at * 1_000_000 + at * 1_000);
    }
    let (_file, trace) = export.open();
    assert_eq!(verdict(&trace, None).purpose, Purpose::Pipeline);
    assert_eq!(verdict(&trace, None).outcome, Outcome::Pass);
    assert_eq!(
        verdict(&trace, Some(Purpose::Timing)).outcome,
        Outcome::Pass
    );
    assert_eq!(
        verdict(&trace, Some(Purpose::Decode)).decisive,
        Some(GateId::G7)
    );
}
