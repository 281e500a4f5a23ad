//! Pages against SQLite: the same rows, or an error.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};

use super::{Fault, Layout, Pages, Place, for_each_record};

/// A row id and the values behind it.
type Row = (i64, Vec<Value>);

/// Every row of a table, read from its pages.
fn by_page(path: &Path, root: u32, columns: usize) -> Result<Vec<Row>, Fault> {
    let file = File::open(path).map_err(Fault::Read)?;
    let pages = Pages::of(&file)
        .map_err(Fault::Read)?
        .expect("a plain file");
    let places = (0..columns).map(Place::Stored).chain([Place::RowId]);
    let layout = Layout::new(places.collect());
    let mut rows = Vec::new();
    let leaves = pages.leaves(root)?;
    for_each_record(
        &pages,
        &leaves,
        &layout,
        |fault| fault,
        |record| {
            let Value::Integer(id) = owned(record.value(columns)) else {
                unreachable!("a row id is an integer");
            };
            let values = (0..columns).map(|at| owned(record.value(at)));
            rows.push((id, values.collect()));
            Ok(())
        },
    )?;
    Ok(rows)
}

/// A value of its own. Texts are bytes behind a mark: a damaged one need not be UTF-8.
fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(value) => Value::Integer(value),
        ValueRef::Real(value) => Value::Real(value),
        ValueRef::Text(bytes) => Value::Blob([b"text", bytes].concat()),
        ValueRef::Blob(bytes) => Value::Blob([b"blob", bytes].concat()),
    }
}

/// Every row of a table, read by SQLite.
fn by_query(path: &Path, table: &str, columns: usize) -> rusqlite::Result<Vec<Row>> {
    let conn = open(path)?;
    let mut query = conn.prepare(&format!("SELECT rowid, * FROM \"{table}\""))?;
    let rows = query.query_map([], |row| {
        let values = (1..=columns).map(|at| Ok(owned(row.get_ref(at)?)));
        Ok((row.get(0)?, values.collect::<rusqlite::Result<_>>()?))
    })?;
    rows.collect()
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY)
}

/// The root of a table and how many columns it has.
fn shape(path: &Path, table: &str) -> (u32, usize) {
    let conn = open(path).expect("a database");
    let root = conn.query_row(
        "SELECT rootpage FROM sqlite_master WHERE name = ?1",
        [table],
        |row| row.get(0),
    );
    let columns = conn.query_row(
        "SELECT count(*) FROM pragma_table_info(?1)",
        [table],
        |row| row.get::<_, u32>(0),
    );
    (root.expect("a table"), columns.expect("columns") as usize)
}

/// Every table of an export whose columns are stored as they are declared.
fn plain_tables(path: &Path) -> Vec<String> {
    let conn = open(path).expect("a database");
    let schema = crate::schema::Schema::read(&conn).expect("a schema");
    let mut names = conn
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        .expect("a query");
    let names = names.query_map([], |row| row.get(0)).expect("tables");
    let names: Vec<String> = names.collect::<rusqlite::Result<_>>().expect("names");
    names
        .into_iter()
        .filter(|table| {
            let mut columns = conn
                .prepare("SELECT name FROM pragma_table_info(?1)")
                .expect("a query");
            let columns = columns
                .query_map([table], |row| row.get::<_, String>(0))
                .expect("columns");
            let columns: Vec<crate::rows::Column> = columns
                .map(|name| crate::rows::Column::always(name.expect("a name").leak()))
                .collect();
            schema.layout(table, &columns).is_some()
        })
        .collect()
}

#[track_caller]
fn same_rows(path: &Path) -> usize {
    let tables = plain_tables(path);
    for table in &tables {
        let (root, columns) = shape(path, table);
        let read = by_page(path, root, columns).expect("sound pages");
        let queried = by_query(path, table, columns).expect("a sound table");
        assert_eq!(read.len(), queried.len(), "rows of {table}");
        assert!(read == queried, "{table} of {}", path.display());
    }
    tables.len()
}

#[test]
fn shipped_recordings_read_as_sqlite_reads_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/nsys/captures");
    let mut tables = 0;
    for entry in fs::read_dir(folder).expect("recordings") {
        let packed = entry.expect("a folder").path().join("trace.sqlite.gz");
        let Ok(packed) = File::open(packed) else {
            continue;
        };
        let mut unpacked = tempfile::NamedTempFile::new().expect("a temporary file");
        let mut decoder = flate2::read::MultiGzDecoder::new(packed);
        std::io::copy(&mut decoder, &mut unpacked).expect("a recording");
        tables += same_rows(unpacked.path());
    }
    assert!(tables > 50, "only {tables} tables were compared");
}

#[test]
fn shared_captures_read_as_sqlite_reads_them() {
    println!("shared-test: shared_captures_read_as_sqlite_reads_them");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    let Ok(captures) = fs::read_dir(folder) else {
        println!("skipped: no captures at hand");
        return;
    };
    for capture in captures {
        let trace = capture.expect("a folder").path().join("trace.sqlite");
        if trace.is_file() {
            assert!(same_rows(&trace) > 5, "{}", trace.display());
        }
    }
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => any::<i64>().prop_map(Value::Integer),
        4 => (0_u32..64).prop_map(|bits| Value::Integer(i64::MAX >> bits)),
        2 => (0_u32..64).prop_map(|bits| Value::Integer(i64::MIN >> bits)),
        1 => Just(Value::Integer(0)),
        1 => Just(Value::Integer(1)),
        1 => Just(Value::Null),
        1 => any::<f64>().prop_map(Value::Real),
        2 => "[a-zé]{0,20}".prop_map(Value::Text),
        // Longer than any page of the test.
        1 => (0_usize..9000).prop_map(|len| Value::Text("long".repeat(len))),
        1 => prop::collection::vec(any::<u8>(), 0..700).prop_map(Value::Blob),
    ]
}

/// A database with one table of rows under the given ids, and another one in between.
fn database(page_size: u32, rows: &[Row]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("small.sqlite");
    let conn = Connection::open(&path).expect("a database");
    conn.execute_batch(&format!(
        "PRAGMA page_size = {page_size}; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;
         CREATE TABLE events (a, b, c); CREATE TABLE others (a); BEGIN"
    ))
    .expect("tables");
    for (at, (id, values)) in rows.iter().enumerate() {
        conn.prepare_cached(
            "INSERT OR REPLACE INTO events (rowid, a, b, c) VALUES (?1, ?2, ?3, ?4)",
        )
        .expect("a statement")
        .execute((id, &values[0], &values[1], &values[2]))
        .expect("a row");
        conn.execute(
            "INSERT INTO others VALUES (?1)",
            [i64::try_from(at).expect("few")],
        )
        .expect("a row");
    }
    // Records from before a column was added are shorter.
    conn.execute_batch("COMMIT; ALTER TABLE events ADD COLUMN d")
        .expect("a column");
    (folder, path)
}

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let id = prop_oneof![4 => -300_i64..300, 1 => any::<i64>()];
    prop::collection::vec((id, prop::collection::vec(value(), 3)), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_table_reads_as_sqlite_reads_it(
        rows in rows(150),
        page_size in prop::sample::select(vec![512_u32, 1024, 4096, 65_536]),
    ) {
        let (_folder, path) = database(page_size, &rows);
        let (root, columns) = shape(&path, "events");
        let read = by_page(&path, root, columns).expect("sound pages");
        let queried = by_query(&path, "events", columns).expect("a sound table");
        prop_assert_eq!(read, queried);
    }

    /// Whatever SQLite refuses is refused, and whatever is read is what SQLite reads.
    #[test]
    fn a_damaged_table_reads_as_sqlite_reads_it_or_not_at_all(
        rows in rows(60),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 1..=u8::MAX), 1..4),
    ) {
        let (_folder, path) = database(512, &rows);
        let (root, columns) = shape(&path, "events");
        let mut bytes = fs::read(&path).expect("a file");
        // Behind the first page, which holds the header and the schema.
        for (at, flip) in flips {
            let at = 512 + at.index(bytes.len() - 512);
            bytes[at] ^= flip;
        }
        let damaged = path.with_extension("damaged");
        #[expect(clippy::disallowed_methods, reason = "a test makes its own file")]
        fs::write(&damaged, bytes).expect("a file");
        if let Ok(read) = by_page(&damaged, root, columns) {
            let queried = by_query(&damaged, "events", columns);
            prop_assert_eq!(Ok(read), queried.map_err(|error| error.to_string()));
        }
    }
}
