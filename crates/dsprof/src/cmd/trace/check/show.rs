//! A verdict for people and for programs.

use ds_nsys::{Gate, GateRole, GateState, Measure, Verdict};
use serde_json::{Value, json};

use super::outcome_word;
use crate::args::ReportFormat;
use crate::cmd::trace::figures::{
    busy_shares, busy_shares_json, frac_millis, partial, rank, rank_json,
};
use crate::cmd::trace::page::Page;

pub(super) fn as_page(verdict: &Verdict, format: ReportFormat) -> String {
    let mut page = Page::new(format);
    page.heading(&headline(verdict));
    if let Some(emptiness) = &verdict.emptiness {
        page.line(&emptiness.to_string());
    }
    partial(&mut page, verdict);
    if let Some(bound) = &verdict.bound {
        page.line(&format!(
            "{} ({}: {}, threshold {})",
            bound.bound,
            rank(bound.device),
            bound.share,
            bound.threshold
        ));
    }
    for (device, series) in verdict.steps.found() {
        page.line(&format!(
            "{}: {} steps by {}, median {} ms",
            rank(device),
            series.steps.len(),
            series.method,
            frac_millis(series.duration.median)
        ));
    }
    gates(&mut page, verdict);
    busy_shares(&mut page, &verdict.shares);
    if !verdict.notes.is_empty() {
        page.heading("Notes");
        for note in &verdict.notes {
            page.item(&note.to_string());
        }
    }
    page.finish()
}

/// The outcome in one line.
pub(super) fn headline(verdict: &Verdict) -> String {
    let outcome = outcome_word(verdict.outcome);
    match verdict.decisive.and_then(|id| verdict.gate(id)) {
        Some(gate) => format!(
            "{outcome} as {}: {} {}: {}",
            verdict.purpose,
            gate.id,
            gate.id.name(),
            gate.reason
        ),
        None => format!("{outcome} as {}", verdict.purpose),
    }
}

fn gates(page: &mut Page, verdict: &Verdict) {
    page.heading("Gates");
    let measure = |measure: &Option<Measure>| {
        measure
            .as_ref()
            .map_or_else(String::new, ToString::to_string)
    };
    let rows: Vec<Vec<String>> = verdict
        .gates
        .iter()
        .map(|gate| {
            vec![
                format!("{} {}", gate.id, gate.id.name()),
                gate.state.to_string(),
                if is_needed(gate) { "needed" } else { "" }.to_owned(),
                measure(&gate.measured),
                measure(&gate.threshold),
            ]
        })
        .collect();
    page.table(
        &["Gate", "State", "", "Measured", "Threshold"],
        &rows,
        &[3, 4],
    );
    page.separate();
    for gate in verdict
        .gates
        .iter()
        .filter(|gate| gate.state == GateState::Fail || is_needed(gate))
    {
        let next = gate
            .action
            .as_ref()
            .map_or_else(String::new, |action| format!("; next: {action}"));
        page.item(&format!(
            "{} {}: {}{next}",
            gate.id, gate.state, gate.reason
        ));
    }
}

pub(super) fn is_needed(gate: &Gate) -> bool {
    gate.role == GateRole::Needed
}

pub(super) fn as_json(verdict: &Verdict) -> Value {
    let gates: Vec<Value> = verdict
        .gates
        .iter()
        .map(|gate| {
            json!({
                "id": gate.id.to_string(),
                "name": gate.id.name(),
                "state": gate.state.to_string(),
                "is_needed": is_needed(gate),
                "measured": gate.measured.as_ref().map(measure_json),
                "threshold": gate.threshold.as_ref().map(measure_json),
                "reason": gate.reason,
                "action": gate.action,
            })
        })
        .collect();
    let steps: Vec<Value> = verdict
        .steps
        .found()
        .map(|(device, series)| {
            json!({
                "rank": rank_json(device),
                "method": series.method.to_string(),
                "steps": series.steps.len(),
                "median_ns": series.duration.median.0,
            })
        })
        .collect();
    json!({
        "schema": "dsprof.check/1",
        "purpose": verdict.purpose.to_string(),
        "outcome": outcome_word(verdict.outcome),
        "decisive": verdict.decisive.map(|id| id.to_string()),
        "is_partial": verdict.is_partial(),
        "distortion": verdict.distortion,
        "emptiness": verdict.emptiness.as_ref().map(ToString::to_string),
        "bound": verdict.bound.as_ref().map(|bound| json!({
            "rank": rank_json(bound.device),
            "bound": bound.bound.to_string(),
            "share": bound.share.0,
            "threshold": bound.threshold.0,
        })),
        "gates": gates,
        "busy_shares": busy_shares_json(&verdict.shares),
        "steps": steps,
        "notes": verdict.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn measure_json(measure: &Measure) -> Value {
    match measure {
        Measure::Count(count) => json!({"count": count}),
        Measure::Share(share) => json!({"share": share.0}),
        Measure::Duration(duration) => json!({"ns": duration.0}),
        Measure::Word(word) => json!({"word": word}),
        other => json!({"text": other.to_string()}),
    }
}
