//! A verdict as JUnit XML: one test case a gate.
//!
//! A needed gate that fails is a failure, a needed one that the file does not answer an error; what the purpose does not
//! need never breaks a build, and is shown as skipped unless it passes.

use std::path::Path;

use ds_nsys::{Gate, GateState, Verdict};

use super::show::is_needed;
use crate::junit::{Case, Outcome, suite};

pub(super) fn render(verdict: &Verdict, trace: &Path) -> String {
    let name = format!(
        "dsprof trace check --as {} {}",
        verdict.purpose,
        trace.display()
    );
    let cases: Vec<Case> = verdict.gates.iter().map(case).collect();
    suite(&name, &cases)
}

fn case(gate: &Gate) -> Case {
    let next = gate
        .action
        .as_ref()
        .map_or_else(String::new, |action| format!("; next: {action}"));
    let text = format!("{}{next}", gate.reason);
    Case {
        class: "trace.check".to_owned(),
        name: format!("{} {}", gate.id, gate.id.name()),
        outcome: match (gate.state, is_needed(gate)) {
            (GateState::Pass, _) => Outcome::Passed,
            (GateState::Fail, true) => Outcome::Failed(text),
            (GateState::Unknown, true) => Outcome::Error(text),
            (GateState::Fail | GateState::Unknown, false) => Outcome::Skipped(text),
        },
    }
}
