//! Sources tables: reading, edits worked by hand, properties, the corpus.

use ds_config::{ErrorKind, SourcesCsv};
use proptest::prelude::*;

use crate::forms::{applied, corpus, name};
use crate::table::testdata;

const TABLE: &str = "\
# four files and a camera

enable,type,uri,num-sources,gpu-id
1,3,file:///a b.mp4, 4,0
0,4,rtsp://h/x#y,1x,0";

#[track_caller]
fn parse(text: &str) -> SourcesCsv {
    SourcesCsv::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn rows_and_cells() {
    let table = parse(TABLE);
    assert_eq!(table.as_bytes(), TABLE.as_bytes());
    assert_eq!(table.columns().next(), Some(b"enable".as_slice()));
    assert_eq!(table.columns().len(), 5);
    let [files, camera] = table.rows().collect::<Vec<_>>()[..] else {
        panic!("two rows");
    };
    let text = |row: ds_config::SourceRow<'_>, column| {
        row.get(column)
            .and_then(|cell| cell.text().map(str::to_owned))
    };
    assert_eq!(text(files, "uri").as_deref(), Some("file:///a b.mp4"));
    assert_eq!(text(files, "num-sources").as_deref(), Some(" 4"));
    assert_eq!(text(camera, "uri").as_deref(), Some("rtsp://h/x#y"));
    assert_eq!(text(camera, "latency"), None);
    assert_eq!(camera.place().line, 5);
}

/// Numbers as `std::stoi` finds them.
#[test]
fn numbers_of_cells() {
    let int = |cell: &str| {
        let table = parse(&format!("a,b\n{cell},0\n"));
        table
            .rows()
            .next()
            .and_then(|row| row.get("a"))
            .and_then(|cell| cell.int())
    };
    assert_eq!(int("4"), Some(4));
    assert_eq!(int(" \t4"), Some(4));
    assert_eq!(int("4x"), Some(4));
    assert_eq!(int("-1"), Some(-1));
    assert_eq!(int("+7"), Some(7));
    assert_eq!(int("010"), Some(10));
    assert_eq!(int("0x10"), Some(0));
    assert_eq!(int("1.5"), Some(1));
    assert_eq!(int("x"), None);
    assert_eq!(int(""), None);
    assert_eq!(int("2147483648"), None);
}

#[track_caller]
fn check_refused(text: &str, message: &str) {
    let error = SourcesCsv::parse(text.as_bytes()).expect_err("a refused table");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.to_string(), message);
}

#[test]
fn tables_that_never_worked() {
    check_refused("", "no header line");
    check_refused("# only\n\n", "no header line");
    check_refused("a,b\n1,2\n\n", "3:1: a blank line below the header");
    check_refused("a,b\r\n1,2\r\n\r\n", "3:1: a blank line below the header");
    check_refused("a,b\n# c\n1,2\n", "2:1: a comment below the header");
    check_refused("a,b,c\n1,2\n", "2:1: a row that fills 2 of 3 columns");
    check_refused("a,b\n1,\n", "2:1: a row that fills 1 of 2 columns");
}

#[test]
fn one_cell_changes_in_place() {
    let table = parse(TABLE);
    let edited = applied(TABLE.as_bytes(), table.set(0, "num-sources", "8"));
    let expected = TABLE.replace(", 4,", ",8,");
    assert_eq!(String::from_utf8_lossy(&edited), expected);
    let again = SourcesCsv::parse(&edited).expect("still a table");
    assert!(again.set(0, "num-sources", "8").expect("again").is_empty());
}

#[test]
fn a_column_changes_in_every_row() {
    let text = "a,b\r\n1,0\r\n2,0\r\n";
    let edited = applied(text.as_bytes(), parse(text).set_column("a", "7"));
    assert_eq!(String::from_utf8_lossy(&edited), "a,b\r\n7,0\r\n7,0\r\n");
}

#[test]
fn a_new_column_reaches_the_header_and_every_row() {
    let text = "# c\nenable,uri\n1,x\n0,y,\n1,z";
    let edited = applied(
        text.as_bytes(),
        parse(text).set_column("num-extra-surfaces", "5"),
    );
    let expected = "# c\nenable,uri,num-extra-surfaces\n1,x,5\n0,y,5\n1,z,5";
    assert_eq!(String::from_utf8_lossy(&edited), expected);
    let again = SourcesCsv::parse(&edited).expect("still a table");
    assert!(
        again
            .set_column("num-extra-surfaces", "5")
            .expect("again")
            .is_empty()
    );
}

#[track_caller]
fn check_not_set(text: &str, column: &str, value: &str, message: &str) {
    let error = parse(text)
        .set_column(column, value)
        .expect_err("an edit that is refused");
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    assert_eq!(error.to_string(), message);
}

#[test]
fn edits_that_are_refused() {
    check_not_set("a,b\n1,2\n", "a", "1,2", "`1,2` cannot stand in a cell");
    check_not_set("a,b\n1,2\n", "a", "1\n", "`1\\n` cannot stand in a cell");
    check_not_set("a,b\n1,2\n", "c", "", "`` cannot stand in a cell");
    check_not_set(
        "a,b\n1,2\n1,2,3\n",
        "c",
        "0",
        "3:1: a row with more cells than there are columns",
    );
    check_not_set(
        "a,b\r\n1,2\r\n",
        "b",
        "0",
        "1:1: with CRLF line ends the last column is not known by its name",
    );
    let missing = parse(TABLE)
        .set(0, "latency", "100")
        .expect_err("no such column");
    assert_eq!(missing.to_string(), "no column `latency` in the table");
    let missing = parse(TABLE).set(2, "uri", "x").expect_err("no such row");
    assert_eq!(missing.to_string(), "no row 2 in a table of 2");
}

#[test]
fn a_table_of_our_own() {
    let text = std::fs::read(testdata("csv/sources.csv")).expect("a fixture");
    let table = SourcesCsv::parse(&text).expect("a table");
    let live = table
        .rows()
        .filter(|row| row.get("enable").and_then(|cell| cell.int()) == Some(1))
        .filter_map(|row| row.get("num-sources").and_then(|cell| cell.int()));
    assert_eq!(live.sum::<i32>(), 6);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(prop_oneof![any::<u8>(), Just(b','), Just(b'\n')], 0..80)) {
        if let Ok(table) = SourcesCsv::parse(&bytes) {
            prop_assert_eq!(table.as_bytes(), bytes.as_slice());
            if let Ok(edit) = table.set_column("NEW", "1") {
                let edited = edit.apply(&bytes).expect("an edit fits its text");
                let again = SourcesCsv::parse(&edited).expect("still a table");
                prop_assert_eq!(again.rows().len(), table.rows().len());
                prop_assert!(again.rows().all(|row| row.get("NEW").and_then(|cell| cell.int()) == Some(1)));
            }
        }
    }

    #[test]
    fn edits_of_generated_tables(
        rows in prop::collection::vec(("[01]", "[a-z:/#. ]{1,9}"), 1..6),
        pick in any::<prop::sample::Index>(),
        value in "[a-z0-9:/ ]{1,6}",
        eol in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let body = rows.iter().map(|(enable, uri)| format!("{enable},{uri},0"));
        let lines: Vec<_> = std::iter::once("enable,uri,gpu-id".to_owned()).chain(body).collect();
        let text = lines.join(eol);
        let row = pick.index(rows.len());
        let table = parse(&text);
        let cell = table.rows().nth(row).and_then(|row| row.get("uri")).expect("a cell");
        let edited = applied(text.as_bytes(), table.set(row, "uri", &value));
        prop_assert_eq!(&edited[..cell.span().start()], &text.as_bytes()[..cell.span().start()]);
        prop_assert!(edited.ends_with(&text.as_bytes()[cell.span().end()..]));
        let again = SourcesCsv::parse(&edited).expect("still a table");
        let read = again.rows().nth(row).and_then(|row| row.get("uri")).expect("a cell");
        prop_assert_eq!(read.bytes(), value.as_bytes());
    }
}

#[test]
fn corpus_round_trip_and_new_column() {
    let test = "sources_csv::corpus_round_trip_and_new_column";
    let Some(files) = corpus(test, &["sources-csv"]) else {
        return;
    };
    for (path, bytes) in &files {
        let name = name(path);
        let table = SourcesCsv::parse(bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(table.as_bytes(), bytes, "{name}");
        let edited = applied(bytes, table.set_column("num-extra-surfaces", "5"));
        let added = ",num-extra-surfaces".len() + ",5".len() * table.rows().len();
        assert_eq!(edited.len(), bytes.len() + added, "{name}");
        let again = SourcesCsv::parse(&edited).expect("still a table");
        let twice = again.set_column("num-extra-surfaces", "5").expect("again");
        assert!(twice.is_empty(), "{name}");
    }
}
