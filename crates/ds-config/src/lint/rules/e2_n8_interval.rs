//! E2 and N8: batches that are not inferred on.

use super::{Look, Report, Rule, Severity};
use crate::model::{InferStage, Knob, KnobSetting, Role};

/// Batches are skipped, and nothing fills the gap.
pub(super) const E2: Rule = Rule {
    id: "DS025",
    code: "E2",
    severity: Severity::Warning,
    title: "the primary inference skips batches and there is no tracker",
    reason: "On the frames that are skipped nothing is detected, and without a tracker objects vanish from them.",
    guard: "A pipeline whose elements are not all known.",
    remedy: "set `interval=0`, or add a tracker",
    fixed_by: Some("R4a"),
    check: without_tracker,
};

/// Batches are skipped by the file of the inference.
pub(super) const N8: Rule = Rule {
    id: "DS038",
    code: "N8",
    severity: Severity::Note,
    title: "the inference's file skips batches",
    reason: "With `interval=N` only every (N+1)th batch is inferred on, so the frame rate is not that of inference.",
    guard: "The application sets another one; no tracker in a whole pipeline (DS025).",
    remedy: "set `interval=0` unless identities hold over the gap",
    fixed_by: Some("R4a"),
    check: in_file,
};

/// How many batches a stage skips, and the knob that says so.
fn skipped<'a>(look: &Look<'a>, stage: &InferStage) -> Option<(i64, &'a KnobSetting)> {
    let setting = look.setting(stage.element, Knob::InferInterval)?;
    let interval = setting.integer().filter(|interval| *interval > 0)?;
    Some((interval, setting))
}

/// Whether DS025 speaks of a stage.
fn lacks_tracker(look: &Look<'_>, stage: &InferStage) -> bool {
    look.is_whole()
        && look.knows_all_elements()
        && look.role(stage.element) == Some(Role::PrimaryInfer)
        && !look.has(Role::Tracker)
}

fn without_tracker(look: &Look<'_>, report: &mut Report<'_>) {
    for stage in &look.pipeline.infer {
        if let Some((interval, setting)) = skipped(look, stage)
            && lacks_tracker(look, stage)
        {
            let message = format!(
                "{interval} of {} batches are skipped, and there is no tracker",
                interval + 1
            );
            report.add(look.place(setting), message);
        }
    }
}

fn in_file(look: &Look<'_>, report: &mut Report<'_>) {
    for stage in &look.pipeline.infer {
        let Some((interval, setting)) = skipped(look, stage) else {
            continue;
        };
        let is_in_file = setting
            .place
            .as_ref()
            .is_some_and(|place| stage.config_path.as_ref() == Some(&place.path));
        if is_in_file && !lacks_tracker(look, stage) {
            let message = format!("{interval} of {} batches are skipped", interval + 1);
            report.add(look.place(setting), message);
        }
    }
}
