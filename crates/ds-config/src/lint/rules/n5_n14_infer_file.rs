//! N5, N11, N12 and N14: keys that an nvinfer file lacks or holds.

use super::{Look, Report, Rule, Severity};
use crate::model::{InferPlugin, InferStage, Knob, Role};
use crate::onnx::OnnxDim;

/// No engine.
pub(super) const N5: Rule = Rule {
    id: "DS035",
    code: "N5",
    severity: Severity::Note,
    title: "there is no `model-engine-file`",
    reason: "The engine is built at every start, for minutes, although one was saved next to the model.",
    guard: "The application names an engine.",
    remedy: "set `model-engine-file` to the engine that nvinfer saved: `<onnx>_b<N>_gpu<G>_<precision>.engine`",
    fixed_by: Some("R2"),
    check: without_engine,
};

/// No input size.
pub(super) const N11: Rule = Rule {
    id: "DS040",
    code: "N11",
    severity: Severity::Note,
    title: "there is no `infer-dims`",
    reason: "A model with a dynamic height and width cannot be built without it, and nobody can tell from the file how \
             large the input is.",
    guard: "No ONNX model is named, or it is at hand and its shape is fixed.",
    remedy: "set `infer-dims` to channels;height;width of the model",
    fixed_by: Some("R2"),
    check: without_dims,
};

/// Objects that are inferred on once only.
pub(super) const N12: Rule = Rule {
    id: "DS041",
    code: "N12",
    severity: Severity::Note,
    title: "a secondary inference has no `secondary-reinfer-interval`",
    reason: "An object that was classified once is not classified again while it is tracked, unless it grows.",
    guard: "Primary inferences.",
    remedy: "set `secondary-reinfer-interval` to the number of frames after which an object is to be seen again",
    fixed_by: None,
    check: without_reinfer,
};

/// Frames are scaled with their shape kept.
pub(super) const N14: Rule = Rule {
    id: "DS042",
    code: "N14",
    severity: Severity::Note,
    title: "`maintain-aspect-ratio` is 1",
    reason: "The model's input then holds bars, so that the mux must not scale the frames to the size of the model.",
    guard: "–",
    remedy: "leave width and height of the mux at the size of the sources",
    fixed_by: None,
    check: keeps_shape,
};

fn without_engine(look: &Look<'_>, report: &mut Report<'_>) {
    missing(
        look,
        report,
        Knob::InferModelEngineFile,
        "there is no `model-engine-file`: the engine is built at every start",
    );
}

fn without_dims(look: &Look<'_>, report: &mut Report<'_>) {
    missing(
        look,
        report,
        Knob::InferDims,
        "there is no `infer-dims`: the size of the model's input is not known here",
    );
}

fn missing(look: &Look<'_>, report: &mut Report<'_>, knob: Knob, message: &str) {
    for (stage, file) in look.nvinfer() {
        let setting = look.setting(stage.element, knob);
        if setting.is_some_and(|setting| setting.is_missing())
            && (knob != Knob::InferDims || has_open_dims(look, stage))
        {
            report.add(file.group_place("property"), message);
        }
    }
}

/// Whether the size of the input may be open: an ONNX model is named, and is not known to fix it.
fn has_open_dims(look: &Look<'_>, stage: &InferStage) -> bool {
    let onnx = look.setting(stage.element, Knob::InferOnnxFile);
    let is_fixed = look.model(stage).is_some_and(|model| {
        let mut sizes = model
            .inputs()
            .iter()
            .flat_map(|input| input.dims.iter().skip(1));
        !model.inputs().is_empty() && sizes.all(|size| matches!(size, OnnxDim::Fixed(_)))
    });
    onnx.is_some_and(|onnx| !onnx.is_missing()) && !is_fixed
}

fn without_reinfer(look: &Look<'_>, report: &mut Report<'_>) {
    for stage in &look.pipeline.infer {
        let is_secondary = look.role(stage.element) == Some(Role::SecondaryInfer);
        let Some(place) = look.config_place(stage) else {
            continue;
        };
        let is_given = match stage.plugin {
            InferPlugin::Nvinfer => look
                .config_keys(stage)
                .iter()
                .any(|written| written.key == "secondary-reinfer-interval"),
            // In a text protobuf it stands in a oneof beside the interval, of which one is given.
            _ => true,
        };
        if is_secondary && !is_given {
            report.add(
                place,
                "the inference works on objects, and there is no `secondary-reinfer-interval`",
            );
        }
    }
}

fn keeps_shape(look: &Look<'_>, report: &mut Report<'_>) {
    for setting in look.pipeline.knobs_of(Knob::InferMaintainAspectRatio) {
        if setting.flag() == Some(true) {
            report.add(
                look.place(setting),
                "`maintain-aspect-ratio` is 1: the mux keeps the size of the sources",
            );
        }
    }
}
