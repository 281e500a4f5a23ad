//! E1, E4, E5 and N9: the batch of the inference against that of the mux.

use super::{Look, Report, Rule, Severity};
use crate::model::{InferStage, Knob, KnobSetting, Role};

/// The element's batch is not the mux's.
pub(super) const E1: Rule = Rule {
    id: "DS024",
    code: "E1",
    severity: Severity::Warning,
    title: "the batch of the primary inference is not the batch of the mux",
    reason: "A smaller one splits every batch of the mux; a larger one only makes the engine larger than needed, and is \
             reported as a note.",
    guard: "nvdspreprocess decides the batch; secondary models count objects; `[source-list]` and nvmultiurisrcbin set \
            both; the new mux unless `adaptive-batching=0`.",
    remedy: "give mux and primary inference the same `batch-size`",
    fixed_by: Some("R2"),
    check: element_differs,
};

/// The file's batch is not the mux's, and nothing replaces it.
pub(super) const E4: Rule = Rule {
    id: "DS027",
    code: "E4",
    severity: Severity::Warning,
    title: "the batch in the inference's file is not the batch of the mux, and the application sets none",
    reason: "Without a `batch-size` on the element or in `[primary-gie]` the file's value counts.",
    guard: "As DS024.",
    remedy: "give mux and primary inference the same `batch-size`",
    fixed_by: Some("R2"),
    check: file_differs,
};

/// No batch for the primary inference.
pub(super) const E5: Rule = Rule {
    id: "DS028",
    code: "E5",
    severity: Severity::Warning,
    title: "the primary inference has no batch size anywhere",
    reason: "It then infers one frame at a time, whatever the mux batches.",
    guard: "A single source; nvdspreprocess; a file that was not read.",
    remedy: "set `batch-size` of the primary inference to that of the mux",
    fixed_by: Some("R2"),
    check: nowhere,
};

/// No batch in a file by itself.
pub(super) const N9: Rule = Rule {
    id: "DS039",
    code: "N9",
    severity: Severity::Note,
    title: "the nvinfer file has no `batch-size`",
    reason: "The default is 1.",
    guard: "Set on the element or in the application; the primary inference of a whole pipeline (DS028).",
    remedy: "set `batch-size` in `[property]`",
    fixed_by: Some("R2"),
    check: missing_in_file,
};

/// The batch of the mux and of the primary inference where they should be equal.
fn pair<'a>(look: &Look<'a>) -> Option<(i64, &'a InferStage, &'a KnobSetting)> {
    if look.sources_set_batch() || look.is_adaptive() {
        return None;
    }
    let mux = look.mux_batch()?.integer().filter(|batch| *batch > 0)?;
    let stage = look
        .primary()
        .filter(|stage| !look.is_preprocessed(stage))?;
    Some((
        mux,
        stage,
        look.setting(stage.element, Knob::InferBatchSize)?,
    ))
}

/// Where the value of a batch stands.
#[derive(PartialEq, Eq)]
enum Holder {
    Element,
    File,
}

fn holder(stage: &InferStage, setting: &KnobSetting) -> Option<Holder> {
    let place = setting.place.as_ref()?;
    let is_file = stage.config_path.as_ref() == Some(&place.path);
    Some(if is_file {
        Holder::File
    } else {
        Holder::Element
    })
}

fn element_differs(look: &Look<'_>, report: &mut Report<'_>) {
    differs(look, report, &Holder::Element);
}

fn file_differs(look: &Look<'_>, report: &mut Report<'_>) {
    differs(look, report, &Holder::File);
}

fn differs(look: &Look<'_>, report: &mut Report<'_>, wanted: &Holder) {
    let Some((mux, stage, setting)) = pair(look) else {
        return;
    };
    let Some(batch) = setting
        .integer()
        .filter(|batch| *batch > 0 && *batch != mux)
    else {
        return;
    };
    if holder(stage, setting).as_ref() == Some(wanted) {
        let message =
            format!("the batch of the primary inference is {batch}, and that of the mux is {mux}");
        let finding = report.add(look.place(setting), message);
        if batch > mux {
            finding.severity = Severity::Note;
        }
    }
}

fn nowhere(look: &Look<'_>, report: &mut Report<'_>) {
    let is_single = look.pipeline.streams() == Some(1);
    let mux_batch = look.mux_batch().and_then(KnobSetting::integer);
    if !look.is_whole() || is_single || mux_batch == Some(1) {
        return;
    }
    let Some(stage) = look.primary().filter(|stage| !look.is_preprocessed(stage)) else {
        return;
    };
    if let Some(setting) = look.setting(stage.element, Knob::InferBatchSize)
        && is_default_of_one(setting)
    {
        report.add(
            look.place(setting),
            "the primary inference has no `batch-size` and takes one frame at a time",
        );
    }
}

fn missing_in_file(look: &Look<'_>, report: &mut Report<'_>) {
    for (stage, file) in look.nvinfer() {
        let is_secondary = look.role(stage.element) == Some(Role::SecondaryInfer);
        if (is_secondary || !look.is_whole())
            && let Some(setting) = look.setting(stage.element, Knob::InferBatchSize)
            && is_default_of_one(setting)
        {
            report.add(
                file.group_place("property"),
                "there is no `batch-size`, and the default is 1",
            );
        }
    }
}

/// Whether nothing gives the batch, and the file of the inference is known.
fn is_default_of_one(setting: &KnobSetting) -> bool {
    setting.is_missing() && setting.default == Some("1")
}
