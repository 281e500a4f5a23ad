//! A part of a session.

use anyhow::{Result, ensure};

/// From one instant of a session to a later one, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    from: i64,
    to: i64,
}

/// Nanoseconds of a millisecond.
const MILLI: i64 = 1_000_000;

impl Window {
    /// A window between two milliseconds.
    pub(crate) fn from_millis(from: u32, to: u32) -> Result<Self> {
        ensure!(from < to, "the window from {from} ms to {to} ms is empty");
        Ok(Self {
            from: i64::from(from) * MILLI,
            to: i64::from(to) * MILLI,
        })
    }

    /// The part of the window that lies in a session of this length.
    pub(super) fn within(self, session: i64) -> Result<Self> {
        ensure!(
            self.from < session,
            "the window begins at {} ms and the session ends at {} ms",
            self.from / MILLI,
            session / MILLI
        );
        Ok(Self {
            to: self.to.min(session),
            ..self
        })
    }

    /// The first instant.
    pub(super) fn from(self) -> i64 {
        self.from
    }

    /// The last instant.
    pub(super) fn to(self) -> i64 {
        self.to
    }

    /// From the first instant to the last.
    pub(super) fn duration(self) -> i64 {
        self.to - self.from
    }
}
