//! From GPU work back to the call that launched it, and to the ranges around that call.
//!
//! The exporter joins both by process and correlation id. The ids of the GPU work are collected and sorted first, then one
//! pass over the calls fills in those that launched something: most calls did not, and take no memory.

mod ranges;
mod shares;

pub(crate) use ranges::LaunchRanges;
pub(crate) use shares::{Share, Shares};

use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Result;
use crate::grouped::Grouped;
use crate::ids::{ProcessKey, ThreadKey};
use crate::rows::{LeafFilter, Record, records};
use crate::trace::Trace;

/// A call that launched GPU work.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call {
    pub(crate) start: i64,
    pub(crate) end: i64,
    /// The position of its thread in [`Launches::threads`]; [`NO_CALL`] where no call was found.
    thread: u32,
    /// The position of its name's string id in [`Launches::names`].
    name: u32,
}

/// Marks GPU work whose call is not in the export.
const NO_CALL: u32 = u32::MAX;

/// Calls by process and correlation id.
#[derive(Debug)]
pub(crate) struct Launches {
    /// Ascending.
    processes: Vec<ProcessKey>,
    /// Process position and correlation id of all GPU work, ascending.
    keys: Vec<u64>,
    /// The call of each key.
    calls: Vec<Call>,
    threads: Vec<ThreadKey>,
    names: Vec<i64>,
}

/// Where the last search ended.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Near(usize);

/// Process and correlation ids of one thread's share of the rows.
#[derive(Debug, Default)]
struct Keys {
    processes: Grouped<ProcessKey, ()>,
    keys: Vec<u64>,
}

impl Keys {
    fn push(&mut self, process: i64, correlation: u32) {
        let process = self.processes.position(ProcessKey::of(process));
        let key = key(process, correlation);
        // All nodes of a graph launch follow each other with one id.
        if self.keys.last() != Some(&key) {
            self.keys.push(key);
        }
    }
}

/// A call on its way to its place.
struct FoundCall {
    slot: usize,
    start: i64,
    end: i64,
    thread: ThreadKey,
    name: i64,
}

/// How many calls a thread collects before it takes the lock: few enough to cost no memory, enough to seldom wait.
const FOUND_AT_ONCE: usize = 4096;

/// Calls in their places, which the threads of a pass fill together.
#[derive(Default)]
struct Filled {
    calls: Vec<Call>,
    threads: Grouped<ThreadKey, ()>,
    names: Grouped<i64, ()>,
}

impl Filled {
    /// Puts calls into their places. Where two calls claim one place the earlier stays, whoever comes first.
    fn take(&mut self, found: &mut Vec<FoundCall>) {
        for call in found.drain(..) {
            let place = &mut self.calls[call.slot];
            if place.thread == NO_CALL || (call.start, call.end) < (place.start, place.end) {
                *place = Call {
                    start: call.start,
                    end: call.end,
                    thread: narrow(self.threads.position(call.thread)),
                    name: narrow(self.names.position(call.name)),
                };
            }
        }
    }
}

/// A thread that panicked under the lock passes its panic on at the end of the pass; until then the data is whole.
fn lock(filled: &Mutex<Filled>) -> MutexGuard<'_, Filled> {
    filled.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key(process: usize, correlation: u32) -> u64 {
    (process as u64) << 32 | u64::from(correlation)
}

impl Launches {
    /// The calls that launched the work in the given tables.
    pub(crate) fn of(trace: &Trace, tables: &[&'static str]) -> Result<Self> {
        let tables: Vec<_> = tables.iter().map(|table| (*table, None)).collect();
        Self::within(trace, &tables, None, &(0..=u32::MAX))
    }

    /// The calls with correlation ids in a range, and on which pages those are, where that is known, for every table of work
    /// and for the calls.
    fn within(
        trace: &Trace,
        tables: &[(&'static str, Option<&LeafFilter>)],
        call_pages: Option<&LeafFilter>,
        ids: &RangeInclusive<u32>,
    ) -> Result<Self> {
        let mut parts = Vec::new();
        for (table, filter) in tables {
            parts.extend(work_keys(trace, table, *filter, ids)?);
        }
        let mut processes: Vec<ProcessKey> = parts
            .iter()
            .flat_map(|part| part.processes.iter().map(|(process, ())| process))
            .collect();
        processes.sort_unstable();
        processes.dedup();
        let mut keys = Vec::new();
        for part in parts {
            let renumbered: Vec<usize> = part
                .processes
                .iter()
                .map(|(process, ())| processes.partition_point(|other| *other < process))
                .collect();
            keys.extend(part.keys.into_iter().map(|old| {
                let (process, correlation) = split(old);
                key(renumbered[process], correlation)
            }));
        }
        keys.sort_unstable();
        keys.dedup();
        keys.shrink_to_fit();
        let vacant = Call {
            start: 0,
            end: 0,
            thread: NO_CALL,
            name: 0,
        };
        let calls = vec![vacant; keys.len()];
        let mut launches = Self {
            processes,
            keys,
            calls,
            threads: Vec::new(),
            names: Vec::new(),
        };
        launches.fill(trace, call_pages)?;
        Ok(launches)
    }

    fn fill(&mut self, trace: &Trace, filter: Option<&LeafFilter>) -> Result<()> {
        records! {
            struct ApiCall: "CUPTI_ACTIVITY_KIND_RUNTIME" {
                start: i64 = "start",
                end: i64 = "end",
                thread: Option<i64> = "globalTid",
                correlation: Option<i64> = "correlationId",
                name: i64 = "nameId",
            }
        }
        let filled = Mutex::new(Filled {
            calls: std::mem::take(&mut self.calls),
            ..Filled::default()
        });
        let this = &*self;
        let parts = trace.fold_some_parts(
            ApiCall::TABLE,
            ApiCall::COLUMNS,
            filter,
            || (Near::default(), Vec::with_capacity(FOUND_AT_ONCE)),
            |(near, found), fields| {
                let row = ApiCall::read(fields)?;
                let Some((thread, correlation)) = row.thread.zip(row.correlation) else {
                    return Ok(());
                };
                let thread = ThreadKey::of(thread);
                if let Some(slot) = this.slot_near(near, thread.process(), correlation) {
                    found.push(FoundCall {
                        slot,
                        start: row.start,
                        end: row.end,
                        thread,
                        name: row.name,
                    });
                    if found.len() == FOUND_AT_ONCE {
                        lock(&filled).take(found);
                    }
                }
                Ok(())
            },
        )?;
        let mut filled = filled.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (_, mut found) in parts.unwrap_or_default() {
            filled.take(&mut found);
        }
        self.calls = filled.calls;
        self.threads = filled.threads.iter().map(|(thread, ())| thread).collect();
        self.names = filled.names.iter().map(|(name, ())| name).collect();
        Ok(())
    }

    /// The place of some GPU work among all launches.
    pub(crate) fn slot(&self, process: ProcessKey, correlation: i64) -> Option<usize> {
        self.slot_near(&mut Near::default(), process, correlation)
    }

    /// [`Launches::slot`] for many questions in a row: ids grow with time, so the next place is close to the last one.
    pub(crate) fn slot_near(
        &self,
        near: &mut Near,
        process: ProcessKey,
        correlation: i64,
    ) -> Option<usize> {
        let correlation = u32::try_from(correlation).ok()?;
        let process = self.processes.binary_search(&process).ok()?;
        let wanted = key(process, correlation);
        let (mut low, mut high) = (near.0.min(self.keys.len()), self.keys.len());
        // Doubling steps away from the last place, until the wanted key lies between `low` and `high`.
        let mut step = 1;
        if self.keys.get(low).is_some_and(|key| *key <= wanted) {
            while let Some(key) = self.keys.get(low + step) {
                if *key > wanted {
                    high = low + step;
                    break;
                }
                low += step;
                step *= 2;
            }
        } else {
            high = low;
            while low > 0 {
                low = low.saturating_sub(step);
                if self.keys[low] <= wanted {
                    break;
                }
                high = low;
                step *= 2;
            }
        }
        let found = self.keys[low..high].binary_search(&wanted);
        near.0 = low + found.unwrap_or_else(|place| place.saturating_sub(1));
        found.ok().map(|place| low + place)
    }

    /// The call in a place; `None` where the export does not hold it.
    pub(crate) fn call(&self, slot: usize) -> Option<&Call> {
        Some(&self.calls[slot]).filter(|call| call.thread != NO_CALL)
    }

    /// How many places there are.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(crate) fn thread(&self, call: &Call) -> ThreadKey {
        self.threads[call.thread as usize]
    }

    /// The string id of the function's name.
    pub(crate) fn name(&self, call: &Call) -> i64 {
        self.names[call.name as usize]
    }
}

/// What several threads grouped, without where each one's searches ended.
pub(crate) fn without_near<T>(parts: Option<Vec<(T, Near)>>) -> Vec<T> {
    parts
        .unwrap_or_default()
        .into_iter()
        .map(|(part, _)| part)
        .collect()
}

fn split(key: u64) -> (usize, u32) {
    let process = usize::try_from(key >> 32).expect("a position among processes");
    let correlation = u32::try_from(key & u64::from(u32::MAX)).expect("the low half of a key");
    (process, correlation)
}

fn narrow(position: usize) -> u32 {
    u32::try_from(position).expect("fewer than 2^32 threads and names")
}

/// The ids in one table of GPU work. CUPTI's correlation ids have 32 bits; a row with another one launched from nowhere.
fn work_keys(
    trace: &Trace,
    table: &'static str,
    filter: Option<&LeafFilter>,
    ids: &RangeInclusive<u32>,
) -> Result<Vec<Keys>> {
    use crate::rows::Column;

    let columns = [
        Column::if_there("globalPid"),
        Column::if_there("correlationId"),
    ];
    let parts = trace.fold_some_parts(table, &columns, filter, Keys::default, |keys, fields| {
        let process = fields.get::<Option<i64>>(0)?.unwrap_or_default();
        let correlation = fields
            .get::<Option<i64>>(1)?
            .and_then(|id| u32::try_from(id).ok())
            .filter(|id| ids.contains(id));
        if let Some(correlation) = correlation {
            keys.push(process, correlation);
        }
        Ok(())
    })?;
    Ok(parts.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Launches, Near, key};
    use crate::ids::ProcessKey;

    proptest! {
        /// Wherever a search begins, it finds what a plain one finds.
        #[test]
        fn a_search_from_anywhere_finds_the_same(
            ids in prop::collection::btree_set(0_u32..60, 0..40),
            questions in prop::collection::vec(0_i64..70, 0..40),
        ) {
            let process = ProcessKey::of(1 << 24);
            let keys: Vec<u64> = ids.iter().map(|id| key(0, *id)).collect();
            let launches = Launches {
                processes: vec![process],
                keys,
                calls: Vec::new(),
                threads: Vec::new(),
                names: Vec::new(),
            };
            let mut near = Near::default();
            for question in questions {
                let expected = ids.iter().position(|id| i64::from(*id) == question);
                prop_assert_eq!(launches.slot_near(&mut near, process, question), expected);
                prop_assert_eq!(launches.slot(process, question), expected);
            }
        }
    }
}
