//! The string table: names are fetched after the rows were summed up, a few hundred ids instead of millions of joins.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension};

use crate::schema::Schema;

/// `StringIds`, looked up on demand.
///
/// The table's id is its primary key in every export examined, so one lookup descends one tree. Where a user's copy has
/// lost the key, the whole table is loaded once instead.
#[derive(Debug)]
pub(crate) struct Strings {
    known: RefCell<HashMap<i64, Option<Arc<str>>>>,
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// There is more to look up.
    Keyed,
    /// All that exists is loaded.
    Complete,
}

impl Strings {
    pub(crate) fn new(conn: &Connection, schema: &Schema) -> rusqlite::Result<Self> {
        let mut known = HashMap::new();
        let keyed = schema.integer_key("StringIds") == Some("id");
        if !keyed && schema.has_columns("StringIds", &["id", "value"]) {
            let mut statement = conn.prepare("SELECT id, value FROM StringIds")?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                known.insert(row.get(0)?, row.get::<_, Option<String>>(1)?.map(Arc::from));
            }
        }
        let source = if keyed {
            Source::Keyed
        } else {
            Source::Complete
        };
        Ok(Self {
            known: RefCell::new(known),
            source,
        })
    }

    /// The string with this id; `None` when the table does not hold it.
    pub(crate) fn get(&self, conn: &Connection, id: i64) -> rusqlite::Result<Option<Arc<str>>> {
        if let Some(known) = self.known.borrow().get(&id) {
            return Ok(known.clone());
        }
        if self.source == Source::Complete {
            return Ok(None);
        }
        let found: Option<Arc<str>> = conn
            .prepare_cached("SELECT value FROM StringIds WHERE id = ?1")?
            .query_row([id], |row| row.get::<_, Option<String>>(0))
            .optional()?
            .flatten()
            .map(Arc::from);
        self.known.borrow_mut().insert(id, found.clone());
        Ok(found)
    }
}
