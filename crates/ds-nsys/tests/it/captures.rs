//! Every report of recorded traces, byte for byte as the profiler's own program printed it.

use std::fs;
use std::path::{Path, PathBuf};

use ds_nsys::ReportOptions;

use crate::support::{csv, open, shared, testdata};

/// Compares all reports that lie beside a trace; returns how many there were.
#[track_caller]
pub(crate) fn check(trace: &Path, reports: &Path) -> usize {
    let trace = open(trace);
    let mut files: Vec<PathBuf> = fs::read_dir(reports)
        .expect("a folder of reports")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let mut different = Vec::new();
    for file in &files {
        let name = file
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("a report's name");
        let expected = fs::read_to_string(file).expect("a CSV file");
        let printed = csv(&trace, name, ReportOptions::default());
        if printed != expected {
            different.push(format!(
                "{}: {}",
                file.display(),
                first_difference(&printed, &expected)
            ));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    files.len()
}

pub(crate) fn first_difference(printed: &str, expected: &str) -> String {
    let at = printed
        .lines()
        .zip(expected.lines())
        .position(|(a, b)| a != b);
    let at = at.unwrap_or_else(|| printed.lines().count().min(expected.lines().count()));
    let line = |text: &str| text.lines().nth(at).unwrap_or("(no such line)").to_owned();
    format!(
        "line {}:\n  printed  {}\n  expected {}",
        at + 1,
        line(printed),
        line(expected)
    )
}

/// The number of reports that were made of every recording.
const REPORTS_A_TRACE: usize = 14;

#[test]
fn small_recordings_print_as_the_profiler_does() {
    for name in [
        "decode_graph",
        "decode_mixed",
        "decode_node",
        "idle",
        "nvtxonly",
    ] {
        let folder = testdata("captures").join(name);
        let compared = check(&folder.join("trace.sqlite.gz"), &folder.join("nsys-stats"));
        assert_eq!(compared, REPORTS_A_TRACE, "{name}");
    }
}

#[test]
fn all_recordings_print_as_the_profiler_does() {
    let Some(captures) = shared("captures") else {
        return;
    };
    let mut traces = 0;
    for entry in fs::read_dir(captures).expect("the folder of captures") {
        let folder = entry.expect("an entry").path();
        if folder.is_dir() {
            assert_eq!(
                check(&folder.join("trace.sqlite"), &folder.join("nsys-stats")),
                REPORTS_A_TRACE
            );
            traces += 1;
        }
    }
    assert_eq!(traces, 10, "recordings in ../shared/captures");
    println!("shared-test: all_recordings_print_as_the_profiler_does");
}
