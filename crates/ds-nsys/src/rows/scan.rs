//! Passes over one table.

use std::ops::RangeFrom;
use std::thread;

use rusqlite::types::{Type, ValueRef};
use rusqlite::{Connection, Row};

use super::{Column, Field, Needed, Record};
use crate::error::{Error, Result};
use crate::trace::Trace;

/// How many threads share the pass over a large table.
///
/// Whoever examines a trace has two cores; each further thread would hold groups of its own, and memory is bounded.
pub(crate) const THREADS: usize = 2;

/// Fewer row ids than this are not worth a second thread, whose connection has to read the whole schema first.
const ROWS_WORTH_A_THREAD: i64 = 20_000;

/// The current row of a pass, with what an error message needs.
pub(crate) struct Fields<'r, 's> {
    row: &'r Row<'s>,
    from: &'r Location<'r>,
}

/// Where the rows come from.
struct Location<'t> {
    path: &'t std::path::Path,
    table: &'static str,
    columns: &'t [Column],
}

impl Fields<'_, '_> {
    /// The field at the next position, which the range counts.
    pub(crate) fn next<T: Field>(&self, position: &mut RangeFrom<usize>) -> Result<T> {
        let at = position
            .next()
            .expect("a range without an end always goes on");
        self.get(at)
    }

    /// The field at a position of the record's columns.
    pub(crate) fn get<T: Field>(&self, at: usize) -> Result<T> {
        let value = self.value(at)?;
        T::from_value(value).ok_or_else(|| self.bad_cell(at, value.data_type(), T::WANTED))
    }

    /// The text at a position, borrowed from the row; `None` for NULL.
    ///
    /// Text that is not UTF-8 is read with replacement characters: a name is no reason to refuse a trace.
    pub(crate) fn text(&self, at: usize) -> Result<Option<std::borrow::Cow<'_, str>>> {
        match self.value(at)? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(bytes) => Ok(Some(String::from_utf8_lossy(bytes))),
            other => Err(self.bad_cell(at, other.data_type(), "a text or NULL")),
        }
    }

    fn value(&self, at: usize) -> Result<ValueRef<'_>> {
        self.row
            .get_ref(at)
            .map_err(|source| Error::query(self.from.path, self.from.table, source))
    }

    fn bad_cell(&self, at: usize, found: Type, wanted: &'static str) -> Error {
        Error::BadCell {
            path: self.from.path.to_owned(),
            table: self.from.table,
            column: self.from.columns.get(at).map_or("", |column| column.name),
            found: found.to_string(),
            wanted,
        }
    }
}

impl Trace {
    /// Folds a table into one value per thread, in the order of the rows; `None` when the table does not exist.
    pub(crate) fn fold_parts<A: Send>(
        &self,
        table: &'static str,
        columns: &[Column],
        new: impl Fn() -> A + Sync,
        step: impl Fn(&mut A, &Fields<'_, '_>) -> Result<()> + Sync,
    ) -> Result<Option<Vec<A>>> {
        let Some(select) = self.select(table, columns)? else {
            return Ok(None);
        };
        let location = Location {
            path: self.path(),
            table,
            columns,
        };
        let pass = |conn: &Connection, range: Option<(i64, i64)>| -> Result<A> {
            let mut state = new();
            scan(conn, &location, &select, range, |fields| {
                step(&mut state, fields)
            })?;
            Ok(state)
        };
        let ranges = self.row_ranges(table)?;
        let Some((first, rest)) = ranges.split_first() else {
            return Ok(Some(vec![pass(self.conn(), None)?]));
        };
        let connections = rest
            .iter()
            .map(|_| self.another_connection())
            .collect::<Result<Vec<_>>>()?;
        thread::scope(|scope| {
            let workers: Vec<_> = rest
                .iter()
                .zip(connections)
                .map(|(range, conn)| {
                    let pass = &pass;
                    scope.spawn(move || pass(&conn, Some(*range)))
                })
                .collect();
            let mut parts = vec![pass(self.conn(), Some(*first))];
            for worker in workers {
                // A panic of the worker is a defect of this crate and goes on as one.
                parts.push(
                    worker
                        .join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                );
            }
            parts.into_iter().collect::<Result<Vec<A>>>().map(Some)
        })
    }

    /// Calls `step` for every typed row in the order of row ids; false when the table does not exist.
    pub(crate) fn for_each_record<R: Record>(&self, mut step: impl FnMut(R)) -> Result<bool> {
        self.for_each(R::TABLE, R::COLUMNS, |fields| {
            step(R::read(fields)?);
            Ok(())
        })
    }

    /// Calls `step` for every row in the order of row ids; false when the table does not exist.
    pub(crate) fn for_each(
        &self,
        table: &'static str,
        columns: &[Column],
        step: impl FnMut(&Fields<'_, '_>) -> Result<()>,
    ) -> Result<bool> {
        let Some(select) = self.select(table, columns)? else {
            return Ok(false);
        };
        let location = Location {
            path: self.path(),
            table,
            columns,
        };
        scan(self.conn(), &location, &select, None, step)?;
        Ok(true)
    }

    /// The query over the columns that exist; `None` when the table does not.
    fn select(&self, table: &'static str, columns: &[Column]) -> Result<Option<String>> {
        if !self.schema().has_table(table) {
            return Ok(None);
        }
        let mut list = Vec::with_capacity(columns.len());
        for column in columns {
            let is_rowid = column.name == "rowid" && self.schema().has_rowid(table);
            if is_rowid || self.schema().has_column(table, column.name) {
                list.push(format!("\"{}\"", column.name));
            } else if column.needed == Needed::IfThere {
                list.push("NULL".to_owned());
            } else {
                return Err(Error::MissingColumn {
                    path: self.path().to_owned(),
                    table,
                    column: column.name,
                });
            }
        }
        Ok(Some(format!("SELECT {} FROM \"{table}\"", list.join(", "))))
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

fn scan(
    conn: &Connection,
    location: &Location<'_>,
    select: &str,
    range: Option<(i64, i64)>,
    mut step: impl FnMut(&Fields<'_, '_>) -> Result<()>,
) -> Result<()> {
    let failed = |source| Error::query(location.path, location.table, source);
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
        step(&Fields {
            row,
            from: location,
        })?;
    }
    Ok(())
}
