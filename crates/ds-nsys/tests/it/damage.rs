//! Files that are no export, or no longer one: a clear error, never a panic, never a silent wrong number.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use ds_nsys::{Error, ErrorKind, Integrity, Report, ReportKind, ReportOptions, Trace, Window};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tempfile::NamedTempFile;

use crate::support::{SmallTrace, open, testdata};

fn file(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room for it");
    file
}

fn recording() -> Vec<u8> {
    let packed =
        fs::File::open(testdata("captures/decode_graph/trace.sqlite.gz")).expect("a recording");
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut GzDecoder::new(packed), &mut bytes).expect("a gzip file");
    bytes
}

#[track_caller]
fn refused(bytes: &[u8], kind: ErrorKind, says: &str) {
    let file = file(bytes);
    let error = Trace::open(file.path()).expect_err("no export");
    assert_eq!(error.kind(), kind, "{error}");
    let text = error
        .to_string()
        .replace(&file.path().display().to_string(), "FILE");
    assert_eq!(text, says);
}

#[test]
fn other_files_are_named_for_what_they_are() {
    let not_an_export = |bytes: &[u8], says: &str| refused(bytes, ErrorKind::NotAnExport, says);
    not_an_export(b"", "`FILE` is not an Nsight Systems export: an empty file");
    not_an_export(
        b"Time (%),Total Time (ns)\n",
        "`FILE` is not an Nsight Systems export: a file of another kind",
    );
    not_an_export(
        b"NVIDIA Tegra Profiler Report 2024@6@2@225-246235244400v0",
        "`FILE` is an Nsight Systems report written by 2024.6.2.225, which `nsys export --type sqlite` turns into a \
         readable export",
    );
    not_an_export(
        b"NVIDIA Tegra Profiler Report 1.",
        "`FILE` is an Nsight Systems report, which `nsys export --type sqlite` turns into a readable export",
    );
    not_an_export(
        b"U3w[END]NVIDIA Nsight Systems Stream 2023.4.4.54-234433681190v0",
        "`FILE` is a raw Nsight Systems stream written by 2023.4.4.54, which `nsys export --type sqlite` turns into a \
         readable export",
    );
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(b"no database").expect("memory");
    not_an_export(
        &packed.finish().expect("memory"),
        "`FILE` is not an Nsight Systems export: a gzip file that holds a file of another kind",
    );
}

#[test]
fn a_missing_file_is_an_io_error() {
    let error = Trace::open(Path::new("/nonexistent/trace.sqlite")).expect_err("no file");
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(
        error.to_string(),
        "`/nonexistent/trace.sqlite` cannot be read"
    );
}

#[test]
fn a_database_of_another_program_is_refused() {
    // Another profiler of the same vendor also has a table of strings.
    let other = SmallTrace::new(
        "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); CREATE TABLE ops (a);",
    );
    let error = Trace::open(other.path()).expect_err("another database");
    assert!(matches!(error, Error::NotAnExport { .. }), "{error}");
}

#[test]
fn a_file_cut_anywhere_is_damaged() {
    let whole = recording();
    for tenth in 1..10 {
        let cut = file(&whole[..whole.len() * tenth / 10]);
        let error = Trace::open(cut.path()).expect_err("a cut file");
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
        assert!(
            error.to_string().contains("its header promises 557056"),
            "{error}"
        );
    }
    refused(
        &whole[..20],
        ErrorKind::Damaged,
        "`FILE` is damaged: the database header is cut off",
    );
}

#[test]
fn a_gzip_file_cut_short_is_damaged() {
    let packed = fs::read(testdata("captures/decode_graph/trace.sqlite.gz")).expect("a recording");
    let cut = file(&packed[..packed.len() / 2]);
    let error = Trace::open(cut.path()).expect_err("a cut file");
    assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
}

/// Every page in turn gets a header that means something else.
#[test]
fn a_page_of_garbage_is_damaged() {
    const PAGE: usize = 4096;
    let whole = recording();
    for page in 1..whole.len() / PAGE {
        let mut bytes = whole.clone();
        bytes[page * PAGE..page * PAGE + 8].copy_from_slice(b"\xff\xfe\xfd\xfc\xfb\xfa\xf9\xf8");
        let file = file(&bytes);
        match Trace::open(file.path()) {
            Err(error) => assert_eq!(error.kind(), ErrorKind::Damaged, "page {page}: {error}"),
            // A page that no table uses may hold anything.
            Ok(trace) => same_numbers(&trace, page),
        }
    }
}

#[track_caller]
fn same_numbers(trace: &Trace, place: usize) {
    let sound = open(&testdata("captures/decode_graph/trace.sqlite.gz"));
    for kind in [
        ReportKind::CudaGpuKernSum,
        ReportKind::CudaApiSum,
        ReportKind::NvtxSum,
    ] {
        let report = |trace: &Trace| {
            trace
                .report(Report::from(kind), ReportOptions::default())
                .expect("readable")
        };
        assert_eq!(
            report(trace),
            report(&sound),
            "{kind} after a change at {place}"
        );
    }
}

/// Calls everything; errors are fine, panics are not.
fn use_everything(trace: &Trace) {
    for kind in ReportKind::all() {
        let _ = trace.report(Report::from(kind), ReportOptions::default());
    }
    let _ = trace.busy(Window::ALL);
    let _ = (
        trace.gpus(),
        trace.processes(),
        trace.diagnostics(),
        trace.session_duration(),
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Flipped bytes never make anything panic.
    #[test]
    fn flipped_bytes_never_panic(flips in prop::collection::vec((0_usize..557_056, any::<u8>()), 1..6)) {
        let mut bytes = recording();
        for (at, byte) in flips {
            bytes[at] ^= byte;
        }
        let file = file(&bytes);
        if let Ok(trace) = Trace::open(file.path()) {
            use_everything(&trace);
        }
    }
}

#[test]
fn values_of_a_wrong_type_are_named_with_their_column() {
    let trace = SmallTrace::from_file("full.sql")
        .and("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET \"end\" = 'late' WHERE rowid = 3;")
        .open();
    let error = trace.busy(Window::ALL).expect_err("a text is no time");
    assert!(
        error.to_string().ends_with(
            "table `CUPTI_ACTIVITY_KIND_KERNEL`, column `end`: Text where an integer is due"
        ),
        "{error}"
    );
}

#[test]
fn extreme_times_do_not_overflow() {
    let trace = SmallTrace::from_file("full.sql")
        .and(&format!(
            "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = {}, \"end\" = {} WHERE rowid = 3;
             UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = {}, \"end\" = {} WHERE rowid = 6;
             UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = {}, \"end\" = {} WHERE rowid = 1;
             UPDATE NVTX_EVENTS SET start = {}, \"end\" = {} WHERE rowid = 3;",
            i64::MIN,
            i64::MAX,
            i64::MAX,
            i64::MIN,
            i64::MIN,
            i64::MAX,
            i64::MIN,
            i64::MAX,
        ))
        .open();
    use_everything(&trace);
}

#[test]
fn small_files_are_checked_page_by_page() {
    let trace = open(&testdata("captures/idle/trace.sqlite.gz"));
    assert_eq!(trace.integrity(), Integrity::Pages);
    trace.check_pages().expect("a sound file");
}
