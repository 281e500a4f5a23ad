//! What a summary is asked for: which part of the trace, and split by what.

use std::fmt;

use crate::ids::{DeviceKey, ProcessKey, StreamKey};
use crate::units::Nanos;

/// A part of the session.
///
/// An event belongs to it when it ends at or after its start and starts before its end, also if it reaches beyond: this
/// is how `nsys stats --filter-time` was seen to take it. An event is counted with its whole duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The first instant.
    pub from: Nanos,
    /// The first instant behind it.
    pub to: Nanos,
}

impl Window {
    /// All of the session.
    pub const ALL: Self = Self {
        from: Nanos(i64::MIN),
        to: Nanos(i64::MAX),
    };

    /// Whether an event belongs to the window.
    #[must_use]
    pub fn holds(self, start: Nanos, end: Nanos) -> bool {
        start < self.to && end >= self.from
    }
}

impl Default for Window {
    fn default() -> Self {
        Self::ALL
    }
}

/// By what a summary is split.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Split {
    /// Not at all: processes, devices and streams are added up, as `nsys stats` does.
    #[default]
    Whole,
    /// One part a process.
    Process,
    /// One part a device of a process.
    Device,
    /// One part a stream of a context of a device of a process.
    Stream,
}

/// The part that a row of a split summary stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// Everything.
    Whole,
    /// One process.
    Process(ProcessKey),
    /// One device of a process.
    Device(DeviceKey),
    /// One stream.
    Stream(StreamKey),
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => f.write_str("all"),
            Self::Process(process) => process.fmt(f),
            Self::Device(device) => write!(f, "{}, device {}", device.process, device.ordinal),
            Self::Stream(stream) => write!(
                f,
                "{}, device {}, context {}, stream {}",
                stream.device.process, stream.device.ordinal, stream.context, stream.stream
            ),
        }
    }
}

/// Where and when a summary looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Selection {
    /// Which part of the session.
    pub window: Window,
    /// Split by what.
    pub split: Split,
}
