//! The values of the current row of a pass.

use std::ops::RangeFrom;

use rusqlite::Row;
use rusqlite::types::{Type, ValueRef};

use super::{Column, Field};
use crate::error::{Error, Result};
use crate::pages::{Fault, Record};

/// The current row of a pass, with what an error message needs.
pub(crate) struct Fields<'r, 's> {
    row: Source<'r, 's>,
    from: &'r Location<'r>,
}

/// Where the values of a row come from.
enum Source<'r, 's> {
    /// The pages of the file.
    Record(&'r Record<'r>),
    /// A query.
    Row(&'r Row<'s>),
}

/// Where the rows come from.
pub(super) struct Location<'t> {
    pub(super) path: &'t std::path::Path,
    pub(super) table: &'static str,
    pub(super) columns: &'t [Column],
}

impl<'r, 's> Fields<'r, 's> {
    pub(super) fn of_record(record: &'r Record<'r>, from: &'r Location<'r>) -> Self {
        Self {
            row: Source::Record(record),
            from,
        }
    }

    pub(super) fn of_row(row: &'r Row<'s>, from: &'r Location<'r>) -> Self {
        Self {
            row: Source::Row(row),
            from,
        }
    }

    /// The position of the row's leaf among those that this thread reads; `None` where SQLite reads them.
    pub(crate) fn leaf(&self) -> Option<usize> {
        match self.row {
            Source::Record(record) => Some(record.leaf()),
            Source::Row(_) => None,
        }
    }

    /// The field at the next position, which the range counts.
    pub(crate) fn next<T: Field>(&self, position: &mut RangeFrom<usize>) -> Result<T> {
        let at = position
            .next()
            .expect("a range without an end always goes on");
        self.get(at)
    }

    /// The field at a position of the record's columns.
    #[inline]
    pub(crate) fn get<T: Field>(&self, at: usize) -> Result<T> {
        let value = self.value(at)?;
        match T::from_value(value) {
            Some(field) => Ok(field),
            None => Err(self.bad_cell(at, value.data_type(), T::WANTED)),
        }
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

    #[inline]
    fn value(&self, at: usize) -> Result<ValueRef<'_>> {
        match self.row {
            Source::Record(record) => Ok(record.value(at)),
            Source::Row(row) => row.get_ref(at).map_err(|source| self.from.refused(source)),
        }
    }

    #[cold]
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

impl Location<'_> {
    /// What SQLite said.
    pub(super) fn refused(&self, source: rusqlite::Error) -> Error {
        Error::query(self.path, self.table, source)
    }

    /// What a page showed.
    pub(super) fn fault(&self, fault: Fault) -> Error {
        match fault {
            Fault::Read(source) => Error::Read {
                path: self.path.to_owned(),
                source,
            },
            Fault::Page { number, problem } => Error::Damaged {
                path: self.path.to_owned(),
                detail: format!("table `{}`: page {number} {problem}", self.table),
            },
        }
    }
}
