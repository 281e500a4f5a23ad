//! Collectives of all ranks, matched by name and order.

use std::collections::BTreeMap;

use super::{RankKey, RankOptions};
use crate::analysis::work::{OWN, Probe, device_of, interval_of, work_columns};
use crate::busy::Interval;
use crate::error::Result;
use crate::ids::DeviceKey;
use crate::query::Window;
use crate::summary::KERNEL_TABLE;
use crate::trace::Trace;
use crate::units::Nanos;

/// The time of one rank's matched collectives, all of them together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CollectiveTime {
    /// How many were matched.
    pub count: u64,
    /// What the transfers took at most: the shortest time that any rank spent in each.
    pub transfer: Nanos,
    /// What this rank spent beyond that, waiting for others.
    pub waiting: Nanos,
}

impl CollectiveTime {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> Nanos {
        self.transfer + self.waiting
    }
}

/// Whether collectives of different ranks can be partners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Matching {
    /// They can: the n-th of one rank and the n-th of another.
    InOrder,
    /// They cannot: no instant lies in the sessions of all traces.
    RecordedApart,
}

/// The collectives of one rank by folded name, each in the order of their starts.
pub(super) type OfRank = BTreeMap<String, Vec<Interval>>;

/// Reads the collectives of every device of a trace.
pub(super) fn read(trace: &Trace, options: &RankOptions) -> Result<BTreeMap<DeviceKey, OfRank>> {
    let columns = work_columns(&["demangledName"]);
    let names = Probe::new(trace, &options.taxonomy)?.communicating;
    if names.is_empty() {
        return Ok(BTreeMap::new());
    }
    let parts = trace.fold_parts(
        KERNEL_TABLE,
        &columns,
        Vec::new,
        |found: &mut Vec<(DeviceKey, i64, Interval)>, fields| {
            let name = fields.get::<Option<i64>>(OWN)?;
            if let Some(name) = name.filter(|name| names.contains_key(name))
                && let Some(interval) = interval_of(fields, options.window)?
            {
                found.push((device_of(fields)?, name, interval));
            }
            Ok(())
        },
    )?;
    let mut by_device: BTreeMap<DeviceKey, OfRank> = BTreeMap::new();
    for (device, name, interval) in parts.into_iter().flatten().flatten() {
        let of_rank = by_device.entry(device).or_default();
        let of_name = of_rank
            .entry(options.folding.fold(&names[&name]))
            .or_default();
        of_name.push(interval);
    }
    for intervals in by_device.values_mut().flat_map(BTreeMap::values_mut) {
        intervals.sort_unstable();
    }
    Ok(by_device)
}

/// Matches the n-th collective of a name on every rank, and splits its time.
///
/// Returns the times by rank, and how many collectives had no partner on every rank. A match counts where it began inside
/// the rank's part of the session on every rank; names of which ranks ran different numbers are not matched at all, since
/// one missing row would pair every later one wrongly. Nor is anything matched of ranks that were recorded apart.
pub(super) fn split(
    ranks: &BTreeMap<RankKey, OfRank>,
    parts: &BTreeMap<RankKey, Window>,
    matching: Matching,
) -> (BTreeMap<RankKey, CollectiveTime>, u64) {
    let mut times: BTreeMap<RankKey, CollectiveTime> = BTreeMap::new();
    let mut unmatched = 0;
    let names: std::collections::BTreeSet<&String> =
        ranks.values().flat_map(BTreeMap::keys).collect();
    for name in names {
        let of_name: Vec<(&RankKey, &[Interval])> = ranks
            .iter()
            .map(|(rank, names)| (rank, names.get(name).map_or(&[][..], Vec::as_slice)))
            .collect();
        let count = of_name.first().map_or(0, |(_, intervals)| intervals.len());
        if matching == Matching::RecordedApart
            || ranks.len() < 2
            || of_name
                .iter()
                .any(|(_, intervals)| intervals.len() != count)
        {
            unmatched += of_name
                .iter()
                .map(|(_, intervals)| intervals.len() as u64)
                .sum::<u64>();
            continue;
        }
        for at in 0..count {
            let is_inside = |(rank, intervals): &(&RankKey, &[Interval])| {
                let part = parts.get(rank).copied().unwrap_or_default();
                (part.from..=part.to).contains(&intervals[at].start)
            };
            if !of_name.iter().all(is_inside) {
                continue;
            }
            let durations = of_name
                .iter()
                .map(|(_, intervals)| intervals[at].duration());
            let Some(shortest) = durations.min() else {
                continue;
            };
            for (rank, intervals) in &of_name {
                let time = times.entry(**rank).or_default();
                time.count += 1;
                time.transfer += shortest;
                time.waiting += intervals[at].duration() - shortest;
            }
        }
    }
    (times, unmatched)
}
