//! Nsight Systems: found, fitted to its version, run, and believed only as far as it left files behind.
//!
//! `find` looks for an nsys that can be used. [`capture()`] runs a program under it: flags by version from one table, and
//! where nsys refuses one, or something it cannot do on this machine shows, the next best is asked; each such step is a
//! [`Fallback`] that the report repeats. [`attach()`] takes a capture out of a session that somebody started with
//! `nsys launch`. Exit statuses prove nothing (nsys ends with 0 where it wrote no report), so files decide.

mod attach;
mod capture;
mod find;
mod flags;
mod version;
mod words;

pub use attach::{AttachReading, AttachRequest, attach};
pub(super) use capture::{CAPTURE, CaptureRequest, Pace, capture};
pub use flags::Fallback;
pub use version::NsysVersion;
pub(super) use words::engine_build;

/// What became of a capture beside the trace itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// The nsys that ran, with its release.
    pub nsys: Option<String>,
    /// The command of the capture that counts.
    pub command: Option<String>,
    /// What did not run as it was asked for.
    pub fallbacks: Vec<Fallback>,
    /// What shows that an engine was built while the trace was made: its numbers are not to be used then.
    pub engine_build: Vec<String>,
    /// What else a reader should know.
    pub notes: Vec<String>,
}
