//! R2: inference.

use ds_derive::{
    CalibrationFile, Engine, Facts, IdRetention, Infer, InferRole, Knob, ModelBatch, Place,
    Precision, PrecisionWish, Present, Quantisation, RuleId, TensorOrigin, Value, derive,
};
use proptest::prelude::*;

use crate::support::{
    at, batch, derived, faulty, number, nvdcf, page, primary, share, snapshot, tera,
};

fn engine(path: &str, max_batch: Option<u32>, precision: Option<Precision>) -> Engine {
    Engine {
        path: path.to_owned(),
        max_batch: max_batch.map(batch),
        precision,
    }
}

#[track_caller]
fn check_mode(rates: [Option<f64>; 3], calibration: CalibrationFile, expected: i64) {
    let mut facts = faulty();
    [facts.gpu.int8, facts.gpu.fp16, facts.gpu.fp32] = rates.map(|rate| rate.map(tera));
    facts.infers[0].calibration = calibration;
    assert_eq!(number(&facts, RuleId::R2, Knob::NetworkMode), expected);
}

#[test]
fn the_precision_by_hand() {
    use CalibrationFile::{Missing, NotNamed, Readable, Unknown};
    // H200: INT8 1979 > FP16 989 > TF32 495.
    let hopper = [Some(1979.0), Some(989.0), Some(495.0)];
    check_mode(hopper, Readable, 1);
    check_mode(hopper, NotNamed, 2);
    check_mode(hopper, Missing, 2);
    check_mode(hopper, Unknown, 2);
    // B300: INT8 153.5 < FP16, so the calibration file does not help.
    check_mode([Some(153.5), Some(2250.0), Some(1125.0)], Readable, 2);
    // A chip whose FP16 is no faster than FP32.
    check_mode([None, Some(10.0), Some(10.0)], NotNamed, 0);
    check_mode([Some(5.0), Some(10.0), Some(10.0)], Readable, 0);
    // A tie is no reason for INT8.
    check_mode([Some(10.0), Some(10.0), Some(5.0)], Readable, 2);
    // Nothing known: the file alone decides.
    check_mode([None; 3], Readable, 1);
    check_mode([None; 3], NotNamed, 2);
}

#[test]
fn the_batch_by_hand() {
    // The plateau is 8 and there are 16 streams: min(8, 16) = 8.
    assert_eq!(number(&faulty(), RuleId::R2, Knob::InferBatchSize), 8);
}

#[test]
fn the_faulty_pipeline() {
    snapshot("r2__faulty", &page(&faulty(), RuleId::R2));
}

#[test]
fn int8_on_an_unknown_gpu() {
    let mut facts = faulty();
    facts.gpu = ds_derive::Gpu::default();
    facts.infers[0].calibration = CalibrationFile::Readable;
    facts.infers[0].quantisation = Quantisation::Unknown;
    snapshot("r2__int8_unknown_gpu", &page(&facts, RuleId::R2));
}

#[test]
fn a_gpu_on_which_int8_is_slower() {
    let mut facts = faulty();
    facts.gpu.int8 = Some(tera(153.5));
    facts.infers[0].calibration = CalibrationFile::Readable;
    snapshot("r2__int8_slower", &page(&facts, RuleId::R2));
}

#[test]
fn precisions_that_are_left_alone() {
    let mut facts = faulty();
    facts.infers[0].quantisation = Quantisation::Explicit;
    snapshot("r2__explicit_quantisation", &page(&facts, RuleId::R2));
    let mut facts = faulty();
    facts.infers[0].precision = PrecisionWish::Fp32;
    snapshot("r2__fp32_asked_for", &page(&facts, RuleId::R2));
}

#[test]
fn a_static_batch_that_is_too_small_stops_the_plan() {
    let mut facts = faulty();
    facts.infers[0].model_batch = ModelBatch::Static(batch(1));
    snapshot("r2__static_batch", &page(&facts, RuleId::R2));
    assert_eq!(derive(&facts).stops().count(), 1);
    // One that is large enough does not.
    facts.infers[0].model_batch = ModelBatch::Static(batch(8));
    assert_eq!(derive(&facts).stops().count(), 0);
}

#[test]
fn nvdspreprocess_and_secondaries_keep_their_batch() {
    let mut facts = faulty();
    facts.infers[0].tensors = TensorOrigin::Preprocess;
    facts.infers[0].batch_size = at(Knob::InferBatchSize, "60");
    let mut secondary = primary();
    secondary.role = InferRole::Secondary(0);
    secondary.batch_size = at(Knob::InferBatchSize, "16");
    facts.infers.push(secondary);
    snapshot("r2__preprocess_and_secondary", &page(&facts, RuleId::R2));
}

#[test]
fn the_interval_with_and_without_a_tracker() {
    let mut facts = faulty();
    facts.infers[0].interval = at(Knob::Interval, "4");
    assert_eq!(number(&facts, RuleId::R2, Knob::Interval), 0);
    facts.tracker = Some(nvdcf());
    assert_eq!(number(&facts, RuleId::R2, Knob::Interval), 0);
    facts.id_retention = vec![IdRetention {
        interval: 1,
        share: share(0.995),
    }];
    snapshot("r2__interval_left_to_r4a", &page(&facts, RuleId::R2));
}

#[track_caller]
fn check_engine(engines: Vec<Engine>, present: Present, expected: Option<&str>) {
    let mut facts = faulty();
    facts.infers[0].engines = engines;
    facts.infers[0].model_engine_file = present;
    let plan = derive(&facts);
    let found = plan
        .derivations()
        .find(|derivation| derivation.knob == Knob::ModelEngineFile);
    assert_eq!(
        found.map(|found| &found.new),
        expected.map(Value::from).as_ref()
    );
}

#[test]
fn the_engine_is_the_smallest_that_fits() {
    // The final batch is 8 at FP16.
    let (b4, b8, b16) = (
        engine("b4", Some(4), Some(Precision::Fp16)),
        engine("b8", Some(8), Some(Precision::Fp16)),
        engine("b16", Some(16), Some(Precision::Fp16)),
    );
    let all = vec![b16.clone(), b4.clone(), b8.clone()];
    check_engine(all.clone(), Present::Absent, Some("b8"));
    // The present one stays if it is large enough, although another is smaller.
    check_engine(all.clone(), at(Knob::ModelEngineFile, "b16"), Some("b16"));
    check_engine(all, at(Knob::ModelEngineFile, "b4"), Some("b8"));
    check_engine(vec![b4], Present::Absent, None);
    // Of another precision, or of an unknown batch: no engine.
    check_engine(
        vec![engine("x", Some(8), Some(Precision::Fp32))],
        Present::Absent,
        None,
    );
    check_engine(
        vec![engine("x", None, Some(Precision::Fp16))],
        Present::Absent,
        None,
    );
    // A known precision before a tighter batch.
    let vague = engine("a", Some(8), None);
    check_engine(vec![vague.clone(), b16], Present::Absent, Some("b16"));
    check_engine(vec![vague], Present::Absent, Some("a"));
}

#[test]
fn a_model_of_which_little_is_known() {
    let mut facts = faulty();
    let mut infer = Infer::new(InferRole::Primary);
    infer.model_engine_file = Present::Computed {
        text: "ENGINE".to_owned(),
        place: Place::new("app.py:12"),
    };
    facts.infers = vec![infer];
    facts.plateau = None;
    snapshot("r2__little_known", &page(&facts, RuleId::R2));
}

fn with_rates(int8: f64, fp16: f64, fp32: f64) -> Facts {
    let mut facts = faulty();
    [facts.gpu.int8, facts.gpu.fp16, facts.gpu.fp32] =
        [int8, fp16, fp32].map(|rate| Some(tera(rate)));
    facts.infers[0].calibration = CalibrationFile::Readable;
    facts
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_chosen_precision_is_never_the_slower_one(
        int8 in 0.0_f64..3000.0, fp16 in 0.0_f64..3000.0, fp32 in 0.0_f64..3000.0, scale in 0.25_f64..8.0,
    ) {
        let mode = |facts: &Facts| number(facts, RuleId::R2, Knob::NetworkMode);
        let facts = with_rates(int8, fp16, fp32);
        match mode(&facts) {
            0 => prop_assert!(fp16 <= fp32 && int8 <= fp16),
            1 => prop_assert!(int8 > fp16),
            2 => prop_assert!(fp16 > fp32 && int8 <= fp16),
            other => prop_assert!(false, "network-mode {other}"),
        }
        // A chip that is faster in everything gets the same precision.
        let scaled = with_rates(int8 * scale, fp16 * scale, fp32 * scale);
        prop_assert_eq!(mode(&scaled), mode(&facts));
    }

    #[test]
    fn an_engine_is_never_smaller_than_the_batch(sizes in prop::collection::vec(1_u32..64, 0..6)) {
        let mut facts = faulty();
        facts.infers[0].engines = sizes
            .iter()
            .map(|size| engine(&format!("b{size}"), Some(*size), Some(Precision::Fp16)))
            .collect();
        let smallest = sizes.iter().filter(|size| **size >= 8).min();
        let plan = derive(&facts);
        let found = plan.derivations().find(|d| d.knob == Knob::ModelEngineFile);
        prop_assert_eq!(
            found.map(|found| found.new.to_string()),
            smallest.map(|size| format!("b{size}"))
        );
    }
}

#[test]
fn confidence_follows_what_is_known() {
    use ds_derive::Confidence::{High, Low};
    let mut facts = faulty();
    assert_eq!(
        derived(&facts, RuleId::R2, Knob::NetworkMode).confidence,
        High
    );
    facts.gpu.fp16 = None;
    assert_eq!(
        derived(&facts, RuleId::R2, Knob::NetworkMode).confidence,
        Low
    );
}
