//! What did not simply hold or work on the way to a trace.

use crate::report::capture::{CaptureReport, GateReport};
use crate::report::document::{Block, Document};

/// Gates that do not simply hold, and a capture that did not simply work; empty where all is well.
pub fn capture_document(gates: &[GateReport], capture: Option<&CaptureReport>) -> Document {
    let mut out = Document::default();
    let built = capture.filter(|capture| !capture.engine_build.is_empty());
    let lines = lines(gates, capture);
    if built.is_none() && lines.is_empty() {
        return out;
    }
    out.push(Block::Section("Capture".to_owned()));
    if let Some(capture) = built {
        out.push(Block::Verdict {
            answer: "An engine was built inside the traced run: its numbers are not to be used."
                .to_owned(),
            rest: format!(
                " {}. Run again, now that the engine exists.",
                capture.engine_build.join("; ")
            ),
        });
    }
    out.bullets(lines);
    out
}

fn lines(gates: &[GateReport], capture: Option<&CaptureReport>) -> Vec<String> {
    let mut lines = Vec::new();
    for gate in gates.iter().filter(|gate| gate.state != "pass") {
        let advice = gate
            .advice
            .as_ref()
            .map_or_else(String::new, |advice| format!("; {advice}"));
        lines.push(format!(
            "gate `{}` {}: {}{advice}",
            gate.gate, gate.state, gate.evidence
        ));
    }
    for fallback in capture.iter().flat_map(|capture| &capture.fallbacks) {
        lines.push(format!(
            "asked for {}, ran {}, because {}",
            fallback.asked, fallback.ran, fallback.because
        ));
    }
    lines.extend(capture.iter().flat_map(|capture| capture.notes.clone()));
    lines
}
