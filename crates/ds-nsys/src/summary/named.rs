//! The common shape of most summaries: durations of one table's rows, grouped by a name out of the string table.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::Result;
use crate::grouped::{Grouped, Merge};
use crate::ids::{DeviceKey, ProcessKey, StreamKey};
use crate::query::{Scope, Selection, Split};
use crate::rows::{Column, Fields};
use crate::samples::{Samples, Summary};
use crate::trace::Trace;
use crate::units::Nanos;

/// Which rows to sum up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NamedRows {
    pub(crate) table: &'static str,
    /// The column with the name's string id.
    pub(crate) name: &'static str,
    /// The column from which the scope of a row follows.
    pub(crate) owner: Owner,
    /// Rows of one event class only.
    pub(crate) event_class: Option<i64>,
    pub(crate) grouping: Grouping,
}

/// What makes two rows belong together, and by what groups are ordered before a summary sorts them by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// The name as it is shown.
    Shown,
    /// The string id: names that are shown alike stay apart.
    Stored,
}

/// What a row says about where it ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// A process, a device, a context and a stream.
    Stream,
    /// A thread, and by it a process.
    Thread,
}

/// One group.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) name: Arc<str>,
    pub(crate) scope: Scope,
    pub(crate) summary: Summary,
}

/// The position of the first column that [`ScopeReader`] added.
const FIRST_SCOPE_COLUMN: usize = 4;

/// Sums up the rows under the names that `rename` shows; `None` when the table does not exist.
///
/// Groups come in the order of their names or string ids, then of their scopes.
pub(crate) fn sum_up(
    trace: &Trace,
    rows: NamedRows,
    selection: Selection,
    rename: impl Fn(&str) -> &str,
) -> Result<Option<Vec<Named>>> {
    let scope = ScopeReader::new(rows.owner, selection.split);
    let mut columns = vec![
        Column::always("start"),
        Column::always("end"),
        Column::always(rows.name),
        // Without a class to look at the column is not there, reads as NULL and keeps the positions fixed.
        rows.event_class
            .map_or(Column::if_there(""), |_| Column::always("eventClass")),
    ];
    columns.extend(scope.columns());
    let parts = trace.fold_parts(
        rows.table,
        &columns,
        Grouped::<(Option<i64>, Scope), Samples>::default,
        |groups, fields| {
            let (start, end): (i64, i64) = (fields.get(0)?, fields.get(1)?);
            if !selection.window.holds(Nanos(start), Nanos(end)) {
                return Ok(());
            }
            if fields.get::<Option<i64>>(3)? != rows.event_class {
                return Ok(());
            }
            let key = (fields.get(2)?, scope.read(fields)?);
            groups.entry(key).push(end.saturating_sub(start));
            Ok(())
        },
    )?;
    let Some(parts) = parts else {
        return Ok(None);
    };
    let mut groups: BTreeMap<(Option<i64>, Arc<str>, Scope), Samples> = BTreeMap::new();
    for ((id, scope), samples) in Grouped::joined(parts).into_groups() {
        let name = trace.name(id)?;
        let shown = rename(&name);
        let name = if shown.len() == name.len() {
            name
        } else {
            Arc::from(shown)
        };
        let id = id.filter(|_| rows.grouping == Grouping::Stored);
        groups.entry((id, name, scope)).or_default().merge(samples);
    }
    let named = groups
        .into_iter()
        .filter_map(|((_, name, scope), samples)| {
            samples.summary().map(|summary| Named {
                name,
                scope,
                summary,
            })
        });
    Ok(Some(named.collect()))
}

impl Trace {
    /// The string with this id; empty where the export does not hold it.
    pub(crate) fn name(&self, id: Option<i64>) -> Result<Arc<str>> {
        let Some(id) = id else {
            return Ok(Arc::from(""));
        };
        let found = self
            .strings()
            .get(self.conn(), id)
            .map_err(|source| self.query_error("StringIds", source))?;
        Ok(found.unwrap_or_else(|| Arc::from("")))
    }
}

/// Reads the scope of a row with no more columns than the split needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScopeReader {
    owner: Owner,
    split: Split,
    first: usize,
}

impl ScopeReader {
    fn new(owner: Owner, split: Split) -> Self {
        Self::at(FIRST_SCOPE_COLUMN, owner, split)
    }

    /// A reader whose columns stand from this position on.
    pub(crate) fn at(first: usize, owner: Owner, split: Split) -> Self {
        // A call has no device of its own; its process is the finest part that is known.
        let split = match (owner, split) {
            (Owner::Thread, Split::Device | Split::Stream) => Split::Process,
            (_, split) => split,
        };
        Self {
            owner,
            split,
            first,
        }
    }

    /// The columns that [`ScopeReader::read`] looks at.
    pub(crate) fn columns(self) -> impl Iterator<Item = Column> {
        let process = match self.owner {
            Owner::Stream => "globalPid",
            Owner::Thread => "globalTid",
        };
        let count = match self.split {
            Split::Whole => 0,
            Split::Process => 1,
            Split::Device => 2,
            Split::Stream => 4,
        };
        [process, "deviceId", "contextId", "streamId"]
            .into_iter()
            .take(count)
            .map(Column::if_there)
    }

    /// The scope of the current row; an id that the row lacks counts as 0.
    pub(crate) fn read(self, fields: &Fields<'_, '_>) -> Result<Scope> {
        let id = |offset: usize| -> Result<i64> {
            Ok(fields
                .get::<Option<i64>>(self.first + offset)?
                .unwrap_or_default())
        };
        let process = || -> Result<ProcessKey> { Ok(ProcessKey::of(id(0)?)) };
        let device = || -> Result<DeviceKey> {
            Ok(DeviceKey {
                process: process()?,
                ordinal: id(1)?,
            })
        };
        Ok(match self.split {
            Split::Whole => Scope::Whole,
            Split::Process => Scope::Process(process()?),
            Split::Device => Scope::Device(device()?),
            Split::Stream => Scope::Stream(StreamKey {
                device: device()?,
                context: id(2)?,
                stream: id(3)?,
            }),
        })
    }
}
