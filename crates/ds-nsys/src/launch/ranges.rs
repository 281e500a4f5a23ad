//! The ranges around each launch.

use super::Launches;
use crate::ids::ThreadKey;
use crate::nvtx::{Ranges, Sweep};
use std::collections::BTreeMap;

/// For each launch the ranges of its thread that enclose the call, the outermost first.
#[derive(Debug)]
pub(crate) struct LaunchRanges {
    /// Distinct sets of ranges; launches that follow each other share one.
    sets: Vec<Box<[u32]>>,
    /// The set of each launch.
    set_of: Vec<u32>,
}

/// The set of launches outside all ranges.
const NO_RANGES: u32 = 0;

impl LaunchRanges {
    /// Finds the ranges that started and ended on the thread of a call and last from before its start to after its end.
    pub(crate) fn new(launches: &Launches, ranges: &Ranges) -> Self {
        let mut by_thread: BTreeMap<ThreadKey, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (at, range) in ranges.ranges.iter().enumerate() {
            if let Some(thread) = range.own_thread() {
                by_thread.entry(thread).or_default().0.push(at);
            }
        }
        for slot in 0..launches.len() {
            if let Some(call) = launches.call(slot)
                && let Some((_, slots)) = by_thread.get_mut(&launches.thread(call))
            {
                slots.push(slot);
            }
        }
        let mut found = Self {
            sets: vec![Box::default()],
            set_of: vec![NO_RANGES; launches.len()],
        };
        for (positions, mut slots) in by_thread.into_values() {
            let start_of = |slot: &usize| launches.call(*slot).map_or(i64::MAX, |call| call.start);
            slots.sort_unstable_by_key(start_of);
            let mut sweep = Sweep::new(&ranges.ranges, positions);
            let mut latest = NO_RANGES;
            let mut enclosing = Vec::new();
            for slot in slots {
                let Some(call) = launches.call(slot) else {
                    continue;
                };
                enclosing.clear();
                enclosing.extend(sweep.enclosing(call.start, call.end).map(narrow));
                if *found.sets[latest as usize] != *enclosing {
                    latest = found.intern(&enclosing);
                }
                found.set_of[slot] = latest;
            }
        }
        found
    }

    fn intern(&mut self, set: &[u32]) -> u32 {
        if set.is_empty() {
            return NO_RANGES;
        }
        self.sets.push(set.into());
        narrow(self.sets.len() - 1)
    }

    /// Positions of the ranges around a launch, the outermost first.
    pub(crate) fn around(&self, slot: usize) -> &[u32] {
        &self.sets[self.set_of[slot] as usize]
    }

    /// The position of the innermost range around a launch.
    pub(crate) fn innermost(&self, slot: usize) -> Option<u32> {
        self.around(slot).last().copied()
    }
}

fn narrow(position: usize) -> u32 {
    u32::try_from(position).expect("fewer than 2^32 ranges")
}
