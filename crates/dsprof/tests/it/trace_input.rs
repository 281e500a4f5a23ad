//! What is said about files that are no traces, and about arguments that make no sense.

use std::fs;
use std::path::Path;

use crate::support::run;
use crate::trace_support::{shipped, write_file};

#[track_caller]
fn check(args: &[&str], status: i32, says: &[&str]) {
    let ran = run(args);
    assert_eq!(ran.status, status, "{args:?}\n{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "", "{args:?}");
    for text in says {
        assert!(
            ran.stderr.contains(text),
            "{args:?} does not say `{text}`:\n{}",
            ran.stderr
        );
    }
}

/// Writes a file and asks both kinds of reader about it.
#[track_caller]
fn check_file(folder: &Path, name: &str, bytes: &[u8], says: &[&str]) {
    let path = write_file(folder, name, bytes);
    check(&["trace", "stats", &path], 3, says);
    check(&["trace", "busy", &path], 3, says);
}

#[test]
fn a_missing_file_and_a_directory() {
    for command in ["stats", "busy", "check", "plugins"] {
        check(
            &["trace", command, "nowhere.sqlite"],
            3,
            &["`nowhere.sqlite` cannot be read"],
        );
        check(
            &["trace", command, "testdata"],
            3,
            &["`testdata` cannot be read"],
        );
    }
}

#[test]
fn files_of_other_kinds() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    check_file(
        folder,
        "empty.sqlite",
        b"",
        &["not an Nsight Systems export: an empty file"],
    );
    check_file(
        folder,
        "prose.sqlite",
        b"A letter to nobody.\n",
        &["not an Nsight Systems export: a file of another kind"],
    );
    check_file(
        folder,
        "binary.sqlite",
        &[0x7F, b'E', b'L', b'F', 0, 0, 0, 1],
        &["a file of another kind"],
    );
    let mut header = b"SQLite format 3\0".to_vec();
    header.resize(50, 0);
    check_file(
        folder,
        "header.sqlite",
        &header,
        &["header.sqlite` is damaged"],
    );
}

#[test]
fn a_truncated_export_is_named_as_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let packed = fs::read(crate::support::root().join(shipped("idle"))).expect("a capture");
    check_file(
        folder.path(),
        "cut.sqlite.gz",
        &packed[..packed.len() / 2],
        &["cut.sqlite.gz"],
    );
}

#[test]
fn a_database_that_nsys_did_not_write() {
    // The smallest database: one page of 512 bytes with an empty table of contents. Offsets are those of the SQLite file
    // format: 16 page size, 18 and 19 format, 21 to 23 fixed, 28 pages, 44 schema format, 56 encoding, 100 a leaf page.
    let mut page = vec![0_u8; 512];
    page[..16].copy_from_slice(b"SQLite format 3\0");
    page[16] = 2;
    page[18..20].copy_from_slice(&[1, 1]);
    page[21..24].copy_from_slice(&[64, 32, 32]);
    page[27] = 1;
    page[31] = 1;
    page[47] = 4;
    page[59] = 1;
    page[95] = 1;
    page[100] = 13;
    page[105] = 2;
    let folder = tempfile::tempdir().expect("a folder");
    check_file(
        folder.path(),
        "other.sqlite",
        &page,
        &["a SQLite database without the tables of one"],
    );
}

#[test]
fn reports_and_streams_name_their_writer_and_the_command_to_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let padded = |head: &[u8]| {
        let mut bytes = head.to_vec();
        bytes.resize(200, b'0');
        bytes
    };
    let report = padded(b"NVIDIA Tegra Profiler Report 2025.3.2.0\n");
    let says = [
        "written by 2025.3.2",
        "hint: ",
        "nsys export --type sqlite --output",
        "run.sqlite'",
    ];
    check_file(folder.path(), "run.nsys-rep", &report, &says);
    let stream = padded(b"\x01\x02\x03\x04\x05\x06\x07\x08NVIDIA Nsight Systems Stream 2023.4.4\n");
    check_file(
        folder.path(),
        "run.qdstrm",
        &stream,
        &["written by 2023.4.4", "QdstrmImporter"],
    );
}

#[test]
fn printed_text_that_cannot_be_read_without_guessing_is_refused_with_its_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let text =
        "==3052== NVPROF is profiling process 3052, command: ./a\n==3052== Profiling result:\n";
    let path = write_file(folder.path(), "nvprof.txt", text.as_bytes());
    check(
        &["trace", "stats", &path],
        3,
        &["nvprof.txt`: line 2: this is the output of nvprof"],
    );
}

#[test]
fn arguments_that_make_no_sense() {
    let trace = shipped("idle");
    let trace = trace.as_str();
    check(
        &["trace", "stats", "-r", "cuda_gpu_kern", trace],
        2,
        &["unknown report `cuda_gpu_kern`", "--help-reports"],
    );
    check(
        &["trace", "stats", "-r", "cuda_api_sum:base", trace],
        2,
        &["takes no option `base`"],
    );
    check(
        &["trace", "stats", "-r", "nvtx_sum", "-f", "csv,text", trace],
        2,
        &["more formats or outputs than reports"],
    );
    check(
        &[
            "trace",
            "stats",
            "-r",
            "cuda_gpu_trace",
            "--by",
            "device",
            trace,
        ],
        2,
        &["cannot be split"],
    );
    check(&["trace", "stats"], 2, &["TRACE"]);
    check(
        &["trace", "busy", "--from-ms", "5", "--to-ms", "5", trace],
        2,
        &["nothing is between them"],
    );
    for time in ["NaN", "inf", "1e300", "soon"] {
        check(
            &["trace", "busy", "--from-ms", time, trace],
            2,
            &["--from-ms"],
        );
    }
    check(
        &["trace", "check", "--tpot-ms", "0", trace],
        2,
        &["a number above 0"],
    );
    check(
        &["trace", "check", "--as", "fun", trace],
        2,
        &["timing, kernels, decode, pipeline"],
    );
    check(
        &["trace", "diff", "--tokens", "1,0", trace, trace],
        2,
        &["without tokens"],
    );
    check(
        &["trace", "diff", "--tokens", "1", trace, trace],
        2,
        &["two whole numbers"],
    );
    check(
        &["trace", "metrics", "--above", "NaN", trace],
        2,
        &["--above"],
    );
    check(&["trace", "join", trace], 2, &["--sampled"]);
}

#[test]
fn a_report_that_cannot_be_written_is_status_1() {
    let args = [
        "trace",
        "stats",
        "-r",
        "cuda_api_sum",
        "--output",
        "nowhere/at/all",
        &shipped("idle"),
    ];
    check(
        &args,
        1,
        &["cannot write `nowhere/at/all_cuda_api_sum.csv`"],
    );
}
