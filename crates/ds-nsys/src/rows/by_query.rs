//! Passes that SQLite makes, over whatever it can read.

use rusqlite::Connection;

use super::Fields;
use super::fields::Location;
use super::scan::{THREADS, with_threads};
use crate::error::Result;
use crate::trace::Trace;

/// Fewer row ids than this are not worth a second thread, whose connection has to read the whole schema first.
const ROWS_WORTH_A_THREAD: i64 = 20_000;

impl Trace {
    /// Folds a table into one value per thread.
    pub(super) fn fold_query<A: Send>(
        &self,
        location: &Location<'_>,
        select: &str,
        new: impl Fn() -> A + Sync,
        step: impl Fn(&mut A, &Fields<'_, '_>) -> Result<()> + Sync,
    ) -> Result<Vec<A>> {
        let pass = |conn: &Connection, range: Option<(i64, i64)>| -> Result<A> {
            let mut state = new();
            query(conn, location, select, range, |fields| {
                step(&mut state, fields)
            })?;
            Ok(state)
        };
        let ranges = self.row_ranges(location.table)?;
        let Some((first, rest)) = ranges.split_first() else {
            return Ok(vec![pass(self.conn(), None)?]);
        };
        let rest = rest
            .iter()
            .map(|range| Ok((self.another_connection()?, *range)))
            .collect::<Result<Vec<_>>>()?;
        with_threads(
            || pass(self.conn(), Some(*first)),
            rest,
            |(conn, range)| pass(&conn, Some(range)),
        )
    }

    /// Ranges of row ids, one a thread, in order; empty when the table should be read in one pass.
    fn row_ranges(&self, table: &str) -> Result<Vec<(i64, i64)>> {
        if !self.schema().has_rowid(table) {
            return Ok(Vec::new());
        }
        // Two queries: SQLite answers each from one end of the tree, and both together by a pass over the table.
        let end_of_tree = |function: &str| -> Result<Option<i64>> {
            self.conn()
                .query_row(
                    &format!("SELECT {function}(rowid) FROM \"{table}\""),
                    [],
                    |row| row.get(0),
                )
                .map_err(|source| self.query_error(table, source))
        };
        let (Some(low), Some(high)) = (end_of_tree("min")?, end_of_tree("max")?) else {
            return Ok(Vec::new());
        };
        let ids = i128::from(high) - i128::from(low) + 1;
        if ids < i128::from(ROWS_WORTH_A_THREAD) * 2 {
            return Ok(Vec::new());
        }
        let Ok(step) = i64::try_from(ids / THREADS as i128) else {
            return Ok(Vec::new());
        };
        let mut ranges = Vec::with_capacity(THREADS);
        let mut from = low;
        for part in 1..=THREADS {
            let to = if part == THREADS {
                high
            } else {
                from + step - 1
            };
            ranges.push((from, to));
            from = to.saturating_add(1);
        }
        Ok(ranges)
    }
}

/// Calls `step` for every row of a query, or of a range of its row ids.
pub(super) fn query(
    conn: &Connection,
    location: &Location<'_>,
    select: &str,
    range: Option<(i64, i64)>,
    mut step: impl FnMut(&Fields<'_, '_>) -> Result<()>,
) -> Result<()> {
    let failed = |source| location.refused(source);
    let bounded;
    let sql = match range {
        None => select,
        Some((from, to)) => {
            bounded = format!("{select} WHERE rowid BETWEEN {from} AND {to}");
            &bounded
        }
    };
    let mut statement = conn.prepare(sql).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        step(&Fields::of_row(row, location))?;
    }
    Ok(())
}
