//! Rows of several tables in the order of time.
//!
//! Exports keep no order, and `ORDER BY` would sort whole rows. Most tables happen to lie in the order of time, though, and
//! then they are merged as they are read. Otherwise the starts are sorted with the row ids beside them, 16 bytes an
//! event, and each row is fetched when its turn comes.

use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator;
use rusqlite::{Row, Rows};

use super::Column;
use crate::error::Result;
use crate::query::Window;
use crate::trace::Trace;
use crate::units::Nanos;

/// A table of events and the columns wanted of it; `start` and `end` always come first.
#[derive(Debug, Clone)]
pub(crate) struct EventTable {
    table: &'static str,
    /// The query without its condition.
    select: String,
}

impl EventTable {
    /// Columns that the table lacks read as NULL.
    pub(crate) fn new(trace: &Trace, table: &'static str, columns: &[&str]) -> Self {
        let list: Vec<String> = ["start", "end"]
            .iter()
            .chain(columns)
            .map(|column| {
                let there = trace.schema().has_column(table, column);
                if there {
                    format!("\"{column}\"")
                } else {
                    "NULL".to_owned()
                }
            })
            .collect();
        Self {
            table,
            select: format!("SELECT {} FROM \"{table}\"", list.join(", ")),
        }
    }
}

/// One event.
pub(crate) struct EventRow<'a, 's> {
    row: &'a Row<'s>,
    trace: &'a Trace,
    table: &'static str,
}

impl EventRow<'_, '_> {
    /// An integer among the columns asked for, counted from 0 behind `start` and `end`.
    pub(crate) fn integer(&self, at: usize) -> Result<Option<i64>> {
        self.raw(at + 2)
    }

    /// When the event starts; an event without a start, which no release writes, counts from 0.
    pub(crate) fn start(&self) -> Result<i64> {
        Ok(self.raw(0)?.unwrap_or_default())
    }

    /// How long the event takes.
    pub(crate) fn duration(&self) -> Result<i64> {
        Ok(self
            .raw(1)?
            .unwrap_or_default()
            .saturating_sub(self.start()?))
    }

    fn is_within(&self, window: Window) -> Result<bool> {
        let end = self.raw(1)?.unwrap_or_default();
        Ok(window.holds(Nanos(self.start()?), Nanos(end)))
    }

    fn raw(&self, at: usize) -> Result<Option<i64>> {
        self.row
            .get(at)
            .map_err(|source| self.trace.query_error(self.table, source))
    }
}

/// When an event starts, and where its row is.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: i64,
    /// The row id times the number of tables, plus the position of the table.
    row: i64,
}

impl Trace {
    /// Calls `step` with the position of the table and the row for every event of a window, by start.
    ///
    /// Events that start together come in the order of the tables, then of the rows. Tables that the export lacks have
    /// no events.
    pub(crate) fn in_time(
        &self,
        tables: &[EventTable],
        window: Window,
        mut step: impl FnMut(usize, &EventRow<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let there: Vec<(usize, &EventTable)> = tables
            .iter()
            .enumerate()
            .filter(|(_, table)| self.schema().has_table(table.table))
            .collect();
        for (_, table) in &there {
            if !self.lies_in_time(table.table)? {
                return self.fetched_in_time(&there, window, step);
            }
        }
        self.merged_in_time(&there, |position, row| {
            if row.is_within(window)? {
                step(position, row)
            } else {
                Ok(())
            }
        })
    }

    fn lies_in_time(&self, table: &'static str) -> Result<bool> {
        let (mut last, mut in_time) = (i64::MIN, true);
        self.for_each(table, &[Column::always("start")], |fields| {
            let start: i64 = fields.get(0)?;
            in_time &= last <= start;
            last = start;
            Ok(())
        })?;
        Ok(in_time)
    }

    fn merged_in_time(
        &self,
        tables: &[(usize, &EventTable)],
        mut step: impl FnMut(usize, &EventRow<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let mut statements = Vec::with_capacity(tables.len());
        for (_, table) in tables {
            let failed = |source| self.query_error(table.table, source);
            statements.push(self.conn().prepare(&table.select).map_err(failed)?);
        }
        let mut sources: Vec<(usize, &'static str, Rows<'_>)> = Vec::with_capacity(tables.len());
        for (statement, (position, table)) in statements.iter_mut().zip(tables) {
            let failed = |source| self.query_error(table.table, source);
            let mut rows = statement.query([]).map_err(failed)?;
            rows.advance().map_err(failed)?;
            sources.push((*position, table.table, rows));
        }
        loop {
            let mut next: Option<(i64, usize)> = None;
            for (nth, (_, table, rows)) in sources.iter().enumerate() {
                let Some(row) = rows.get() else { continue };
                let start = EventRow {
                    row,
                    trace: self,
                    table,
                }
                .start()?;
                if next.is_none_or(|(earliest, _)| start < earliest) {
                    next = Some((start, nth));
                }
            }
            let Some((_, nth)) = next else { return Ok(()) };
            let (position, table, rows) = &mut sources[nth];
            if let Some(row) = rows.get() {
                step(
                    *position,
                    &EventRow {
                        row,
                        trace: self,
                        table,
                    },
                )?;
            }
            rows.advance()
                .map_err(|source| self.query_error(table, source))?;
        }
    }

    fn fetched_in_time(
        &self,
        tables: &[(usize, &EventTable)],
        window: Window,
        mut step: impl FnMut(usize, &EventRow<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let columns = ["rowid", "start", "end"].map(Column::always);
        let shift = i64::try_from(tables.len()).expect("a handful of tables");
        let mut places: Vec<Place> = Vec::new();
        for (nth, (_, table)) in (0..).zip(tables) {
            self.for_each(table.table, &columns, |fields| {
                let (start, end): (i64, i64) = (fields.get(1)?, fields.get(2)?);
                let row: i64 = fields.get(0)?;
                // Row ids count rows; a file with so many that this wraps does not exist.
                if window.holds(Nanos(start), Nanos(end)) {
                    places.push(Place {
                        start,
                        row: row.wrapping_mul(shift).wrapping_add(nth),
                    });
                }
                Ok(())
            })?;
        }
        places.sort_unstable_by_key(|place| (place.start, place.row.rem_euclid(shift), place.row));
        for place in places {
            let nth = usize::try_from(place.row.rem_euclid(shift)).expect("less than a handful");
            let (position, table) = tables[nth];
            let failed = |source| self.query_error(table.table, source);
            let sql = format!("{} WHERE rowid = ?1", table.select);
            let mut statement = self.conn().prepare_cached(&sql).map_err(failed)?;
            let mut rows = statement
                .query([place.row.div_euclid(shift)])
                .map_err(failed)?;
            if let Some(row) = rows.next().map_err(failed)? {
                step(
                    position,
                    &EventRow {
                        row,
                        trace: self,
                        table: table.table,
                    },
                )?;
            }
        }
        Ok(())
    }
}
