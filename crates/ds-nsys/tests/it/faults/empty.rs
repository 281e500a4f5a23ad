//! Captures that hold less than they should, and what is said about them.

use ds_nsys::{
    CheckOptions, Emptiness, GateId, GateState, Note, Outcome, Purpose, Trace, Verdict, Window,
};

use crate::analysis::synthetic::{Export, ONE, Place};
use crate::support::SmallTrace;

fn verdict(trace: &Trace) -> Verdict {
    trace
        .check(None, &CheckOptions::default())
        .expect("readable")
}

#[track_caller]
fn says(verdict: &Verdict, id: GateId, texts: &[&str]) {
    let gate = verdict.gate(id).expect("all gates are answered");
    assert_eq!(gate.state, GateState::Fail, "{gate:?}");
    let said = format!("{}; {}", gate.reason, gate.action.as_deref().unwrap_or(""));
    for text in texts {
        assert!(said.contains(text), "does not say `{text}`: {said}");
    }
}

/// Row 1: API rows yes, device rows no; fork, graphs and flushing are named.
#[test]
fn row_01_launches_without_device_rows() {
    let mut export = Export::new()
        .session(1_000_000)
        .capture("PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE", "Graph");
    for at in 1..4 {
        export.call(1, "cudaLaunchKernel_v7000", at * 100, at * 100 + 5);
    }
    export.call(1, "cudaGraphLaunch_v10000", 900, 905);
    let (_file, trace) = export.open();
    let found = verdict(&trace);
    assert_eq!(
        found.emptiness,
        Some(Emptiness::NoDeviceRows {
            launches: 4,
            quotes: Vec::new()
        })
    );
    says(
        &found,
        GateId::G4,
        &[
            "4 launches were seen and no GPU work",
            "flush",
            "--cuda-flush-interval",
            "--trace-fork-before-exec=true",
            "1 of them launched CUDA graphs",
            "--cuda-graph-trace=node",
        ],
    );
}

/// Row 5: a worker forked before it used CUDA shows no call at all; a graph traced at the wrong level shows launches.
#[test]
fn row_05_both_causes_of_no_activity_are_told_apart() {
    let asked = || {
        Export::new()
            .session(1_000_000)
            .capture("CAPTURE_EVENT_TYPE", "Cuda")
    };
    let (_file, trace) = asked().open();
    let forked = verdict(&trace);
    assert!(matches!(
        forked.emptiness,
        Some(Emptiness::NoCudaEvents { .. })
    ));
    says(
        &forked,
        GateId::G4,
        &["spawn instead of fork", "--trace-fork-before-exec=true"],
    );
    let mut export = asked();
    export.call(1, "cudaGraphLaunch_v10000", 100, 200);
    let (_file, trace) = export.open();
    says(&verdict(&trace), GateId::G4, &["--cuda-graph-trace=node"]);
    // The same launch with its graph is GPU work.
    let mut export = asked();
    export.graph(ONE, 3, 1_000, 900_000);
    let (_file, trace) = export.open();
    let busy = trace.busy(Window::ALL).expect("readable");
    assert_eq!(busy.devices[0].busy_time().0, 899_000);
    assert_eq!(verdict(&trace).emptiness, None);
}

/// Row 6: the number of graph launches is said, and that the split is not there.
#[test]
fn row_06_graph_mode_is_said_with_the_number_of_launches() {
    let mut export = Export::new().session(100_000_000);
    for step in 0..20 {
        export.graph(
            ONE,
            3,
            1_000_000 + step * 4_000_000,
            4_000_000 + step * 4_000_000,
        );
    }
    let (_file, trace) = export.open();
    let found = verdict(&trace);
    let note = found
        .notes
        .iter()
        .find(|note| matches!(note, Note::GraphsAsAWhole { .. }))
        .expect("a note");
    assert_eq!(
        note.to_string(),
        "20 graph launches were traced as a whole: busy time is an upper figure, and the split by kernel is not available"
    );
}

/// Row 17: a table that is missing, or renamed in the way that the documentation allows, was not traced.
#[test]
fn row_17_ranges_in_a_missing_or_renamed_table_were_not_traced() {
    let sql = "ALTER TABLE NVTX_EVENTS RENAME TO NVTX_EVENTS_V2;";
    for change in ["DROP TABLE NVTX_EVENTS;", sql] {
        let trace = SmallTrace::from_file("full.sql").and(change).open();
        assert_eq!(trace.plugin_times(Window::ALL).expect("readable"), None);
        assert_eq!(
            trace
                .range_summary(ds_nsys::Selection::default())
                .expect("readable"),
            None
        );
    }
}

/// Row 28: one part of a capture in several holds no GPU events, and is not called healthy.
#[test]
fn row_28_a_part_without_gpu_events_is_not_healthy() {
    let mut export = Export::new()
        .session(1_000_000_000)
        .capture("CAPTURE_EVENT_TYPE", "Cuda")
        .diagnostic(1, "Profiling has started.")
        .diagnostic(1, "CUDA injection initialized successfully.")
        .diagnostic(1, "Profiling has stopped.");
    for at in 0..1_000 {
        export.range(
            1,
            "decode_step",
            at * 1_000_000 + 1,
            at * 1_000_000 + 900_000,
        );
    }
    let (_file, trace) = export.open();
    for purpose in [
        Purpose::Timing,
        Purpose::Kernels,
        Purpose::Decode,
        Purpose::Pipeline,
    ] {
        let found = trace
            .check(Some(purpose), &CheckOptions::default())
            .expect("readable");
        assert_eq!(found.outcome, Outcome::Retry, "{purpose}");
        assert_eq!(found.decisive, Some(GateId::G4), "{purpose}");
    }
}

/// Row 3: only one rank of three has kernels, though all three launch.
#[test]
fn row_03_ranks_without_kernels_are_listed_by_process() {
    let mut export = Export::new().session(200_000_000);
    for step in 0..100 {
        let at = 1_000_000 * (step + 1);
        export.kernel(Place { pid: 10, device: 0 }, "gemm", at, at + 900_000);
        for pid in [11, 12] {
            export.call(pid, "cudaLaunchKernel_v7000", at, at + 5);
        }
    }
    let (_file, trace) = export.open();
    says(
        &verdict(&trace),
        GateId::G5,
        &["process 11 (100 launches)", "process 12 (100 launches)"],
    );
}

/// Row 41: counters that could not be sampled are absent, and the permission is named in the profiler's own words.
#[test]
fn row_41_counters_without_permission_are_absent_and_say_so() {
    let text = "GPU Metrics [0]: The user running Nsight Systems does not have permission to access NVIDIA GPU Performance Counters (ERR_NVGPUCTRPERM).";
    let (_file, trace) = Export::new()
        .diagnostic(1, "Profiling has started.")
        .diagnostic(3, text)
        .open();
    assert_eq!(trace.gpu_metrics(Window::ALL).expect("readable"), None);
    assert_eq!(trace.gpu_metrics_messages().expect("readable"), [text]);
}
