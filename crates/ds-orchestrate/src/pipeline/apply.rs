//! From a plan to edits of the user's files.

use ds_config::{
    Element, ElementId, Knob as ConfigKnob, KnobValue, Pipeline, Role, Target as ConfigTarget,
};
use ds_derive::{Derivation, Knob, Plan, Switch, Target, Value, Variant};
use similar::TextDiff;

use super::facts::{decoder_of, display_name, file_loop_element};
use crate::error::Error;
use crate::transaction::FileChange;

/// One derived value on its way into a file.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedEdit {
    /// The value.
    pub derivation: Derivation,
    /// Where it goes, or why it cannot be written and has to be set by hand.
    pub place: Result<String, String>,
}

/// Everything that a plan changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlannedEdits {
    /// The values, in the order of the plan.
    pub edits: Vec<PlannedEdit>,
    /// The files with their old and new contents.
    pub files: Vec<FileChange>,
}

impl PlannedEdits {
    /// The change as a unified diff, with three lines round each hunk.
    pub fn unified_diff(&self) -> String {
        let diff = |file: &FileChange| {
            let (before, after) = (
                String::from_utf8_lossy(&file.before),
                String::from_utf8_lossy(&file.after),
            );
            let name = file.path.display().to_string();
            let name = name.trim_start_matches('/');
            TextDiff::from_lines(before.as_ref(), after.as_ref())
                .unified_diff()
                .context_radius(3)
                .header(&format!("a/{name}"), &format!("b/{name}"))
                .to_string()
        };
        self.files.iter().map(diff).collect()
    }
}

/// Finds the place for every value that `plan` writes into `variant`, and the new contents of the files.
///
/// # Errors
///
/// When the edits cannot be made on the bytes that were read.
pub fn plan_edits(
    pipeline: &Pipeline,
    plan: &Plan,
    variant: Variant,
) -> Result<PlannedEdits, Error> {
    edits_with(pipeline, plan, variant, &[])
}

/// The same with `further` values that no rule derives.
pub(super) fn edits_with(
    pipeline: &Pipeline,
    plan: &Plan,
    variant: Variant,
    further: &[(ConfigTarget, KnobValue)],
) -> Result<PlannedEdits, Error> {
    let mut edits = Vec::new();
    let mut values: Vec<(ConfigTarget, KnobValue)> = further.to_vec();
    // A plan that has to stop first writes nothing at all.
    if plan.stops().next().is_some() {
        return Ok(PlannedEdits::default());
    }
    for derivation in plan.changes(variant) {
        let place = match target_of(pipeline, &derivation.target, derivation.knob) {
            None => Err(format!(
                "this form has no `{}` here; set it where the program is made",
                derivation.knob.name()
            )),
            // A measurement needs another value than the user does.
            Some(target) if further.iter().any(|(other, _)| *other == target) => continue,
            Some(target) => {
                let value = config_value(&derivation.new);
                match pipeline.set(target, value.clone()) {
                    Ok(change) => {
                        values.push((target, value));
                        Ok(change
                            .knobs
                            .first()
                            .map_or_else(String::new, |knob| knob.place.to_string()))
                    }
                    Err(error) => Err(error.to_string()),
                }
            }
        };
        edits.push(PlannedEdit {
            derivation: derivation.clone(),
            place,
        });
    }
    let change = pipeline.set_all(&values)?;
    let mut files = Vec::new();
    for file in &change.files {
        let source = pipeline
            .files
            .iter()
            .find(|source| source.path() == file.path);
        let before = source
            .map(|source| source.bytes().to_vec())
            .unwrap_or_default();
        let after = file.edit.apply(&before)?;
        files.push(FileChange {
            path: file.path.clone().into(),
            before,
            after,
        });
    }
    Ok(PlannedEdits { edits, files })
}

fn config_value(value: &Value) -> KnobValue {
    match value {
        Value::Integer(number) => KnobValue::Integer(*number),
        Value::Switch(switch) => KnobValue::Flag(*switch == Switch::On),
        Value::Dims(dims) => {
            let size = dims.size();
            let numbers = [dims.channels(), size.height(), size.width()];
            KnobValue::List(
                numbers
                    .into_iter()
                    .filter_map(|n| i32::try_from(n).ok())
                    .collect(),
            )
        }
        Value::Text(text) => KnobValue::Text(text.clone()),
    }
}

/// The setting of ds-config that a rule's knob stands for; `None` where the pipeline has none.
pub(crate) fn target_of(pipeline: &Pipeline, target: &Target, knob: Knob) -> Option<ConfigTarget> {
    let config = config_knob(knob);
    let named = |name: &String, role: fn(Role) -> bool| {
        pipeline
            .elements
            .iter()
            .find(|element| role(element.role) && display_name(element) == *name)
    };
    let with_role = |role| pipeline.elements_with(role).next();
    let element: ElementId = match target {
        Target::Mux | Target::MuxPolicy => {
            with_role(Role::Mux)
                .or_else(|| with_role(Role::MultiSource))?
                .id
        }
        Target::PrimaryInfer => with_role(Role::PrimaryInfer)?.id,
        Target::SecondaryInfer(index) => {
            let index = usize::try_from(*index).ok()?;
            pipeline.elements_with(Role::SecondaryInfer).nth(index)?.id
        }
        Target::Source(name) => {
            let source = pipeline.sources.iter().find(|source| {
                pipeline
                    .element(source.element)
                    .is_some_and(|element| display_name(element) == *name)
            })?;
            if config == ConfigKnob::SourceFileLoop {
                file_loop_element(pipeline, source.element)
            } else {
                decoder_of(pipeline, source.element)
            }
        }
        Target::MultiUriSource => with_role(Role::MultiSource)?.id,
        Target::Tracker => with_role(Role::Tracker)?.id,
        Target::Queue(name) => named(name, |role| matches!(role, Role::Queue(_)))?.id,
        // A form that has no key for its queues has none to edit either.
        Target::Queues => return None,
        Target::Osd => with_role(Role::Osd)?.id,
        Target::Tiler => with_role(Role::Tiler)?.id,
        Target::Sink(name) => sink(pipeline, name)?.id,
    };
    let target = ConfigTarget {
        element,
        knob: config,
    };
    pipeline.knob(target).map(|_| target)
}

fn sink<'a>(pipeline: &'a Pipeline, name: &str) -> Option<&'a Element> {
    pipeline
        .sinks
        .iter()
        .filter_map(|sink| pipeline.element(sink.element))
        .find(|element| display_name(element) == name)
}

fn config_knob(knob: Knob) -> ConfigKnob {
    match knob {
        Knob::MuxBatchSize => ConfigKnob::MuxBatchSize,
        Knob::MuxWidth => ConfigKnob::MuxWidth,
        Knob::MuxHeight => ConfigKnob::MuxHeight,
        Knob::BatchedPushTimeout => ConfigKnob::MuxBatchedPushTimeout,
        Knob::NvbufMemoryType => ConfigKnob::MuxNvbufMemoryType,
        Knob::LiveSource => ConfigKnob::MuxLiveSource,
        Knob::EnablePadding => ConfigKnob::MuxEnablePadding,
        Knob::OverallMinFpsN => ConfigKnob::MuxMinFpsNumerator,
        Knob::OverallMinFpsD => ConfigKnob::MuxMinFpsDenominator,
        Knob::OverallMaxFpsN => ConfigKnob::MuxMaxFpsNumerator,
        Knob::OverallMaxFpsD => ConfigKnob::MuxMaxFpsDenominator,
        Knob::InferBatchSize => ConfigKnob::InferBatchSize,
        Knob::NetworkMode => ConfigKnob::InferNetworkMode,
        Knob::Interval => ConfigKnob::InferInterval,
        Knob::InferDims => ConfigKnob::InferDims,
        Knob::ModelEngineFile => ConfigKnob::InferModelEngineFile,
        Knob::NumExtraSurfaces => ConfigKnob::DecodeNumExtraSurfaces,
        Knob::CudadecMemtype => ConfigKnob::DecodeCudadecMemtype,
        Knob::FileLoop => ConfigKnob::SourceFileLoop,
        Knob::MaxBatchSize => ConfigKnob::MultiUriMaxBatchSize,
        Knob::TrackerWidth => ConfigKnob::TrackerWidth,
        Knob::TrackerHeight => ConfigKnob::TrackerHeight,
        Knob::LlConfigFile => ConfigKnob::TrackerLlConfigFile,
        Knob::QueueMaxSizeBuffers => ConfigKnob::QueueMaxSizeBuffers,
        Knob::QueueMaxSizeBytes => ConfigKnob::QueueMaxSizeBytes,
        Knob::QueueMaxSizeTime => ConfigKnob::QueueMaxSizeTime,
        Knob::QueueLeaky => ConfigKnob::QueueLeaky,
        Knob::OsdEnable => ConfigKnob::OsdEnable,
        Knob::TilerEnable => ConfigKnob::TilerEnable,
        Knob::SinkElement => ConfigKnob::SinkKind,
        Knob::SinkSync => ConfigKnob::SinkSync,
    }
}
