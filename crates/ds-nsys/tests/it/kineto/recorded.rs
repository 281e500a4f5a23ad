//! Files that PyTorch 2.11 wrote on an H200, against sums that a program of another language took from the same files.

use ds_nsys::{
    GpuWork, Nanos, PrefillEvidence, ProfilerOption, ReportOptions, StepKind, StepMethod, Trace,
    Window,
};

use crate::support::{csv, open, testdata};

fn recording(name: &str) -> Trace {
    open(&testdata(&format!(
        "kineto/decode_{name}.rank0.pt.trace.json.gz"
    )))
}

/// Session, busy time and sum in nanoseconds, operations, steps, prompts, and the median clean step.
#[track_caller]
fn check(name: &str, expected: (i64, i64, i64, u64), steps: (usize, usize, f64)) {
    let trace = recording(name);
    let busy = trace.busy(Window::ALL).expect("readable");
    let device = &busy.devices[0];
    let count = device.work.values().map(|work| work.count).sum::<u64>();
    let session = busy.session.expect("recorded").0;
    assert_eq!(
        (session, device.busy_time().0, device.sum().0, count),
        expected
    );
    assert!(!device.work.contains_key(&GpuWork::Graph));
    let found = trace.steps(&Default::default()).expect("readable");
    let (_, series) = found.found().next().expect("steps");
    assert_eq!(series.method, StepMethod::Annotation);
    assert_eq!(series.prefill.evidence, PrefillEvidence::ContextTokens);
    assert_eq!(
        (
            series.steps.len(),
            series.prefill.steps,
            series.duration.median.0
        ),
        steps
    );
    // One graph a step, whose kernels the file gives no graph: they are told by their launch.
    assert!((series.graph_launches - 1.0).abs() < f64::EPSILON);
    assert!(series.eager_launches.abs() < f64::EPSILON);
}

#[test]
fn figures_of_the_recordings() {
    check(
        "clean",
        (53_431_987, 8_288_998, 8_295_750, 1_620),
        (59, 0, 825_346.0),
    );
    check(
        "mixed",
        (57_893_469, 10_092_484, 10_100_356, 1_746),
        (59, 6, 681_570.0),
    );
    check(
        "stack",
        (37_248_503, 4_152_288, 4_156_289, 810),
        (29, 0, 904_738.0),
    );
}

#[test]
fn kernels_and_calls_of_the_recordings() {
    let trace = recording("clean");
    let kernels = csv(&trace, "cuda_gpu_kern_sum", ReportOptions::default());
    let first = kernels.lines().nth(1).expect("a kernel");
    assert!(
        first.starts_with("33.4,2713369,240,11305.7,")
            && first.ends_with(",nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_splitK_bias_TNT"),
        "{first}"
    );
    let calls = csv(&trace, "cuda_api_sum", ReportOptions::default());
    assert!(calls.contains(",3837872,60,"), "{calls}");
    assert!(calls.contains(",cudaGraphLaunch\n"), "{calls}");
    let copies = csv(&trace, "cuda_gpu_mem_time_sum", ReportOptions::default());
    assert!(
        copies.contains(",88067,60,") && copies.contains(",85698,60,"),
        "{copies}"
    );
}

#[test]
fn prompts_beside_generations_are_mixed_steps() {
    let steps = recording("mixed")
        .steps(&Default::default())
        .expect("readable");
    let (_, series) = steps.found().next().expect("steps");
    let mixed = series
        .steps
        .iter()
        .filter(|step| step.kind == StepKind::Mixed);
    assert_eq!(mixed.count(), 6);
    assert!(series.steps.iter().all(|step| step.tokens.is_some()));
}

#[test]
fn what_the_recordings_say_about_themselves() {
    let plain = recording("clean");
    let facts = plain.kineto().expect("a trace of the profiler");
    assert_eq!(facts.distributed.rank, Some(0));
    assert_eq!(facts.distributed.world_size, Some(1));
    assert_eq!(facts.distributed.backend.as_deref(), Some("nccl"));
    assert_eq!(facts.cupti_version, Some(130_001));
    assert_eq!(facts.cuda_driver_version, Some(13_000));
    assert_eq!(facts.events.calls, 877);
    assert_eq!(facts.events.unreadable, 0);
    assert_eq!(facts.overhead, Nanos(3_415_052));
    assert_eq!(facts.cut_off, None);
    assert!(facts.options.is_empty());
    assert_eq!(
        plain.gpus().expect("readable")[0].name.as_deref(),
        Some("NVIDIA H200")
    );

    let stack = recording("stack");
    let facts = stack.kineto().expect("a trace of the profiler");
    assert_eq!(facts.events.python_functions, 1_385);
    let options: Vec<ProfilerOption> = facts.options.iter().copied().collect();
    assert_eq!(
        options,
        [
            ProfilerOption::Stacks,
            ProfilerOption::Shapes,
            ProfilerOption::Memory
        ]
    );
}
