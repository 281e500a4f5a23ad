//! Differences of two traces.

use ds_nsys::{
    Amount, Diff, DiffOptions, Differences, FracNanos, GateId, Normalization, OverallItem, Refusal,
    RefusalPolicy, Side, Trace, WorkKind,
};

use super::synthetic::{Export, ONE, Place};
use crate::support::{open, testdata};

fn capture(name: &str) -> Trace {
    open(&testdata("captures").join(name).join("trace.sqlite.gz"))
}

fn diff(first: &Trace, second: &Trace, options: &DiffOptions) -> Diff {
    first.diff(second, options).expect("readable")
}

#[track_caller]
fn compared(diff: Diff) -> Differences {
    assert_eq!(diff.refusals, []);
    diff.differences.expect("comparable")
}

#[track_caller]
fn time(amount: Amount) -> FracNanos {
    match amount {
        Amount::Time(time) => time,
        Amount::Share(_) => panic!("a share where a time is due"),
    }
}

/// Steps of 1 ms, one kernel a name and length; lengths vary a little from step to step.
fn steps(count: i64, kernels: &[(&str, i64)]) -> Export {
    let mut export = Export::new().session(1_000_000 * (count + 2));
    for step in 0..count {
        let mut at = 1_000_000 * (step + 1);
        export.range(1, "decode_step", at - 50, at + 500_000);
        for (name, length) in kernels {
            let length = length + (step * 37) % 11;
            export.kernel(ONE, name, at, at + length);
            at += length + 1_000;
        }
    }
    export
}

fn name(kind: &WorkKind) -> &str {
    match kind {
        WorkKind::Kernel { name, .. } => name,
        _ => "",
    }
}

#[test]
fn a_trace_does_not_differ_from_itself() {
    let trace = capture("decode_node");
    let found = compared(diff(&trace, &trace, &DiffOptions::default()));
    assert_eq!(found.normalization, Normalization::PerStep);
    assert!(found.appeared.is_empty() && found.vanished.is_empty());
    for row in &found.changed {
        assert_eq!(time(row.change.difference), FracNanos(0.0), "{}", row.kind);
        let p = row.change.significance().map_or(1.0, |found| found.p.0);
        assert!((p - 1.0).abs() < 1e-9, "{}: {p}", row.kind);
    }
}

/// One capture lasts twice as long as the other, and no kernel got slower.
#[test]
fn longer_captures_are_no_regressions() {
    let (_a, first) = steps(50, &[("gemm", 100_000), ("norm", 10_000)]).open();
    let (_b, second) = steps(100, &[("gemm", 100_000), ("norm", 10_000)]).open();
    let found = compared(diff(&first, &second, &DiffOptions::default()));
    for row in &found.changed {
        assert!(row.change.relative().expect("a base").0.abs() < 0.001);
        assert!((row.count.0 - 1.0).abs() < 1e-9 && (row.count.1 - 1.0).abs() < 1e-9);
    }
}

#[test]
fn what_got_slower_is_found_with_its_significance() {
    let (_a, first) = steps(
        60,
        &[
            ("void gemm<1>(int)", 100_000),
            ("norm", 10_000),
            ("old", 5_000),
        ],
    )
    .open();
    let (_b, second) = steps(
        60,
        &[
            ("void gemm<2>(int)", 150_000),
            ("norm", 10_000),
            ("new", 7_000),
        ],
    )
    .open();
    let found = compared(diff(&first, &second, &DiffOptions::default()));
    let changed: Vec<&str> = found.changed.iter().map(|row| name(&row.kind)).collect();
    assert_eq!(changed, ["gemm", "norm"]);
    let gemm = &found.changed[0].change;
    assert!((time(gemm.difference).0 - 50_000.0).abs() < 1e-6);
    assert!((gemm.relative().expect("a base").0 - 0.5).abs() < 1e-3);
    assert!(gemm.significance().expect("steps vary").p.0 < 1e-9);
    assert!(
        found.changed[1]
            .change
            .significance()
            .expect("steps vary")
            .p
            .0
            > 0.9
    );
    assert_eq!(name(&found.appeared[0].kind), "new");
    assert_eq!(found.appeared[0].change.relative(), None);
    assert_eq!(name(&found.vanished[0].kind), "old");
    // 50 µs more work in a step of the same length is 52 µs less idle time, of which 2 µs came with `new`.
    let of = |item| {
        let (_, change) = found
            .overall
            .iter()
            .find(|(found, _)| *found == item)
            .expect("steps");
        time(change.difference)
    };
    assert_eq!(of(OverallItem::Step), FracNanos(0.0));
    assert!((of(OverallItem::Busy).0 - 52_000.0).abs() < 1.0);
    assert!((of(OverallItem::Idle).0 + 52_000.0).abs() < 1.0);
}

#[test]
fn captures_of_other_modes_are_refused_unless_overridden() {
    let (first, second) = (capture("decode_graph"), capture("decode_node"));
    let found = diff(&first, &second, &DiffOptions::default());
    assert_eq!(
        found.refusals,
        [Refusal::GraphModesDiffer { whole: Side::First }]
    );
    assert_eq!(found.differences, None);
    let options = DiffOptions {
        policy: RefusalPolicy::Override,
        ..DiffOptions::default()
    };
    let found = diff(&first, &second, &options);
    // The reason stays with the figures.
    assert_eq!(found.refusals.len(), 1);
    assert!(
        found
            .differences
            .expect("overridden")
            .vanished
            .iter()
            .any(|row| row.kind == WorkKind::Graph)
    );
}

#[test]
fn a_capture_that_missed_the_work_is_refused() {
    let found = diff(
        &capture("idle"),
        &capture("decode_node"),
        &DiffOptions::default(),
    );
    assert!(
        matches!(
            found.refusals.as_slice(),
            [
                Refusal::GateNotPassed {
                    side: Side::First,
                    gate: GateId::G13,
                    ..
                },
                ..
            ]
        ),
        "{:?}",
        found.refusals
    );
}

#[test]
fn more_ranks_and_other_gpus_are_refused() {
    let gpu = |name: &str| {
        format!(
            "CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT); INSERT INTO TARGET_INFO_GPU VALUES (0, '{name}');"
        )
    };
    let (_a, first) = steps(20, &[("gemm", 100_000)])
        .sql(&gpu("NVIDIA H200"))
        .open();
    let mut two_ranks = steps(20, &[("gemm", 100_000)]).sql(&gpu("NVIDIA L40S"));
    two_ranks.kernel(Place { pid: 2, device: 0 }, "gemm", 5_000_000, 5_000_900);
    let (_b, second) = two_ranks.open();
    let found = diff(&first, &second, &DiffOptions::default());
    assert_eq!(
        found.refusals,
        [
            Refusal::GpusDiffer {
                first: "NVIDIA H200".to_owned(),
                second: "NVIDIA L40S".to_owned()
            },
            Refusal::RanksDiffer {
                first: 1,
                second: 2
            }
        ]
    );
}

/// Irregular work without steps.
fn without_steps(scale: i64) -> Export {
    let mut export = Export::new().session(100_000_000);
    for at in [1, 7, 20, 44, 60, 80_i64] {
        export.kernel(
            ONE,
            "gemm",
            at * 1_000_000,
            at * 1_000_000 + at * 1_000 * scale,
        );
        export.copy(ONE, at * 1_000_000 + 500_000, at * 1_000_000 + 510_000);
    }
    export
}

#[test]
fn without_steps_shares_of_busy_time_are_compared() {
    let (_a, first) = without_steps(1).open();
    let (_b, second) = without_steps(2).open();
    let found = compared(diff(&first, &second, &DiffOptions::default()));
    assert_eq!(found.normalization, Normalization::ShareOfBusy);
    assert!(found.overall.is_empty());
    // 212 µs of kernels and 60 µs of copies; then 424 and 60.
    let Amount::Share(first_share) = found.changed[0].change.first else {
        panic!("a time where a share is due")
    };
    assert!(
        (first_share.0 - 212.0 / 272.0).abs() < 1e-9 || (first_share.0 - 60.0 / 272.0).abs() < 1e-9
    );
    assert!(
        found
            .changed
            .iter()
            .all(|row| row.change.significance().is_none())
    );
}

#[test]
fn without_steps_a_count_of_tokens_helps() {
    let (_a, first) = without_steps(1).open();
    let (_b, second) = without_steps(2).open();
    let options = DiffOptions {
        tokens: Some((100, 200)),
        ..DiffOptions::default()
    };
    let found = compared(diff(&first, &second, &options));
    assert_eq!(found.normalization, Normalization::PerToken);
    let gemm = found
        .changed
        .iter()
        .find(|row| name(&row.kind) == "gemm")
        .expect("a row");
    // 212 µs over 100 tokens, 424 over 200: the same.
    assert_eq!(time(gemm.change.first), FracNanos(2_120.0));
    assert_eq!(time(gemm.change.difference), FracNanos(0.0));
}
