//! Shipped recordings and small made-up ones, cut and scrubbed.

use std::path::{Path, PathBuf};

use ds_nsys::{Report, ReportOptions, Trace};
use rusqlite::Connection;
use tempfile::TempDir;

use super::{Window, scrub, trim};
use crate::gzip;
use crate::workspace;

/// A recording of the repository.
fn recording(name: &str) -> PathBuf {
    workspace::root()
        .join("testdata/nsys/captures")
        .join(name)
        .join("trace.sqlite.gz")
}

/// A folder with an uncompressed copy of a recording.
fn unpacked(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("whole.sqlite");
    gzip::unpack(&recording(name), &path).expect("a recording");
    (folder, path)
}

fn number(trace: &Path, sql: &str) -> i64 {
    let conn = Connection::open(trace).expect("a database");
    conn.query_row(sql, [], |row| row.get(0))
        .unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn texts(trace: &Path, sql: &str) -> Vec<String> {
    let conn = Connection::open(trace).expect("a database");
    let mut statement = conn.prepare(sql).expect("a query");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.collect::<Result<_, _>>().expect("texts")
}

fn csv(trace: &Path, report: &str) -> String {
    let report: Report = report.parse().expect("a known report");
    Trace::open(trace)
        .expect("a readable trace")
        .report(report, ReportOptions::default())
        .expect("a report")
        .to_csv()
}

fn window(from: u32, to: u32) -> Window {
    Window::from_millis(from, to).expect("a window")
}

/// The decode steps of `decode_node` run from 5.50 s to 5.70 s; the window holds half of them.
const DECODING: (u32, u32) = (5550, 5650);

#[test]
fn a_window_holds_what_lay_wholly_inside_it() {
    let (folder, whole) = unpacked("decode_node");
    let part = folder.path().join("part.sqlite");
    trim(&whole, &part, window(DECODING.0, DECODING.1)).expect("a part");

    let inside = format!(
        "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start >= {0}000000 AND \"end\" <= {1}000000",
        DECODING.0, DECODING.1
    );
    let kept = number(&part, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL");
    assert!(kept > 100, "{kept} kernels");
    assert_eq!(kept, number(&whole, &inside));
    assert_eq!(
        number(
            &part,
            "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE start < 0 OR \"end\" > 100000000"
        ),
        0
    );
    assert_eq!(
        number(&part, "SELECT duration FROM ANALYSIS_DETAILS"),
        100_000_000
    );
    assert_eq!(
        number(&part, "SELECT stopTime - startTime FROM ANALYSIS_DETAILS"),
        100_000_000
    );
}

#[test]
fn every_kept_kernel_has_the_call_that_launched_it() {
    let (folder, whole) = unpacked("decode_node");
    let part = folder.path().join("part.sqlite");
    trim(&whole, &part, window(DECODING.0, DECODING.1)).expect("a part");
    assert_eq!(
        number(
            &part,
            "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k WHERE NOT EXISTS
             (SELECT 1 FROM CUPTI_ACTIVITY_KIND_RUNTIME r WHERE r.correlationId = k.correlationId)"
        ),
        0
    );
}

#[test]
fn messages_count_the_rows_that_are_left() {
    let (folder, whole) = unpacked("decode_node");
    let part = folder.path().join("part.sqlite");
    trim(&whole, &part, window(DECODING.0, DECODING.1)).expect("a part");
    let rows = number(
        &part,
        "SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL)
              + (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME)",
    );
    let ranges = number(&part, "SELECT count(*) FROM NVTX_EVENTS");
    let messages = texts(
        &part,
        "SELECT text FROM DIAGNOSTIC_EVENT WHERE text LIKE '%events collected%'",
    );
    // The sets of this recording belong to the prefill, before the window.
    assert_eq!(
        messages,
        [
            format!("Number of NVTX events collected: \t{ranges}."),
            format!("Number of CUDA events collected: \t{rows}."),
        ]
    );
}

#[test]
fn strings_that_nothing_refers_to_are_gone() {
    let (folder, whole) = unpacked("decode_node");
    let part = folder.path().join("part.sqlite");
    trim(&whole, &part, window(DECODING.0, DECODING.1)).expect("a part");
    let strings = "SELECT count(*) FROM StringIds";
    assert!(number(&part, strings) < number(&whole, strings) / 2);
    // A name that is missing would print as its number.
    let report = csv(&part, "cuda_gpu_kern_sum");
    assert!(report.lines().count() > 2, "{report}");
    assert_eq!(
        number(
            &part,
            "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE shortName NOT IN (SELECT id FROM StringIds)"
        ),
        0
    );
}

#[test]
fn the_same_window_gives_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let [one, two] = ["one.sqlite.gz", "two.sqlite.gz"].map(|name| folder.path().join(name));
    for output in [&one, &two] {
        trim(&recording("decode_graph"), output, window(4000, 5000)).expect("a part");
    }
    let bytes = |path: &Path| std::fs::read(path).expect("a file");
    assert_eq!(bytes(&one), bytes(&two));
}

#[test]
fn scrubbing_changes_no_report() {
    for name in ["decode_graph", "idle", "nvtxonly"] {
        let (folder, whole) = unpacked(name);
        let scrubbed = folder.path().join("scrubbed.sqlite");
        scrub(&whole, &scrubbed).expect("a scrubbed trace");
        for report in [
            "cuda_gpu_kern_sum",
            "cuda_api_sum",
            "cuda_gpu_mem_time_sum",
            "nvtx_sum",
        ] {
            assert_eq!(
                csv(&scrubbed, report),
                csv(&whole, report),
                "{report} of {name}"
            );
        }
    }
}

#[test]
fn scrubbing_removes_what_is_private() {
    let (folder, whole) = unpacked("decode_graph");
    let scrubbed = folder.path().join("scrubbed.sqlite");
    scrub(&whole, &scrubbed).expect("a scrubbed trace");
    let settings = texts(
        &scrubbed,
        "SELECT name FROM META_DATA_CAPTURE UNION ALL SELECT name FROM META_DATA_EXPORT",
    );
    for private in ["HOST", "USER", "WORKING_DIR", "ENVIRONMENT"] {
        assert!(
            !settings.iter().any(|name| name.contains(private)),
            "{private}"
        );
    }
    assert_eq!(
        texts(
            &scrubbed,
            "SELECT value FROM StringIds WHERE value LIKE '/tmp/%' OR value LIKE '/opt/%'"
        ),
        [""; 0]
    );
    // Of 255 thread names only those of the traced program are left.
    assert_eq!(
        number(
            &scrubbed,
            "SELECT count(*) FROM ThreadNames WHERE (globalTid & ~16777215) NOT IN (SELECT globalPid FROM PROCESSES)"
        ),
        0
    );
    assert_eq!(
        number(
            &scrubbed,
            "SELECT count(*) FROM sqlite_master WHERE name = 'ANALYSIS_FILE'"
        ),
        0
    );
}

/// Two processes, each with its own count, and a third one that was never traced.
const TWO_PROCESSES: &str = "
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
        streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
        nameId INTEGER);
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
    CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT, globalPid INTEGER);
    CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
    CREATE TABLE ANALYSIS_DETAILS (duration INTEGER);
    INSERT INTO ANALYSIS_DETAILS VALUES (10000000);
    INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_HOST', 'somewhere');
    INSERT INTO StringIds VALUES (1, 'kernel'), (2, 'cudaLaunchKernel'), (3, 'nobody');
    INSERT INTO PROCESSES VALUES (16777216, 1, '/home/somebody/a'), (33554432, 2, 'b'), (50331648, 3, 'shell');
    -- Both processes use correlation id 7; only the first one's kernel lies in the second millisecond.
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
        (1500000, 1600000, 0, 1, 1, 7, 16777216, 1, 1), (5500000, 5600000, 0, 1, 1, 7, 33554432, 1, 1);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (400000, 500000, 16777217, 7, 2), (400000, 500000, 33554433, 7, 2);
    INSERT INTO DIAGNOSTIC_EVENT VALUES
        (0, 1, 'Profiling has started.', -1), (9, 1, 'Number of CUDA events collected: \t2.', 16777216),
        (9, 1, 'Number of CUDA events collected: \t5.', 33554432), (10000000, 1, 'Profiling has stopped.', -1);";

#[test]
fn processes_are_told_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, part] = ["whole.sqlite", "part.sqlite"].map(|name| folder.path().join(name));
    let conn = Connection::open(&whole).expect("a database");
    conn.execute_batch(TWO_PROCESSES).expect("a trace");
    drop(conn);
    trim(&whole, &part, window(1, 2)).expect("a part");

    // The call that launched the kept kernel lay 0.6 ms before the window.
    assert_eq!(
        texts(
            &part,
            "SELECT start || ' ' || globalTid FROM CUPTI_ACTIVITY_KIND_RUNTIME"
        ),
        ["-600000 16777217"]
    );
    assert_eq!(
        texts(
            &part,
            "SELECT timestamp || ' ' || text FROM DIAGNOSTIC_EVENT"
        ),
        [
            "0 Profiling has started.",
            "-999991 Number of CUDA events collected: \t2.",
            // Five were counted and two exported: of these both are gone, the other three stay lost.
            "-999991 Number of CUDA events collected: \t3.",
            "1000000 Profiling has stopped.",
        ]
    );
    assert_eq!(texts(&part, "SELECT name FROM PROCESSES"), ["/app/a", "b"]);
    assert_eq!(
        texts(&part, "SELECT value FROM StringIds"),
        ["kernel", "cudaLaunchKernel"]
    );
    assert_eq!(
        texts(&part, "SELECT name || ': ' || value FROM META_DATA_EXPORT"),
        ["DSPROF_TRIMMED_TO: 1000000 ns to 2000000 ns of a session of 10000000 ns"]
    );
}

/// What a CPU did around the second millisecond: calls of the operating system with their chains, ranges, allocations.
const AROUND_THE_WINDOW: &str = "
    CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
    CREATE TABLE OSRT_API (start INTEGER, end INTEGER, globalTid INTEGER, callchainId INTEGER);
    CREATE TABLE OSRT_CALLCHAINS (id INTEGER, stackDepth INTEGER);
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER);
    CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, bytes INTEGER);
    INSERT INTO OSRT_API VALUES (100000, 900000, 16777217, 1), (900000, 1100000, 16777217, 2), (2100000, 2200000, 16777217, 3);
    INSERT INTO OSRT_CALLCHAINS VALUES (1, 0), (2, 0), (2, 1), (3, 0);
    INSERT INTO NVTX_EVENTS VALUES
        (-5000, NULL, 75, 'domain', 16777217), (100000, NULL, 59, 'never closed', 16777217),
        (100000, NULL, 34, 'early mark', 16777217), (1500000, NULL, 34, 'mark', 16777217),
        (100000, 900000, 59, 'before', 16777217), (100000, 9000000, 60, 'around', 16777217),
        (2000001, 2000002, 59, 'behind', 16777217);
    INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (100000, 16777216, 64), (1500000, 16777216, 32), (2500000, 16777216, 16);";

#[test]
fn what_reaches_into_the_window_is_kept() {
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, part] = ["whole.sqlite", "part.sqlite"].map(|name| folder.path().join(name));
    let conn = Connection::open(&whole).expect("a database");
    conn.execute_batch(AROUND_THE_WINDOW).expect("a trace");
    drop(conn);
    trim(&whole, &part, window(1, 2)).expect("a part");

    assert_eq!(
        texts(&part, "SELECT start || ' ' || \"end\" FROM OSRT_API"),
        ["-100000 100000"]
    );
    assert_eq!(
        texts(&part, "SELECT id || ' ' || stackDepth FROM OSRT_CALLCHAINS"),
        ["2 0", "2 1"]
    );
    assert_eq!(
        texts(&part, "SELECT text FROM NVTX_EVENTS"),
        ["domain", "never closed", "mark", "around"]
    );
    // What was allocated before the window is in use inside it.
    assert_eq!(
        texts(
            &part,
            "SELECT start || ' ' || bytes FROM CUDA_GPU_MEMORY_USAGE_EVENTS"
        ),
        ["-900000 64", "500000 32"]
    );
}

#[test]
fn a_table_without_rows_left_is_absent() {
    let folder = tempfile::tempdir().expect("a folder");
    let [whole, part] = ["whole.sqlite", "part.sqlite"].map(|name| folder.path().join(name));
    let conn = Connection::open(&whole).expect("a database");
    conn.execute_batch(TWO_PROCESSES).expect("a trace");
    drop(conn);
    trim(&whole, &part, window(8, 9)).expect("a part");
    let trace = Trace::open(&part).expect("a readable trace");
    assert!(!trace.has_table("CUPTI_ACTIVITY_KIND_KERNEL"));
    assert_eq!(csv(&part, "cuda_gpu_kern_sum"), "");
}

#[track_caller]
fn refused(result: anyhow::Result<()>, message: &str) {
    let error = result.expect_err("a refusal");
    assert_eq!(error.to_string(), message);
}

#[test]
fn a_window_must_lie_in_the_session() {
    refused(
        Window::from_millis(5, 5).map(|_| ()),
        "the window from 5 ms to 5 ms is empty",
    );
    let folder = tempfile::tempdir().expect("a folder");
    refused(
        trim(
            &recording("decode_graph"),
            &folder.path().join("x"),
            window(60_000, 61_000),
        ),
        "the window begins at 60000 ms and the session ends at 5331 ms",
    );
}

#[test]
fn only_exports_are_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("notes.txt");
    std::fs::write(&file, "not a database").expect("a file");
    let error = scrub(&file, &folder.path().join("x")).expect_err("a refusal");
    assert_eq!(error.to_string(), format!("reading `{}`", file.display()));
    assert!(!folder.path().join("x").exists());
}
