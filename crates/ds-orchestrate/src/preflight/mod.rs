//! What must hold before the whole pipeline is measured, so that it measures what was planned.
//!
//! Each [`Gate`] passes, fails, or is unknown, with its evidence. One that fails stops the profile with advice, unless the
//! user waives it by name. Whether files exist is asked by a program, so that a recording holds the answer and a replay on
//! another machine comes to the same gates.

mod files;
mod gates;

use std::fmt;
use std::str::FromStr;

pub use files::KnownFiles;
pub(crate) use files::files_there;
pub use gates::preflight;

/// What is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GateId {
    /// The batch of the inference is that of the mux.
    Batch,
    /// An engine exists and is large enough, so that none is built while the pipeline is measured.
    Engine,
    /// Frames stay in device memory.
    Memory,
    /// INT8 has its calibration table.
    Calibration,
    /// No queue drops frames.
    Leaky,
}

impl GateId {
    /// All gates in their order.
    pub const ALL: [Self; 5] = [
        Self::Batch,
        Self::Engine,
        Self::Memory,
        Self::Calibration,
        Self::Leaky,
    ];

    /// The name by which it is waived.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Engine => "engine",
            Self::Memory => "memory",
            Self::Calibration => "calibration",
            Self::Leaky => "leaky",
        }
    }
}

impl fmt::Display for GateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for GateId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|gate| gate.name() == text);
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|gate| gate.name()).collect();
            format!("`{text}` is no gate; there are {}", names.join(", "))
        })
    }
}

/// How a gate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateState {
    /// It holds.
    Pass,
    /// It does not hold.
    Fail,
    /// It does not hold, and the user wants to go on.
    Waived,
    /// It cannot be told.
    Unknown,
}

impl fmt::Display for GateState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Waived => "waived",
            Self::Unknown => "unknown",
        })
    }
}

/// One gate with what was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// Which one.
    pub id: GateId,
    /// How it stands.
    pub state: GateState,
    /// What was seen.
    pub evidence: String,
    /// What to do; empty where there is nothing to do.
    pub advice: &'static str,
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gate `{}`: {}: {}", self.id, self.state, self.evidence)?;
        if !self.advice.is_empty() {
            write!(f, "; {}", self.advice)?;
        }
        Ok(())
    }
}

/// Marks what the user waives.
pub(crate) fn waive(gates: &mut [Gate], waived: &[GateId]) {
    for gate in gates {
        if gate.state == GateState::Fail && waived.contains(&gate.id) {
            gate.state = GateState::Waived;
        }
    }
}

/// Why the profile stops, if it does.
pub(crate) fn stop(gates: &[Gate]) -> Option<String> {
    let failed: Vec<&Gate> = gates
        .iter()
        .filter(|gate| gate.state == GateState::Fail)
        .collect();
    let names: Vec<&str> = failed.iter().map(|gate| gate.id.name()).collect();
    (!failed.is_empty()).then(|| {
        let each: Vec<String> = failed.iter().map(ToString::to_string).collect();
        format!(
            "{}; or measure all the same with `--waive {}`",
            each.join("; "),
            names.join(",")
        )
    })
}
