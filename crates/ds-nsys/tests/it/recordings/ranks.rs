//! The slow rank: rank 1 computes every layer twice.

use ds_nsys::{
    CollectiveTime, Nanos, RankBasis, RankOptions, RankTable, Share, Straggler, StragglerEvidence,
    Trace,
};
use rusqlite::Connection;
use tempfile::TempPath;

use super::{busy, file, near, recording, series, steps};
use crate::support::{open, unpacked};

/// The factor that the program was started with.
const SLOW_FACTOR: f64 = 2.0;

fn table(traces: &[&Trace]) -> RankTable {
    RankTable::new(traces, &RankOptions::default()).expect("readable")
}

/// The rank that is named slow, after its factor was compared with the known one.
#[track_caller]
fn slow_rank(table: &RankTable) -> &Straggler {
    assert_eq!(table.basis, RankBasis::Step);
    assert_eq!(table.ranks.len(), 2);
    assert!(!table.is_hidden_by_graphs);
    let slow = table.straggler.as_ref().expect("rank 1 is slow");
    assert_eq!(slow.rank.device.ordinal, 1);
    near(slow.factor.0, SLOW_FACTOR, 0.01);
    let (category, factor) = slow.category.as_ref().expect("what it loses time in");
    assert_eq!(category.name(), "gemm");
    near(factor.0, SLOW_FACTOR, 0.01);
    slow
}

/// The collectives of both ranks of `tp_node`: 120 steps of 8 layers.
///
/// By a query of the kernel table, the all-reduces inside graphs take 56,211,121 ns on device 0 and 9,210,159 ns on
/// device 1, and no single one is shorter on device 0. So what device 1 takes is the transfer, and the rest of device 0's
/// is waiting.
const COLLECTIVES: [(u64, i64, i64); 2] = [
    (960, 9_210_159, 56_211_121 - 9_210_159),
    (960, 9_210_159, 0),
];

#[track_caller]
fn collectives_are_split(table: &RankTable) {
    let found: Vec<CollectiveTime> = table
        .ranks
        .iter()
        .map(|rank| rank.collectives.expect("matched"))
        .collect();
    for (found, (count, transfer, waiting)) in found.iter().zip(COLLECTIVES) {
        assert_eq!(found.count, count);
        assert_eq!(
            (found.transfer, found.waiting),
            (Nanos(transfer), Nanos(waiting))
        );
    }
    assert_eq!(table.unmatched_collectives, 0);
    assert!(!table.are_recorded_apart);
}

#[test]
fn the_slow_rank_is_named_with_its_factor_and_the_other_one_waits() {
    let found = table(&[&recording("tp_node")]);
    let slow = slow_rank(&found);
    assert_eq!(slow.rank.device.process.pid(), 942);
    assert_eq!(slow.evidence, StragglerEvidence::ComputeAndCollectives);
    collectives_are_split(&found);
    // Nothing runs beside an all-reduce, so all of its time is exposed.
    let steps = steps("tp_node");
    for ((_, series), rank) in series(&steps).into_iter().zip(&found.ranks) {
        let (exposed, hidden) = series.communication.expect("kernels");
        assert!(hidden.0.abs() < 1.0);
        near(
            exposed.0,
            rank.communication.expect("kernels are seen").0,
            0.01,
        );
    }
}

/// Part of `tp_node`, as if only this device had been traced by a host whose events count from another instant.
#[track_caller]
fn of_device(device: i64, later_by: i64) -> TempPath {
    let copy = unpacked(&file("tp_node"));
    let database = Connection::open(&copy).expect("a database");
    for kind in ["KERNEL", "MEMCPY", "MEMSET"] {
        let table = format!("CUPTI_ACTIVITY_KIND_{kind}");
        let sql = format!("DELETE FROM {table} WHERE deviceId <> {device}");
        assert_ne!(database.execute(&sql, []).expect("a table"), 0, "{table}");
    }
    for table in [
        "CUPTI_ACTIVITY_KIND_KERNEL",
        "CUPTI_ACTIVITY_KIND_MEMCPY",
        "CUPTI_ACTIVITY_KIND_MEMSET",
        "CUPTI_ACTIVITY_KIND_RUNTIME",
        "NVTX_EVENTS",
    ] {
        let sql = format!("UPDATE {table} SET start = start + {later_by}, end = end + {later_by}");
        database.execute(&sql, []).expect("a table");
    }
    copy
}

#[test]
fn one_report_a_rank_says_the_same_as_one_for_both() {
    let files = [of_device(0, 0), of_device(1, 123_456_789)];
    let traces = files.each_ref().map(|file| open(file));
    let found = table(&[&traces[0], &traces[1]]);
    let slow = slow_rank(&found);
    assert_eq!(slow.rank.trace, 1);
    assert_eq!(slow.evidence, StragglerEvidence::ComputeAndCollectives);
    collectives_are_split(&found);
    let together = table(&[&recording("tp_node")]);
    assert_eq!(slow.factor, together.straggler.expect("one").factor);
}

/// The two reports are of two runs: the n-th collective of one is no partner of the other's, however equal their numbers.
#[test]
fn reports_of_two_runs_are_compared_by_compute_alone() {
    let (first, second) = (recording("tp_node_rank0"), recording("tp_node_rank1"));
    let found = table(&[&first, &second]);
    let slow = slow_rank(&found);
    assert_eq!((slow.rank.trace, slow.rank.device.process.pid()), (1, 1927));
    assert_eq!(slow.evidence, StragglerEvidence::ComputeOnly);
    assert!(found.are_recorded_apart);
    assert!(found.ranks.iter().all(|rank| rank.collectives.is_none()));
    // 960 inside graphs and 32 outside of them, on each.
    assert_eq!(found.unmatched_collectives, 2 * 992);
}

/// An export that does not say when it was recorded, or says it wrongly, contradicts nothing.
#[test]
fn reports_without_a_time_are_taken_for_one_run() {
    for damage in [
        "DROP TABLE TARGET_INFO_SESSION_START_TIME",
        "UPDATE ANALYSIS_DETAILS SET duration = 0",
    ] {
        let files = ["tp_node_rank0", "tp_node_rank1"].map(|name| {
            let copy = unpacked(&file(name));
            let database = Connection::open(&copy).expect("a database");
            database.execute(damage, []).expect("a table");
            copy
        });
        let traces = files.each_ref().map(|file| open(file));
        let found = table(&[&traces[0], &traces[1]]);
        assert!(!found.are_recorded_apart, "{damage}");
        assert_eq!(found.unmatched_collectives, 0, "{damage}");
    }
}

#[test]
fn whole_graphs_hide_the_slow_rank() {
    let (first, second) = (recording("tp_graph_rank0"), recording("tp_graph_rank1"));
    for found in [table(&[&recording("tp_graph")]), table(&[&first, &second])] {
        assert!(found.is_hidden_by_graphs);
        assert_eq!(found.straggler, None);
        for rank in &found.ranks {
            assert_eq!((rank.compute, rank.communication), (None, None));
            assert_eq!(rank.collectives, None);
        }
    }
}

/// In graphs that wait for each other, the rank that computes half as much is busy for longer.
#[test]
fn busy_time_of_whole_graphs_would_accuse_the_wrong_rank() {
    let found = table(&[&recording("tp_graph")]);
    let busy: Vec<String> = found
        .ranks
        .iter()
        .map(|rank| format!("{:.3} ms", rank.busy.0 / 1e6))
        .collect();
    assert_eq!(busy, ["0.871 ms", "0.865 ms"]);
}

#[test]
fn equal_replicas_have_no_slow_rank() {
    for name in ["two_graph", "two_node"] {
        let found = table(&[&recording(name)]);
        assert_eq!(found.straggler, None, "{name}");
        let imbalance = found.busy_imbalance.expect("both work");
        assert!(imbalance < Share(1.01), "{name}: {imbalance}");
        for category in &found.categories {
            let factor = category.factor.expect("both spend time on it");
            assert!(factor < Share(1.01), "{name}: {factor}");
        }
    }
    // They do not communicate, so there is nothing to be matched.
    assert_eq!(table(&[&recording("two_node")]).unmatched_collectives, 0);
    assert_eq!(busy("two_node").devices.len(), 2);
}
