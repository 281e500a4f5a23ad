//! NVTX ranges as programs really mark them.

use ds_nsys::{ReportKind, ReportOptions, Selection, Style, Window};

use crate::support::{SmallTrace, csv};

/// Ranges of one thread: a registered one, one that is still open, one in a domain with blanks and colons, one whose name
/// holds everything that others split names at.
const RANGES: &str = "
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    INSERT INTO StringIds VALUES (5, 'registered'), (6, 'GstNvInfer: UID=1');
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, rangeId INTEGER, text TEXT, textId INTEGER,
        globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER);
    INSERT INTO NVTX_EVENTS VALUES
        (0, NULL, 75, NULL, NULL, 6, 16777217, NULL, 1),
        (5, NULL, 34, NULL, 'a mark', NULL, 16777217, NULL, 0),
        (10, 20, 59, NULL, NULL, 5, 16777217, NULL, 0),
        (30, 45, 59, NULL, 'frame', NULL, 16777217, NULL, 1),
        (50, 100, 59, NULL, ':mixer: MoE@layer,rank=3', NULL, 16777217, NULL, 0);";

/// A start/end range that began on one thread and ended on another, and three that nobody ended.
const UNCLOSED: &str = "
    INSERT INTO NVTX_EVENTS VALUES
        (60, 90, 60, 1, 'transfer', NULL, 16777217, 16777218, 0),
        (70, NULL, 60, 2, 'transfer', NULL, 16777217, NULL, 0),
        (75, NULL, 60, 3, 'transfer', NULL, 16777217, NULL, 0),
        (80, NULL, 60, 4, 'transfer', NULL, 16777217, NULL, 0);";

fn nvtx_sum(trace: &SmallTrace, style: Style) -> String {
    let options = ReportOptions {
        style,
        ..ReportOptions::default()
    };
    csv(&trace.open(), "nvtx_sum", options)
}

/// Row 19: marks, domains and open ranges have no end, and nothing minds.
#[test]
fn row_19_ranges_without_an_end_are_normal() {
    let trace = SmallTrace::new(RANGES).and(UNCLOSED).open();
    for kind in ReportKind::all() {
        trace
            .report(kind.into(), ReportOptions::default())
            .unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
    assert!(trace.plugin_times(Window::ALL).expect("readable").is_some());
}

/// Row 31: registered strings have no text of their own.
#[test]
fn row_31_registered_strings_have_their_names() {
    let printed = nvtx_sum(&SmallTrace::new(RANGES), Style::V2023);
    assert!(
        printed.contains(",10,1,10.0,10.0,10,10,0.0,PushPop,registered\n"),
        "{printed}"
    );
}

/// Row 32: names are taken as they are, whatever they hold.
#[test]
fn row_32_names_are_opaque() {
    let printed = nvtx_sum(&SmallTrace::new(RANGES), Style::V2025);
    assert!(
        printed.contains(",PushPop,\"::mixer: MoE@layer,rank=3\"\n"),
        "{printed}"
    );
    assert!(
        printed.contains(",PushPop,GstNvInfer: UID=1:frame\n"),
        "{printed}"
    );
    let printed = nvtx_sum(&SmallTrace::new(RANGES), Style::V2023);
    assert!(
        printed.contains(",PushPop,\":mixer: MoE@layer,rank=3\"\n"),
        "{printed}"
    );
}

/// Row 33: what was never closed is counted, said, and ends with the last time; what crosses threads is told by its end.
#[test]
fn row_33_unclosed_and_crossing_ranges_are_counted() {
    let trace = SmallTrace::new(RANGES).and(UNCLOSED).open();
    let ranges = trace
        .range_summary(Selection::default())
        .expect("readable")
        .expect("ranges");
    assert_eq!(ranges.open, 3);
    let transfer = ranges
        .ranges
        .iter()
        .find(|range| &*range.name.text == "transfer")
        .expect("it is there");
    // 30, and until 100, the last time of any range: 30 + 25 + 20.
    assert_eq!((transfer.time.count, transfer.time.total.0), (4, 105));
    let times = trace
        .plugin_times(Window::ALL)
        .expect("readable")
        .expect("ranges");
    assert_eq!((times.open, times.crossing), (3, 1));
}
