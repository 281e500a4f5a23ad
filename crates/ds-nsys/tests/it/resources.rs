//! Sampled counters and allocations, against figures computed from the tables by an independent script.

use ds_nsys::{Bytes, MemoryKind, Metric, MetricUnit, Nanos, Share, Window};

use crate::support::{SmallTrace, open, shared, testdata};

#[test]
fn counters_of_a_recording() {
    let Some(captures) = shared("captures") else {
        return;
    };
    let trace = open(&captures.join("infer_resnet152_b16/trace.sqlite"));
    let metrics = trace
        .gpu_metrics(Window::ALL)
        .expect("readable")
        .expect("sampled");
    assert_eq!(metrics.len(), 22);
    let of = |metric| {
        metrics
            .iter()
            .find(|m| m.metric == Some(metric))
            .expect("among those recorded")
    };
    // Mean, median, 95th percentile and share above 70 of 3,250 samples each.
    for (metric, mean, p50, p95, above) in [
        (Metric::SmActive, "7.566", 0.0, 41.0, "0.1 %"),
        (Metric::TensorActive, "1.582", 0.0, 8.0, "0.0 %"),
        (Metric::DramRead, "1.509", 0.0, 10.0, "0.0 %"),
    ] {
        let samples = of(metric);
        assert_eq!(
            (samples.gpu, samples.count(), samples.negative()),
            (0, 3250, 0)
        );
        assert_eq!(format!("{:.3}", samples.mean().value), mean, "{metric:?}");
        assert_eq!(
            samples.quantile(Share(0.5)).value.total_cmp(&p50),
            std::cmp::Ordering::Equal,
            "{metric:?}"
        );
        assert_eq!(
            samples.quantile(Share(0.95)).value.total_cmp(&p95),
            std::cmp::Ordering::Equal,
            "{metric:?}"
        );
        assert_eq!(samples.share_above(70.0).to_string(), above, "{metric:?}");
    }
    let clock = of(Metric::GpcClock).quantile(Share(0.95));
    assert_eq!(
        (format!("{:.0}", clock.value), clock.unit),
        ("1980000075".to_owned(), MetricUnit::Hertz)
    );
    println!("shared-test: counters_of_a_recording");
}

const METRICS: &str = "
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER);
    CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, metricId INTEGER, metricName TEXT);
    CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);
    INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 7, 'SM Active [Throughput %]'), (257, 7, 'Tensor Active');
    INSERT INTO GPU_METRICS VALUES
        (10, 256, 7, 90), (20, 256, 7, -1), (30, 256, 7, 10), (40, 256, 7, 50),
        (10, 257, 7, 5), (10, 257, 8, 3);";

#[test]
fn two_gpus_a_negative_value_and_a_counter_without_a_name() {
    let trace = SmallTrace::new(METRICS).open();
    let metrics = trace
        .gpu_metrics(Window::ALL)
        .expect("readable")
        .expect("sampled");
    let found: Vec<_> = metrics
        .iter()
        .map(|m| (m.gpu, m.metric, m.count(), m.negative()))
        .collect();
    assert_eq!(
        found,
        [
            (0, Some(Metric::SmActive), 4, 1),
            (1, Some(Metric::TensorActive), 1, 0),
            (1, None, 1, 0)
        ]
    );
    // (90 − 1 + 10 + 50) / 4
    assert_eq!(format!("{:.2}", metrics[0].mean().value), "37.25");
    assert_eq!(metrics[0].share_above(49.0).to_string(), "50.0 %");
    let window = Window {
        from: Nanos(25),
        to: Nanos(100),
    };
    assert_eq!(
        trace
            .gpu_metrics(window)
            .expect("readable")
            .expect("sampled")[0]
            .count(),
        2
    );
}

#[test]
fn not_sampled_is_not_zero() {
    let trace = open(&testdata("captures/decode_graph/trace.sqlite.gz"));
    assert_eq!(trace.gpu_metrics(Window::ALL).expect("readable"), None);
    assert_eq!(trace.memory_usage().expect("readable"), None);
}

#[test]
fn memory_of_a_recording() {
    let Some(captures) = shared("captures") else {
        return;
    };
    for (name, kind, peak) in [
        ("infer_resnet152_b16", MemoryKind::Device, 667_051_780),
        ("e2e_resnet152", MemoryKind::Device, 683_808_516),
        ("e2e_resnet152", MemoryKind::Array, 300_810_240),
    ] {
        let usage = open(&captures.join(name).join("trace.sqlite"))
            .memory_usage()
            .expect("readable");
        let usage = usage.expect("tracked");
        let of_kind: Vec<_> = usage.iter().filter(|usage| usage.kind == kind).collect();
        assert_eq!(
            of_kind.iter().map(|usage| usage.peak).collect::<Vec<_>>(),
            [Bytes(peak)],
            "{name}"
        );
    }
    println!("shared-test: memory_of_a_recording");
}

#[test]
fn peak_growth_and_frees_of_what_was_there_before() {
    // Unsorted on purpose. By time: +100 at 1, −100 at 3, +50 at 4, a free of something unknown at 5, +70 at 9.
    let trace = SmallTrace::new(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
         CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER);
         CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER,
             address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER);
         INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES
             (9, 16777216, 0, 7, 70, 2, 0), (1, 16777216, 0, 5, 100, 2, 0), (3, 16777216, 0, 5, 100, 2, 1),
             (4, 16777216, 0, 6, 50, 2, 0), (5, 16777216, 0, 99, 10, 2, 1), (2, 16777216, 1, 5, 8, 1, 0);",
    )
    .open();
    let usage = trace.memory_usage().expect("readable").expect("tracked");
    let [device, pinned] = usage.as_slice() else {
        panic!("two kinds, not {usage:?}")
    };
    assert_eq!(
        (
            device.kind,
            device.device.process.pid(),
            device.device.ordinal
        ),
        (MemoryKind::Device, 1, 0)
    );
    assert_eq!(
        (device.allocations, device.frees, device.unmatched_frees),
        (3, 2, 1)
    );
    assert_eq!(
        (device.peak, device.peak_at, device.at_end),
        (Bytes(120), Nanos(9), Bytes(120))
    );
    assert_eq!(
        (device.at_middle, device.late_growth()),
        (Bytes(50), Bytes(70))
    );
    assert_eq!(
        (pinned.kind, pinned.device.ordinal, pinned.peak),
        (MemoryKind::Pinned, 1, Bytes(8))
    );
}
