//! One recorded command.

use serde::{Deserialize, Serialize};

use crate::process::Exit;

/// What `commands/NNNN-program.json` holds. Paths below the bundle are written as `[BUNDLE]/…`, so that a bundle can
/// be moved and a replay still finds its commands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandRecord {
    /// Position in the run, from 1.
    pub seq: usize,
    /// Why it ran: `stage/detail`.
    pub purpose: String,
    /// Program and arguments.
    pub argv: Vec<String>,
    /// Variables set on top of the inherited environment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<(String, String)>,
    /// How it ended.
    pub exit: RecordedExit,
    /// Wall time in seconds; absent where nobody measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<f64>,
    /// File with its standard output.
    pub stdout: String,
    /// File with its standard error.
    pub stderr: String,
    /// Output bytes that were not kept: over the cap, or printed after the run had seen enough.
    #[serde(default)]
    pub dropped: u64,
    /// What it was started through to have its output line by line; absent for nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<String>,
    /// Files that it left behind, relative to the bundle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// How a recorded command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedExit {
    /// By itself, with this status.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Its time was up.
    TimedOut,
    /// It ran beside another command and was stopped with it.
    Stopped,
    /// It was ended because it showed nothing any more.
    GivenUp,
    /// There was no such program.
    NotFound,
    /// It could not be started; the text is what the operating system said.
    Unstartable(String),
}

impl From<Exit> for RecordedExit {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Code(code) => Self::Code(code),
            Exit::Signal(signal) => Self::Signal(signal),
            Exit::TimedOut => Self::TimedOut,
            Exit::Stopped => Self::Stopped,
            Exit::GivenUp => Self::GivenUp,
        }
    }
}
