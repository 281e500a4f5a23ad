//! Makes a shippable recording out of an Nsight Systems export: a part of its session, without what is private.
//!
//! The result is an export like any other: what refers to something that was cut out is cut out too, the counts in
//! nsys's own messages are those of the rows that are left, and a table without rows is absent, as in a lazy export.

mod counts;
mod paths;
mod scrub;
mod strings;
mod trim;
mod window;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result};
use rusqlite::Connection;

use crate::gzip;

pub(crate) use self::window::Window;

/// Bits of a global thread id that name the process; the lower 24 hold the thread.
const PROCESS_BITS: i64 = !0xFF_FFFF;

/// Tables that list every process of the host, or what the profiler says and keeps about itself.
const NOT_OF_TRACED_PROCESSES: [&str; 5] = [
    "ANALYSIS_FILE",
    "DIAGNOSTIC_EVENT",
    "PROCESSES",
    "ProcessStreams",
    "ThreadNames",
];

/// An export that is being rewritten.
struct Export {
    conn: Connection,
    /// Every table with its columns, as the file had them when it was opened.
    tables: BTreeMap<String, Vec<Column>>,
}

/// A column of a table.
struct Column {
    name: String,
    is_text: bool,
}

/// Cuts an export to a window of its session, and scrubs it.
pub(crate) fn trim(input: &Path, output: &Path, window: Window) -> Result<()> {
    rewrite(input, output, |export| {
        // Before the cut: a process that does nothing inside the window was traced nevertheless.
        let traced = export.traced_processes()?;
        trim::trim(export, window)?;
        scrub::scrub(export, &traced)
    })
}

/// Removes what is private and keeps all of the session.
pub(crate) fn scrub(input: &Path, output: &Path) -> Result<()> {
    rewrite(input, output, |export| {
        scrub::scrub(export, &export.traced_processes()?)
    })
}

/// Changes a copy of the input, compacts it, and moves it to the output only when ds-nsys can read it.
fn rewrite(input: &Path, output: &Path, change: impl FnOnce(&Export) -> Result<()>) -> Result<()> {
    let folder = tempfile::tempdir().context("creating a temporary folder")?;
    let copy = folder.path().join("trace.sqlite");
    gzip::unpack(input, &copy)?;
    ds_nsys::Trace::open(&copy).with_context(|| format!("reading `{}`", input.display()))?;
    let export = Export::open(&copy)?;
    change(&export)?;
    strings::drop_unused(&export)?;
    export.drop_empty_tables()?;
    export.conn.execute_batch("VACUUM")?;
    drop(export);
    ds_nsys::Trace::open(&copy).context("reading the result")?;
    gzip::pack(&copy, output)
}

impl Export {
    fn open(path: &Path) -> Result<Self> {
        let conn = Connection::open(path)?;
        // The file is a copy: what a crash leaves of it is thrown away.
        conn.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
        let names: Vec<String> = conn
            .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")?
            .query_map([], |row| row.get(0))?
            .collect::<Result<_, _>>()?;
        let mut tables = BTreeMap::new();
        for table in names {
            let columns = conn
                .prepare(&format!("PRAGMA table_info({})", quoted(&table)))?
                .query_map([], |row| {
                    Ok(Column {
                        name: row.get("name")?,
                        is_text: row.get::<_, String>("type")?.eq_ignore_ascii_case("TEXT"),
                    })
                })?
                .collect::<Result<_, _>>()?;
            tables.insert(table, columns);
        }
        Ok(Self { conn, tables })
    }

    fn has(&self, table: &str, column: &str) -> bool {
        self.tables
            .get(table)
            .is_some_and(|columns| columns.iter().any(|present| present.name == column))
    }

    /// The tables that hold what happened, and neither what the machine is nor what codes mean.
    fn event_tables(&self) -> impl Iterator<Item = &str> {
        self.tables.keys().map(String::as_str).filter(|table| {
            ![
                "ENUM_",
                "META_DATA_",
                "TARGET_INFO_",
                "ANALYSIS_DETAILS",
                "StringIds",
            ]
            .iter()
            .any(|prefix| table.starts_with(prefix))
        })
    }

    /// The SQL expression for the process of a row; `None` for a table without one.
    fn process_of(&self, table: &str) -> Option<String> {
        if self.has(table, "globalPid") {
            Some("globalPid".to_owned())
        } else {
            self.has(table, "globalTid")
                .then(|| format!("globalTid & {PROCESS_BITS}"))
        }
    }

    /// The processes with events of their own.
    fn traced_processes(&self) -> Result<Vec<i64>> {
        let mut traced = Vec::new();
        for table in self.event_tables() {
            if NOT_OF_TRACED_PROCESSES.contains(&table) {
                continue;
            }
            let Some(process) = self.process_of(table) else {
                continue;
            };
            let sql = format!(
                "SELECT DISTINCT {process} FROM {} WHERE {process} IS NOT NULL",
                quoted(table)
            );
            let mut statement = self.conn.prepare(&sql)?;
            for process in statement.query_map([], |row| row.get(0))? {
                traced.push(process?);
            }
        }
        traced.sort_unstable();
        traced.dedup();
        Ok(traced)
    }

    /// Deletes the rows of a table that a condition holds for.
    fn delete(&self, table: &str, condition: &str) -> Result<()> {
        self.conn
            .execute(
                &format!("DELETE FROM {} WHERE {condition}", quoted(table)),
                [],
            )
            .with_context(|| format!("deleting rows of `{table}`"))?;
        Ok(())
    }

    /// Drops event tables that have no rows left; a lazy export has none either.
    fn drop_empty_tables(&self) -> Result<()> {
        for table in self.event_tables() {
            let sql = format!("SELECT NOT EXISTS (SELECT 1 FROM {})", quoted(table));
            let is_empty: bool = self.conn.query_row(&sql, [], |row| row.get(0))?;
            if is_empty {
                self.conn
                    .execute_batch(&format!("DROP TABLE {}", quoted(table)))?;
            }
        }
        Ok(())
    }

    /// The length of the session, where the export records it.
    fn session(&self) -> Result<Option<i64>> {
        if !self.has("ANALYSIS_DETAILS", "duration") {
            return Ok(None);
        }
        let duration =
            self.conn
                .query_row("SELECT max(duration) FROM ANALYSIS_DETAILS", [], |row| {
                    row.get(0)
                })?;
        Ok(duration)
    }
}

/// A name as SQL takes it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
