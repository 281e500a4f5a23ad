//! Against the real program: what `nsys stats` of 2023.4.4 prints at this moment for the same file.
//!
//! Only with `DSPROF_LIVE=1` and `nsys` on PATH.

#![expect(
    clippy::disallowed_methods,
    reason = "the real program is asked; only ds-orchestrate does so in the product"
)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ds_nsys::{
    NameWidth, Nanos, NvtxNames, Report, ReportKind, ReportOptions, Style, Trace, Window,
};
use rusqlite::Connection;

use crate::captures::first_difference;
use crate::support::{SmallTrace, open, testdata, unpacked};

/// The release that is reproduced.
const RELEASE: &str = "2023.4.4";
/// The longest that one call may take, in seconds: the slowest, a capture, takes four on two cores.
const TIMEOUT: &str = "120";

/// Runs nsys to its end and returns what it printed; `None` where it is not there.
///
/// coreutils' `timeout` ends what hangs; in another locale columns would have separators of thousands.
#[track_caller]
fn nsys(arguments: &[&str]) -> Option<String> {
    const NOT_FOUND: i32 = 127;
    // Under load nsys 2023.4.4 sometimes does not reach the agent that it starts ("Local Endpoint is not available").
    const ATTEMPTS: usize = 3;
    let attempt = || {
        Command::new("timeout")
            .args(["--kill-after=5", TIMEOUT, "nsys"])
            .args(arguments)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .output()
            .ok()
    };
    let mut output = attempt()?;
    for _ in 1..ATTEMPTS {
        if output.status.success() || output.status.code() == Some(NOT_FOUND) {
            break;
        }
        output = attempt()?;
    }
    if output.status.code() == Some(NOT_FOUND) {
        return None;
    }
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "nsys {arguments:?}: {}\n{printed}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Some(printed)
}

/// Whether the real program is to be asked, with a line about it where not.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
fn is_live() -> bool {
    let asked_for = env::var_os("DSPROF_LIVE").is_some_and(|value| value == "1");
    let Some(version) = asked_for.then(|| nsys(&["--version"])).flatten() else {
        println!("skipped: live tests need DSPROF_LIVE=1 and nsys");
        return false;
    };
    assert!(
        version.contains(RELEASE),
        "live tests reproduce nsys {RELEASE}, and this is {}",
        version.trim()
    );
    true
}

/// Every report.
fn reports() -> Vec<Report> {
    ReportKind::all().map(Report::from).collect()
}

/// Every report, those of kernels also under their other names.
fn reports_with_options() -> Vec<Report> {
    let mut reports = reports();
    for kind in ReportKind::all() {
        for options in ["base", "mangled", "nvtx-name", "base:nvtx-name"] {
            // Not every report has every option.
            reports.extend(format!("{kind}:{options}").parse::<Report>());
        }
    }
    reports
}

/// The real program measures columns over so many rows, and cuts what is wider in later ones, digits too. This crate cuts
/// nothing but names, so longer tables are compared as CSV alone.
const ROWS_MEASURED: usize = 100;
/// What the real program writes below the heading of a report without rows.
const NO_DATA: &str = "no data was returned.";

/// Compares reports with what the real program writes into files.
#[track_caller]
fn check(trace: &Trace, file: &Path, reports: &[Report], window: Option<Window>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let prefix = folder.path().join("live");
    let names: Vec<String> = reports.iter().map(Report::to_string).collect();
    let names = names.join(",");
    let filter = window.map(|window| format!("--filter-time={}/{}", window.from.0, window.to.0));
    for format in ["csv", "column"] {
        let mut arguments = vec!["stats", "-q", "--format", format, "--report", &names];
        arguments.extend(filter.as_deref());
        arguments.extend(["--output", path(&prefix), path(file)]);
        nsys(&arguments).expect("nsys is there");
    }
    let options = ReportOptions {
        style: Style::V2023,
        window: window.unwrap_or_default(),
    };
    // Files are named after the report, then the filter, then the report's options.
    let filter = window.map_or_else(String::new, |window| {
        format!("_start={}_end={}", window.from.0, window.to.0)
    });
    let mut different = Vec::new();
    for report in reports {
        let table = trace.report(*report, options).expect("readable");
        let name = report.to_string().replace(':', "_");
        let (kind, naming) = name.split_at(report.kind.name().len());
        let mut compare = |extension: &str, printed: &str| {
            let name = format!("live_{kind}{filter}{naming}.{extension}");
            let expected = fs::read_to_string(folder.path().join(&name))
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            // Where there is nothing to print the real program may say so, and this crate prints nothing.
            let is_nothing = printed.is_empty() && expected.trim_end().ends_with(NO_DATA);
            if printed != expected && !is_nothing {
                different.push(format!("{name}: {}", first_difference(printed, &expected)));
            }
        };
        compare("csv", &table.to_csv());
        if table.rows().len() <= ROWS_MEASURED {
            compare("txt", &table.to_text(NameWidth::AtMost(100)));
        }
    }
    assert!(
        different.is_empty(),
        "{}: {}",
        file.display(),
        different.join("\n")
    );
}

#[track_caller]
fn path(path: &Path) -> &str {
    path.to_str().expect("a temporary path is plain text")
}

/// Compares all reports of all recordings in a folder of the test data; returns how many recordings there were.
#[track_caller]
fn check_recordings(folder: &str) -> usize {
    let mut traces = 0;
    for entry in fs::read_dir(testdata(folder)).expect("a folder of recordings") {
        let file = entry.expect("an entry").path().join("trace.sqlite.gz");
        if file.exists() {
            let copy = unpacked(&file);
            check(&open(&copy), &copy, &reports(), None);
            traces += 1;
        }
    }
    traces
}

#[test]
fn live_captures_print_the_same() {
    if is_live() {
        assert_eq!(check_recordings("captures"), 5);
    }
}

#[test]
fn live_recordings_of_several_processes_print_the_same() {
    if is_live() {
        assert_eq!(check_recordings("recordings"), 8);
    }
}

#[test]
fn live_a_fully_populated_export_prints_the_same() {
    if !is_live() {
        return;
    }
    for name in ["full.sql", "unified_memory.sql"] {
        let small = SmallTrace::from_file(name);
        let mut reports = reports_with_options();
        reports.push("um_sum:rows=20".parse().expect("a report"));
        check(&small.open(), small.path(), &reports, None);
    }
}

/// Every edge in every table of events, and in every table that a complete export of the release has.
#[test]
fn live_every_edge_in_every_table_prints_the_same() {
    if !is_live() {
        return;
    }
    let edges = SmallTrace::with_every_edge();
    let reports = reports_with_options();
    check(&edges.open(), edges.path(), &reports, None);

    let folder = tempfile::tempdir().expect("a temporary folder");
    let complete = export_made_on_the_spot(folder.path(), &["--lazy=false"]);
    let tables = fill(&complete, edges.path());
    assert!(tables > 90, "{tables} tables");
    check(&open(&complete), &complete, &reports, None);
}

/// Puts the rows of one export in the place of another's, which may have more tables and columns; returns how many tables
/// that one has.
#[track_caller]
fn fill(complete: &Path, rows: &Path) -> usize {
    let database = Connection::open(complete).expect("a database");
    let names = |schema: &str, query: &str| -> Vec<String> {
        let mut names = database
            .prepare(&query.replace("SCHEMA", schema))
            .expect("a query");
        let names = names.query_map([], |row| row.get(0)).expect("rows");
        names.map(|name| name.expect("a name")).collect()
    };
    database
        .execute("ATTACH ?1 AS given", [path(rows)])
        .expect("the rows");
    let tables = "SELECT name FROM SCHEMA.sqlite_master WHERE type = 'table'";
    let all = names("main", tables);
    for table in names("given", tables) {
        let columns = names(
            "given",
            &format!("SELECT name FROM pragma_table_info('{table}', 'SCHEMA')"),
        );
        let columns = columns.join("\", \"");
        database
            .execute_batch(&format!(
                "DELETE FROM main.{table};
                 INSERT INTO main.{table} (\"{columns}\") SELECT \"{columns}\" FROM given.{table};"
            ))
            .unwrap_or_else(|error| panic!("{table}: {error}"));
    }
    all.len()
}

/// The real program's time filter cuts every table by itself: work launched before the part has no call and no range any
/// more. This crate knows better, so only reports of single tables are the same.
#[test]
fn live_a_part_of_a_session_prints_the_same() {
    if !is_live() {
        return;
    }
    let copy = unpacked(&testdata("recordings/two_node/trace.sqlite.gz"));
    let trace = open(&copy);
    let span = trace.busy(Window::ALL).expect("readable").devices[0]
        .span()
        .expect("work");
    let second_half = Window {
        from: Nanos(span.start.0.midpoint(span.end.0)),
        to: span.end,
    };
    let mut of_single_tables = reports_with_options();
    of_single_tables.retain(|report| {
        let joins = [
            ReportKind::CudaKernExecSum,
            ReportKind::NvtxGpuProjSum,
            ReportKind::NvtxKernSum,
        ];
        !joins.contains(&report.kind) && report.nvtx_names == NvtxNames::Off
    });
    check(&trace, &copy, &of_single_tables, Some(second_half));
}

/// A program whose threads sleep, wait for each other and read files, all of it through the system's libraries.
const PROGRAM: &str = "
import subprocess, threading, time
def work():
    for _ in range(20):
        time.sleep(0.001)
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
subprocess.run(['true'])
";

/// Traces [`PROGRAM`] and exports the report.
#[track_caller]
fn export_made_on_the_spot(folder: &Path, options: &[&str]) -> PathBuf {
    let (report, export) = (folder.join("t.nsys-rep"), folder.join("t.sqlite"));
    nsys(&[
        "profile",
        "--trace=nvtx,osrt",
        "--sample=none",
        "--cpuctxsw=none",
        "--backtrace=none",
        "--output",
        path(&report),
        "python3",
        "-c",
        PROGRAM,
    ])
    .expect("nsys is there");
    let mut arguments = vec!["export", "--type=sqlite"];
    arguments.extend(options);
    arguments.extend(["--output", path(&export), path(&report)]);
    nsys(&arguments).expect("nsys is there");
    export
}

#[test]
fn live_a_trace_made_on_the_spot_prints_the_same() {
    if !is_live() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let export = export_made_on_the_spot(folder.path(), &[]);
    let trace = open(&export);
    assert!(trace.has_table("OSRT_API"), "the program was traced");
    check(&trace, &export, &reports(), None);
}
