//! Reports in the style of 2023, byte for byte as nsys 2023.4.4 printed them for the same files.

use std::fs;
use std::path::Path;

use ds_nsys::{NameWidth, Nanos, Report, ReportOptions, Style, Trace, Window};
use rusqlite::Connection;

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
fn every_edge_in_every_table() {
    check(
        &SmallTrace::with_every_edge().open(),
        &testdata("reference-2023.4.4/edges"),
        40,
    );
}

/// The edges are there: a comparison over rows that lack them would say nothing.
#[test]
fn the_export_has_every_edge_in_every_table() {
    let export = SmallTrace::with_every_edge();
    let database = Connection::open(export.path()).expect("a database");
    let count = |query: &str| -> u32 {
        database
            .query_row(query, [], |row| row.get(0))
            .unwrap_or_else(|error| panic!("{query}: {error}"))
    };
    // Table, by what its rows are grouped, and the process of a row.
    for (table, group, process) in [
        ("CUPTI_ACTIVITY_KIND_KERNEL", "demangledName", "globalPid"),
        ("CUPTI_ACTIVITY_KIND_MEMCPY", "copyKind", "globalPid"),
        ("CUPTI_ACTIVITY_KIND_MEMSET", "memKind", "globalPid"),
        ("CUPTI_ACTIVITY_KIND_RUNTIME", "nameId", "globalTid >> 24"),
        ("OSRT_API", "nameId", "globalTid >> 24"),
        ("NVTX_EVENTS", "coalesce(text, textId)", "globalTid >> 24"),
    ] {
        let mut edges = vec![
            (
                "no duration",
                format!("SELECT count(*) FROM {table} WHERE start = \"end\" AND start > 0"),
            ),
            (
                "no time",
                format!("SELECT count(*) FROM {table} WHERE start = 0 AND \"end\" = 0"),
            ),
            (
                "out of order",
                format!(
                    "SELECT count(*) FROM {table} a JOIN {table} b ON b.rowid = a.rowid + 1 WHERE b.start < a.start"
                ),
            ),
            (
                "two processes",
                format!("SELECT count(DISTINCT {process}) > 1 FROM {table}"),
            ),
        ];
        // All sets are one row of a report.
        if table != "CUPTI_ACTIVITY_KIND_MEMSET" {
            edges.push((
                "one value",
                format!("SELECT count(*) FROM (SELECT 1 FROM {table} GROUP BY {group} HAVING count(*) = 1)"),
            ));
            edges.push((
                "a tie at the half",
                format!(
                    "SELECT count(*) FROM (SELECT sum(\"end\" - start) * 20 total, count(*) n FROM {table}
                     GROUP BY {group} HAVING total % n = 0 AND (total / n) % 2 = 1)"
                ),
            ));
        }
        if table.starts_with("CUPTI") {
            edges.push((
                "ids of two processes",
                format!(
                    "SELECT count(*) FROM (SELECT 1 FROM {table} GROUP BY correlationId HAVING count(DISTINCT {process}) > 1)"
                ),
            ));
        }
        for (edge, query) in edges {
            assert!(count(&query) > 0, "{table}: {edge}");
        }
    }
    for style in [59, 60] {
        let open = format!(
            "SELECT count(*) FROM NVTX_EVENTS WHERE \"end\" IS NULL AND eventType = {style}"
        );
        assert!(count(&open) > 0, "open ranges of type {style}");
    }
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
