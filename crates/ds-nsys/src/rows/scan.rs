//! Passes over one table.

use std::thread;

use super::by_query::query;
use super::fields::Location;
use super::{Column, Fields, LeafFilter, Needed, Record};
use crate::error::{Error, Result};
use crate::trace::Trace;

/// How many threads share the pass over a large table.
///
/// Whoever examines a trace has two cores; each further thread would hold groups of its own, and memory is bounded.
pub(crate) const THREADS: usize = 2;

/// Fewer leaves than this are not worth a second thread: some 10,000 rows, which take less than a millisecond.
const LEAVES_WORTH_A_THREAD: usize = 256;

impl Trace {
    /// Folds a table into one value per thread, in the order of the rows; `None` when the table does not exist.
    pub(crate) fn fold_parts<A: Send>(
        &self,
        table: &'static str,
        columns: &[Column],
        new: impl Fn() -> A + Sync,
        step: impl Fn(&mut A, &Fields<'_, '_>) -> Result<()> + Sync,
    ) -> Result<Option<Vec<A>>> {
        self.fold_some_parts(table, columns, None, new, step)
    }

    /// [`Trace::fold_parts`] without the rows on pages that a filter leaves out. A table that only SQLite can read has no
    /// pages here: all its rows come.
    pub(crate) fn fold_some_parts<A: Send>(
        &self,
        table: &'static str,
        columns: &[Column],
        filter: Option<&LeafFilter>,
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
        let Some(leaves) = self.leaves(&location, filter)? else {
            return self.fold_query(&location, &select, new, step).map(Some);
        };
        let reader = &leaves.reader;
        let pass = |leaves: &[u32]| -> Result<A> {
            let mut state = new();
            reader.pass(&location, leaves, |fields| step(&mut state, fields))?;
            Ok(state)
        };
        let share = leaves.leaves.len().div_ceil(THREADS);
        let (first, rest) = leaves.leaves.split_at(if share < LEAVES_WORTH_A_THREAD {
            leaves.leaves.len()
        } else {
            share
        });
        let rest = rest.chunks(share.max(1)).collect();
        with_threads(|| pass(first), rest, pass).map(Some)
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
        self.for_some(table, columns, None, step)
    }

    /// [`Trace::for_each`] without the rows on pages that a filter leaves out, as far as pages are read.
    pub(crate) fn for_some(
        &self,
        table: &'static str,
        columns: &[Column],
        filter: Option<&LeafFilter>,
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
        match self.leaves(&location, filter)? {
            Some(leaves) => leaves.reader.pass(&location, &leaves.leaves, step)?,
            None => query(self.conn(), &location, &select, None, step)?,
        }
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
}

/// Does `first` on this thread and each job of `rest` on one of its own; what they give comes in their order.
pub(super) fn with_threads<J: Send, A: Send>(
    first: impl FnOnce() -> Result<A>,
    rest: Vec<J>,
    job: impl Fn(J) -> Result<A> + Sync,
) -> Result<Vec<A>> {
    thread::scope(|scope| {
        let job = &job;
        let workers: Vec<_> = rest
            .into_iter()
            .map(|part| scope.spawn(move || job(part)))
            .collect();
        let mut parts = vec![first()];
        for worker in workers {
            // A panic of the worker is a defect of this crate and goes on as one.
            parts.push(
                worker
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            );
        }
        parts.into_iter().collect()
    })
}
