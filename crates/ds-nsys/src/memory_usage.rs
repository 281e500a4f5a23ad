//! What a process had allocated on a device over time.

use std::collections::{BTreeMap, HashMap};

use crate::error::Result;
use crate::ids::{DeviceKey, ProcessKey};
use crate::rows::records;
use crate::trace::Trace;
use crate::units::{Bytes, Nanos};

/// The kind of memory: `ENUM_CUDA_MEM_KIND`, whose codes never changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MemoryKind {
    /// Ordinary host memory.
    Pageable,
    /// Page-locked host memory.
    Pinned,
    /// Device memory.
    Device,
    /// CUDA arrays, on the device.
    Array,
    /// Managed memory, wherever it is needed.
    Managed,
    /// Static variables on the device.
    DeviceStatic,
    /// Static managed variables.
    ManagedStatic,
    /// A code that no known release uses, or 7 for unknown.
    Other(i64),
}

impl MemoryKind {
    fn from_code(code: i64) -> Self {
        match code {
            0 => Self::Pageable,
            1 => Self::Pinned,
            2 => Self::Device,
            3 => Self::Array,
            4 => Self::Managed,
            5 => Self::DeviceStatic,
            6 => Self::ManagedStatic,
            other => Self::Other(other),
        }
    }

    /// Whether such memory lies on the device for certain.
    #[must_use]
    pub fn is_on_device(self) -> bool {
        matches!(self, Self::Device | Self::Array | Self::DeviceStatic)
    }
}

/// Allocations of one kind by one process on one device.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryUsage {
    /// Process and device.
    pub device: DeviceKey,
    /// The kind of memory.
    pub kind: MemoryKind,
    /// How many allocations were seen.
    pub allocations: u64,
    /// How many deallocations were seen.
    pub frees: u64,
    /// Deallocations of memory that was allocated before the capture; they change no figure.
    pub unmatched_frees: u64,
    /// The most that was allocated at once since the capture began.
    pub peak: Bytes,
    /// When that was first reached.
    pub peak_at: Nanos,
    /// What was still allocated half-way between the first and the last event of this kind.
    pub at_middle: Bytes,
    /// What was still allocated at the end.
    pub at_end: Bytes,
}

impl MemoryUsage {
    /// By how much the second half left more allocated than the first: negative when it shrank.
    ///
    /// A program that has warmed up and leaks nothing stays near 0.
    #[must_use]
    pub fn late_growth(&self) -> Bytes {
        Bytes(self.at_end.0.saturating_sub(self.at_middle.0))
    }
}

records! {
    struct Event: "CUDA_GPU_MEMORY_USAGE_EVENTS" {
        start: i64 = "start",
        process: i64 = "globalPid",
        device: i64 = "deviceId",
        address: i64 = "address",
        bytes: i64 = "bytes",
        kind: i64 = "memKind",
        operation: i64 = "memoryOperationType",
    }
}

/// The code of a deallocation; 0 is an allocation.
const FREE: i64 = 1;

impl Trace {
    /// Allocations by process, device and kind; `None` when the capture did not track memory.
    ///
    /// # Errors
    ///
    /// Fails when the table cannot be read.
    pub fn memory_usage(&self) -> Result<Option<Vec<MemoryUsage>>> {
        let mut events: BTreeMap<(DeviceKey, MemoryKind), Vec<Event>> = BTreeMap::new();
        let there = self.for_each_record(|event: Event| {
            let device = DeviceKey {
                process: ProcessKey::of(event.process),
                ordinal: event.device,
            };
            events
                .entry((device, MemoryKind::from_code(event.kind)))
                .or_default()
                .push(event);
        })?;
        if !there {
            return Ok(None);
        }
        let usage = events.into_iter().map(|((device, kind), mut events)| {
            events.sort_by_key(|event| event.start);
            follow(device, kind, &events)
        });
        Ok(Some(usage.collect()))
    }
}

/// Follows events in the order of time.
fn follow(device: DeviceKey, kind: MemoryKind, events: &[Event]) -> MemoryUsage {
    let span = events.first().zip(events.last());
    let middle = span.map_or(0, |(first, last)| first.start.midpoint(last.start));
    let mut usage = MemoryUsage {
        device,
        kind,
        allocations: 0,
        frees: 0,
        unmatched_frees: 0,
        peak: Bytes(0),
        peak_at: Nanos::ZERO,
        at_middle: Bytes(0),
        at_end: Bytes(0),
    };
    let mut live: HashMap<i64, i64> = HashMap::new();
    let mut now: i64 = 0;
    for event in events {
        if event.operation == FREE {
            usage.frees += 1;
            match live.remove(&event.address) {
                // What was allocated is what is freed, whatever size the event gives.
                Some(bytes) => now = now.saturating_sub(bytes),
                None => usage.unmatched_frees += 1,
            }
        } else {
            usage.allocations += 1;
            let replaced = live.insert(event.address, event.bytes).unwrap_or_default();
            now = now.saturating_add(event.bytes).saturating_sub(replaced);
        }
        if now > usage.peak.0 {
            usage.peak = Bytes(now);
            usage.peak_at = Nanos(event.start);
        }
        if event.start <= middle {
            usage.at_middle = Bytes(now);
        }
    }
    usage.at_end = Bytes(now);
    usage
}
