//! Every row of `testdata/fps-logs/expected.tsv`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use ds_ceilings::Fps;
use ds_orchestrate::{FpsLog, FpsSegment, FpsStatus, FpsStream, FpsUnit};

use super::read_bytes;

/// The tolerance that the table asks for.
const TOLERANCE: f64 = 0.005;

/// One row of the table.
struct Row<'a> {
    file: &'a str,
    stream: &'a str,
    unit: &'a str,
    windows_in_log: usize,
    windows_used: usize,
    mean: Option<f64>,
    median: Option<f64>,
    status: &'a str,
}

impl<'a> Row<'a> {
    fn parse(line: &'a str) -> Self {
        let cells: Vec<_> = line.split('\t').collect();
        let &[file, stream, unit, in_log, used, mean, median, status, _how] = &cells[..] else {
            panic!("nine cells in `{line}`");
        };
        let number = |cell: &str| (!cell.is_empty()).then(|| cell.parse().expect("a number"));
        Self {
            file,
            stream,
            unit,
            windows_in_log: in_log.parse().expect("a count"),
            windows_used: used.parse().expect("a count"),
            mean: number(mean),
            median: number(median),
            status,
        }
    }

    /// The table counts the two lines of the two streams of GETFPS as two windows. They are one window each, as for
    /// every other emitter that prints a line a stream (logs 09 and 18 of the same table).
    fn windows_in_log(&self) -> usize {
        if self.file == "17-python-getfps.log" {
            1
        } else {
            self.windows_in_log
        }
    }
}

#[test]
fn every_row_of_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/fps-logs");
    let table = fs::read_to_string(folder.join("expected.tsv")).expect("the table is committed");
    let mut files = BTreeSet::new();
    let mut n_rows = 0;
    for line in table.lines().skip(1) {
        let row = Row::parse(line);
        let console = fs::read(folder.join(row.file)).expect("every log of the table is committed");
        check(&row, &read_bytes(&console));
        files.insert(row.file.to_owned());
        n_rows += 1;
    }
    assert_eq!((files.len(), n_rows), (35, 90));
}

#[track_caller]
fn check(row: &Row<'_>, log: &FpsLog) {
    let Row { file, stream, .. } = row;
    assert_eq!(
        log.windows_in_log,
        row.windows_in_log(),
        "windows in {file}"
    );
    match *stream {
        "aggregate" => {
            assert_eq!(log.status.to_string(), row.status, "status of {file}");
            check_aggregate(row, log.aggregate());
        }
        "aggregate before" | "aggregate, 2 sources" => check_segment(row, &log.segments[0]),
        "aggregate after" | "aggregate, 3 sources" => check_segment(row, &log.segments[1]),
        "aggregate, 2 sources again" => check_segment(row, &log.segments[2]),
        "0..7" => {
            assert_eq!(log.streams.len(), 8, "streams of {file}");
            log.streams
                .iter()
                .for_each(|stream| check_stream(row, stream));
        }
        // The table names these two by their role, the log by the name of the element.
        "sink" => check_stream(row, &log.streams[0]),
        "after-mux" => check_stream(row, log.streams.last().expect("a stream")),
        name => {
            let is_named =
                |stream: &&FpsStream| stream.id.as_ref().is_some_and(|id| id.to_string() == name);
            let found: Vec<_> = log.streams.iter().filter(is_named).collect();
            assert_eq!(found.len(), 1, "streams called {name} in {file}");
            check_stream(row, found[0]);
        }
    }
}

#[track_caller]
fn check_stream(row: &Row<'_>, stream: &FpsStream) {
    let what = format!("stream {} of {}", row.stream, row.file);
    let unit = if row.unit == "frames/s" {
        FpsUnit::Frames
    } else {
        FpsUnit::Buffers
    };
    assert_eq!(stream.unit, unit, "unit of {what}");
    assert_eq!(stream.windows.len(), row.windows_used, "windows of {what}");
    assert_eq!(stream.status.to_string(), row.status, "status of {what}");
    check_rate(stream.mean, row.mean, &what);
    check_rate(stream.median, row.median, &what);
}

#[track_caller]
fn check_aggregate(row: &Row<'_>, aggregate: Option<&FpsSegment>) {
    let what = format!("aggregate of {}", row.file);
    assert_eq!(
        aggregate.map_or(0, |segment| segment.n_windows),
        row.windows_used,
        "windows of {what}"
    );
    check_rate(aggregate.map(|segment| segment.mean), row.mean, &what);
}

#[track_caller]
fn check_segment(row: &Row<'_>, segment: &FpsSegment) {
    check_aggregate(row, Some(segment));
    assert_eq!(
        segment.status.to_string(),
        row.status,
        "status of {} in {}",
        row.stream,
        row.file
    );
    if segment.status == FpsStatus::Ok {
        assert_eq!(segment.windows.len(), row.windows_used);
    }
}

#[track_caller]
fn check_rate(found: Option<Fps>, expected: Option<f64>, what: &str) {
    match (found, expected) {
        (None, None) => {}
        (Some(found), Some(expected)) => {
            assert!(
                (found.get() - expected).abs() <= TOLERANCE,
                "{what}: {found:.4}, expected {expected}"
            );
        }
        (found, expected) => panic!("{what}: {found:?}, expected {expected:?}"),
    }
}
