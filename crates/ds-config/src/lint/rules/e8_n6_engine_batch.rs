//! E8 and N6: an engine, or a model of a fixed batch, that is too small for the batch asked for.

use super::{Look, Report, Rule, Severity};
use crate::lint::engine_name;
use crate::model::{FilePlace, InferStage, Knob, KnobSetting};
use crate::onnx::OnnxBatch;

/// Why either is a fault.
const REASON: &str = "nvinfer does not take an engine for a smaller batch: it builds another one at every start, and where \
                      the model file is missing or its batch is fixed it ends.";

/// Application and engine.
pub(super) const E8: Rule = Rule {
    id: "DS031",
    code: "E8",
    severity: Severity::Warning,
    title: "the requested batch is above what the engine's name or the model allows",
    reason: REASON,
    guard: "An engine for a larger batch, which serves; nvdspreprocess; batch and engine in one nvinfer file (DS036).",
    remedy: "name an engine that was built for this batch; a model whose batch is fixed must be exported again",
    fixed_by: Some("R2"),
    check: across_files,
};

/// Both in one nvinfer file.
pub(super) const N6: Rule = Rule {
    id: "DS036",
    code: "N6",
    severity: Severity::Warning,
    title: "`batch-size` is above what the engine's name or the model allows",
    reason: REASON,
    guard: "An engine for a larger batch, which serves; nvdspreprocess; the application sets batch or engine (DS031).",
    remedy: "name an engine that was built for this batch; a model whose batch is fixed must be exported again",
    fixed_by: Some("R2"),
    check: in_one_file,
};

/// An engine or a model that is too small.
struct TooSmall {
    place: FilePlace,
    message: String,
    in_one_file: bool,
}

fn too_small(look: &Look<'_>, stage: &InferStage) -> Vec<TooSmall> {
    let Some(batch) = look.setting(stage.element, Knob::InferBatchSize) else {
        return Vec::new();
    };
    let requested = batch.integer().filter(|_| !look.is_preprocessed(stage));
    let Some(requested) = requested else {
        return Vec::new();
    };
    let stands_in_file = |setting: &KnobSetting| {
        let path = setting.place.as_ref().map(|place| &place.path);
        path.is_some() && path == stage.config_path.as_ref()
    };
    let limit = |knob: Knob, limit: Option<i64>, what: &str| {
        let setting = look.setting(stage.element, knob)?;
        let limit = limit.filter(|limit| requested > *limit)?;
        Some(TooSmall {
            place: look.place(setting),
            message: format!("batch {requested} is asked for, and {what} {limit}"),
            in_one_file: stands_in_file(batch) && stands_in_file(setting),
        })
    };
    let engine = look
        .setting(stage.element, Knob::InferModelEngineFile)
        .and_then(|engine| engine_name::batch(engine.text()?));
    let model = look.model(stage).and_then(|model| match model.batch() {
        OnnxBatch::Fixed(batch) => i64::try_from(batch).ok(),
        OnnxBatch::Dynamic | OnnxBatch::Unknown => None,
    });
    let engine = limit(Knob::InferModelEngineFile, engine, "the engine's name says");
    let model = limit(Knob::InferOnnxFile, model, "the model's batch is fixed at");
    engine.into_iter().chain(model).collect()
}

fn across_files(look: &Look<'_>, report: &mut Report<'_>) {
    found(look, report, |fault| !fault.in_one_file);
}

fn in_one_file(look: &Look<'_>, report: &mut Report<'_>) {
    found(look, report, |fault| fault.in_one_file);
}

fn found(look: &Look<'_>, report: &mut Report<'_>, wanted: fn(&TooSmall) -> bool) {
    for stage in &look.pipeline.infer {
        for fault in too_small(look, stage).into_iter().filter(wanted) {
            report.add(fault.place, fault.message);
        }
    }
}
