//! Launches in shares, so that memory stays bounded however large the trace is.
//!
//! Every share is a range of correlation ids. The exporter writes both tables in the order of these ids but for a few
//! places, so the rows of a share lie on a few pages, and all shares together read little more than one pass would. Rows in
//! any other order cost time: then every share reads most pages.

use std::ops::RangeInclusive;

use super::Launches;
use crate::error::Result;
use crate::rows::{Column, Fields, LeafFilter};
use crate::summary::RUNTIME_TABLE;
use crate::trace::Trace;

/// At most so many launches are held at once, at 40 bytes each: some 80 MB.
const LAUNCHES_AT_ONCE: u64 = 2 << 20;

/// Ids are counted in blocks of 2^16; a share consists of whole blocks.
const BLOCK_BITS: u32 = 16;

/// What there is to do, share by share.
pub(crate) struct Shares<'t> {
    trace: &'t Trace,
    /// The tables of GPU work and, last, the calls.
    surveys: Vec<(&'static str, Survey)>,
    /// The ids of the shares to come, the last share first.
    ids: Vec<RangeInclusive<u32>>,
    is_begun: bool,
}

/// One share of the launches.
pub(crate) struct Share {
    pub(crate) launches: Launches,
    ids: RangeInclusive<u32>,
    is_first: bool,
    filters: Vec<(&'static str, Option<LeafFilter>)>,
}

impl<'t> Shares<'t> {
    /// Divides the launches of the work in the given tables.
    pub(crate) fn of(trace: &'t Trace, tables: &[&'static str]) -> Result<Self> {
        Self::of_at_most(LAUNCHES_AT_ONCE, trace, tables)
    }

    fn of_at_most(most: u64, trace: &'t Trace, tables: &[&'static str]) -> Result<Self> {
        let mut surveys = Vec::new();
        for table in tables {
            surveys.push((*table, Survey::of(trace, table)?));
        }
        let blocks: Vec<u64> = (0..1 << BLOCK_BITS)
            .map(|block| surveys.iter().map(|(_, survey)| survey.ids_in(block)).sum())
            .collect();
        let mut ids = divided(&blocks, most);
        if ids.len() > 1 {
            surveys.push((RUNTIME_TABLE, Survey::of(trace, RUNTIME_TABLE)?));
        }
        ids.reverse();
        Ok(Self {
            trace,
            surveys,
            ids,
            is_begun: false,
        })
    }

    /// The next share; the one before should be gone by then.
    pub(crate) fn next(&mut self) -> Result<Option<Share>> {
        let Some(ids) = self.ids.pop() else {
            return Ok(None);
        };
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        let filters: Vec<(&'static str, Option<LeafFilter>)> = self
            .surveys
            .iter()
            .map(|(table, survey)| (*table, survey.leaves_with(&ids)))
            .collect();
        let (calls, work): (Vec<_>, Vec<_>) = filters
            .iter()
            .map(|(table, filter)| (*table, filter.as_ref()))
            .partition(|(table, _)| *table == RUNTIME_TABLE);
        let calls = calls.first().and_then(|(_, filter)| *filter);
        let launches = Launches::within(self.trace, &work, calls, &ids)?;
        Ok(Some(Share {
            launches,
            ids,
            is_first,
            filters,
        }))
    }
}

impl Share {
    /// Whether a row of GPU work is looked at with this share. Work without an id that could be a launch's comes first.
    pub(crate) fn holds(&self, correlation: Option<i64>) -> bool {
        match correlation.and_then(|id| u32::try_from(id).ok()) {
            Some(id) => self.ids.contains(&id),
            None => self.is_first,
        }
    }

    /// [`Trace::fold_parts`] over pages that may have rows of this share; other rows among them are the caller's to skip.
    pub(crate) fn fold_parts<A: Send>(
        &self,
        trace: &Trace,
        table: &'static str,
        columns: &[Column],
        new: impl Fn() -> A + Sync,
        step: impl Fn(&mut A, &Fields<'_, '_>) -> Result<()> + Sync,
    ) -> Result<Option<Vec<A>>> {
        trace.fold_some_parts(table, columns, self.filter(table), new, step)
    }

    /// [`Trace::for_each`] over pages that may have rows of this share.
    pub(crate) fn for_each(
        &self,
        trace: &Trace,
        table: &'static str,
        columns: &[Column],
        step: impl FnMut(&Fields<'_, '_>) -> Result<()>,
    ) -> Result<bool> {
        trace.for_some(table, columns, self.filter(table), step)
    }

    fn filter(&self, table: &str) -> Option<&LeafFilter> {
        let filter = self.filters.iter().find(|(name, _)| *name == table);
        filter.and_then(|(_, filter)| filter.as_ref())
    }
}

/// Which ids a table has, and where.
#[derive(Debug, Default)]
struct Survey {
    /// How many ids there are in each block, counted again when they come again after another one.
    ids: Vec<u32>,
    /// For each leaf the least and the largest id, and whether it has rows without one.
    leaves: Vec<OnLeaf>,
    last: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
struct OnLeaf {
    least: u32,
    largest: u32,
    has_others: bool,
}

impl Survey {
    fn of(trace: &Trace, table: &'static str) -> Result<Self> {
        let columns = [Column::if_there("correlationId")];
        let parts = trace.fold_parts(table, &columns, Self::default, |survey, fields| {
            let id = fields.get::<Option<i64>>(0)?;
            survey.take(fields.leaf(), id.and_then(|id| u32::try_from(id).ok()));
            Ok(())
        })?;
        let mut parts = parts.unwrap_or_default().into_iter();
        let mut survey = parts.next().unwrap_or_default();
        for part in parts {
            survey.leaves.extend(part.leaves);
            survey.ids.resize(survey.ids.len().max(part.ids.len()), 0);
            for (all, more) in survey.ids.iter_mut().zip(part.ids) {
                *all = all.saturating_add(more);
            }
        }
        Ok(survey)
    }

    fn take(&mut self, leaf: Option<usize>, id: Option<u32>) {
        if let Some(leaf) = leaf {
            if leaf >= self.leaves.len() {
                let empty = OnLeaf {
                    least: u32::MAX,
                    largest: 0,
                    has_others: false,
                };
                self.leaves.resize(leaf + 1, empty);
            }
            let on_leaf = &mut self.leaves[leaf];
            match id {
                Some(id) => {
                    on_leaf.least = on_leaf.least.min(id);
                    on_leaf.largest = on_leaf.largest.max(id);
                }
                None => on_leaf.has_others = true,
            }
        }
        // All nodes of a graph launch follow each other with one id.
        if let Some(id) = id.filter(|id| self.last != Some(*id)) {
            self.last = Some(id);
            let block = (id >> BLOCK_BITS) as usize;
            if block >= self.ids.len() {
                self.ids.resize(block + 1, 0);
            }
            self.ids[block] = self.ids[block].saturating_add(1);
        }
    }

    fn ids_in(&self, block: usize) -> u64 {
        self.ids.get(block).copied().unwrap_or_default().into()
    }

    /// The leaves that may have rows of a share. Rows without an id belong to the first share, which begins with id 0.
    fn leaves_with(&self, ids: &RangeInclusive<u32>) -> Option<LeafFilter> {
        if self.leaves.is_empty() || *ids == (0..=u32::MAX) {
            return None;
        }
        let leaves = self.leaves.iter().map(|leaf| {
            let is_inside = leaf.least <= *ids.end() && leaf.largest >= *ids.start();
            is_inside || (leaf.has_others && *ids.start() == 0)
        });
        Some(LeafFilter::new(leaves))
    }
}

/// Cuts the blocks into ranges of ids with at most so many ids each, or of one block where that alone has more.
fn divided(blocks: &[u64], most: u64) -> Vec<RangeInclusive<u32>> {
    let first_of = |block: usize| u32::try_from(block << BLOCK_BITS).expect("2^16 blocks of 2^16");
    let mut cuts = vec![0];
    let mut held = 0;
    for (block, ids) in blocks.iter().enumerate() {
        if held > 0 && *ids > 0 && held + ids > most {
            cuts.push(first_of(block));
            held = 0;
        }
        held += ids;
    }
    let ends = cuts[1..].iter().map(|next| next - 1).chain([u32::MAX]);
    cuts.iter()
        .copied()
        .zip(ends)
        .map(|(from, to)| from..=to)
        .collect()
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::{Column, Launches, Shares, Trace, divided};
    use crate::ids::ProcessKey;
    use crate::summary::KERNEL_TABLE;

    #[test]
    fn shares_cover_every_id_once() {
        let mut blocks = vec![0; 1 << 16];
        assert_eq!(divided(&blocks, 10), [0..=u32::MAX], "no launches at all");
        blocks[..5].copy_from_slice(&[6, 4, 11, 0, 3]);
        // 6 + 4 fill the first share, 11 are too many for any, and the rest follows them.
        assert_eq!(
            divided(&blocks, 10),
            [0..=0x1_FFFF, 0x2_0000..=0x3_FFFF, 0x4_0000..=u32::MAX]
        );
    }

    /// Kernels of two processes with ids in no order, one in a hundred without an id, and a call for two in three.
    fn trace(folder: &std::path::Path) -> Trace {
        let path = folder.join("trace.sqlite");
        let conn = Connection::open(&path).expect("a database");
        conn.execute_batch(
            "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
             CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, \"end\" INTEGER, globalPid INTEGER, correlationId INTEGER);
             CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, \"end\" INTEGER, globalTid INTEGER, correlationId INTEGER,
                 nameId INTEGER);
             WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4999)
             INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
                 SELECT i, i + 1, (1 + i % 2) << 24, CASE WHEN i % 100 THEN i * 7919 % 300007 END FROM n;
             INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME
                 SELECT start, \"end\", globalPid + 5, correlationId, 1 FROM CUPTI_ACTIVITY_KIND_KERNEL
                 WHERE start % 3 ORDER BY start DESC;",
        )
        .expect("tables");
        Trace::open(path).expect("an export")
    }

    #[test]
    fn small_shares_hold_what_one_large_share_holds() {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = trace(folder.path());
        let whole = Launches::of(&trace, &[KERNEL_TABLE]).expect("launches");
        let mut shares = Shares::of_at_most(900, &trace, &[KERNEL_TABLE]).expect("shares");
        let columns = ["globalPid", "correlationId", "start"].map(Column::if_there);
        let (mut seen, mut visited, mut launched) = (Vec::new(), 0, 0);
        while let Some(share) = shares.next().expect("a share") {
            visited += 1;
            share
                .for_each(&trace, KERNEL_TABLE, &columns, |fields| {
                    let id: Option<i64> = fields.get(1)?;
                    if share.holds(id) {
                        seen.push(fields.get::<i64>(2)?);
                        let process = ProcessKey::of(fields.get(0)?);
                        let start = |launches: &Launches| {
                            let call = launches.call(launches.slot(process, id?)?)?;
                            Some((call.start, call.end, launches.thread(call)))
                        };
                        assert_eq!(start(&share.launches), start(&whole), "{id:?}");
                        launched += usize::from(start(&whole).is_some());
                    }
                    Ok(())
                })
                .expect("rows");
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..5000).collect::<Vec<i64>>());
        assert_eq!(
            visited, 5,
            "ids up to 300,007 lie in five blocks of some 1,090 each"
        );
        assert!(launched > 3000, "{launched} launches");
    }
}
