//! Steps of recorded traces against the figures that an independent script computed, and of small ones worked by hand.

use std::path::Path;

use ds_nsys::{
    FracNanos, PrefillEvidence, StepBound, StepKind, StepMethod, StepOptions, StepSeries, Steps,
    Trace,
};

use super::synthetic::{Export, ONE, Place};
use crate::support::{open, shared, testdata};

fn steps_of(trace: &Trace) -> Steps {
    trace.steps(&StepOptions::default()).expect("readable")
}

fn capture(name: &str) -> Steps {
    steps_of(&open(
        &testdata("captures").join(name).join("trace.sqlite.gz"),
    ))
}

/// The steps of the only rank.
#[track_caller]
fn only(steps: &Steps) -> &StepSeries {
    let [rank] = steps.ranks.as_slice() else {
        panic!("one rank, not {}", steps.ranks.len())
    };
    rank.series.as_ref().expect("steps")
}

/// Whether a duration in nanoseconds lies within 2 % of milliseconds.
#[track_caller]
fn near(nanos: f64, millis: f64) {
    let error = (nanos / 1e6 - millis).abs() / millis;
    assert!(error <= 0.02, "{} ms instead of {millis}", nanos / 1e6);
}

#[test]
fn a_graph_replayed_two_hundred_times_and_traced_as_a_whole() {
    let steps = capture("decode_graph");
    let series = only(&steps);
    near(series.duration.median.0, 0.896);
    assert_eq!(series.method, StepMethod::Range);
    assert_eq!(series.steps.len(), 199);
    // Ranges, launches and gaps are three witnesses of one step.
    let methods: Vec<StepMethod> = series.readings.iter().map(|r| r.method).collect();
    assert_eq!(
        methods,
        [
            StepMethod::Range,
            StepMethod::GraphLaunch,
            StepMethod::IdleGap
        ]
    );
    assert!(series.agreement().expect("two anchors").0 > 0.99);
    assert_eq!(series.bound, StepBound::Host);
    assert_eq!(series.busy_share().expect("work").to_string(), "49.7 %");
    assert_eq!(series.prefill.steps, 0);
    assert_eq!(series.communication, None);
    assert!(series.is_upper_figure);
    assert_eq!((series.graph_launches, series.eager_launches), (1.0, 0.0));
}

#[test]
fn the_same_graph_traced_by_node() {
    let steps = capture("decode_node");
    let series = only(&steps);
    near(series.duration.median.0, 0.962);
    assert_eq!(series.bound, StepBound::Host);
    assert_eq!(series.busy_share().expect("work").to_string(), "42.9 %");
    assert_eq!(series.prefill.steps, 0);
    assert!(series.agreement().expect("two anchors").0 > 0.99);
    // No kernel of one GPU communicates, and the kernels are seen.
    let (exposed, hidden) = series.communication.expect("kernels inside the graph");
    assert_eq!((exposed.0, hidden.0), (0.0, 0.0));
    assert!(!series.is_upper_figure);
}

#[test]
fn prompts_among_the_steps_are_told_apart() {
    let steps = capture("decode_mixed");
    let series = only(&steps);
    // 120 steps, and a prompt after every third; the last one ends the trace.
    assert_eq!(series.prefill.steps, 39);
    assert_eq!(
        series.prefill.evidence,
        PrefillEvidence::LaunchesOutsideGraphs
    );
    // 114.235 ms of 114.235 + 55.126 ms of graphs, less one boundary: an independent script gives 67.45 %.
    assert_eq!(
        series.prefill.share_of_busy.expect("work").to_string(),
        "67.5 %"
    );
    assert_eq!(series.clean().count(), 80);
    let median = series.duration.median.0 / 1e6;
    assert!((0.96..=0.99).contains(&median), "{median} ms");
}

#[test]
fn an_idle_gpu_has_no_steps() {
    assert_eq!(capture("idle").found().count(), 0);
}

#[test]
fn servers_that_stop_after_every_launch_have_no_steps() {
    let Some(captures) = shared("captures") else {
        return;
    };
    for name in ["sync", "memcpy", "osrt", "idle"] {
        let steps = steps_of(&open(&captures.join(name).join("trace.sqlite")));
        assert_eq!(steps.found().count(), 0, "{name}");
    }
    println!("shared-test: servers_that_stop_after_every_launch_have_no_steps");
}

/// A copy of a trace without its NVTX events.
#[track_caller]
pub(crate) fn without_ranges(path: &Path) -> tempfile::TempPath {
    let copy = tempfile::NamedTempFile::new()
        .expect("a temporary file")
        .into_temp_path();
    std::fs::copy(path, &copy).expect("a copy");
    let database = rusqlite::Connection::open(&copy).expect("a database");
    database
        .execute_batch("DROP TABLE IF EXISTS NVTX_EVENTS")
        .expect("a table can be dropped");
    copy
}

#[test]
fn steps_are_found_without_the_programs_help() {
    let Some(captures) = shared("captures") else {
        return;
    };
    for (name, median) in [
        ("decode_graph", 0.896),
        ("decode_node", 0.962),
        ("decode_mixed", 0.967),
    ] {
        let copy = without_ranges(&captures.join(name).join("trace.sqlite"));
        let steps = steps_of(&open(&copy));
        assert_eq!(only(&steps).method, StepMethod::GraphLaunch, "{name}");
        near(only(&steps).duration.median.0, median);
    }
    println!("shared-test: steps_are_found_without_the_programs_help");
}

/// Steps of 1 ms: 300 µs of one kernel, 100 µs of another, then the host.
fn kernels_without_graphs(export: &mut Export, place: Place, steps: i64) {
    for step in 0..steps {
        let at = 1_000_000 * (step + 1);
        export.kernel(place, "gemm", at, at + 300_000);
        export.kernel(place, "ncclDevKernel_AllReduce", at + 301_000, at + 401_000);
    }
}

#[test]
fn the_gap_alone_shows_steps() {
    let mut export = Export::new();
    kernels_without_graphs(&mut export, ONE, 100);
    let (_file, trace) = export.open();
    let steps = steps_of(&trace);
    let series = only(&steps);
    assert_eq!(series.method, StepMethod::IdleGap);
    // 1 ms from start to start, 400 µs of it busy, of which 100 µs communicate with nothing beside them.
    assert_eq!(series.duration.median, FracNanos(1_000_000.0));
    assert_eq!(series.busy.median, FracNanos(400_000.0));
    assert_eq!(series.idle.median, FracNanos(600_000.0));
    assert_eq!(series.host_gap.median, FracNanos(599_000.0));
    let (exposed, hidden) = series.communication.expect("kernels");
    assert_eq!((exposed.0, hidden.0), (100_000.0, 0.0));
    assert_eq!((series.graph_launches, series.eager_launches), (0.0, 2.0));
    assert_eq!(series.bound, StepBound::Host);
}

#[test]
fn two_processes_with_a_device_0_each_are_two_ranks() {
    let mut export = Export::new();
    kernels_without_graphs(&mut export, ONE, 60);
    kernels_without_graphs(&mut export, Place { pid: 2, device: 0 }, 60);
    let (_file, trace) = export.open();
    assert_eq!(steps_of(&trace).found().count(), 2);
}

#[test]
fn communication_beside_compute_is_hidden() {
    let mut export = Export::new();
    for step in 0..50 {
        let at = 1_000_000 * (step + 1);
        export.range(1, "decode_step", at - 50, at + 1);
        export.kernel(ONE, "gemm", at, at + 600_000);
        // 200 µs beside the product, 300 µs alone: 900 µs busy, of which a third is exposed communication.
        export.kernel(ONE, "ncclDevKernel_AllReduce", at + 400_000, at + 900_000);
    }
    // Launched beside the first kernel, within the range.
    let (_file, trace) = export.open();
    let steps = steps_of(&trace);
    let (exposed, hidden) = only(&steps).communication.expect("kernels");
    assert_eq!((exposed.0, hidden.0), (300_000.0, 200_000.0));
    assert_eq!(only(&steps).bound, StepBound::Kernel);
}

#[test]
fn annotated_context_tokens_are_prefill_exactly() {
    let mut export = Export::new();
    for step in 0..40 {
        let at = 1_000_000 * (step + 1);
        // Every tenth step takes a prompt with it and lasts no longer than the others.
        let context = if step % 10 == 3 { 64 } else { 0 };
        let text = format!("execute_context_1({context})_generation_8(8)");
        export.range(1, &text, at - 50, at + 10);
        export.kernel(ONE, "gemm", at, at + 500_000);
    }
    let (_file, trace) = export.open();
    let steps = steps_of(&trace);
    let series = only(&steps);
    assert_eq!(series.method, StepMethod::Annotation);
    assert_eq!(series.prefill.evidence, PrefillEvidence::ContextTokens);
    // Steps 3, 13, 23 and 33 of 40: a tenth of the busy time.
    assert_eq!(series.prefill.steps, 4);
    assert_eq!(
        series.prefill.share_of_busy.expect("work").to_string(),
        "10.0 %"
    );
}

#[test]
fn a_long_step_of_the_same_kernels_is_no_prompt() {
    for (name, prompts) in [("gemm", 0), ("flash_fwd_prefill", 5)] {
        let mut export = Export::new();
        let mut at = 1_000_000;
        for step in 0..50 {
            let (kernel, work) = if step % 10 == 5 {
                (name, 2_000_000)
            } else {
                ("gemm", 300_000)
            };
            export.range(1, "decode_step", at - 50, at + 10);
            export.kernel(ONE, kernel, at, at + work);
            at += work + 400_000;
        }
        let (_file, trace) = export.open();
        let steps = steps_of(&trace);
        assert_eq!(only(&steps).prefill.evidence, PrefillEvidence::OtherKernels);
        assert_eq!(only(&steps).prefill.steps, prompts, "{name}");
    }
}

#[test]
fn no_gap_at_all_is_a_legitimate_state() {
    let mut export = Export::new();
    for step in 0..40 {
        let at = 1_000_000 * (step + 1);
        export.graph(ONE, 5, at, at + 1_000_000);
    }
    let (_file, trace) = export.open();
    let steps = steps_of(&trace);
    let series = only(&steps);
    assert_eq!(series.method, StepMethod::GraphLaunch);
    assert_eq!(series.idle.median, FracNanos(0.0));
    assert_eq!(series.bound, StepBound::WithinGraphs);
    assert!(
        series
            .steps
            .iter()
            .all(|step| step.kind == StepKind::Decode)
    );
}

#[test]
fn rows_in_any_order_give_the_same_steps() {
    let forward: Vec<i64> = (0..60).collect();
    let mut shuffled = forward.clone();
    shuffled.reverse();
    shuffled.swap(3, 50);
    let read = |order: &[i64]| {
        let mut export = Export::new();
        for step in order {
            let at = 1_000_000 * (step + 1);
            export.graph(ONE, 5, at, at + 400_000);
        }
        let (_file, trace) = export.open();
        steps_of(&trace)
    };
    assert_eq!(read(&forward), read(&shuffled));
}

#[test]
fn rows_without_times_do_not_move_a_step() {
    let mut export = Export::new();
    kernels_without_graphs(&mut export, ONE, 60);
    export.kernel_row(ONE, "gemm", 0, 0, 9_000, None);
    export.kernel_row(ONE, "gemm", 500, 20, 9_001, None);
    let (_file, trace) = export.open();
    let steps = steps_of(&trace);
    assert_eq!(only(&steps).duration.median, FracNanos(1_000_000.0));
}
