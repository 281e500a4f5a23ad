//! N1, N2, N4 and N7: the precision of nvinfer.

use super::{Look, Report, Rule, Severity};
use crate::engine_name::EnginePrecision;
use crate::lint::context::PrecisionWish;
use crate::lint::engine_name;
use crate::model::{InferStage, Knob, KnobSetting};

/// No precision.
pub(super) const N1: Rule = Rule {
    id: "DS032",
    code: "N1",
    severity: Severity::Warning,
    title: "`network-mode` is missing, which means FP32",
    reason: "FP32 is the slowest precision on every GPU with tensor cores.",
    guard: "`strongly-typed=1`, where the model decides; FP32 is wanted; an engine alone, with no model to build from.",
    remedy: "set `network-mode=2` (FP16), or 1 (INT8) with a calibration file",
    fixed_by: Some("R2"),
    check: missing,
};

/// The slowest one.
pub(super) const N2: Rule = Rule {
    id: "DS033",
    code: "N2",
    severity: Severity::Warning,
    title: "`network-mode` is 0: FP32",
    reason: "FP32 is the slowest precision on every GPU with tensor cores.",
    guard: "As DS032.",
    remedy: "set `network-mode=2` (FP16), or 1 (INT8) with a calibration file",
    fixed_by: Some("R2"),
    check: fp32,
};

/// INT8 that cannot be.
pub(super) const N4: Rule = Rule {
    id: "DS034",
    code: "N4",
    severity: Severity::Warning,
    title: "INT8 without a calibration file",
    reason: "nvinfer then builds FP16 with a warning, and saves the engine under that name.",
    guard: "`strongly-typed=1`; a model whose name says that it is quantised (`qat`, `qdq`, `int8`, `quant`); an engine \
            alone; an engine for INT8 that exists.",
    remedy: "set `int8-calib-file` to a calibration file that exists, or `network-mode=2`",
    fixed_by: Some("R2"),
    check: without_calibration,
};

/// An engine of another precision.
pub(super) const N7: Rule = Rule {
    id: "DS037",
    code: "N7",
    severity: Severity::Note,
    title: "the precision in the engine's name is not `network-mode`",
    reason: "An engine that fits is used whatever `network-mode` says: a change of the mode changes nothing while the \
             old engine is there.",
    guard: "`strongly-typed=1`; mode 3 (best); INT8 that falls back to FP16 for want of a calibration file (DS034).",
    remedy: "name the engine of the precision that is wanted, or delete the old one",
    fixed_by: Some("R2"),
    check: of_another_precision,
};

/// Keys of nvinfer that name something to build an engine from (DeepStream 9.1 source).
const MODEL_KEYS: [&str; 7] = [
    "onnx-file",
    "tlt-encoded-model",
    "uff-file",
    "model-file",
    "custom-network-config",
    "custom-lib-path",
    "engine-create-func-name",
];

/// Whether the file leaves the precision to the model.
fn is_strongly_typed(look: &Look<'_>, stage: &InferStage) -> bool {
    let element = look.pipeline.element(stage.element);
    if let Some(written) = element.and_then(|element| look.own(element, "strongly-typed")) {
        return written.is_on();
    }
    let keys = look.config_keys(stage);
    let mut of_file = keys
        .iter()
        .filter(|written| written.key == "strongly-typed");
    of_file.any(|written| written.is_on())
}

/// Whether an engine can be built at all.
fn can_build(look: &Look<'_>, stage: &InferStage) -> bool {
    let keys = look.config_keys(stage);
    keys.iter()
        .any(|written| MODEL_KEYS.contains(&written.key.as_str()))
}

/// The stages whose `network-mode` counts.
fn modes<'a>(look: &Look<'a>) -> Vec<(&'a InferStage, &'a KnobSetting)> {
    look.nvinfer()
        .filter(|(stage, _)| !is_strongly_typed(look, stage))
        .filter_map(|(stage, _)| {
            Some((stage, look.setting(stage.element, Knob::InferNetworkMode)?))
        })
        .collect()
}

/// The stages that may be built in a precision that is not wanted.
fn unwanted<'a>(look: &Look<'a>) -> Vec<(&'a InferStage, &'a KnobSetting)> {
    let mut stages = modes(look);
    stages.retain(|(stage, _)| can_build(look, stage));
    if look.context.precision == PrecisionWish::Fp32 {
        stages.clear();
    }
    stages
}

fn missing(look: &Look<'_>, report: &mut Report<'_>) {
    for (stage, setting) in unwanted(look) {
        if setting.is_missing()
            && let Some(place) = look.config_place(stage)
        {
            report.add(place, "there is no `network-mode`, and the default is FP32");
        }
    }
}

fn fp32(look: &Look<'_>, report: &mut Report<'_>) {
    for (_, setting) in unwanted(look) {
        if setting.integer() == Some(0) {
            report.add(
                look.place(setting),
                "`network-mode` is 0: the model runs in FP32",
            );
        }
    }
}

/// Why a stage in INT8 has no calibration; `None` where it has one, or needs none.
fn lacks_calibration(look: &Look<'_>, stage: &InferStage, mode: &KnobSetting) -> Option<String> {
    if mode.integer() != Some(1) {
        return None;
    }
    let onnx = look.setting(stage.element, Knob::InferOnnxFile);
    let onnx = onnx.and_then(|onnx| onnx.text()).unwrap_or_default();
    let onnx = onnx.to_ascii_lowercase();
    if ["qat", "qdq", "int8", "quant"]
        .iter()
        .any(|mark| onnx.contains(mark))
    {
        return None;
    }
    let file = look.setting(stage.element, Knob::InferInt8CalibFile)?;
    if file.is_missing() {
        return Some("`network-mode` is 1 (INT8), and there is no `int8-calib-file`".to_owned());
    }
    let name = file.text().filter(|_| look.exists(file) == Some(false))?;
    Some(format!(
        "`network-mode` is 1 (INT8), and `{name}` does not exist"
    ))
}

fn without_calibration(look: &Look<'_>, report: &mut Report<'_>) {
    for (stage, setting) in modes(look) {
        let engine = look.setting(stage.element, Knob::InferModelEngineFile);
        let is_built = engine.is_some_and(|engine| {
            let precision = engine.text().and_then(engine_name::precision);
            precision == Some(EnginePrecision::Int8) && look.exists(engine) == Some(true)
        });
        if !can_build(look, stage) || is_built {
            continue;
        }
        if let Some(message) = lacks_calibration(look, stage, setting) {
            report.add(look.place(setting), message);
        }
    }
}

fn of_another_precision(look: &Look<'_>, report: &mut Report<'_>) {
    for (stage, mode) in modes(look) {
        let Some(engine) = look.setting(stage.element, Knob::InferModelEngineFile) else {
            continue;
        };
        // A mode that a program computes or that is refused is not known.
        let asked = match mode.integer() {
            Some(number) => engine_name::of_network_mode(number),
            None => mode.is_missing().then_some(EnginePrecision::Fp32),
        };
        let (Some(asked), Some(built)) = (asked, engine.text().and_then(engine_name::precision))
        else {
            continue;
        };
        let fell_back =
            built == EnginePrecision::Fp16 && lacks_calibration(look, stage, mode).is_some();
        if asked != built && asked != EnginePrecision::Best && !fell_back {
            let message =
                format!("the engine's name says {built}, and `network-mode` asks for {asked}");
            report.add(look.place(engine), message);
        }
    }
}
