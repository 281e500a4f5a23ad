//! What had to hold before the whole pipeline was measured, and how its trace came about.

use serde::Serialize;

use crate::preflight::{Gate, GateState};
use crate::stages::{Account, ProfileReading};

/// A gate before the profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GateReport {
    /// Its name.
    pub gate: String,
    /// `pass`, `fail`, `waived` or `unknown`.
    pub state: String,
    /// What was seen.
    pub evidence: String,
    /// What to do; `null` where there is nothing to do.
    pub advice: Option<String>,
}

/// How a trace came about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CaptureReport {
    /// What ran.
    pub subject: String,
    /// The nsys that ran, with its release.
    pub nsys: Option<String>,
    /// The command of the capture.
    pub command: Option<String>,
    /// What did not run as it was asked for.
    pub fallbacks: Vec<FallbackReport>,
    /// What shows that an engine was built while the trace was made; the numbers of the trace are not to be used then.
    pub engine_build: Vec<String>,
    /// What else to know.
    pub notes: Vec<String>,
}

/// Something that did not run as it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FallbackReport {
    /// What was asked for.
    pub asked: String,
    /// What ran in its place.
    pub ran: String,
    /// Why, in nsys's own words where it had some.
    pub because: String,
}

/// The gates as a report.
pub fn gate_reports(gates: &[Gate]) -> Vec<GateReport> {
    gates
        .iter()
        .map(|gate| GateReport {
            gate: gate.id.to_string(),
            state: gate.state.to_string(),
            evidence: gate.evidence.clone(),
            advice: (!gate.advice.is_empty() && gate.state != GateState::Pass)
                .then(|| gate.advice.to_owned()),
        })
        .collect()
}

/// The capture of a profile as a report.
pub fn capture_report(profile: &ProfileReading) -> CaptureReport {
    account_report(profile.subject.to_string(), &profile.account)
}

/// The capture of `subject` as a report.
pub fn account_report(subject: String, account: &Account) -> CaptureReport {
    CaptureReport {
        subject,
        nsys: account.nsys.clone(),
        command: account.command.clone(),
        fallbacks: account
            .fallbacks
            .iter()
            .map(|fallback| FallbackReport {
                asked: fallback.asked.clone(),
                ran: fallback.ran.clone(),
                because: fallback.because.clone(),
            })
            .collect(),
        engine_build: account.engine_build.clone(),
        notes: account.notes.clone(),
    }
}
