//! Which tables and columns an export has.
//!
//! Everything is looked up by name: exports create tables lazily, releases add columns, and users add their own.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use rusqlite::Connection;

use crate::pages::{Layout, Place};
use crate::rows::Column;
use crate::trace::ExportVersion;

/// The declared types, as the exporter writes them, whose values SQLite hands out as they are stored.
const PLAIN_TYPES: [&str; 2] = ["INTEGER", "TEXT"];

/// The newest layout whose exports were examined: that of Nsight Systems 2026.2.1.
pub(crate) const NEWEST_EXAMINED: SchemaVersion = SchemaVersion {
    major: 3,
    minor: 25,
    micro: 0,
};

/// The table of export properties, under its name since 2023.3 and its older one.
const EXPORT_META_TABLES: [&str; 2] = ["META_DATA_EXPORT", "EXPORT_META_DATA"];

/// Tables of which an export without properties (2020, 2021, or interrupted) has at least one.
const TELLTALE_TABLES: [&str; 8] = [
    "CUPTI_ACTIVITY_KIND_KERNEL",
    "CUPTI_ACTIVITY_KIND_RUNTIME",
    "CUPTI_ACTIVITY_KIND_MEMCPY",
    "CUPTI_ACTIVITY_KIND_MEMSET",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
    "NVTX_EVENTS",
    "OSRT_API",
    "TARGET_INFO_SESSION_START_TIME",
];

/// The version of an export's table layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaVersion {
    /// Changed when readers break.
    pub major: u32,
    /// Changed when tables or columns come.
    pub minor: u32,
    /// Changed otherwise.
    pub micro: u32,
}

impl SchemaVersion {
    /// Whether this layout may hold what the other does not; micro versions only correct.
    pub(crate) fn is_newer_than(self, other: Self) -> bool {
        (self.major, self.minor) > (other.major, other.minor)
    }
}

impl FromStr for SchemaVersion {
    type Err = crate::file_kind::NotAVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (major, minor, micro) = text.parse::<crate::file_kind::NsysVersion>()?.release();
        Ok(Self {
            major,
            minor,
            micro,
        })
    }
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.micro)
    }
}

/// One table of the export.
#[derive(Debug, Default)]
struct Table {
    columns: Vec<TableColumn>,
    /// The column that is the integer primary key, if any: a lookup by it needs no scan.
    integer_key: Option<String>,
    /// Tables without row ids and views cannot be cut into ranges.
    has_rowid: bool,
    /// Whether records hold the columns in the order of their declaration: computed columns are in no record.
    is_plain: bool,
}

/// One column of a table.
#[derive(Debug)]
struct TableColumn {
    name: String,
    /// Whether records hold its values as SQLite gives them: it is no stand-in for the row id, none whose integers are read
    /// as floats, and none that has another value than NULL in records from before it was added.
    is_plain: bool,
}

/// Tables and columns of an export, by name.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    tables: BTreeMap<String, Table>,
}

impl Schema {
    pub(crate) fn read(conn: &Connection) -> rusqlite::Result<Self> {
        let mut schema = Self::default();
        let mut names =
            conn.prepare("SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name")?;
        let mut names = names.query([])?;
        // With computed columns (2 and 3), which `table_info` leaves out and traces of PyTorch's profiler have; 1 marks the
        // hidden ones of virtual tables.
        let mut columns = conn.prepare(
            "SELECT name, type, pk, dflt_value IS NULL, hidden FROM pragma_table_xinfo(?1) WHERE hidden <> 1",
        )?;
        while let Some(row) = names.next()? {
            let name: String = row.get(0)?;
            let kind: String = row.get(1)?;
            let sql: String = row.get::<_, Option<String>>(2)?.unwrap_or_default();
            let has_rowid = kind == "table" && !sql.to_ascii_uppercase().contains("WITHOUT ROWID");
            let mut table = Table {
                has_rowid,
                is_plain: has_rowid,
                ..Table::default()
            };
            let mut rows = columns.query([&name])?;
            while let Some(row) = rows.next()? {
                let (column, kind, key): (String, String, i64) =
                    (row.get(0)?, row.get(1)?, row.get(2)?);
                let (no_default, hidden): (bool, i64) = (row.get(3)?, row.get(4)?);
                table.is_plain &= hidden == 0;
                if key == 1 && kind.eq_ignore_ascii_case("INTEGER") {
                    table.integer_key = Some(column.clone());
                }
                table.columns.push(TableColumn {
                    name: column,
                    is_plain: no_default && key == 0 && PLAIN_TYPES.contains(&kind.as_str()),
                });
            }
            schema.tables.insert(name, table);
        }
        Ok(schema)
    }

    pub(crate) fn has_table(&self, table: &str) -> bool {
        self.tables.contains_key(table)
    }

    pub(crate) fn has_column(&self, table: &str, column: &str) -> bool {
        self.tables
            .get(table)
            .is_some_and(|t| t.columns.iter().any(|c| c.name == column))
    }

    /// Where the columns of a pass are in the table's records; `None` where only SQLite can tell.
    ///
    /// A column that the table lacks is absent; whether it may be, the caller has decided.
    pub(crate) fn layout(&self, table: &str, columns: &[Column]) -> Option<Layout> {
        let table = self.tables.get(table).filter(|table| table.is_plain)?;
        let place = |column: &Column| {
            let at = table.columns.iter().position(|c| c.name == column.name);
            match at {
                Some(at) => table.columns[at].is_plain.then_some(Place::Stored(at)),
                None if column.name == "rowid" => Some(Place::RowId),
                None => Some(Place::Absent),
            }
        };
        columns
            .iter()
            .map(place)
            .collect::<Option<_>>()
            .map(Layout::new)
    }

    pub(crate) fn has_columns(&self, table: &str, columns: &[&str]) -> bool {
        columns.iter().all(|column| self.has_column(table, column))
    }

    pub(crate) fn has_rowid(&self, table: &str) -> bool {
        self.tables.get(table).is_some_and(|t| t.has_rowid)
    }

    pub(crate) fn integer_key(&self, table: &str) -> Option<&str> {
        self.tables.get(table)?.integer_key.as_deref()
    }

    /// A database of another program is told by what it lacks: other profilers also have a table of strings.
    pub(crate) fn looks_like_an_export(&self) -> bool {
        let has_meta = EXPORT_META_TABLES
            .iter()
            .any(|table| self.has_columns(table, &["name", "value"]));
        let has_strings = self.has_columns("StringIds", &["id", "value"]);
        has_meta || (has_strings && TELLTALE_TABLES.iter().any(|table| self.has_table(table)))
    }

    /// The versions that the export names for itself.
    pub(crate) fn export_version(&self, conn: &Connection) -> rusqlite::Result<ExportVersion> {
        let mut version = ExportVersion::default();
        for table in EXPORT_META_TABLES {
            if !self.has_columns(table, &["name", "value"]) {
                continue;
            }
            let mut statement = conn.prepare(&format!("SELECT name, value FROM {table}"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (name, value): (String, Option<String>) = (row.get(0)?, row.get(1)?);
                let value = value.unwrap_or_default();
                match name.as_str() {
                    "EXPORT_PRODUCT_VERSION" => version.product = value.parse().ok(),
                    "EXPORT_SCHEMA_VERSION" => version.schema = value.parse().ok(),
                    _ => {}
                }
            }
        }
        Ok(version)
    }
}
