//! Damage in every kind of page of an export that answers every question: refused, or without influence on any answer.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;

use ds_nsys::{ErrorKind, Trace};
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tempfile::NamedTempFile;

use crate::questions::ask_everything;
use crate::support::{SmallTrace, testdata};

const PAGE: usize = 512;

/// Of how many pages of each kind the header is damaged.
const PAGES_OF_A_KIND: usize = 3;

/// What the pages of real exports also hold: counters, memory events, graphs, a user's index large enough for inner nodes,
/// names longer than a page, pages that nothing uses any more.
const MORE: &str = "
    CREATE TABLE GPU_METRICS (timestamp INTEGER, typeId INTEGER, metricId INTEGER, value INTEGER);
    INSERT INTO GPU_METRICS VALUES (10, 256, 7, 90), (20, 256, 7, 10);
    CREATE TABLE TARGET_INFO_GPU_METRICS (typeId INTEGER, metricId INTEGER, metricName TEXT);
    INSERT INTO TARGET_INFO_GPU_METRICS VALUES (256, 7, 'SM Active [Throughput %]');
    CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INTEGER, globalPid INTEGER, deviceId INTEGER, contextId INTEGER,
        address INTEGER, bytes INTEGER, memKind INTEGER, memoryOperationType INTEGER);
    INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (10, 281476654432256, 0, 1, 4096, 100, 2, 0);
    CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER,
        contextId INTEGER, streamId INTEGER, correlationId INTEGER, graphId INTEGER, graphExecId INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (60000, 61000, 0, 281476654432256, 1, 7, 7, 1, 3);
    CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, timestampType INTEGER, source INTEGER, severity INTEGER, text TEXT,
        globalPid INTEGER);
    INSERT INTO DIAGNOSTIC_EVENT VALUES (0, 1, 3, 1, 'Profiling has started.', NULL);
    UPDATE StringIds SET value = value || substr(hex(zeroblob(2000)), 1, 3000) WHERE id = 107;
    CREATE INDEX by_start ON CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", correlationId);
    CREATE TABLE gone AS SELECT * FROM ENUM_NSYS_EVENT_TYPE; DROP TABLE gone;";

fn whole() -> Vec<u8> {
    let sql = |name| fs::read_to_string(testdata(name)).expect("test data");
    // The page size is settled by the first table. Small pages make many, and cells that overflow them.
    let export = SmallTrace::new(&format!(
        "PRAGMA page_size = {PAGE}; {} {} {MORE}",
        sql("full.sql"),
        sql("edges.sql")
    ));
    fs::read(export.path()).expect("the file")
}

fn file(bytes: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room for it");
    file
}

/// The answers without damage; every question has one.
fn sound(whole: &[u8]) -> Vec<(String, String)> {
    let file = file(whole);
    let trace = Trace::open(file.path()).expect("a sound export");
    ask_everything(&trace)
        .into_iter()
        .map(|(question, answer)| {
            let answer = answer.unwrap_or_else(|error| panic!("{question}: {error}"));
            (question, answer)
        })
        .collect()
}

/// What came of a damaged file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    /// It was refused at opening.
    Refused,
    /// It was opened, and every answer is an error that names damage or the right one.
    Unharmed,
}

#[track_caller]
fn ask_damaged(bytes: &[u8], sound: &[(String, String)], place: &str) -> Came {
    let file = file(bytes);
    let trace = match Trace::open(file.path()) {
        Ok(trace) => trace,
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Damaged, "{place}: {error}");
            return Came::Refused;
        }
    };
    for ((question, answer), (_, right)) in ask_everything(&trace).into_iter().zip(sound) {
        match answer {
            Ok(answer) => assert_eq!(&answer, right, "{place}: {question}"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Damaged, "{place}: {question}"),
        }
    }
    Came::Unharmed
}

#[test]
fn every_question_has_an_answer() {
    let answers = sound(&whole());
    assert!(answers.len() > 80, "{} questions", answers.len());
    let nothing: Vec<&str> = answers
        .iter()
        .filter(|(_, answer)| answer.is_empty() || answer == "None" || answer == "[]")
        .map(|(question, _)| question.as_str())
        .collect();
    assert_eq!(nothing, Vec::<&str>::new());
}

#[test]
fn a_file_cut_at_any_tenth_and_at_any_page_is_refused() {
    let whole = whole();
    let sound = sound(&whole);
    let tenths = (1..10).map(|tenth| whole.len() * tenth / 10);
    let pages = (1..whole.len() / PAGE).map(|page| page * PAGE);
    for length in tenths.chain(pages) {
        let came = ask_damaged(&whole[..length], &sound, &format!("cut at {length}"));
        assert_eq!(came, Came::Refused, "cut at {length}");
    }
}

#[test]
fn a_compressed_file_cut_at_any_tenth_is_refused() {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(&whole()).expect("memory");
    let packed = packed.finish().expect("memory");
    for tenth in 1..10 {
        let came = ask_damaged(
            &packed[..packed.len() * tenth / 10],
            &[],
            &format!("tenth {tenth}"),
        );
        assert_eq!(came, Came::Refused);
    }
}

/// What a page is: by its first byte, but for pages of overflowing cells and free ones, which have none.
fn kind_of(page: &[u8]) -> &'static str {
    match page[0] {
        2 => "inner node of an index",
        5 => "inner node of a table",
        10 => "leaf of an index",
        13 => "leaf of a table",
        0 => "overflow, or free",
        b'S' => "the first page",
        _ => "another",
    }
}

/// The header of a page says of what kind it is, how many cells it holds, and where they are.
#[test]
fn a_flipped_byte_in_the_header_of_any_page_is_refused_or_without_influence() {
    let whole = whole();
    let sound = sound(&whole);
    let mut seen = BTreeSet::new();
    let mut seen_pages = BTreeMap::new();
    for page in 0..whole.len() / PAGE {
        let start = page * PAGE;
        let kind = kind_of(&whole[start..start + PAGE]);
        // Pages of the same kind are alike, and asking everything takes its time.
        let pages = seen_pages.entry(kind).or_insert(0);
        *pages += 1;
        if *pages > PAGES_OF_A_KIND {
            continue;
        }
        // The first page begins with the header of the file. Of an overflow page only the link to the next one is
        // structure; what follows is the inside of a value.
        let (from, header) = match kind {
            "the first page" => (100, 8),
            "overflow, or free" => (0, 4),
            _ => (0, 8),
        };
        for offset in from..from + header {
            let mut bytes = whole.clone();
            bytes[start + offset] ^= 0x55;
            let place = format!("page {page}, {kind}, byte {offset}");
            seen.insert((kind, ask_damaged(&bytes, &sound, &place)));
        }
    }
    for kind in [
        "inner node of an index",
        "inner node of a table",
        "leaf of an index",
        "leaf of a table",
        "overflow, or free",
        "the first page",
    ] {
        assert!(seen.contains(&(kind, Came::Refused)), "{kind}: {seen:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// A changed byte inside a value may be a value too; whatever it is, nothing panics.
    #[test]
    fn flipped_bytes_make_no_question_panic(flips in prop::collection::vec((any::<prop::sample::Index>(), 1_u8..), 1..6)) {
        let mut bytes = whole();
        for (at, flip) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
        }
        let file = file(&bytes);
        if let Ok(trace) = Trace::open(file.path()) {
            ask_everything(&trace);
        }
    }
}
