//! Sets what nvinfer does with a batch: how many frames it infers at once, at which precision, with which engine.
//!
//! | Knob | Value | Withheld when |
//! |---|---|---|
//! | `batch-size` | the final batch | nvdspreprocess decides it; a secondary model counts objects; the model's batch is fixed and smaller: **stop** |
//! | `network-mode` | 1 (INT8) if the calibration file is readable and the GPU's INT8 ceiling exceeds its FP16 ceiling; else 2 (FP16) if FP16 exceeds FP32; else 0 | the model carries its quantisation; the user asked for FP32 |
//! | `interval` | 0 | R4a decides: a tracker is there and its id retention was measured |
//! | `infer-dims` | channels;height;width of the model | – (not derivable while the shape is unknown) |
//! | `model-engine-file` | the pre-built engine of that precision with the smallest sufficient batch; the present one if it suffices | the batch is withheld because the model's is fixed |
//!
//! On a GPU whose ceilings are unknown the file alone decides, and the confidence is low. A static batch in the ONNX
//! graph, or an engine without a model to rebuild it from, cannot be widened by any edit: the plan stops there.
//!
//! Sources: the DeepStream 9.1 source (an engine is used if its maximum batch is at least the requested one, and is
//! otherwise rebuilt at every start; INT8 without a readable calibration file becomes FP16; `interval`, `batch-size`
//! and `network-mode` defaults); data sheets of B300 and V100 for INT8 rates below FP16.

use ds_ceilings::{Batch, OpsPerSec};

use super::batch::{NOTHING_RAN, final_batch, too_small};
use super::line::{Derived, Line, fixed};
use crate::derivation::{Confidence, Entry, RuleId, Target};
use crate::facts::{
    CalibrationFile, Engine, Facts, Gpu, Infer, InferRole, Precision, PrecisionWish, Quantisation,
    TensorOrigin,
};
use crate::knob::Knob;
use crate::value::{Present, Value};

pub(super) fn derive(facts: &Facts) -> Vec<Entry> {
    let of_one = |infer| {
        let (mode, precision) = network_mode(facts, infer);
        let mut entries = vec![batch_size(facts, infer), mode];
        if infer.role == InferRole::Primary {
            entries.push(interval(facts, infer));
        }
        entries.push(infer_dims(infer));
        entries.push(engine(facts, infer, precision));
        entries
    };
    facts.infers.iter().flat_map(of_one).collect()
}

/// The element that a model's knobs belong to.
pub(super) fn target(role: InferRole) -> Target {
    match role {
        InferRole::Primary => Target::PrimaryInfer,
        InferRole::Secondary(number) => Target::SecondaryInfer(number),
    }
}

fn line<'a>(infer: &Infer, knob: Knob, present: &'a Present) -> Line<'a> {
    Line {
        rule: RuleId::R2,
        knob,
        target: target(infer.role),
        present,
    }
}

fn batch_size(facts: &Facts, infer: &Infer) -> Entry {
    let line = line(infer, Knob::InferBatchSize, &infer.batch_size);
    if infer.tensors == TensorOrigin::Preprocess {
        return line.withhold(
            "nvdspreprocess decides the batch: the first number of its network-input-shape, over all regions of all streams",
        );
    }
    if let InferRole::Secondary(_) = infer.role {
        return line.withhold(
            "a secondary model counts objects, not frames, and the sweep does not measure them",
        );
    }
    let Some(chosen) = final_batch(facts) else {
        return line.missing(NOTHING_RAN);
    };
    if let Some(fixed) = too_small(infer, chosen.batch) {
        return line.stop(format!(
            "the model is fixed at batch {fixed} and {} is needed: no edit helps, export it again with a dynamic batch or with {}",
            chosen.batch, chosen.batch
        ));
    }
    line.set(Derived {
        new: Value::from(chosen.batch.get()),
        formula: chosen.formula,
        because: chosen.because.to_owned(),
        confidence: chosen.confidence,
    })
}

/// The entry, and the precision that an engine must then have; `None` if any will do.
fn network_mode(facts: &Facts, infer: &Infer) -> (Entry, Option<Precision>) {
    let line = line(infer, Knob::NetworkMode, &infer.network_mode);
    if infer.quantisation == Quantisation::Explicit {
        let reason = "the model carries its own quantisation, which network-mode must not override";
        return (line.withhold(reason), None);
    }
    if infer.precision == PrecisionWish::Fp32 {
        return (line.withhold("FP32 was asked for"), Some(Precision::Fp32));
    }
    let choice = choose_precision(&facts.gpu, infer.calibration);
    let confidence = match infer.quantisation {
        Quantisation::Implicit => choice.confidence,
        Quantisation::Unknown | Quantisation::Explicit => choice.confidence.min(Confidence::Medium),
    };
    let entry = line.set(Derived {
        new: Value::from(choice.precision.network_mode()),
        formula: choice.formula,
        because: choice.because,
        confidence,
    });
    (entry, Some(choice.precision))
}

fn name(gpu: &Gpu) -> &str {
    gpu.name.as_deref().unwrap_or("this GPU")
}

struct PrecisionChoice {
    precision: Precision,
    formula: String,
    because: String,
    confidence: Confidence,
}

fn choose_precision(gpu: &Gpu, calibration: CalibrationFile) -> PrecisionChoice {
    let without_int8 = |why: &str| {
        let choice = half_or_full(gpu);
        PrecisionChoice {
            because: format!("{why}, so INT8 is out; {}", choice.because),
            ..choice
        }
    };
    match calibration {
        CalibrationFile::Readable => with_calibration(gpu),
        CalibrationFile::Missing => without_int8("the calibration file cannot be read"),
        CalibrationFile::NotNamed => without_int8("no calibration file is named"),
        CalibrationFile::Unknown => PrecisionChoice {
            confidence: Confidence::Low,
            ..without_int8("no calibration file is known")
        },
    }
}

fn with_calibration(gpu: &Gpu) -> PrecisionChoice {
    let (Some(int8), Some(fp16)) = (gpu.int8, gpu.fp16) else {
        return PrecisionChoice {
            precision: Precision::Int8,
            formula: "calibration file readable; INT8 against FP16 not known".to_owned(),
            because: "the GPU's ceilings are not known, so the calibration file alone decides"
                .to_owned(),
            confidence: Confidence::Low,
        };
    };
    let compared = compare("INT8", int8, "FP16", fp16);
    if int8 > fp16 {
        return PrecisionChoice {
            precision: Precision::Int8,
            formula: compared,
            because: format!(
                "the calibration file is readable and INT8 is the faster of the two on {}",
                name(gpu)
            ),
            confidence: Confidence::High,
        };
    }
    let choice = half_or_full(gpu);
    PrecisionChoice {
        formula: format!("{compared}; {}", choice.formula),
        because: format!(
            "the calibration file is readable, but INT8 is no faster than FP16; {}",
            choice.because
        ),
        ..choice
    }
}

fn half_or_full(gpu: &Gpu) -> PrecisionChoice {
    match (gpu.fp16, gpu.fp32) {
        (Some(fp16), Some(fp32)) if fp16 > fp32 => PrecisionChoice {
            precision: Precision::Fp16,
            formula: compare("FP16", fp16, "FP32", fp32),
            because: format!("FP16 is the faster of the two on {}", name(gpu)),
            confidence: Confidence::High,
        },
        (Some(fp16), Some(fp32)) => PrecisionChoice {
            precision: Precision::Fp32,
            formula: compare("FP16", fp16, "FP32", fp32),
            because: format!("FP16 is no faster than FP32 on {}", name(gpu)),
            confidence: Confidence::High,
        },
        _ => PrecisionChoice {
            precision: Precision::Fp16,
            formula: "FP16 against FP32 not known".to_owned(),
            because: "the GPU's ceilings are not known, and nvinfer falls back to FP32 where FP16 has no hardware"
                .to_owned(),
            confidence: Confidence::Low,
        },
    }
}

fn compare(left_name: &str, left: OpsPerSec, right_name: &str, right: OpsPerSec) -> String {
    let relation = if left > right { ">" } else { "<=" };
    format!("{left_name} {left} {relation} {right_name} {right}")
}

fn interval(facts: &Facts, infer: &Infer) -> Entry {
    let line = line(infer, Knob::Interval, &infer.interval);
    if facts.tracker.is_none() {
        let because = "without a tracker nothing bridges a skipped frame";
        return line.set(fixed(0, because, Confidence::High));
    }
    if facts.id_retention.is_empty() {
        let because = "how many object ids survive a skipped frame was not measured";
        return line.set(fixed(0, because, Confidence::Medium));
    }
    line.withhold("R4a decides from the measured id retention")
}

fn infer_dims(infer: &Infer) -> Entry {
    let line = line(infer, Knob::InferDims, &infer.infer_dims);
    match infer.model_dims {
        Some(dims) => line.set(fixed(
            dims,
            "the shape of the model's input; written also for a fixed shape, so that an engine is checked against it",
            Confidence::High,
        )),
        None => line.missing("the shape of the model's input: channels, height, width"),
    }
}

/// The batch that the engine must take: the final batch for frames, else what the element asks for now.
fn needed_batch(facts: &Facts, infer: &Infer) -> Option<Batch> {
    if infer.role == InferRole::Primary && infer.tensors == TensorOrigin::Frames {
        return Some(final_batch(facts)?.batch);
    }
    let present = match &infer.batch_size {
        Present::Absent => Knob::InferBatchSize.default_value()?.as_integer(),
        Present::Value { value, .. } => value.as_integer(),
        Present::Computed { .. } => None,
    };
    Batch::new(u32::try_from(present?).ok()?)
}

fn engine(facts: &Facts, infer: &Infer, precision: Option<Precision>) -> Entry {
    let line = line(infer, Knob::ModelEngineFile, &infer.model_engine_file);
    let Some(batch) = needed_batch(facts, infer) else {
        return line.missing("the batch that the engine must take");
    };
    if let Some(fixed) = too_small(infer, batch) {
        return line.withhold(format!(
            "the model is fixed at batch {fixed}: an engine for {batch} cannot be built from it"
        ));
    }
    let fits = |engine: &Engine| {
        let right_precision =
            precision.is_none() || engine.precision.is_none() || engine.precision == precision;
        engine.max_batch.is_some_and(|most| most >= batch) && right_precision
    };
    let present = infer.model_engine_file.value().and_then(Value::as_text);
    let kept = infer
        .engines
        .iter()
        .find(|engine| Some(engine.path.as_str()) == present && fits(engine));
    // A known precision is worth more than a tight batch; the path breaks ties.
    let best = || {
        let fitting = infer.engines.iter().filter(|engine| fits(engine));
        fitting.min_by_key(|engine| (engine.precision.is_none(), engine.max_batch, &engine.path))
    };
    let Some((engine, most)) = kept
        .or_else(best)
        .and_then(|engine| Some((engine, engine.max_batch?)))
    else {
        let wanted = precision.map_or_else(String::new, |precision| format!(" at {precision}"));
        return line.missing(format!(
            "a pre-built engine for batch {batch} or more{wanted}: build it before measuring"
        ));
    };
    line.set(Derived {
        new: Value::from(engine.path.as_str()),
        formula: format!("engine batch {most} >= {batch}"),
        because: "an engine that is large enough is loaded; any other is rebuilt at every start"
            .to_owned(),
        confidence: if engine.precision.is_some() || precision.is_none() {
            Confidence::High
        } else {
            Confidence::Medium
        },
    })
}
