//! E8 and N6: an engine that is too small for the batch that is asked for.

use super::{Look, Report, Rule, Severity};
use crate::lint::engine_name;
use crate::model::{FilePlace, InferStage, Knob};

/// Why either is a fault.
const REASON: &str = "nvinfer does not take an engine for a smaller batch: it builds another one at every start, and where \
                      the model file is missing or its batch is fixed it ends.";

/// Application and engine.
pub(super) const E8: Rule = Rule {
    id: "DS031",
    code: "E8",
    severity: Severity::Warning,
    title: "the requested batch is above the one in the engine's name",
    reason: REASON,
    guard: "An engine for a larger batch, which serves; nvdspreprocess; batch and engine in one nvinfer file (DS036).",
    remedy: "name an engine that was built for this batch",
    fixed_by: Some("R2"),
    check: across_files,
};

/// Both in one nvinfer file.
pub(super) const N6: Rule = Rule {
    id: "DS036",
    code: "N6",
    severity: Severity::Warning,
    title: "`batch-size` is above the batch in the engine's name",
    reason: REASON,
    guard: "An engine for a larger batch, which serves; nvdspreprocess; the application sets batch or engine (DS031).",
    remedy: "name an engine that was built for this batch",
    fixed_by: Some("R2"),
    check: in_one_file,
};

/// An engine that is too small.
struct TooSmall {
    place: FilePlace,
    message: String,
    in_one_file: bool,
}

fn too_small(look: &Look<'_>, stage: &InferStage) -> Option<TooSmall> {
    let batch = look.setting(stage.element, Knob::InferBatchSize)?;
    let engine = look.setting(stage.element, Knob::InferModelEngineFile)?;
    let requested = batch.integer()?;
    let built = engine_name::batch(engine.text()?)?;
    if requested <= built || look.is_preprocessed(stage) {
        return None;
    }
    let file = stage.config_path.as_deref();
    let stands_in_file = |place: &Option<FilePlace>| {
        place.as_ref().map(|place| place.path.as_str()) == file && file.is_some()
    };
    Some(TooSmall {
        place: look.place(engine),
        message: format!("batch {requested} is asked for, and the engine's name says {built}"),
        in_one_file: stands_in_file(&batch.place) && stands_in_file(&engine.place),
    })
}

fn across_files(look: &Look<'_>, report: &mut Report<'_>) {
    found(look, report, |fault| !fault.in_one_file);
}

fn in_one_file(look: &Look<'_>, report: &mut Report<'_>) {
    found(look, report, |fault| fault.in_one_file);
}

fn found(look: &Look<'_>, report: &mut Report<'_>, wanted: fn(&TooSmall) -> bool) {
    for stage in &look.pipeline.infer {
        if let Some(fault) = too_small(look, stage).filter(wanted) {
            report.add(fault.place, fault.message);
        }
    }
}
