//! Reports in the style of 2023, byte for byte as nsys 2023.4.4 printed them for the same files.

use std::fs;
use std::path::Path;

use ds_nsys::{NameWidth, Nanos, Report, ReportOptions, Style, Trace, Window};

use crate::support::{SmallTrace, open, testdata};

/// Compares every file of a folder with the report that its name spells.
///
/// `+` stands for the colon of an option, `@from-to` for a time filter; `.txt` files hold the column format.
#[track_caller]
fn check(trace: &Trace, folder: &Path, at_least: usize) {
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("a folder of references")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    assert!(
        files.len() >= at_least,
        "{}: {} references",
        folder.display(),
        files.len()
    );
    for file in files {
        let name = file
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("a report's name")
            .replace('+', ":");
        let (report, window) = match name.split_once('@') {
            None => (name.as_str(), Window::ALL),
            Some((report, window)) => (report, parse_window(window)),
        };
        let report: Report = report.parse().expect("a known report");
        let table = trace
            .report(
                report,
                ReportOptions {
                    style: Style::V2023,
                    window,
                },
            )
            .expect("a readable trace");
        let printed = match file.extension().and_then(|extension| extension.to_str()) {
            Some("txt") => table.to_text(NameWidth::AtMost(100)),
            _ => table.to_csv(),
        };
        let expected = fs::read_to_string(&file).expect("a reference");
        assert_eq!(printed, expected, "{}", file.display());
    }
}

fn parse_window(text: &str) -> Window {
    let (from, to) = text.split_once('-').expect("two times");
    let time = |text: &str| Nanos(text.parse().expect("nanoseconds"));
    Window {
        from: time(from),
        to: time(to),
    }
}

#[test]
fn a_fully_populated_export() {
    check(
        &SmallTrace::from_file("full.sql").open(),
        &testdata("reference-2023.4.4/full"),
        30,
    );
}

#[test]
fn unified_memory() {
    check(
        &SmallTrace::from_file("unified_memory.sql").open(),
        &testdata("reference-2023.4.4/unified_memory"),
        2,
    );
}

#[test]
fn a_recording_with_graphs() {
    let trace = open(&testdata("captures/decode_graph/trace.sqlite.gz"));
    check(&trace, &testdata("reference-2023.4.4/decode_graph"), 12);
}
