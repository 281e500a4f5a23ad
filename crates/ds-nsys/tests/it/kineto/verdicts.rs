//! Steps, gates, differences and ranks.

use ds_nsys::{
    CheckOptions, DiffOptions, ExpectedTpot, FracNanos, GateId, GateState, Outcome,
    PrefillEvidence, Purpose, RankOptions, RankTable, Refusal, RefusalPolicy, Side, StepKind,
    StepMethod, Trace,
};

use super::written::{Written, file};
use crate::support::{open, testdata};

/// Twelve steps of 1,000 µs. Every one copies for 10 µs, replays a graph of two kernels of `kernel` µs each, and has an
/// all-reduce of 20 µs; the fourth takes a prompt beside four generations, the fifth a prompt alone.
fn steps(kernel: i64) -> Written {
    let mut trace = Written::new();
    for step in 0..12_i64 {
        let at = step * 1_000_000;
        let text = match step {
            3 => "execute_context_1(512)_generation_4(4)",
            4 => "execute_context_1(64)_generation_0(0)",
            _ => "execute_context_0(0)_generation_4(4)",
        };
        trace.annotation(text, at, at + 500_000);
        trace.memory(
            "gpu_memcpy",
            "Memcpy HtoD (Pinned -> Device)",
            64,
            at + 50_000,
            at + 60_000,
        );
        let launch = trace.call("cudaGraphLaunch", at + 70_000, at + 90_000);
        let begin = at + 100_000;
        trace.kernel_of(launch, 0, 7, "gemm", (begin, begin + kernel * 1_000));
        let begin = begin + kernel * 1_000 + 5_000;
        trace.kernel_of(launch, 0, 7, "softmax", (begin, begin + kernel * 1_000));
        trace.kernel(
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(args)",
            at + 450_000,
            at + 470_000,
        );
    }
    trace
}

#[test]
fn steps_by_the_annotations_of_vllm() {
    let trace = steps(100).open();
    let steps = trace.steps(&Default::default()).expect("readable");
    let (device, series) = steps.found().next().expect("steps");
    assert_eq!((device.process.pid(), device.ordinal), (426, 0));
    assert_eq!(series.method, StepMethod::Annotation);
    // The twelfth has no end.
    assert_eq!(series.steps.len(), 11);
    assert_eq!(series.duration.median, FracNanos(1_000_000.0));
    // 10 + 100 + 100 + 20 µs.
    assert_eq!(series.busy.median, FracNanos(230_000.0));
    assert_eq!((series.graph_launches, series.eager_launches), (1.0, 1.0));
    assert_eq!(series.prefill.evidence, PrefillEvidence::ContextTokens);
    assert_eq!(series.prefill.steps, 2);
    let kinds: Vec<StepKind> = series.steps[2..6].iter().map(|step| step.kind).collect();
    assert_eq!(
        kinds,
        [
            StepKind::Decode,
            StepKind::Mixed,
            StepKind::Prefill,
            StepKind::Decode
        ]
    );
    let tokens = series.steps[3].tokens.expect("annotated");
    assert_eq!((tokens.context, tokens.generation), (512, 4));
    assert_eq!(series.clean().count(), 9);
    // 20 of 230 µs communicate, and nothing hides them.
    assert_eq!(
        series.communication,
        Some((FracNanos(20_000.0), FracNanos(0.0)))
    );
    // Graph launches agree: the second anchor has the same median.
    assert_eq!(series.readings[1].method, StepMethod::GraphLaunch);
    assert_eq!(series.agreement().map(|share| share.0), Some(1.0));
}

#[test]
fn the_gates_of_a_sound_file() {
    let trace = steps(100)
        .rank(3, 8)
        .member("cuda_runtime_version", "13000")
        .open();
    let verdict = trace
        .check(None, &CheckOptions::default())
        .expect("readable");
    assert_eq!(verdict.purpose, Purpose::Decode);
    // Two of eleven steps took a prompt.
    assert_eq!(verdict.decisive, Some(GateId::G8));
    let state = |id| verdict.gate(id).map(|gate| gate.state);
    for id in [
        GateId::G0,
        GateId::G1,
        GateId::G4,
        GateId::G5,
        GateId::G6,
        GateId::G7,
        GateId::G13,
    ] {
        assert_eq!(state(id), Some(GateState::Pass), "{id}");
    }
    for id in [
        GateId::G2,
        GateId::G3,
        GateId::G9,
        GateId::G10,
        GateId::G11,
        GateId::G12,
    ] {
        assert_eq!(state(id), Some(GateState::Unknown), "{id}");
    }
    let reason = |id| verdict.gate(id).map(|gate| gate.reason.clone());
    assert_eq!(
        reason(GateId::G5).as_deref(),
        Some("rank 3 of 8 has GPU work; the others have files of their own")
    );
    assert_eq!(
        reason(GateId::G1).as_deref(),
        Some("24 kernels belong to nodes of graphs")
    );
    assert!(verdict.distortion.is_some());
}

#[test]
fn what_one_file_cannot_say_is_undecidable() {
    let trace = steps(100).rank(0, 2).open();
    let options = CheckOptions {
        expected_ranks: Some(2),
        ..CheckOptions::default()
    };
    let verdict = trace
        .check(Some(Purpose::Timing), &options)
        .expect("readable");
    assert_eq!(
        (verdict.outcome, verdict.decisive),
        (Outcome::Undecidable, Some(GateId::G5))
    );
    let options = CheckOptions {
        expected_tpot: Some(ExpectedTpot {
            per_token: FracNanos(500_000.0),
            tokens_per_step: 1.0,
        }),
        ..CheckOptions::default()
    };
    let verdict = trace
        .check(Some(Purpose::Timing), &options)
        .expect("readable");
    assert_eq!(
        (verdict.outcome, verdict.decisive),
        (Outcome::Undecidable, Some(GateId::G9))
    );
    let gate = verdict.gate(GateId::G9).expect("a gate");
    assert!(gate.reason.contains("1.000 ms a step"), "{}", gate.reason);
}

#[test]
fn a_newer_runtime_than_the_driver_explains_an_empty_file() {
    let mut trace = Written::new()
        .member("cuda_runtime_version", "13000")
        .member("cuda_driver_version", "12080");
    trace.call("cudaLaunchKernel", 0, 100);
    let verdict = trace
        .open()
        .check(None, &CheckOptions::default())
        .expect("readable");
    let gate = verdict.gate(GateId::G0).expect("a gate");
    assert_eq!(gate.state, GateState::Fail);
    assert_eq!(
        gate.reason,
        "no GPU work, and CUDA 13 ran on a driver that knows 12 at most: CUPTI then does not start"
    );
}

#[test]
fn the_file_of_a_front_end_is_named() {
    let mut trace = Written::new();
    trace.host("cpu_op", "aten::add", 0, 100);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("host_async_llm.1.pt.trace.json");
    let mut from = file(trace.json().as_bytes());
    std::io::Seek::rewind(&mut from).expect("a file");
    std::fs::copy(from.path(), &path).expect("a copy");
    let trace = Trace::open(&path).expect("readable");
    assert!(trace.kineto().is_some_and(|facts| facts.is_of_front_end));
    let verdict = trace
        .check(None, &CheckOptions::default())
        .expect("readable");
    let gate = verdict.gate(GateId::G4).expect("a gate");
    assert_eq!(
        gate.action.as_deref(),
        Some("take the files of the workers: this one is of the front end")
    );
}

#[test]
fn two_files_are_compared_step_by_step() {
    let (before, after) = (steps(100).open(), steps(110).open());
    // Prompts among the steps spoil both captures for decode, and not for a comparison of clean steps.
    let diff = before
        .diff(&after, &DiffOptions::default())
        .expect("readable");
    assert_eq!(diff.refusals, []);
    let differences = diff.differences.expect("compared");
    let gemm = differences
        .changed
        .iter()
        .find(|row| row.kind.to_string() == "gemm")
        .expect("gemm in both");
    assert_eq!(gemm.change.relative().map(|share| share.0), Some(0.1));
}

#[test]
fn other_profilers_and_other_options_are_refused() {
    let ours = steps(100).open();
    let nsys = open(&testdata("captures/decode_node/trace.sqlite.gz"));
    let diff = nsys.diff(&ours, &DiffOptions::default()).expect("readable");
    assert!(
        diff.refusals.contains(&Refusal::ProfilersDiffer {
            kineto: Side::Second
        }),
        "{:?}",
        diff.refusals
    );
    assert!(diff.differences.is_none());
    let all_the_same = DiffOptions {
        policy: RefusalPolicy::Override,
        ..DiffOptions::default()
    };
    let diff = nsys.diff(&ours, &all_the_same).expect("readable");
    assert!(diff.differences.is_some());

    let stacks = steps(100).member("with_stack", "1").open();
    let diff = ours
        .diff(&stacks, &DiffOptions::default())
        .expect("readable");
    assert_eq!(
        diff.refusals,
        [Refusal::ProfilerOptionsDiffer {
            first: "no option".to_owned(),
            second: "`with_stack`".to_owned()
        }]
    );
}

#[test]
fn the_slow_rank_of_two_files() {
    let (fast, slow) = (steps(100).rank(0, 2).open(), steps(150).rank(1, 2).open());
    let table = RankTable::new(&[&fast, &slow], &RankOptions::default()).expect("readable");
    assert_eq!(table.ranks.len(), 2);
    assert!(!table.are_recorded_apart);
    // 2 × 100 and 2 × 150 µs of compute a step.
    let compute: Vec<Option<f64>> = table
        .ranks
        .iter()
        .map(|rank| rank.compute.map(|time| time.0))
        .collect();
    assert_eq!(compute, [Some(200_000.0), Some(300_000.0)]);
    let straggler = table.straggler.expect("the second is slow");
    assert_eq!((straggler.rank.trace, straggler.factor.0), (1, 1.5));
}
