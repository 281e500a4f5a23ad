//! R1: the stream mux.

use ds_ceilings::{Resolution, StreamCount};
use ds_derive::{
    AspectRatio, BatchKey, ConsumerKind, Facts, Failure, GpuKind, Knob, ModelBatch, MuxGeneration,
    MuxSizeWish, Outcome, OutputWish, Place, Present, RuleId, SourceKind, SweepPoint, TensorOrigin,
    derive, plateau,
};
use proptest::prelude::*;

use crate::support::{
    at, batch, consumer, derived, faulty, fps, number, page, plateau_not_reached, snapshot, source,
};

#[track_caller]
fn check_timeout(rate: f64, expected: i64) {
    let mut facts = faulty();
    facts.fps = fps(rate);
    assert_eq!(
        number(&facts, RuleId::R1, Knob::BatchedPushTimeout),
        expected
    );
}

#[test]
fn the_timeout_is_one_frame_interval() {
    // 1000000 / 30 = 33333.33..
    check_timeout(30.0, 33_333);
    // 1000000 / 25 = 40000
    check_timeout(25.0, 40_000);
    // 1000000 / 60 = 16666.66.. rounds up
    check_timeout(60.0, 16_667);
    // 1000000 / 29.97 = 33366.7
    check_timeout(29.97, 33_367);
}

#[test]
fn batch_and_size_by_hand() {
    // 1000 fps at 8, 1020 at 16: 2 % more, so the plateau is 8; min(8, 16 streams) = 8.
    // min(1920, 960) = 960; min(1080, 544) = 544.
    let facts = faulty();
    assert_eq!(number(&facts, RuleId::R1, Knob::MuxBatchSize), 8);
    assert_eq!(number(&facts, RuleId::R1, Knob::MuxWidth), 960);
    assert_eq!(number(&facts, RuleId::R1, Knob::MuxHeight), 544);
}

#[test]
fn a_source_smaller_than_the_model_keeps_its_size() {
    let mut facts = faulty();
    facts.sources[0].size = Resolution::new(640, 480);
    // min(640, 960) = 640; min(480, 544) = 480.
    assert_eq!(number(&facts, RuleId::R1, Knob::MuxWidth), 640);
    assert_eq!(number(&facts, RuleId::R1, Knob::MuxHeight), 480);
    // The largest source counts: max(640, 1920) = 1920, min(1920, 960) = 960.
    facts.sources.push(source("[source1]", SourceKind::File));
    assert_eq!(number(&facts, RuleId::R1, Knob::MuxWidth), 960);
}

#[test]
fn files_at_30fps() {
    snapshot("r1__files_30fps", &page(&faulty(), RuleId::R1));
}

#[test]
fn live_sources_at_25fps() {
    let mut facts = faulty();
    facts.fps = fps(25.0);
    facts.sources = vec![
        source("[source0]", SourceKind::Rtsp),
        source("[source1]", SourceKind::UsbCamera),
    ];
    snapshot("r1__live_sources_25fps", &page(&facts, RuleId::R1));
}

#[test]
fn the_new_mux_takes_its_policy_file() {
    let mut facts = faulty();
    facts.mux.as_mut().unwrap().generation = MuxGeneration::New;
    snapshot("r1__new_mux", &page(&facts, RuleId::R1));
}

#[test]
fn the_new_mux_at_a_rate_above_its_maximum() {
    let mut facts = faulty();
    // 143.856 = 143856/1000 = 17982/125, above the default maximum of 120/1.
    facts.fps = fps(143.856);
    let mux = facts.mux.as_mut().unwrap();
    mux.generation = MuxGeneration::New;
    mux.overall_min_fps_n = at(Knob::OverallMinFpsN, "5");
    snapshot("r1__new_mux_above_maximum", &page(&facts, RuleId::R1));
    assert_eq!(number(&facts, RuleId::R1, Knob::OverallMaxFpsN), 17_982);
    assert_eq!(number(&facts, RuleId::R1, Knob::OverallMaxFpsD), 125);
}

#[test]
fn the_new_mux_at_its_maximum_keeps_it() {
    let mut facts = faulty();
    facts.mux.as_mut().unwrap().generation = MuxGeneration::New;
    // The default maximum is 120/1; 120 does not exceed it, 120.5 does.
    let raises = |facts: &Facts| {
        let plan = derive(facts);
        plan.derivations()
            .any(|change| change.knob == Knob::OverallMaxFpsN)
    };
    facts.fps = fps(120.0);
    assert!(!raises(&facts));
    facts.fps = fps(120.5);
    assert!(raises(&facts));
}

#[test]
fn the_new_mux_with_a_maximum_that_cannot_be_read() {
    let mut facts = faulty();
    let mux = facts.mux.as_mut().unwrap();
    mux.generation = MuxGeneration::New;
    mux.overall_max_fps_n = at(Knob::OverallMaxFpsN, "fast");
    snapshot("r1__new_mux_unreadable_maximum", &page(&facts, RuleId::R1));
}

#[test]
fn the_size_is_withheld_where_somebody_looks_at_the_frame() {
    let mut facts = faulty();
    facts.consumers = vec![
        consumer(ConsumerKind::Analytics, Knob::OsdEnable),
        consumer(ConsumerKind::Osd, Knob::OsdEnable),
        consumer(ConsumerKind::MessageConverter, Knob::OsdEnable),
    ];
    facts.options.output = OutputWish::Visible;
    snapshot("r1__looked_at_downstream", &page(&facts, RuleId::R1));
}

#[test]
fn an_osd_that_r6_takes_out_does_not_look() {
    let mut facts = faulty();
    facts.consumers = vec![
        consumer(ConsumerKind::Osd, Knob::OsdEnable),
        consumer(ConsumerKind::Tiler, Knob::TilerEnable),
    ];
    assert_eq!(number(&facts, RuleId::R1, Knob::MuxWidth), 960);
    // In a form without a key that switches them they stay, and look.
    facts.consumers[0].enable = Present::Absent;
    snapshot("r1__osd_that_stays", &page(&facts, RuleId::R1));
}

#[test]
fn the_users_wish_beats_the_reasons() {
    let mut facts = faulty();
    facts.consumers = vec![consumer(ConsumerKind::Analytics, Knob::OsdEnable)];
    facts.infers[0].aspect_ratio = AspectRatio::Kept;
    facts.options.mux_size = MuxSizeWish::Model;
    assert_eq!(number(&facts, RuleId::R1, Knob::MuxWidth), 960);
    facts.options.mux_size = MuxSizeWish::Source;
    assert_eq!(number(&facts, RuleId::R1, Knob::MuxWidth), 1920);
    facts.sources[0].size = None;
    facts.options.mux_size = MuxSizeWish::Model;
    assert_eq!(
        derived(&facts, RuleId::R1, Knob::MuxWidth).formula,
        "model 960"
    );
}

#[test]
fn an_aspect_ratio_that_is_kept() {
    let mut facts = faulty();
    facts.infers[0].aspect_ratio = AspectRatio::Kept;
    snapshot("r1__aspect_ratio_kept", &page(&facts, RuleId::R1));
}

#[test]
fn nvdspreprocess_decides_the_batch() {
    let mut facts = faulty();
    facts.infers[0].tensors = TensorOrigin::Preprocess;
    facts.consumers = vec![consumer(ConsumerKind::Preprocess, Knob::OsdEnable)];
    snapshot("r1__preprocess", &page(&facts, RuleId::R1));
}

#[test]
fn a_model_of_a_fixed_smaller_batch() {
    let mut facts = faulty();
    facts.infers[0].model_batch = ModelBatch::Static(batch(1));
    snapshot("r1__static_model", &page(&facts, RuleId::R1));
}

#[test]
fn a_source_list_or_a_multi_uri_bin_sets_the_batch() {
    let mut facts = faulty();
    facts.mux.as_mut().unwrap().batch_size = BatchKey::SourceList;
    snapshot("r1__source_list", &page(&facts, RuleId::R1));
    facts.mux.as_mut().unwrap().batch_size = BatchKey::MultiUri {
        max_batch_size: at(Knob::MaxBatchSize, "30"),
    };
    snapshot("r1__multi_uri", &page(&facts, RuleId::R1));
}

#[test]
fn an_integrated_gpu_keeps_its_memory_type() {
    let mut facts = faulty();
    facts.gpu.kind = Some(GpuKind::Integrated);
    snapshot("r1__integrated_gpu", &page(&facts, RuleId::R1));
}

#[test]
fn a_pipeline_of_which_little_is_known() {
    let mut facts = faulty();
    facts.mux = None;
    snapshot("r1__no_mux", &page(&facts, RuleId::R1));

    let mut facts = faulty();
    facts.fps = fps(0.0);
    facts.sources.clear();
    facts.infers[0].model_dims = None;
    facts.gpu.kind = None;
    facts.plateau = None;
    let mux = facts.mux.as_mut().unwrap();
    mux.batch_size = BatchKey::Own(Present::Computed {
        text: "len(uris)".to_owned(),
        place: Place::new("app.py:41"),
    });
    snapshot("r1__little_known", &page(&facts, RuleId::R1));
}

#[test]
fn a_sweep_in_which_nothing_ran() {
    let mut facts = faulty();
    let failed = SweepPoint {
        batch: batch(1),
        streams: StreamCount::new(1),
        outcome: Outcome::Failed {
            why: Failure::Crash,
            detail: String::new(),
        },
    };
    facts.plateau = Some(plateau(&[failed], facts.streams));
    snapshot("r1__nothing_ran", &page(&facts, RuleId::R1));
}

#[test]
fn a_plateau_that_was_not_reached() {
    let mut facts = faulty();
    facts.streams = StreamCount::new(64);
    facts.plateau = Some(plateau_not_reached(64));
    let batch_size = derived(&facts, RuleId::R1, Knob::MuxBatchSize);
    assert_eq!(
        batch_size.formula,
        "min(largest batch that ran 32, streams 64) = 32"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_faster_source_never_waits_longer(slow in 1.0_f64..240.0, faster in 1.0_f64..4.0) {
        let timeout = |rate: f64| {
            let mut facts = faulty();
            facts.fps = fps(rate);
            number(&facts, RuleId::R1, Knob::BatchedPushTimeout)
        };
        prop_assert!(timeout(slow * faster) <= timeout(slow));
        // Twice the rate, half the wait, to the microsecond that rounding costs.
        let twice = 2 * timeout(slow * 2.0);
        prop_assert!((twice - timeout(slow)).abs() <= 1, "{twice}");
    }

    #[test]
    fn the_size_never_exceeds_source_or_model(
        source in (1_u32..8192, 1_u32..8192),
        model in (1_u32..2048, 1_u32..2048),
    ) {
        let mut facts = faulty();
        facts.sources[0].size = Resolution::new(source.0, source.1);
        facts.infers[0].model_dims = ds_derive::Dims::new(3, model.1, model.0);
        let (width, height) = (
            number(&facts, RuleId::R1, Knob::MuxWidth),
            number(&facts, RuleId::R1, Knob::MuxHeight),
        );
        prop_assert_eq!(width, i64::from(source.0.min(model.0)));
        prop_assert_eq!(height, i64::from(source.1.min(model.1)));
    }

    #[test]
    fn the_policy_of_the_new_mux_is_the_rate(rate in 0.01_f64..1000.0) {
        let mut facts = faulty();
        facts.fps = fps(rate);
        facts.mux.as_mut().unwrap().generation = MuxGeneration::New;
        let n = number(&facts, RuleId::R1, Knob::OverallMinFpsN) as f64;
        let d = number(&facts, RuleId::R1, Knob::OverallMinFpsD) as f64;
        prop_assert!((n / d - rate).abs() <= 0.000_51, "{n}/{d}");
    }
}
