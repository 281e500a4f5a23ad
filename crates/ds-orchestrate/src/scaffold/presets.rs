//! What was chosen without asking, each with its reason and its exception. The values themselves are those of the rules.

use ds_derive::{Derivation, Disposition, Entry, Plan, Present};

use super::Variant;
use super::request::{NewOutput, NewRequest, StreamSource, Task};

/// One choice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preset {
    /// What it is about.
    pub knob: String,
    /// What it was set to.
    pub value: String,
    /// Why.
    pub because: String,
    /// When it would have been chosen otherwise.
    pub unless: String,
}

fn preset(knob: &str, value: &str, because: &str, unless: &str) -> Preset {
    Preset {
        knob: knob.to_owned(),
        value: value.to_owned(),
        because: because.to_owned(),
        unless: unless.to_owned(),
    }
}

/// The choices of the rules in the benchmark variant, then those of its shape.
pub(super) fn presets(request: &NewRequest, plan: &Plan) -> Vec<Preset> {
    let mut out: Vec<Preset> = Vec::new();
    for derivation in plan.derivations() {
        if derivation.disposition == Disposition::Propose {
            continue;
        }
        let of_rule = of_rule(derivation);
        // Every source has the same knobs: one line stands for all.
        if !out
            .iter()
            .any(|known| known.knob == of_rule.knob && known.value == of_rule.value)
        {
            out.push(of_rule);
        }
    }
    out.extend(withheld(plan));
    out.extend(shape(request));
    out
}

fn of_rule(derivation: &Derivation) -> Preset {
    let kind = target_kind(&derivation.target.to_string());
    let by_default = matches!(derivation.old, Present::Absent)
        && derivation.disposition == Disposition::Unchanged;
    Preset {
        knob: format!("{kind} {}", derivation.knob.name()),
        value: if by_default {
            format!("{} (its default)", derivation.new)
        } else {
            derivation.new.to_string()
        },
        because: format!("{}: {}", derivation.rule, derivation.because),
        unless: exception(derivation).to_owned(),
    }
}

/// The kind of element without the number of the one: `source source0` and `queue decoded0` stand for all of theirs.
fn target_kind(target: &str) -> String {
    let kind = target.trim_end_matches(|c: char| c.is_ascii_digit());
    match kind.split_once(' ') {
        Some((word, name)) if name == word => word.to_owned(),
        _ => kind.to_owned(),
    }
}

/// When the rule would choose otherwise, as the table of presets has it.
fn exception(derivation: &Derivation) -> &'static str {
    match derivation.knob.name() {
        "batch-size" | "max_batch_size" => "a sweep refines it: `dsprof tune`",
        "network-mode" => "a calibration file is named, or FP32 is asked for",
        "width" | "height" => "the frame is looked at, or the source's size is asked for",
        "batched-push-timeout" => "the new mux takes it from its policy file",
        "nvbuf-memory-type" | "cudadec-memtype" => "Jetson: surface arrays",
        "tracker-width" | "tracker-height" | "ll-config-file" => "3D and mask trackers",
        _ => "",
    }
}

fn withheld(plan: &Plan) -> Vec<Preset> {
    let mut out: Vec<Preset> = Vec::new();
    for entry in &plan.entries {
        let (knob, target, reason) = match entry {
            Entry::Withheld(entry) => (entry.knob, &entry.target, entry.reason.clone()),
            Entry::NotDerivable(entry) => (
                entry.knob,
                &entry.target,
                format!("not known: {}", entry.missing),
            ),
            Entry::Derived(_) => continue,
        };
        let preset = Preset {
            knob: format!("{} {}", target_kind(&target.to_string()), knob.name()),
            value: "left alone".to_owned(),
            because: format!("{}: {reason}", entry.rule()),
            unless: String::new(),
        };
        if !out.contains(&preset) {
            out.push(preset);
        }
    }
    out
}

/// What the shape of the pipeline chooses.
fn shape(request: &NewRequest) -> Vec<Preset> {
    let mut out = vec![
        preset(
            "frames",
            "memory:NVMM from decoder to model",
            "no frame crosses the bus once it is decoded",
            "USB cameras deliver in system memory and are uploaded once",
        ),
        preset(
            "sink",
            "fakesink sync=false in the benchmark variant",
            "a display or a clock hides what the GPU can do",
            "visible or recorded output: then a second variant keeps it",
        ),
    ];
    if !request.outputs.iter().any(NewOutput::shows_frames) {
        out.push(preset(
            "OSD, tiler",
            "left out",
            "nobody looks at the frames, and both take their share of the GPU",
            "visible output is asked for",
        ));
    }
    if request
        .outputs
        .iter()
        .any(|output| matches!(output, NewOutput::Kafka { .. }))
    {
        out.push(preset(
            "message queue",
            "2 buffers, leaky downstream",
            "a slow broker loses the oldest message instead of holding up the pipeline",
            "deepstream-app makes its own queues",
        ));
    }
    if request.form.is_app() {
        out.push(preset(
            "FPS measurement",
            "enable-perf-measurement=1, every 5 s",
            "deepstream-app counts in front of the sinks",
            "",
        ));
    } else {
        out.push(preset(
            "decode-side FPS measurement",
            "left out",
            "a queue stands between each source and the model, so that both are counted apart",
            "no queue separates them",
        ));
    }
    if request.task == Task::Vlm {
        out.push(preset(
            "model",
            "none in the pipeline",
            "a vision-language model is served by another program, which takes the frames from the sink",
            "",
        ));
    }
    if request
        .sources
        .iter()
        .any(|source| matches!(source, StreamSource::File(_)))
    {
        out.push(preset(
            "file-loop",
            "on in the benchmark variant only",
            "a file that ends cuts the measurement short",
            "",
        ));
    }
    out
}

/// The command that builds the engine once, before anything is measured: nvinfer builds it itself when it starts, so that
/// one short run of the benchmark variant is enough.
pub(super) fn build_command(request: &NewRequest, entry: &str) -> Option<String> {
    let command = match request.form {
        _ if request.task == Task::Vlm => return None,
        super::NewForm::GstLaunch => format!("timeout --signal=INT 900 sh {entry}"),
        super::NewForm::AppTxt | super::NewForm::AppYml => {
            format!("timeout --signal=INT 900 deepstream-app -c {entry}")
        }
        super::NewForm::ServiceMaker => return None,
        super::NewForm::Pyservicemaker => format!("timeout --signal=INT 900 python3 {entry}"),
    };
    Some(command)
}

/// Whether a variant shows or sends anything.
pub(super) fn wanted(request: &NewRequest) -> Vec<Variant> {
    if request.outputs.is_empty() {
        vec![Variant::Benchmark]
    } else {
        vec![Variant::Benchmark, Variant::Output]
    }
}
