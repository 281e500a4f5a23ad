//! R4: the tracker.

use ds_derive::{
    DeepStreamVersion, Disposition, Knob, RuleId, Tracker, TrackerAlgorithm, Variant, derive,
};
use proptest::prelude::*;

use crate::support::{at, derived, faulty, number, nvdcf, page, snapshot};

fn with(tracker: Tracker) -> ds_derive::Facts {
    let mut facts = faulty();
    facts.tracker = Some(tracker);
    facts
}

#[test]
fn the_size_by_hand() {
    // 480 = 15 x 32 and 288 = 9 x 32: half of 960 x 576, with both sides a multiple of 32.
    let facts = with(nvdcf());
    assert_eq!(number(&facts, RuleId::R4, Knob::TrackerWidth), 15 * 32);
    assert_eq!(number(&facts, RuleId::R4, Knob::TrackerHeight), 9 * 32);
}

#[test]
fn nvdcf_with_another_preset() {
    snapshot("r4__nvdcf", &page(&with(nvdcf()), RuleId::R4));
}

#[test]
fn the_preset_is_recognised_wherever_it_lies() {
    let mut tracker = nvdcf();
    tracker.ll_config_file = at(
        Knob::LlConfigFile,
        "../my/config_tracker_NvDCF_max_perf.yml",
    );
    let kept = derived(&with(tracker), RuleId::R4, Knob::LlConfigFile);
    assert_eq!(kept.disposition, Disposition::Unchanged);
}

#[test]
fn another_algorithm_is_proposed_and_not_written() {
    let mut pages = String::new();
    for algorithm in [
        TrackerAlgorithm::Iou,
        TrackerAlgorithm::NvDeepSort,
        TrackerAlgorithm::Unknown,
    ] {
        let facts = with(Tracker::new(algorithm));
        let config = derived(&facts, RuleId::R4, Knob::LlConfigFile);
        assert_eq!(config.disposition, Disposition::Propose);
        pages.push_str(&page(&facts, RuleId::R4));
        pages.push('\n');
    }
    snapshot("r4__another_algorithm", &pages);
}

#[test]
fn trackers_in_space_and_on_masks_keep_their_size() {
    let mut pages = String::new();
    for algorithm in [TrackerAlgorithm::ThreeD, TrackerAlgorithm::Mask] {
        let mut tracker = nvdcf();
        tracker.algorithm = algorithm;
        pages.push_str(&page(&with(tracker), RuleId::R4));
        pages.push('\n');
    }
    snapshot("r4__space_and_masks", &pages);
}

#[test]
fn sub_batches_are_left_to_the_user() {
    let mut tracker = nvdcf();
    tracker.ll_config_file = at(Knob::LlConfigFile, "a.yml;b.yml");
    snapshot("r4__sub_batches", &page(&with(tracker), RuleId::R4));
}

#[test]
fn no_configuration_gets_the_preset() {
    let facts = with(Tracker::new(TrackerAlgorithm::NotConfigured));
    snapshot("r4__not_configured", &page(&facts, RuleId::R4));
}

#[test]
fn releases_without_the_preset_and_unknown_ones() {
    let mut facts = with(nvdcf());
    facts.deepstream = Some(DeepStreamVersion { major: 5, minor: 1 });
    let old = page(&facts, RuleId::R4);
    facts.deepstream = None;
    snapshot(
        "r4__release",
        &format!("{old}\n{}", page(&facts, RuleId::R4)),
    );
}

#[test]
fn without_a_tracker_there_is_nothing_to_say() {
    assert_eq!(page(&faulty(), RuleId::R4), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_the_size_was_the_new_one_is_the_same(width in 1_u32..4096, height in 1_u32..4096) {
        let mut tracker = nvdcf();
        tracker.width = at(Knob::TrackerWidth, &width.to_string());
        tracker.height = at(Knob::TrackerHeight, &height.to_string());
        let plan = derive(&with(tracker));
        let written = plan
            .changes(Variant::Every)
            .filter(|change| matches!(change.knob, Knob::TrackerWidth | Knob::TrackerHeight))
            .count();
        // A side is written exactly if it differs.
        prop_assert_eq!(written, usize::from(width != 480) + usize::from(height != 288));
    }
}
