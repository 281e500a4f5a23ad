//! E3, E6 and E7: values in the file of an inference that the application replaces.

use super::{Look, Report, Rule, Severity};
use crate::model::{Knob, KnobSetting, Overridden};
use crate::resolve::join;

/// Another batch.
pub(super) const E3: Rule = Rule {
    id: "DS026",
    code: "E3",
    severity: Severity::Note,
    title: "the application's batch replaces another one in the inference's file",
    reason: "A change of the file changes nothing.",
    guard: "Equal values; batches that `[source-list]` sets (DS045).",
    remedy: "change the value in the application, or remove one of the two",
    fixed_by: Some("R2"),
    check: batch,
};

/// Another interval.
pub(super) const E6: Rule = Rule {
    id: "DS029",
    code: "E6",
    severity: Severity::Note,
    title: "the application's interval replaces another one in the inference's file",
    reason: "A change of the file changes nothing.",
    guard: "Equal values.",
    remedy: "change the value in the application, or remove one of the two",
    fixed_by: Some("R2"),
    check: interval,
};

/// Another engine.
pub(super) const E7: Rule = Rule {
    id: "DS030",
    code: "E7",
    severity: Severity::Note,
    title: "the application's engine replaces another one in the inference's file",
    reason: "A change of the file changes nothing, and an engine that is built anew is saved under a third name.",
    guard: "Paths that lead to one file.",
    remedy: "change the path in the application, or remove one of the two",
    fixed_by: Some("R2"),
    check: engine,
};

fn batch(look: &Look<'_>, report: &mut Report<'_>) {
    replaced(look, report, Knob::InferBatchSize);
}

fn interval(look: &Look<'_>, report: &mut Report<'_>) {
    replaced(look, report, Knob::InferInterval);
}

fn engine(look: &Look<'_>, report: &mut Report<'_>) {
    replaced(look, report, Knob::InferModelEngineFile);
}

fn replaced(look: &Look<'_>, report: &mut Report<'_>, knob: Knob) {
    for setting in look.pipeline.knobs_of(knob) {
        let (Some(place), Some(value)) = (&setting.place, &setting.value) else {
            continue;
        };
        for weaker in &setting.overridden {
            if !is_same(look, setting, weaker) {
                let message = format!(
                    "`{}` {value} here replaces {} at {}",
                    knob.key(),
                    weaker.value,
                    weaker.place
                );
                report.add(place.clone(), message);
            }
        }
    }
}

/// Whether two places say the same; paths are relative to the file that they stand in.
fn is_same(look: &Look<'_>, setting: &KnobSetting, weaker: &Overridden) -> bool {
    let path = weaker
        .value
        .text()
        .map(|text| join(&weaker.place.path, text));
    match (look.pipeline.path_of(setting), path) {
        (Some(one), Some(other)) => one == other,
        _ => setting.value.as_ref() == Some(&weaker.value),
    }
}
