//! P1: a detector behind a detector that works on whole frames.

use super::{Look, Report, Rule, Severity};
use crate::model::{Branch, InferStage, Role};

/// A second detector on whole frames.
pub(super) const P1: Rule = Rule {
    id: "DS047",
    code: "P1",
    severity: Severity::Warning,
    title: "a detector behind a detector has no `process-mode=2`",
    reason: "It then infers on every whole frame instead of on the objects of the first, and halves the frame rate.",
    guard: "`process-mode` is written, on the element or in the file: a second model on whole frames is meant; branches \
            behind a tee; deepstream-app, which sets it for secondary groups; models that are no detectors; nvdspreprocess, \
            which says where each model looks.",
    remedy: "set `process-mode=2` and `operate-on-gie-id` in the file of the second one",
    fixed_by: None,
    check,
};

fn check(look: &Look<'_>, report: &mut Report<'_>) {
    if look.has(Role::Application) {
        return;
    }
    let on_frames = look.pipeline.infer.iter().filter(|stage| {
        let element = look.pipeline.element(stage.element);
        element.is_some_and(|element| {
            element.role == Role::PrimaryInfer && element.branch == Branch::Main
        })
    });
    let mut detectors = on_frames.filter(|stage| is_detector(look, stage));
    if detectors.next().is_none() {
        return;
    }
    for stage in detectors {
        let element = look.pipeline.element(stage.element);
        let of_element = element.and_then(|element| look.own(element, "process-mode"));
        if of_element.is_none()
            && !look.is_preprocessed(stage)
            && key(look, stage, "process-mode").is_none()
        {
            let message = "this detector stands behind another one and has no `process-mode`: it infers on whole frames";
            report.add(look.element_place(stage.element), message);
        }
    }
}

/// Whether the file of a stage was read and makes it a detector: `network-type` 0, the default.
fn is_detector(look: &Look<'_>, stage: &InferStage) -> bool {
    let keys = look.config_keys(stage);
    let network_type = key(look, stage, "network-type").unwrap_or(0);
    let is_classifier = key(look, stage, "is-classifier") == Some(1);
    !keys.is_empty() && network_type == 0 && !is_classifier
}

fn key(look: &Look<'_>, stage: &InferStage, name: &str) -> Option<i64> {
    let keys = look.config_keys(stage);
    keys.iter().find(|written| written.key == name)?.integer()
}
