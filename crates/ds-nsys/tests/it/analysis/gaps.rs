//! Idle gaps: on the merged timeline, per device.

use ds_nsys::{GapOptions, Interval, Nanos};
use proptest::prelude::*;

use super::synthetic::{Export, ONE, Place};
use crate::support::{open, testdata};

fn interval(start: i64, end: i64) -> Interval {
    Interval {
        start: Nanos(start),
        end: Nanos(end),
    }
}

#[test]
fn a_stream_that_waits_for_another_leaves_no_gap() {
    let mut export = Export::new();
    // Two streams in turn without a pause: each is idle half the time, the device never.
    for at in 0..20 {
        export.kernel(ONE, "a", 100 + at * 100, 200 + at * 100);
    }
    export = export.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 7 + (start / 100) % 2;");
    let (_file, trace) = export.open();
    let gaps = trace.gaps(GapOptions::default()).expect("readable");
    assert_eq!(gaps.len(), 1);
    assert_eq!((gaps[0].count, gaps[0].idle), (0, Nanos::ZERO));
}

#[test]
fn a_copy_ends_a_gap() {
    let mut export = Export::new();
    export.kernel(ONE, "a", 1_000, 2_000);
    export.copy(ONE, 5_000, 6_000);
    export.kernel(ONE, "a", 6_500, 7_000);
    let (_file, trace) = export.open();
    let gaps = trace.gaps(GapOptions::default()).expect("readable");
    assert_eq!(
        gaps[0].longest,
        [interval(2_000, 5_000), interval(6_000, 6_500)]
    );
    assert_eq!(gaps[0].idle, Nanos(3_500));
    assert_eq!(gaps[0].span, interval(1_000, 7_000));
    assert_eq!(
        gaps[0].share_of_span().expect("a span").to_string(),
        "58.3 %"
    );
    // 500 lies between 256 and 512, 3,000 between 2,048 and 4,096.
    let classes: Vec<(i64, u64)> = gaps[0]
        .lengths
        .iter()
        .map(|c| (c.from.0, c.count))
        .collect();
    assert_eq!(classes, [(256, 1), (2_048, 1)]);
}

#[test]
fn one_devices_gap_is_not_filled_by_another() {
    let mut export = Export::new();
    let other = Place { pid: 1, device: 1 };
    export.kernel(ONE, "a", 1_000, 2_000);
    export.kernel(other, "a", 2_000, 3_000);
    export.kernel(ONE, "a", 3_000, 4_000);
    let (_file, trace) = export.open();
    let gaps = trace.gaps(GapOptions::default()).expect("readable");
    assert_eq!(gaps[0].longest, [interval(2_000, 3_000)]);
    assert!(gaps[1].longest.is_empty());
}

#[test]
fn only_the_longest_are_listed_and_all_are_counted() {
    let trace = open(&testdata("captures/decode_node/trace.sqlite.gz"));
    let options = GapOptions {
        listed: 3,
        ..GapOptions::default()
    };
    let gaps = trace.gaps(options).expect("readable");
    assert_eq!(gaps[0].longest.len(), 3);
    assert_eq!(
        gaps[0].lengths.iter().map(|class| class.count).sum::<u64>(),
        gaps[0].count
    );
    let longest: Vec<Nanos> = gaps[0].longest.iter().map(|gap| gap.duration()).collect();
    assert!(longest.is_sorted_by(|a, b| a >= b));
    let busy = trace.busy(ds_nsys::Window::ALL).expect("readable");
    assert_eq!(
        gaps[0].idle + busy.devices[0].busy_time(),
        gaps[0].span.duration()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Idle and busy time complete the span, whatever the work looks like; the classes hold every gap once.
    #[test]
    fn gaps_and_work_complete_the_span(work in prop::collection::vec((1_000..9_000_i64, 0..900_i64), 1..12)) {
        let mut export = Export::new();
        for (start, length) in &work {
            export.kernel(ONE, "a", *start, start + length);
        }
        let (_file, trace) = export.open();
        let gaps = trace.gaps(GapOptions::default()).expect("readable");
        let busy = trace.busy(ds_nsys::Window::ALL).expect("readable");
        prop_assert_eq!(gaps[0].idle + busy.devices[0].busy_time(), gaps[0].span.duration());
        let in_classes: Nanos = gaps[0].lengths.iter().map(|class| class.idle).sum();
        prop_assert_eq!(in_classes, gaps[0].idle);
        prop_assert!(gaps[0].lengths.iter().all(|class| class.idle.0 >= class.from.0));
    }
}
