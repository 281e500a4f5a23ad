//! M1 and M2: settings that mean something else with the new mux.

use super::{Look, Report, Rule, Severity};
use crate::model::{Knob, MuxGeneration, Role};

/// A timeout without effect.
pub(super) const M1: Rule = Rule {
    id: "DS048",
    code: "M1",
    severity: Severity::Warning,
    title: "the new mux and `batched-push-timeout`",
    reason: "The new mux builds its policy from its file or from defaults when it starts, so the property has no effect: \
             the deadline is 200 ms unless the file says otherwise.",
    guard: "The legacy mux.",
    remedy: "set `overall-min-fps-n` and `overall-min-fps-d` in the policy file that `config-file-path` names",
    fixed_by: Some("R1"),
    check: timeout,
};

/// A batch without effect.
pub(super) const M2: Rule = Rule {
    id: "DS049",
    code: "M2",
    severity: Severity::Note,
    title: "the new mux has a batch size and adapts its batches",
    reason: "`adaptive-batching=1`, the default, replaces the batch by the number of connected sources.",
    guard: "The legacy mux; `adaptive-batching=0` in the policy file.",
    remedy: "leave the batch to the mux, or set `adaptive-batching=0` in its policy file",
    fixed_by: None,
    check: adaptive,
};

fn timeout(look: &Look<'_>, report: &mut Report<'_>) {
    if look.pipeline.mux != Some(MuxGeneration::New) {
        return;
    }
    for element in &look.pipeline.elements {
        if matches!(element.role, Role::Mux | Role::MultiSource)
            && let Some(written) = look.own(element, "batched-push-timeout")
        {
            report.add(
                written.place.clone(),
                "`batched-push-timeout` has no effect on the new mux",
            );
        }
    }
}

fn adaptive(look: &Look<'_>, report: &mut Report<'_>) {
    if !look.is_adaptive() {
        return;
    }
    for setting in look.pipeline.knobs_of(Knob::MuxBatchSize) {
        if let Some(place) = &setting.place {
            let message = "the batch is replaced by the number of connected sources: `adaptive-batching` is on";
            report.add(place.clone(), message);
        }
    }
}
