//! GPU-busy of recorded traces, against figures computed from the tables by an independent script.

use std::path::Path;

use ds_nsys::{Busy, GpuWork, Interval, Intervals, Nanos, Window};
use proptest::prelude::*;

use crate::support::{open, shared, testdata};

fn capture(name: &str) -> Busy {
    busy(&testdata("captures").join(name).join("trace.sqlite.gz"))
}

fn busy(path: &Path) -> Busy {
    open(path).busy(Window::ALL).expect("a readable trace")
}

/// Milliseconds to the microsecond, as they are printed.
fn millis(nanos: Nanos) -> String {
    format!("{:.3}", nanos.as_millis_f64())
}

#[test]
fn graphs_traced_as_a_whole_count_and_make_an_upper_figure() {
    let busy = capture("decode_graph");
    let [device] = busy.devices.as_slice() else {
        panic!("one device, not {:?}", busy.devices)
    };
    assert_eq!(millis(device.busy_time()), "103.564");
    assert_eq!(millis(device.kernel_time()), "14.372");
    assert_eq!(millis(device.span().expect("work").duration()), "546.174");
    assert_eq!(device.work[&GpuWork::Graph].count, 200);
    assert!(device.is_upper_figure());
    // 103.564 ms of the 5,331.947 ms of the session, and of the 546.174 ms of the span.
    assert_eq!(
        busy.share_of_session(device)
            .expect("a session")
            .to_string(),
        "1.9 %"
    );
    assert_eq!(
        device.share_of_span().expect("a span").to_string(),
        "19.0 %"
    );
}

#[test]
fn graphs_traced_by_node_are_kernels() {
    let busy = capture("decode_node");
    let [device] = busy.devices.as_slice() else {
        panic!("one device, not {:?}", busy.devices)
    };
    assert_eq!(millis(device.busy_time()), "97.288");
    assert!(!device.is_upper_figure());
    assert_eq!(device.dropped(), 0);
    assert_eq!(
        busy.share_of_session(device)
            .expect("a session")
            .to_string(),
        "1.5 %"
    );
    assert_eq!(device.share_of_span().expect("a span").to_string(), "8.6 %");
}

#[test]
fn a_trace_without_gpu_work_has_no_device() {
    assert_eq!(capture("nvtxonly").devices, []);
}

#[test]
fn copies_keep_a_gpu_busy() {
    let Some(captures) = shared("captures") else {
        return;
    };
    let busy = busy(&captures.join("memcpy/trace.sqlite"));
    let [device] = busy.devices.as_slice() else {
        panic!("one device, not {:?}", busy.devices)
    };
    // 1,424.728 ms of copies from the host, 0.177 ms to the host, 0.053 ms within the device.
    assert_eq!(millis(device.work[&GpuWork::Copy].sum), "1424.958");
    assert!(device.kernel_time() < device.busy_time());
    println!("shared-test: copies_keep_a_gpu_busy");
}

#[test]
fn two_windows_add_up_to_the_whole() {
    let trace = open(&testdata("captures/decode_node/trace.sqlite.gz"));
    let all = trace.busy(Window::ALL).expect("readable");
    let whole = all.devices[0].busy_time();
    let span = all.devices[0].span().expect("work");
    let cut = Nanos(span.start.0.midpoint(span.end.0));
    let part = |window| trace.busy(window).expect("readable").devices[0].busy_time();
    let before = part(Window {
        from: Nanos(i64::MIN),
        to: cut,
    });
    let after = part(Window {
        from: cut,
        to: Nanos(i64::MAX),
    });
    assert!(before > Nanos::ZERO && after > Nanos::ZERO);
    assert_eq!(before + after, whole);
}

fn any_intervals() -> impl Strategy<Value = Vec<Interval>> {
    let interval = (0..500_i64, 0..40_i64).prop_map(|(start, length)| Interval {
        start: Nanos(start),
        end: Nanos(start + length),
    });
    prop::collection::vec(interval, 0..40)
}

proptest! {
    /// The union covers a unit of time exactly when an interval does, however the intervals are ordered.
    #[test]
    fn a_union_covers_what_its_intervals_cover(intervals in any_intervals()) {
        let union = Intervals::union(intervals.iter().copied());
        let covered = (0..600_i64)
            .filter(|t| intervals.iter().any(|i| i.start.0 <= *t && *t < i.end.0))
            .count();
        prop_assert_eq!(union.total(), Nanos(i64::try_from(covered).expect("at most 600")));
        prop_assert!(union.as_slice().windows(2).all(|pair| pair[0].end < pair[1].start));
        let mut reversed = intervals;
        reversed.reverse();
        prop_assert_eq!(Intervals::union(reversed), union.clone());
        prop_assert_eq!(union.with(&union), union);
    }

    /// What is busy inside the span and what is not add up to the span.
    #[test]
    fn gaps_complete_the_span(intervals in any_intervals()) {
        let union = Intervals::union(intervals);
        let gaps: Nanos = union.gaps().map(Interval::duration).sum();
        let span = union.span().map_or(Nanos::ZERO, Interval::duration);
        prop_assert_eq!(union.total() + gaps, span);
    }

    /// Cutting at any instant loses and invents nothing.
    #[test]
    fn parts_of_a_union_add_up(intervals in any_intervals(), cut in 0..600_i64) {
        let union = Intervals::union(intervals);
        let before = union.within(Window { from: Nanos(i64::MIN), to: Nanos(cut) });
        let after = union.within(Window { from: Nanos(cut), to: Nanos(i64::MAX) });
        prop_assert_eq!(before.total() + after.total(), union.total());
    }
}
