//! What a run tells while it goes on.

use std::fmt;

use ds_ceilings::{Batch, Fps};

use crate::bundle::StageName;

/// Something that happened. The binary turns it into a line or a bar; nothing here prints.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A stage began.
    Stage(StageName),
    /// A batch of the sweep began: the batch, its place from 1, and how many there are.
    Batch(Batch, usize, usize),
    /// The rate summed over the streams in the last window.
    Rate(Fps),
    /// A batch of the sweep ended, with what came of it in words.
    BatchDone(Batch, String),
    /// A program runs that takes a while.
    Running(String),
    /// Something did not go as planned, and the run went on without it.
    Fallback(String),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stage(stage) => write!(f, "stage: {stage}"),
            Self::Batch(batch, index, of) => write!(f, "sweep: batch {batch} ({index} of {of})"),
            Self::Rate(fps) => write!(f, "{fps}"),
            Self::BatchDone(batch, what) => write!(f, "sweep: batch {batch}: {what}"),
            Self::Running(what) => write!(f, "running: {what}"),
            Self::Fallback(what) => write!(f, "note: {what}"),
        }
    }
}

/// Receives events.
pub type Progress<'a> = dyn FnMut(&Event) + 'a;
