//! The row layer: one sequential pass over a table, columns by name, no allocation a row.
//!
//! An export has no indexes, so a pass over the whole table is the floor of every summary. Large tables are cut into
//! ranges of row ids, one a thread, each thread with a connection of its own. Joins and names are the caller's, in
//! memory: a SQL join or an `ORDER BY` costs several times the pass itself.

mod in_time;
mod record;
mod scan;

pub(crate) use in_time::{EventRow, EventTable};
pub(crate) use record::{Column, Field, Needed, Record, records};
pub(crate) use scan::{Fields, THREADS};
