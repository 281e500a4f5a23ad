//! What is read out of a sound file.

use ds_nsys::{
    Bytes, GapOptions, Kineto, Nanos, ReportKind, ReportOptions, Selection, Split, Trace, Window,
};
use proptest::prelude::*;

use super::written::{BASE_US, Written, micros, open_bytes, packed};
use crate::support::csv;

/// Two streams of device 0 that overlap, one of device 1, a copy, a set, a graph of two kernels and two ranges.
///
/// Device 0, in nanoseconds: gemm 1,000–3,000 on stream 7, relu 2,000–4,500 on stream 8, copy 5,000–5,600, set
/// 6,000–6,100, graph 7,000–7,200 and 7,300–7,800. Device 1: gemm 2,000–2,750.
fn small() -> Written {
    let mut trace = Written::new();
    trace.annotation("load", 0, 900);
    trace.annotation("run \\u00e9 \\\"x\\\"", 500, 8_000);
    trace.kernel("void gemm<float, 4>(float const*)", 1_000, 3_000);
    let id = trace.call("cudaLaunchKernel", 1_500, 1_600);
    trace.kernel_of(id, 0, 8, "relu", (2_000, 4_500));
    let id = trace.call("cuLaunchKernelEx", 1_700, 1_750);
    trace.kernel_of(
        id,
        1,
        7,
        "void gemm<float, 4>(float const*)",
        (2_000, 2_750),
    );
    trace.memory(
        "gpu_memcpy",
        "Memcpy HtoD (Pinned -> Device)",
        4_096,
        5_000,
        5_600,
    );
    trace.memory("gpu_memset", "Memset (Device)", 1_024, 6_000, 6_100);
    // As in real files the kernels of a graph come before its launch.
    trace.kernel_of(900, 0, 7, "relu", (7_000, 7_200));
    trace.kernel_of(900, 0, 7, "softmax", (7_300, 7_800));
    trace.raw(&format!(
        "{{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaGraphLaunch\", \"pid\": 426, \"tid\": 427, \
         \"ts\": {}, \"dur\": 0.200, \"args\": {{\"correlation\": 900}}}}",
        micros(BASE_US * 1000 + 6_700)
    ));
    trace.host("cpu_op", "aten::mm", 100, 800);
    trace.host("python_function", "f.py(1): run", 100, 8_100);
    trace.host("overhead", "Activity Buffer Request", 200, 350);
    trace.raw("{\"ph\": \"s\", \"id\": 1, \"pid\": 426, \"tid\": 427, \"ts\": 1.0, \"cat\": \"ac2g\", \"name\": \"ac2g\"}");
    trace.raw("{\"name\": \"process_name\", \"ph\": \"M\", \"ts\": 0.0, \"pid\": 426, \"tid\": 0, \"args\": {\"name\": \"python3\"}}");
    trace.raw("{\"name\": \"thread_name\", \"ph\": \"M\", \"ts\": 0.0, \"pid\": 426, \"tid\": 427, \"args\": {\"name\": \"thread 427 (python3)\"}}");
    trace.raw("{\"name\": \"thread_name\", \"ph\": \"M\", \"ts\": 0.0, \"pid\": 0, \"tid\": 7, \"args\": {\"name\": \"stream 7 \"}}");
    let end = micros(BASE_US * 1000 + 10_000);
    trace.raw(&format!("{{\"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\", \"pid\": \"\", \"tid\": \"\", \"ts\": {end}}}"));
    trace.member(
        "deviceProperties",
        "[{\"id\": 0, \"name\": \"NVIDIA H200\", \"totalGlobalMem\": 150109880320, \"numSms\": 132}]",
    )
}

fn report(trace: &Trace, name: &str) -> String {
    csv(trace, name, ReportOptions::default())
}

#[test]
fn kernels_by_name() {
    // gemm: 2,000 + 750 = 2,750; relu: 2,500 + 200 = 2,700; softmax: 500; all: 5,950.
    // Deviation of two values: their difference over the root of 2; 1,250 gives 883.9, 2,300 gives 1,626.3.
    assert_eq!(
        report(&small().open(), "cuda_gpu_kern_sum"),
        "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n\
         46.2,2750,2,1375.0,1375.0,750,2000,883.9,\"void gemm<float, 4>(float const*)\"\n\
         45.4,2700,2,1350.0,1350.0,200,2500,1626.3,relu\n\
         8.4,500,1,500.0,500.0,500,500,0.0,softmax\n"
    );
    assert!(report(&small().open(), "cuda_gpu_kern_sum:base").contains(",gemm\n"));
}

#[test]
fn copies_sets_calls_and_ranges() {
    let trace = small().open();
    // 600 and 100 of 700.
    assert_eq!(
        report(&trace, "cuda_gpu_mem_time_sum"),
        "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation\n\
         85.7,600,1,600.0,600.0,600,600,0.0,[CUDA memcpy Host-to-Device]\n\
         14.3,100,1,100.0,100.0,100,100,0.0,[CUDA memset]\n"
    );
    let sizes = trace
        .memory_summary(Selection::default())
        .expect("readable")
        .expect("copies");
    let sizes: Vec<Bytes> = sizes.iter().map(|kind| kind.size.total).collect();
    assert_eq!(sizes, [Bytes(4_096), Bytes(1_024)]);
    // 5 + 100 of two launches, 50 of the driver's, 5 + 5 of the copy's and the set's, 200 of the graph's: 365.
    assert_eq!(
        report(&trace, "cuda_api_sum"),
        "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n\
         54.8,200,1,200.0,200.0,200,200,0.0,cudaGraphLaunch\n\
         28.8,105,2,52.5,52.5,5,100,67.2,cudaLaunchKernel\n\
         13.7,50,1,50.0,50.0,50,50,0.0,cuLaunchKernelEx\n\
         2.7,10,2,5.0,5.0,5,5,0.0,cudaMemcpyAsync\n"
    );
    let ranges = report(&trace, "nvtx_sum");
    assert!(ranges.contains("\n89.3,7500,1,"), "{ranges}");
    assert!(
        ranges.contains(",PushPop,\":run é \"\"x\"\"\"\n"),
        "{ranges}"
    );
    // All launches but none of the loading lie in the second range.
    let projected = report(&trace, "nvtx_gpu_proj_sum");
    assert_eq!(projected.lines().count(), 2, "{projected}");
}

#[test]
fn every_operation_with_its_shape_and_place() {
    let trace = small().open();
    let rows = report(&trace, "cuda_gpu_trace");
    assert!(
        rows.contains("\n1000,2000,1,4,1,1,128,2,1,32,,,,,,,NVIDIA H200 (0),1,,7,\"void gemm"),
        "{rows}"
    );
    assert!(
        rows.contains(",Pinned,Device,NVIDIA H200 (0),1,,7,[CUDA memcpy Host-to-Device]"),
        "{rows}"
    );
    let calls = report(&trace, "cuda_api_trace");
    assert!(
        calls.contains("\n6700,200,cudaGraphLaunch,,900,426,427,,thread 427 (python3)\n"),
        "{calls}"
    );
}

#[test]
fn busy_is_the_union_on_each_device() {
    let trace = small().open();
    let busy = trace.busy(Window::ALL).expect("readable");
    // Device 0: 1,000–4,500, 600, 100, 200 and 500 are 4,900; the sum is 2,000 + 2,500 + 600 + 100 + 700 = 5,900.
    let figures: Vec<(u32, i64, i64, i64)> = busy
        .devices
        .iter()
        .map(|device| {
            (
                device.device.process.pid(),
                device.device.ordinal,
                device.busy_time().0,
                device.sum().0,
            )
        })
        .collect();
    assert_eq!(figures, [(426, 0, 4_900, 5_900), (426, 1, 750, 750)]);
    assert!(!busy.devices[0].is_upper_figure());
    // From the first annotation to the mark of the end.
    assert_eq!(busy.session, Some(Nanos(10_000)));
    let gaps = trace.gaps(GapOptions::default()).expect("readable");
    // 4,500–5,000, 5,600–6,000, 6,100–7,000 and 7,200–7,300 are 1,900.
    assert_eq!((gaps[0].count, gaps[0].idle), (4, Nanos(1_900)));
    let streams = trace
        .kernel_summary(
            Default::default(),
            Selection {
                split: Split::Stream,
                ..Selection::default()
            },
        )
        .expect("readable")
        .expect("kernels");
    assert_eq!(streams.len(), 5, "relu on two streams, gemm on two devices");
}

#[test]
fn what_the_file_says_about_itself() {
    let trace = small()
        .rank(3, 8)
        .member("with_stack", "1")
        .member("vllm_version", "\"0.16.0\"")
        .open();
    let facts = trace.kineto().expect("a trace of the profiler");
    assert_eq!(facts.distributed.rank, Some(3));
    assert_eq!(facts.distributed.world_size, Some(8));
    assert_eq!(facts.vllm_version.as_deref(), Some("0.16.0"));
    assert_eq!(facts.cut_off, None);
    assert_eq!(facts.events.gpu_work, 7);
    assert_eq!(facts.events.calls, 6);
    assert_eq!(facts.events.python_functions, 1);
    assert_eq!(facts.events.operators, 1);
    assert_eq!(facts.events.unreadable, 0);
    assert_eq!(facts.overhead, Nanos(150));
    let said = facts.distortion();
    assert!(
        said.contains("`with_stack`, 1 Python calls recorded"),
        "{said}"
    );
    assert_eq!(trace.warnings().len(), 1, "{:?}", trace.warnings());
    assert_eq!(trace.gpus().expect("readable")[0].sm_count, Some(132));
    let processes = trace.processes().expect("readable");
    assert_eq!(processes[0].name.as_deref(), Some("python3"));
    assert!(
        crate::support::open(&crate::support::testdata(
            "captures/decode_graph/trace.sqlite.gz"
        ))
        .kineto()
        .is_none()
    );
}

#[test]
fn packed_and_plain_are_the_same() {
    let json = small().json();
    let plain = open_bytes(json.as_bytes()).expect("readable");
    let twice: Vec<u8> = [
        packed(&json.as_bytes()[..500]),
        packed(&json.as_bytes()[500..]),
    ]
    .concat();
    for bytes in [packed(json.as_bytes()), twice] {
        let trace = open_bytes(&bytes).expect("readable");
        assert_eq!(
            report(&trace, "cuda_gpu_trace"),
            report(&plain, "cuda_gpu_trace")
        );
        assert_eq!(trace.kineto(), plain.kineto());
    }
}

#[test]
fn reports_that_such_a_file_cannot_answer_are_empty_and_named() {
    let trace = small().open();
    for report_kind in ReportKind::all() {
        let csv = report(&trace, report_kind.name());
        let why = Kineto::cannot_answer(report_kind);
        assert_eq!(csv.is_empty(), why.is_some(), "{report_kind}: {csv}");
    }
}

/// Work of three streams on two devices in any order.
fn random() -> impl Strategy<Value = Vec<(i64, i64, i64, usize)>> {
    let event = (0..3_i64, 0..2_i64, 1..500_i64, 0..4_usize);
    prop::collection::vec(event, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The sums are those of the events, and the order of the file changes nothing.
    #[test]
    fn order_changes_no_figure(work in random(), order in any::<prop::sample::Index>(), seed in any::<u64>()) {
        const NAMES: [&str; 4] = ["a", "b", "void c<int>(d)", "e"];
        let mut trace = Written::new();
        let mut sums = [(0_i64, 0_u64); 4];
        for (at, (stream, device, length, name)) in (0_i64..).zip(&work) {
            let start = at * 137;
            trace.kernel_of(at + 1, *device, *stream, NAMES[*name], (start, start + length));
            sums[*name].0 += length;
            sums[*name].1 += 1;
        }
        let sorted = trace.open();
        let len = trace.events.len();
        trace.events.rotate_left(order.index(len));
        let step = usize::try_from(seed % 7).expect("small") + 1;
        let mut shuffled = Vec::with_capacity(len);
        for from in 0..step {
            shuffled.extend(trace.events.iter().skip(from).step_by(step).cloned());
        }
        trace.events = shuffled;
        let other = trace.open();
        prop_assert_eq!(report(&sorted, "cuda_gpu_kern_sum"), report(&other, "cuda_gpu_kern_sum"));
        prop_assert_eq!(
            sorted.busy(Window::ALL).expect("readable"),
            other.busy(Window::ALL).expect("readable")
        );
        let kernels = other.kernel_summary(Default::default(), Selection::default());
        for kernel in kernels.expect("readable").expect("kernels") {
            let at = NAMES.iter().position(|name| **name == *kernel.name).expect("a known name");
            prop_assert_eq!((kernel.time.total.0, kernel.time.count), sums[at]);
        }
    }
}
