//! N15: models that present releases do not read.

use super::{Look, Report, Rule, Severity};
use crate::lint::engine_name;
use crate::model::{InferStage, Knob};

/// A model in a format that is gone.
pub(super) const N15: Rule = Rule {
    id: "DS043",
    code: "N15",
    severity: Severity::Error,
    title: "the only model is in the etlt, UFF or Caffe format",
    reason: "DeepStream 8 and later read ONNX and custom parsers only: the keys are parsed, and then the build ends with \
             `no model file matched`.",
    guard: "An engine that exists and fits; an ONNX model or a custom parser beside it; DeepStream 7 or older. Where the \
            release is not known, or whether a named engine exists, it is a warning.",
    remedy: "export the model to ONNX and name it in `onnx-file`",
    fixed_by: None,
    check,
};

/// The first release without the old formats.
const FIRST_WITHOUT: u16 = 8;

/// Keys of the old formats.
const OLD: [&str; 5] = [
    "tlt-encoded-model",
    "etlt-model",
    "uff-file",
    "model-file",
    "proto-file",
];

/// Keys that build an engine all the same.
const PRESENT: [&str; 3] = [
    "onnx-file",
    "custom-network-config",
    "engine-create-func-name",
];

/// What is known of an engine that would do instead of a model.
#[derive(PartialEq, Eq)]
enum Engine {
    Fits,
    Unknown,
    None,
}

fn check(look: &Look<'_>, report: &mut Report<'_>) {
    let version = look.context.version;
    if version.is_some_and(|version| version.major < FIRST_WITHOUT) {
        return;
    }
    for (stage, _) in look.nvinfer() {
        let keys = look.config_keys(stage);
        let find = |names: &[&str]| {
            keys.iter()
                .find(|written| names.contains(&written.key.as_str()))
        };
        let (Some(old), None) = (find(&OLD), find(&PRESENT)) else {
            continue;
        };
        let engine = engine(look, stage);
        if engine == Engine::Fits {
            continue;
        }
        let message = format!(
            "`{}` is the only model, and DeepStream {FIRST_WITHOUT} and later do not read it",
            old.key
        );
        let finding = report.add(old.place.clone(), message);
        if version.is_none() || engine == Engine::Unknown {
            finding.severity = Severity::Warning;
        }
    }
}

fn engine(look: &Look<'_>, stage: &InferStage) -> Engine {
    let Some(setting) = look.setting(stage.element, Knob::InferModelEngineFile) else {
        return Engine::None;
    };
    if setting.is_missing() {
        return Engine::None;
    }
    let requested = look
        .number(stage.element, Knob::InferBatchSize)
        .unwrap_or(1);
    let built = setting.text().and_then(engine_name::batch);
    match (look.exists(setting), built) {
        (Some(false), _) => Engine::None,
        (_, Some(built)) if built < requested => Engine::None,
        (Some(true), Some(_)) => Engine::Fits,
        _ => Engine::Unknown,
    }
}
