//! The row layer: one sequential pass over a table, columns by name, no allocation a row.
//!
//! An export has no indexes, so a pass over the whole table is the floor of every summary. Large tables are cut into two
//! parts, one a thread. Tables of the plain form, which are all that the exporter writes, are read from their pages; the
//! others by SQLite. Joins and names are the caller's, in memory: a SQL join or an `ORDER BY` costs several times the pass
//! itself.

mod by_page;
mod by_query;
mod fields;
mod in_time;
mod record;
mod scan;

pub(crate) use by_page::LeafFilter;
pub(crate) use fields::Fields;
pub(crate) use in_time::{EventRow, EventTable};
pub(crate) use record::{Column, Field, Needed, Record, records};
pub(crate) use scan::THREADS;
