//! Passes that read the pages of the file themselves.

use rusqlite::{OptionalExtension as _, Transaction};

use super::Fields;
use super::fields::Location;
use crate::error::{Error, Result};
use crate::pages::{Layout, Pages, for_each_record};
use crate::trace::Trace;

/// A table that is ready to be read.
pub(super) struct Leaves<'t> {
    pub(super) reader: Reader<'t>,
    /// The pages with its rows, in their order.
    pub(super) leaves: Vec<u32>,
    /// Keeps writers out as long as the pages are read.
    _lock: Option<Transaction<'t>>,
}

/// Which leaves of a table a pass has to look at.
#[derive(Debug)]
pub(crate) struct LeafFilter(Vec<bool>);

impl LeafFilter {
    /// For every leaf of the table, in order, whether it is looked at.
    pub(crate) fn new(leaves: impl IntoIterator<Item = bool>) -> Self {
        Self(leaves.into_iter().collect())
    }
}

/// What threads share.
pub(super) struct Reader<'t> {
    pages: Pages<'t>,
    layout: Layout,
}

impl Reader<'_> {
    /// Calls `step` for every row on the given leaves.
    pub(super) fn pass(
        &self,
        location: &Location<'_>,
        leaves: &[u32],
        mut step: impl FnMut(&Fields<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        for_each_record(
            &self.pages,
            leaves,
            &self.layout,
            |fault| location.fault(fault),
            |record| step(&Fields::of_record(record, location)),
        )
    }
}

impl Trace {
    /// Finds the leaves of a table without those that a filter leaves out; `None` where only SQLite can read the table.
    pub(super) fn leaves<'t>(
        &'t self,
        location: &Location<'_>,
        filter: Option<&LeafFilter>,
    ) -> Result<Option<Leaves<'t>>> {
        let Some(layout) = self.schema().layout(location.table, location.columns) else {
            return Ok(None);
        };
        // Within a pass over another table the lock is held already.
        let lock = if self.conn().is_autocommit() {
            Some(self.conn().unchecked_transaction())
        } else {
            None
        };
        let lock = lock
            .transpose()
            .map_err(|source| location.refused(source))?;
        // The first question takes the lock, after SQLite has looked for a journal that has to be rolled back.
        let root: Option<i64> = self
            .conn()
            .prepare_cached("SELECT rootpage FROM sqlite_master WHERE type = 'table' AND name = ?1")
            .and_then(|mut query| {
                query
                    .query_row([location.table], |row| row.get(0))
                    .optional()
            })
            .map_err(|source| location.refused(source))?;
        let pages = Pages::of(self.file()).map_err(|source| Error::Read {
            path: location.path.to_owned(),
            source,
        })?;
        let pages = pages.filter(|pages| pages.schema_cookie() == self.schema_cookie());
        // A virtual table has the root 0, and on page 1 lies the schema.
        let root = root
            .and_then(|root| u32::try_from(root).ok())
            .filter(|root| *root > 1);
        let Some((pages, root)) = pages.zip(root) else {
            return Ok(None);
        };
        let mut leaves = pages.leaves(root).map_err(|fault| location.fault(fault))?;
        // A filter that was made for another state of the table is of no use.
        if let Some(LeafFilter(wanted)) = filter.filter(|filter| filter.0.len() == leaves.len()) {
            let mut wanted = wanted.iter();
            leaves.retain(|_| wanted.next().is_some_and(|wanted| *wanted));
        }
        Ok(Some(Leaves {
            reader: Reader { pages, layout },
            leaves,
            _lock: lock,
        }))
    }
}
