//! Makes a large trace out of a real one by repeating it in time.
//!
//! Every copy lies behind the one before, and its correlation ids go on from there: joins, statistics by name and the
//! structure of the intervals stay those of the recording.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use rusqlite::Connection;

/// A gap between two copies, in nanoseconds.
const GAP: i64 = 1_000_000;

/// Samples at a fixed rate would outgrow everything else and have no part in what is timed.
const SAMPLES: &str = "GPU_METRICS";

/// Repeats a trace, in place, until it holds at least so many kernels.
pub(super) fn grow(trace: &Path, kernels: u64) -> Result<()> {
    let conn = Connection::open(trace)?;
    // What a crash leaves is made anew.
    conn.execute_batch(
        "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000;",
    )?;
    conn.execute_batch(&format!("DROP TABLE IF EXISTS {SAMPLES}"))?;
    let present: u64 =
        count(&conn, "CUPTI_ACTIVITY_KIND_KERNEL").context("counting its kernels")?;
    ensure!(present > 0, "it holds no kernels");
    let copies = i64::try_from(kernels.div_ceil(present))?;

    let tables = timed_tables(&conn)?;
    let mut span = 0;
    let mut ids = 0;
    for table in &tables {
        span = span.max(table.length(&conn)?);
        ids = ids.max(table.last_correlation(&conn)?);
    }
    let step = Step {
        time: span + GAP,
        correlation: ids + 1,
    };
    for table in &tables {
        table.repeat(&conn, copies, &step)?;
    }
    conn.execute_batch(&format!(
        "UPDATE ANALYSIS_DETAILS SET duration = duration + {}",
        step.time * (copies - 1)
    ))?;
    Ok(())
}

/// From one copy to the next.
struct Step {
    time: i64,
    correlation: i64,
}

/// A table whose rows have a beginning and an end.
struct Table {
    name: String,
    columns: Vec<String>,
}

fn timed_tables(conn: &Connection) -> Result<Vec<Table>> {
    let names: Vec<String> = conn
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    let mut tables = Vec::new();
    for name in names {
        let columns: Vec<String> = conn
            .prepare(&format!("PRAGMA table_info(\"{name}\")"))?
            .query_map([], |row| row.get("name"))?
            .collect::<Result<_, _>>()?;
        let table = Table { name, columns };
        if table.has("start") && table.has("end") {
            tables.push(table);
        }
    }
    Ok(tables)
}

fn count(conn: &Connection, table: &str) -> Result<u64> {
    let rows: i64 = conn.query_row(&format!("SELECT count(*) FROM \"{table}\""), [], |row| {
        row.get(0)
    })?;
    Ok(u64::try_from(rows)?)
}

impl Table {
    fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|present| present == column)
    }

    /// From zero to the last end; declarations may lie before zero.
    fn length(&self, conn: &Connection) -> Result<i64> {
        let sql = format!("SELECT coalesce(max(\"end\"), 0) FROM \"{}\"", self.name);
        Ok(conn.query_row(&sql, [], |row| row.get(0))?)
    }

    fn last_correlation(&self, conn: &Connection) -> Result<i64> {
        if !self.has("correlationId") {
            return Ok(0);
        }
        let sql = format!(
            "SELECT coalesce(max(correlationId), 0) FROM \"{}\"",
            self.name
        );
        Ok(conn.query_row(&sql, [], |row| row.get(0))?)
    }

    /// Appends the copies.
    fn repeat(&self, conn: &Connection, copies: i64, step: &Step) -> Result<()> {
        let picked: Vec<String> = self
            .columns
            .iter()
            .map(|column| match column.as_str() {
                "start" | "end" => format!("\"{column}\" + ?1 * {}", step.time),
                "correlationId" => format!("correlationId + ?1 * {}", step.correlation),
                other => format!("\"{other}\""),
            })
            .collect();
        // Categories, thread names, and domains are declared once.
        let condition = if self.has("eventType") {
            "WHERE eventType NOT IN (33, 39, 75, 76)"
        } else {
            ""
        };
        conn.execute_batch(&format!(
            "CREATE TEMP TABLE base AS SELECT * FROM \"{}\" {condition}; BEGIN",
            self.name
        ))?;
        let sql = format!(
            "INSERT INTO \"{}\" SELECT {} FROM base",
            self.name,
            picked.join(", ")
        );
        let mut insert = conn.prepare(&sql)?;
        for copy in 1..copies {
            insert.execute([copy])?;
        }
        drop(insert);
        conn.execute_batch("COMMIT; DROP TABLE base")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_follow_one_another_and_keep_their_joins() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace.sqlite");
        let conn = Connection::open(&path).expect("a database");
        conn.execute_batch(
            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, correlationId INTEGER, shortName INTEGER);
             INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 20, 1, 5), (30, 40, 2, 6);
             CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER);
             INSERT INTO NVTX_EVENTS VALUES (-5, NULL, 75), (8, 45, 59);
             CREATE TABLE GPU_METRICS (timestamp INTEGER);
             CREATE TABLE ANALYSIS_DETAILS (duration INTEGER);
             INSERT INTO ANALYSIS_DETAILS VALUES (50);",
        )
        .expect("a trace");
        drop(conn);

        // Five kernels of two a copy make three copies; a copy is 45 + GAP long.
        grow(&path, 5).expect("a larger trace");

        let conn = Connection::open(&path).expect("a database");
        let kernels: Vec<(i64, i64, i64)> = conn
            .prepare("SELECT start, correlationId, shortName FROM CUPTI_ACTIVITY_KIND_KERNEL ORDER BY start")
            .expect("a query")
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .expect("rows")
            .collect::<Result<_, _>>()
            .expect("rows");
        assert_eq!(
            kernels,
            [
                (10, 1, 5),
                (30, 2, 6),
                (1_000_055, 4, 5),
                (1_000_075, 5, 6),
                (2_000_100, 7, 5),
                (2_000_120, 8, 6),
            ]
        );
        assert_eq!(
            count(&conn, "NVTX_EVENTS").expect("a count"),
            4,
            "the domain is declared once"
        );
        assert!(count(&conn, "GPU_METRICS").is_err(), "samples are left out");
        let duration: i64 = conn
            .query_row("SELECT duration FROM ANALYSIS_DETAILS", [], |row| {
                row.get(0)
            })
            .expect("a duration");
        assert_eq!(duration, 50 + 2 * 1_000_045);
    }
}
