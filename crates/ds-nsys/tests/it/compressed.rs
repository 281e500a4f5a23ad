//! Exports that are compressed with gzip: read as they are unpacked, and nothing is left of them.

use std::fs;
use std::io::Write as _;

use ds_nsys::{Busy, Trace, Window};
use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::{NamedTempFile, TempPath};

use crate::support::{SmallTrace, csv, open, testdata};

/// Enough kernels that a pass takes a second thread.
const MANY: &str = "
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (1, 'k'), (2, 'l');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER,
        contextId INTEGER, streamId INTEGER, demangledName INTEGER);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000)
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i * 100, i * 100 + 50, 0, 16777216, 1, 7, 1 + i % 2 FROM n;";

fn compressed(bytes: &[u8]) -> TempPath {
    let file = NamedTempFile::with_suffix(".sqlite.gz").expect("a temporary file");
    let mut packed = GzEncoder::new(file, Compression::fast());
    packed.write_all(bytes).expect("room");
    packed.finish().expect("room").into_temp_path()
}

fn busy(trace: &Trace) -> Busy {
    trace.busy(Window::ALL).expect("readable")
}

#[test]
fn two_threads_read_what_was_unpacked() {
    let plain = SmallTrace::new(MANY);
    let packed = compressed(&fs::read(plain.path()).expect("the file"));
    let (plain, packed) = (plain.open(), open(&packed));
    // Twice, since what the second thread borrows has to be given back.
    for _ in 0..2 {
        assert_eq!(busy(&packed), busy(&plain));
        let kernels = |trace| {
            csv(
                trace,
                "cuda_gpu_kern_sum",
                ds_nsys::ReportOptions::default(),
            )
        };
        assert_eq!(kernels(&packed), kernels(&plain));
    }
    assert_eq!(busy(&packed).devices[0].busy_time().0, 60_000 * 50);
}

/// A process that is killed removes nothing, so there must be nothing to remove while it reads.
#[test]
#[cfg(target_os = "linux")]
fn the_unpacked_file_has_no_name() {
    let trace = open(&testdata("captures/idle/trace.sqlite.gz"));
    let open_files: Vec<String> = fs::read_dir("/proc/self/fd")
        .expect("the open files of this process")
        .filter_map(|entry| fs::read_link(entry.ok()?.path()).ok())
        .map(|file| file.display().to_string())
        .collect();
    assert!(
        open_files
            .iter()
            .any(|file| file.ends_with(".sqlite (deleted)")),
        "{open_files:?}"
    );
    assert_eq!(busy(&trace).devices.len(), 1);
}

#[test]
fn a_database_of_a_write_ahead_log_is_read_without_one() {
    let file = SmallTrace::new("PRAGMA journal_mode = wal;").and(MANY);
    let bytes = fs::read(file.path()).expect("the file");
    assert_eq!(bytes[18..20], [2, 2], "written through a log");
    assert_eq!(busy(&open(&compressed(&bytes))), busy(&file.open()));
}

/// As somebody reads what they are about to remove.
#[test]
fn an_export_can_be_removed_while_it_is_read() {
    let plain = SmallTrace::new(MANY);
    let expected = busy(&plain.open());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let copy = folder.path().join("copy.sqlite");
    fs::copy(plain.path(), &copy).expect("room");
    let trace = Trace::open_removable(&copy).expect("a readable export");
    folder.close().expect("it can be removed");
    assert_eq!(busy(&trace), expected);
    assert_eq!(trace.path(), copy);
}
