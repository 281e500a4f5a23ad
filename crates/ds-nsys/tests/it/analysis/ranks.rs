//! Ranks side by side.

use ds_nsys::{
    CollectiveTime, Nanos, RankBasis, RankOptions, RankTable, Share, StragglerEvidence, Trace,
    Window,
};

use super::synthetic::{Export, Place};
use crate::support::{open, shared, testdata};

const FAST: Place = Place { pid: 10, device: 0 };
const SLOW: Place = Place { pid: 11, device: 1 };
const STEPS: i64 = 60;
const REDUCE: &str =
    "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)";

/// Adds the steps of one rank of two, 1 ms each.
///
/// The fast rank multiplies for 100 µs and the slow one for 200; then both reduce, which takes 30 µs from when the slow one
/// arrives. So the fast rank's reduction lasts 130 µs, of which it waits for 100.
fn add(export: &mut Export, place: Place, clock: i64) {
    let multiply = if place.pid == SLOW.pid {
        200_000
    } else {
        100_000
    };
    for step in 0..STEPS {
        let at = 1_000_000 * (step + 1) + clock;
        export.range(place.pid, "decode_step", at - 50, at + 400_000);
        export.kernel(place, "nvjet_sm90_hsh_128x64", at, at + multiply);
        export.kernel(place, REDUCE, at + multiply + 1_000, at + 231_000);
    }
}

fn one_file() -> Export {
    let mut export = Export::new().session(1_000_000 * (STEPS + 2));
    add(&mut export, FAST, 0);
    add(&mut export, SLOW, 0);
    export
}

fn table(traces: &[&Trace]) -> RankTable {
    RankTable::new(traces, &RankOptions::default()).expect("readable")
}

#[track_caller]
fn check(found: &RankTable, slow: (usize, i64)) {
    assert_eq!(found.basis, RankBasis::Step);
    assert_eq!(found.ranks.len(), 2);
    let straggler = found.straggler.as_ref().expect("one rank is slow");
    assert_eq!((straggler.rank.trace, straggler.rank.device.ordinal), slow);
    assert_eq!(straggler.factor, Share(2.0));
    assert_eq!(straggler.evidence, StragglerEvidence::ComputeAndCollectives);
    let (category, factor) = straggler.category.as_ref().expect("products");
    assert_eq!((category.name(), *factor), ("gemm", Share(2.0)));
    let times: Vec<CollectiveTime> = found
        .ranks
        .iter()
        .map(|rank| rank.collectives.expect("matched"))
        .collect();
    for time in &times {
        assert_eq!(time.count, 60);
        // 30 µs less the 1 µs between the two kernels; every one of 60 steps.
        assert_eq!(time.transfer, Nanos(60 * 30_000));
    }
    let waiting: Vec<Nanos> = times.iter().map(|time| time.waiting).collect();
    assert_eq!(waiting, [Nanos(60 * 100_000), Nanos::ZERO]);
    assert_eq!(found.unmatched_collectives, 0);
    let gemm = &found.categories[0];
    assert_eq!(gemm.category.name(), "gemm");
    assert_eq!(
        (gemm.min.0, gemm.median.0, gemm.max.0),
        (100_000.0, 150_000.0, 200_000.0)
    );
}

#[test]
fn the_slow_rank_of_one_file_is_named_with_its_factor() {
    let (_file, trace) = one_file().open();
    check(&table(&[&trace]), (0, 1));
}

/// One report per rank, whose clocks differ by more than a step.
#[test]
fn the_slow_rank_of_two_files_is_named_with_its_factor() {
    let (mut first, mut second) = (Export::new(), Export::new());
    add(&mut first, FAST, 0);
    add(&mut second, SLOW, 7_654_321);
    let ((_a, first), (_b, second)) = (first.open(), second.open());
    check(&table(&[&first, &second]), (1, 1));
}

#[test]
fn two_devices_are_never_busier_than_the_time() {
    let (_file, trace) = one_file().open();
    let busy = trace.busy(Window::ALL).expect("readable");
    assert_eq!(busy.devices.len(), 2);
    for device in &busy.devices {
        assert!(device.share_of_span().expect("a span").0 <= 1.0);
    }
}

#[test]
fn equal_ranks_have_no_straggler() {
    let (mut first, mut second) = (Export::new(), Export::new());
    add(&mut first, FAST, 0);
    add(&mut second, FAST, 0);
    let ((_a, first), (_b, second)) = (first.open(), second.open());
    let found = table(&[&first, &second]);
    assert_eq!(found.straggler, None);
    assert_eq!(found.busy_imbalance, Some(Share(1.0)));
}

/// The rank that computes longest also waits longest: whatever that is, nobody waits for it.
#[test]
fn a_rank_that_waits_for_others_is_no_straggler() {
    let mut export = Export::new();
    for (place, multiply, reduce) in [(FAST, 100_000, 30_000), (SLOW, 200_000, 130_000)] {
        for step in 0..STEPS {
            let at = 1_000_000 * (step + 1);
            export.range(place.pid, "decode_step", at - 50, at + 400_000);
            export.kernel(place, "gemm", at, at + multiply);
            export.kernel(
                place,
                REDUCE,
                at + multiply + 1_000,
                at + multiply + 1_000 + reduce,
            );
        }
    }
    let (_file, trace) = export.open();
    assert_eq!(table(&[&trace]).straggler, None);
}

#[test]
fn ranks_with_different_numbers_of_collectives_are_not_split() {
    let mut export = one_file();
    export.kernel(FAST, REDUCE, 70_000_000, 70_000_500);
    let (_file, trace) = export.open();
    let found = table(&[&trace]);
    assert_eq!(found.unmatched_collectives, 121);
    assert!(found.ranks.iter().all(|rank| rank.collectives.is_none()));
    assert_eq!(
        found.straggler.expect("compute shows it").evidence,
        StragglerEvidence::ComputeOnly
    );
}

#[test]
fn graphs_traced_as_a_whole_hide_who_computes() {
    let mut export = Export::new();
    for place in [FAST, SLOW] {
        for step in 0..STEPS {
            let at = 1_000_000 * (step + 1);
            export.graph(place, 3, at, at + 500_000);
        }
    }
    let (_file, trace) = export.open();
    let found = table(&[&trace]);
    assert!(found.is_hidden_by_graphs);
    assert_eq!(found.straggler, None);
    assert!(
        found
            .ranks
            .iter()
            .all(|rank| rank.compute.is_none() && rank.communication.is_none())
    );
}

#[test]
fn one_rank_has_nobody_to_be_compared_with() {
    let found = table(&[&open(&testdata("captures/decode_node/trace.sqlite.gz"))]);
    assert_eq!(found.ranks.len(), 1);
    assert_eq!(found.straggler, None);
    assert!(
        found
            .categories
            .iter()
            .all(|category| category.factor.is_none())
    );
}

#[test]
fn a_capture_without_steps_is_compared_as_a_whole() {
    let Some(captures) = shared("captures") else {
        return;
    };
    let found = table(&[&open(&captures.join("memcpy/trace.sqlite"))]);
    assert_eq!(found.basis, RankBasis::Capture);
    assert_eq!(found.ranks.len(), 1);
    println!("shared-test: a_capture_without_steps_is_compared_as_a_whole");
}
