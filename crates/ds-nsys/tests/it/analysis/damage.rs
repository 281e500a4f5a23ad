//! Analyses of exports that lack tables or hold nonsense: an error or a flagged result, never a panic.

use std::fs;
use std::io::{Read as _, Write as _};

use ds_nsys::{
    CategoryOptions, CheckOptions, DiffOptions, ErrorKind, GapOptions, Outcome, RankOptions,
    RankTable, RefusalPolicy, StepOptions, Trace,
};
use flate2::read::GzDecoder;
use tempfile::NamedTempFile;

use super::synthetic::{Export, ONE};
use crate::support::testdata;

fn recording() -> Vec<u8> {
    let packed =
        fs::File::open(testdata("captures/decode_graph/trace.sqlite.gz")).expect("a recording");
    let mut bytes = Vec::new();
    GzDecoder::new(packed)
        .read_to_end(&mut bytes)
        .expect("a gzip file");
    bytes
}

/// Runs every analysis; all must come back, with a result or an error that names damage.
#[track_caller]
fn run_all(trace: &Trace) -> usize {
    let overridden = DiffOptions {
        policy: RefusalPolicy::Override,
        ..DiffOptions::default()
    };
    let errors = [
        trace.gaps(GapOptions::default()).err(),
        trace.steps(&StepOptions::default()).err(),
        trace.check(None, &CheckOptions::default()).err(),
        trace.categories(&CategoryOptions::default()).err(),
        trace.diff(trace, &overridden).err(),
        RankTable::new(&[trace], &RankOptions::default()).err(),
    ];
    let errors: Vec<_> = errors.into_iter().flatten().collect();
    for error in &errors {
        assert_eq!(error.kind(), ErrorKind::Damaged, "{error}");
    }
    errors.len()
}

/// The type of a page is its first byte; table leaves, table inner nodes and index pages each get bytes flipped.
#[test]
fn flipped_bytes_give_an_error_or_a_result() {
    let whole = recording();
    let page = 4_096;
    let (mut opened, mut refused) = (0, 0);
    let mut types_seen = std::collections::BTreeSet::new();
    for (number, start) in (0..whole.len()).step_by(page).enumerate() {
        // Inner nodes are few; of the leaves every eighth is enough.
        if number % 8 != 0 && whole[start] == 13 {
            continue;
        }
        types_seen.insert(whole[start]);
        // A page's header, and one byte of its content that moves from page to page.
        for offset in [3, 8 + (number * 131) % 4_000] {
            let mut bytes = whole.clone();
            let at = start + offset;
            bytes[at] ^= 0x55;
            let mut file = NamedTempFile::new().expect("a temporary file");
            file.write_all(&bytes).expect("room");
            match Trace::open(file.path()) {
                Ok(trace) => {
                    opened += 1;
                    run_all(&trace);
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(
        refused > 10 && opened > 0,
        "{refused} refused, {opened} opened"
    );
    // 5 and 13 are inner nodes and leaves of tables; the first page begins with the file's own header.
    assert!(types_seen.is_superset(&[5, 13].into()), "{types_seen:?}");
}

#[test]
fn every_table_can_be_missing() {
    let whole = recording();
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(&whole).expect("room");
    let tables: Vec<String> = {
        let database = rusqlite::Connection::open(file.path()).expect("a database");
        let mut names = database
            .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'ENUM%' AND name NOT LIKE 'sqlite%'")
            .expect("a query");
        let rows = names.query_map([], |row| row.get(0)).expect("rows");
        rows.map(|name| name.expect("a name")).collect()
    };
    assert!(tables.len() > 15);
    for table in tables {
        let mut file = NamedTempFile::new().expect("a temporary file");
        file.write_all(&whole).expect("room");
        rusqlite::Connection::open(file.path())
            .and_then(|database| database.execute_batch(&format!("DROP TABLE \"{table}\"")))
            .expect("a table can be dropped");
        let trace = Trace::open(file.path()).expect("still an export");
        assert_eq!(run_all(&trace), 0, "{table}");
    }
}

#[test]
fn a_table_of_another_shape_is_an_error_that_names_it() {
    let mut export = Export::new();
    export.kernel(ONE, "gemm", 100, 200);
    let export =
        export.sql("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME COLUMN deviceId TO device;");
    let (_file, trace) = export.open();
    let error = trace
        .check(None, &CheckOptions::default())
        .expect_err("no device");
    assert!(
        error.to_string().contains("has no column `deviceId`"),
        "{error}"
    );
}

#[test]
fn times_at_the_ends_of_their_range_do_not_overflow() {
    let mut export = Export::new().session(i64::MAX);
    for (start, end) in [
        (i64::MIN, i64::MAX),
        (i64::MIN, -1),
        (1, i64::MAX),
        (-5, 5),
        (9, 9),
    ] {
        export.kernel_row(ONE, "gemm", start, end, 1, None);
    }
    let (_file, trace) = export.open();
    assert_eq!(run_all(&trace), 0);
}

#[test]
fn an_export_without_events_is_empty_and_no_error() {
    let (_file, trace) = Export::new().open();
    assert_eq!(run_all(&trace), 0);
    let verdict = trace
        .check(None, &CheckOptions::default())
        .expect("readable");
    assert_eq!(verdict.outcome, Outcome::Retry);
    assert!(verdict.emptiness.is_some());
}
