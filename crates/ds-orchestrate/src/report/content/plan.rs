//! What is to change, and how many streams fit then.

use super::super::document::{Align, Block, Document, Table};
use super::super::model::{CapacityReport, KnobReport};

/// The knobs of a plan and what it expects.
pub fn plan_document(knobs: &[KnobReport], expected: &str) -> Document {
    let mut out = Document::default();
    let written: Vec<&KnobReport> = knobs
        .iter()
        .filter(|k| matches!(k.state.as_str(), "write" | "propose" | "benchmark only"))
        .collect();
    if written.is_empty() {
        out.push(Block::Paragraph(
            "Every knob that a rule can set holds its value already.".to_owned(),
        ));
    } else {
        let rows = grouped(&written)
            .into_iter()
            .map(|(knob, targets)| knob_row(knob, &targets))
            .collect();
        out.push(Block::Table(Table::new(
            &[
                ("Rule", Align::Left),
                ("Knob", Align::Left),
                ("Old → new", Align::Left),
                ("Why", Align::Left),
            ],
            rows,
        )));
    }
    let held: Vec<String> = knobs
        .iter()
        .filter(|k| matches!(k.state.as_str(), "withheld" | "not derivable"))
        .map(|k| {
            format!(
                "{} {} `{}` {}: {}",
                k.rule, k.target, k.knob, k.state, k.because
            )
        })
        .collect();
    if !held.is_empty() {
        out.push(Block::Paragraph("Left alone:".to_owned()));
        out.bullets(held);
    }
    out.push(Block::Paragraph(format!("Expected: {expected}.")));
    out
}

/// Rows that differ in their element only are one row: sixteen sources need no sixteen lines.
fn grouped<'a>(knobs: &[&'a KnobReport]) -> Vec<(&'a KnobReport, Vec<&'a str>)> {
    let alike = |a: &KnobReport, b: &KnobReport| {
        (
            &a.rule, &a.knob, &a.state, &a.old, &a.new, &a.because, &a.by_hand,
        ) == (
            &b.rule, &b.knob, &b.state, &b.old, &b.new, &b.because, &b.by_hand,
        )
    };
    let mut groups: Vec<(&KnobReport, Vec<&str>)> = Vec::new();
    for knob in knobs {
        match groups.iter_mut().find(|(first, _)| alike(first, knob)) {
            Some((_, targets)) => targets.push(&knob.target),
            None => groups.push((knob, vec![&knob.target])),
        }
    }
    groups
}

fn knob_row(knob: &KnobReport, targets: &[&str]) -> Vec<String> {
    let old = knob.old.as_deref().unwrap_or("(absent)");
    let new = knob.new.as_deref().unwrap_or("");
    let state = match knob.state.as_str() {
        "propose" => " (proposed, not written)",
        "benchmark only" => " (only while measuring)",
        _ => "",
    };
    let by_hand = knob
        .by_hand
        .as_ref()
        .map_or_else(String::new, |reason| format!(" By hand: {reason}."));
    let targets = match targets {
        [first, .., last] => format!("{first} … {last} ({})", targets.len()),
        [only] => (*only).to_owned(),
        [] => String::new(),
    };
    vec![
        knob.rule.clone(),
        format!("{targets} `{}`", knob.knob),
        format!("{old} → {new}{state}"),
        format!(
            "{}: {}.{by_hand}",
            knob.formula.as_deref().unwrap_or(""),
            knob.because
        ),
    ]
}

/// How many streams fit, and why.
pub fn capacity_document(capacity: &CapacityReport, fps: f64) -> Document {
    let decides = capacity
        .dominating
        .as_ref()
        .map_or_else(String::new, |resource| format!("; {resource} decides"));
    let mut out = Document::default();
    out.push(Block::Verdict {
        answer: capacity.text.clone(),
        rest: format!(" at {fps} frames/s{decides}."),
    });
    let unknown = || "unknown".to_owned();
    let rows = capacity
        .limits
        .iter()
        .map(|limit| {
            vec![
                limit.resource.clone(),
                limit.fps.map_or_else(unknown, |fps| format!("{fps:.0}")),
                limit
                    .streams
                    .map_or_else(unknown, |streams| streams.to_string()),
                limit.formula.clone(),
            ]
        })
        .collect();
    let streams: Vec<Option<f64>> = capacity
        .limits
        .iter()
        .map(|limit| limit.streams.map(f64::from))
        .collect();
    let most = streams.iter().flatten().copied().fold(0.0, f64::max);
    out.push(Block::Table(
        Table::new(
            &[
                ("Ceiling", Align::Left),
                ("Frames/s", Align::Right),
                ("Streams", Align::Right),
                ("", Align::Left),
            ],
            rows,
        )
        .with_bars(3, &streams, most),
    ));
    if let Some(delivered) = capacity.delivered {
        out.push(Block::Paragraph(format!(
            "As it was measured the pipeline carries {delivered} streams."
        )));
    }
    if let Some(advice) = &capacity.advice {
        out.push(Block::Paragraph(format!("For more streams: {advice}.")));
    }
    out
}
