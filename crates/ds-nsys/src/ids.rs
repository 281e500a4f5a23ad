//! The serialized ids by which events name their process and thread.
//!
//! An id packs hardware (bits 56–63), virtual machine (48–55), process (24–47) and thread (0–23) into 64 bits; SQLite
//! shows it as a signed integer. Two processes differ in their process key, never in the plain PID alone.

use std::fmt;

/// The bits of an id that belong to the thread.
const THREAD_BITS: i64 = 0x00FF_FFFF;

/// A process of the trace: the exporter's `globalPid`, or a `globalTid` with its thread bits cleared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessKey(i64);

impl ProcessKey {
    /// The process that a `globalPid` or `globalTid` names.
    #[must_use]
    pub fn of(global_id: i64) -> Self {
        Self(global_id & !THREAD_BITS)
    }

    /// The operating system's process id.
    #[must_use]
    pub fn pid(self) -> u32 {
        low_24_bits(self.0 >> 24)
    }
}

impl fmt::Display for ProcessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid())
    }
}

/// A thread of the trace: the exporter's `globalTid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadKey(i64);

impl ThreadKey {
    /// The thread that a `globalTid` names.
    #[must_use]
    pub fn of(global_tid: i64) -> Self {
        Self(global_tid)
    }

    /// The operating system's thread id.
    #[must_use]
    pub fn tid(self) -> u32 {
        low_24_bits(self.0)
    }

    /// The process that the thread belongs to.
    #[must_use]
    pub fn process(self) -> ProcessKey {
        ProcessKey::of(self.0)
    }
}

fn low_24_bits(value: i64) -> u32 {
    u32::try_from(value & THREAD_BITS).expect("24 bits fit into 32")
}

/// A CUDA device as its process numbers it.
///
/// Two workers of one server both call their device 0, so a device has a name only together with its process. Which
/// physical GPU it is stands in [`crate::Gpu`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceKey {
    /// The process that uses the device.
    pub process: ProcessKey,
    /// The CUDA ordinal within that process.
    pub ordinal: i64,
}

/// A CUDA stream; ids repeat over contexts, devices and processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamKey {
    /// Process and device.
    pub device: DeviceKey,
    /// The CUDA context within the process.
    pub context: i64,
    /// The stream within the context.
    pub stream: i64,
}
