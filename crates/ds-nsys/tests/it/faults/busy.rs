//! Figures of busy and idle time that others got wrong.

use ds_nsys::{
    CheckOptions, CopyKind, GapOptions, GateId, GateState, GpuWork, MemoryOperation, Selection,
    Split, Trace, Window,
};

use crate::analysis::synthetic::{Export, ONE, Place};
use crate::support::SmallTrace;

/// Of the only device: busy, kernels alone, and the sum, in nanoseconds.
#[track_caller]
fn figures(trace: &Trace) -> (i64, i64, i64) {
    let busy = trace.busy(Window::ALL).expect("readable");
    let [device] = busy.devices.as_slice() else {
        panic!("one device, not {:?}", busy.devices)
    };
    (device.busy_time().0, device.kernel_time().0, device.sum().0)
}

/// Row 7: 78 µs of kernels while graphs kept the GPU busy for 7.81 s.
#[test]
fn row_07_kernels_alone_miss_what_graphs_did() {
    let mut export = Export::new().session(8_000_000_000);
    export.kernel(ONE, "eager", 1_000, 79_000);
    for graph in 0..781 {
        let at = 100_000_000 + graph * 10_000_000;
        export.graph(ONE, 3, at, at + 10_000_000);
    }
    let (_file, trace) = export.open();
    assert_eq!(figures(&trace), (7_810_078_000, 78_000, 7_810_078_000));
}

/// Rows 10 and 29: two streams overlap; the sum makes 112.5 % of the time, the union 98.5 %.
#[test]
fn row_10_overlapping_work_counts_once() {
    let mut export = Export::new().session(1_000_000);
    export.kernel(ONE, "a", 100, 500_100);
    export.kernel(ONE, "b", 360_100, 985_100);
    let export = export.sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 7 + rowid;");
    let (_file, trace) = export.open();
    let busy = trace.busy(Window::ALL).expect("readable");
    let device = &busy.devices[0];
    assert_eq!((device.sum().0, device.busy_time().0), (1_125_000, 985_000));
    assert_eq!(device.overlap().0, 140_000);
    assert_eq!(
        busy.share_of_session(device)
            .expect("a session")
            .to_string(),
        "98.5 %"
    );
}

/// Row 11: copies and sets are no idle time; kernels alone stand beside it.
#[test]
fn row_11_copies_and_sets_are_work() {
    let mut export = Export::new();
    export.kernel(ONE, "a", 100, 200);
    export.copy(ONE, 200, 500);
    export.copy(ONE, 600, 601);
    let export = export.sql(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER);
         INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (500, 600, 0, 16777216);",
    );
    let (_file, trace) = export.open();
    assert_eq!(figures(&trace), (501, 100, 501));
    let gaps = trace.gaps(GapOptions::default()).expect("readable");
    assert_eq!(gaps[0].count, 0);
}

/// Row 16: node rows and the interval of their graph in one file count once, and the file contradicts itself.
#[test]
fn row_16_a_graph_and_its_nodes_count_once() {
    let mut export = Export::new()
        .session(2_000_000)
        .capture("PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE", "Graph");
    export.graph(ONE, 3, 1_000, 2_000);
    export.kernel_row(ONE, "node", 1_100, 1_400, 1, Some(3 << 32));
    export.kernel_row(ONE, "node", 1_500, 1_900, 1, Some(3 << 32 | 1));
    let (_file, trace) = export.open();
    let (busy, kernels, _) = figures(&trace);
    assert_eq!((busy, kernels), (1_000, 700));
    let found = trace
        .check(None, &CheckOptions::default())
        .expect("readable");
    let gate = found.gate(GateId::G1).expect("all gates are answered");
    assert_eq!(gate.state, GateState::Fail);
    assert!(gate.reason.contains("graph nodes among the kernels"));
}

/// Row 22: two GPUs busy half the time each are half busy, in turn or not.
#[test]
fn row_22_intervals_are_never_merged_over_gpus() {
    let mut export = Export::new().session(1_000_000);
    for at in 0..50 {
        let at = at * 20_000 + 10;
        export.kernel(ONE, "a", at, at + 10_000);
        export.kernel(
            Place { pid: 1, device: 1 },
            "a",
            at + 10_000,
            at + 20_000 - 20,
        );
    }
    let (_file, trace) = export.open();
    let busy = trace.busy(Window::ALL).expect("readable");
    let shares: Vec<String> = busy
        .devices
        .iter()
        .map(|device| {
            busy.share_of_session(device)
                .expect("a session")
                .to_string()
        })
        .collect();
    assert_eq!(shares, ["50.0 %", "49.9 %"]);
}

/// Row 27: the time inside a graph is no gap between kernels.
#[test]
fn row_27_graphs_leave_no_artefact_of_idle_time() {
    let mut export = Export::new();
    for step in 0..10 {
        let at = 1_000 + step * 1_000;
        export.kernel(ONE, "sample", at, at + 260);
        export.graph(ONE, 3, at + 260, at + 1_000);
    }
    let (_file, trace) = export.open();
    let gaps = trace.gaps(GapOptions::default()).expect("readable");
    assert_eq!((gaps[0].count, gaps[0].idle.0), (0, 0));
}

/// Row 25: code 3 is no copy within a device, and code 8 none between devices.
#[test]
fn row_25_kinds_of_copies_are_those_of_cupti() {
    let mut export = Export::new();
    for kind in 0..13 {
        export.copy(ONE, 100 + kind * 10, 105 + kind * 10);
    }
    let export = export.sql("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET copyKind = rowid;");
    let (_file, trace) = export.open();
    let mut kinds: Vec<CopyKind> = trace
        .memory_summary(Selection::default())
        .expect("readable")
        .expect("copies")
        .iter()
        .filter_map(|row| match row.operation {
            MemoryOperation::Copy(kind) => Some(kind),
            MemoryOperation::Set => None,
        })
        .collect();
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        [
            CopyKind::HostToDevice,
            CopyKind::DeviceToHost,
            CopyKind::HostToArray,
            CopyKind::ArrayToHost,
            CopyKind::ArrayToArray,
            CopyKind::ArrayToDevice,
            CopyKind::DeviceToArray,
            CopyKind::DeviceToDevice,
            CopyKind::HostToHost,
            CopyKind::PeerToPeer,
            CopyKind::UnifiedHostToDevice,
            CopyKind::UnifiedDeviceToHost,
            CopyKind::UnifiedDeviceToDevice,
        ]
    );
    assert_eq!(CopyKind::HostToArray.to_string(), "Host-to-Array");
    assert_eq!(CopyKind::DeviceToDevice.to_string(), "Device-to-Device");
}

/// Row 48: 18,432 migrations of unified memory stand apart from the one copy that the program asked for.
#[test]
fn row_48_migrations_stand_apart_from_copies() {
    let mut export = Export::new();
    export.copy(ONE, 100, 200);
    let export = export.sql(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 18432)
         INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY (start, end, deviceId, globalPid, contextId, streamId, bytes, copyKind)
         SELECT i * 1000, i * 1000 + 10, 0, 16777216, 1, 7, 4096, 11 FROM n;",
    );
    let (_file, trace) = export.open();
    let rows = trace
        .memory_summary(Selection::default())
        .expect("readable")
        .expect("copies");
    let of = |wanted: bool| {
        let row = rows.iter().find(|row| {
            matches!(row.operation, MemoryOperation::Copy(kind) if kind.is_migration() == wanted)
        });
        row.map(|row| (row.time.count, row.time.total.0))
    };
    assert_eq!(of(false), Some((1, 100)));
    assert_eq!(of(true), Some((18_432, 184_320)));
}

/// Row 40: graph times out of order, which nsys 2023.4.4 could not import, are rows like others.
#[test]
fn row_40_graphs_in_any_order_are_read() {
    let times = [(9_000, 9_500), (1_000, 1_500), (5_000, 5_400)];
    let (mut shuffled, mut sorted) = (Export::new(), Export::new());
    for (start, end) in times {
        shuffled.graph(ONE, 3, start, end);
    }
    let mut in_order = times;
    in_order.sort_unstable();
    for (start, end) in in_order {
        sorted.graph(ONE, 3, start, end);
    }
    let ((_one, shuffled), (_other, sorted)) = (shuffled.open(), sorted.open());
    let busy = |trace: &Trace| trace.busy(Window::ALL).expect("readable");
    assert_eq!(busy(&shuffled), busy(&sorted));
    assert_eq!(busy(&shuffled).devices[0].busy_time().0, 1_400);
}

/// Row 13: streams of two devices share a number, and are two streams.
#[test]
fn row_13_a_stream_belongs_to_its_device() {
    let mut export = Export::new();
    export.kernel(ONE, "a", 100, 200);
    export.kernel(Place { pid: 1, device: 1 }, "a", 100, 200);
    export.kernel(Place { pid: 2, device: 0 }, "a", 100, 200);
    let (_file, trace) = export.open();
    let selection = Selection {
        split: Split::Stream,
        ..Selection::default()
    };
    let kernels = trace
        .kernel_summary(ds_nsys::KernelNaming::Demangled, selection)
        .expect("readable")
        .expect("kernels");
    let scopes: Vec<String> = kernels.iter().map(|row| row.scope.to_string()).collect();
    assert_eq!(
        scopes,
        [
            "process 1, device 0, context 1, stream 7",
            "process 1, device 1, context 1, stream 7",
            "process 2, device 0, context 1, stream 7",
        ]
    );
}

/// Row 39: rows without times and rows that end before they start are left out of the union, and counted.
#[test]
fn row_39_impossible_times_are_dropped_and_counted() {
    let mut export = Export::new();
    export.kernel(ONE, "a", 100, 200);
    export.kernel_row(ONE, "a", 0, 0, 77, None);
    export.kernel_row(ONE, "a", 900, 300, 78, None);
    let (_file, trace) = export.open();
    let busy = trace.busy(Window::ALL).expect("readable");
    let device = &busy.devices[0];
    assert_eq!((device.busy_time().0, device.dropped()), (100, 2));
    let work = &device.work[&GpuWork::Kernel];
    assert_eq!((work.untimed, work.reversed), (1, 1));
}

/// Row 26: more rows than a million are rows like others.
#[test]
fn row_26_a_million_rows_are_no_limit() {
    let trace = SmallTrace::new(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
         INSERT INTO StringIds VALUES (1, 'read');
         CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1048577)
         INSERT INTO OSRT_API SELECT i * 10, i * 10 + 3, 27, 16777217, 1 FROM n;",
    );
    let calls = trace
        .open()
        .os_runtime_summary(Selection::default())
        .expect("readable")
        .expect("calls");
    assert_eq!(
        (calls[0].time.count, calls[0].time.total.0),
        (1_048_577, 3_145_731)
    );
}
