//! R3: decoding.

use ds_ceilings::StreamCount;
use ds_derive::{BatchKey, GpuKind, Knob, Place, Present, RuleId, SourceKind, Variant, derive};
use proptest::prelude::*;

use crate::support::{at, faulty, number, page, plateau_at_8, snapshot, source};

#[test]
fn surfaces_and_cap_by_hand() {
    let mut facts = faulty();
    // The final batch is 8: min(8, 5) = 5.
    assert_eq!(number(&facts, RuleId::R3, Knob::NumExtraSurfaces), 5);
    // Two streams: the final batch is min(8, 2) = 2, and min(2, 5) = 2.
    facts.streams = StreamCount::new(2);
    facts.plateau = Some(plateau_at_8(2));
    assert_eq!(number(&facts, RuleId::R3, Knob::NumExtraSurfaces), 2);
    // max(2 streams, 30 present) = 30: a cap is never lowered.
    facts.mux.as_mut().unwrap().batch_size = BatchKey::MultiUri {
        max_batch_size: at(Knob::MaxBatchSize, "30"),
    };
    assert_eq!(number(&facts, RuleId::R3, Knob::MaxBatchSize), 30);
    facts.streams = StreamCount::new(64);
    // max(64, 30) = 64: the batch of 8 does not enter.
    assert_eq!(number(&facts, RuleId::R3, Knob::MaxBatchSize), 64);
}

#[test]
fn every_kind_of_source() {
    let mut facts = faulty();
    facts.sources = vec![
        source("[source0]", SourceKind::File),
        source("[source1]", SourceKind::Rtsp),
        source("[source2]", SourceKind::UsbCamera),
        source("[source3]", SourceKind::Other),
    ];
    facts.sources[1].num_extra_surfaces = at(Knob::NumExtraSurfaces, "5");
    facts.sources[1].cudadec_memtype = at(Knob::CudadecMemtype, "2");
    snapshot("r3__every_kind", &page(&facts, RuleId::R3));
}

#[test]
fn an_integrated_gpu_has_no_memory_type_to_set() {
    let mut facts = faulty();
    facts.gpu.kind = Some(GpuKind::Integrated);
    facts.sources = vec![
        source("cam", SourceKind::CsiCamera),
        source("rtsp", SourceKind::Rtsp),
    ];
    snapshot("r3__integrated_gpu", &page(&facts, RuleId::R3));
}

#[test]
fn the_cap_of_a_multi_uri_bin() {
    let mut facts = faulty();
    facts.gpu.kind = None;
    let mut pages = String::new();
    for present in [
        Present::Absent,
        at(Knob::MaxBatchSize, "4"),
        Present::Computed {
            text: "N".to_owned(),
            place: Place::new("app.py:3"),
        },
    ] {
        facts.mux.as_mut().unwrap().batch_size = BatchKey::MultiUri {
            max_batch_size: present,
        };
        pages.push_str(&page(&facts, RuleId::R3));
        pages.push('\n');
    }
    snapshot("r3__multi_uri", &pages);
}

#[test]
fn files_loop_only_while_they_are_measured() {
    let plan = derive(&faulty());
    let loops = |variant| {
        plan.changes(variant)
            .any(|change| change.knob == Knob::FileLoop)
    };
    assert!(loops(Variant::Benchmark));
    assert!(!loops(Variant::Every));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn surfaces_stay_within_one_and_five_and_grow_with_the_streams(streams in 1_u32..200, more in 0_u32..50) {
        let surfaces = |streams| {
            let mut facts = faulty();
            facts.streams = StreamCount::new(streams);
            facts.plateau = None;
            number(&facts, RuleId::R3, Knob::NumExtraSurfaces)
        };
        prop_assert!((1..=5).contains(&surfaces(streams)));
        prop_assert!(surfaces(streams) <= surfaces(streams + more));
    }

    #[test]
    fn a_cap_covers_the_streams_and_is_never_lowered(streams in 0_u32..2000, present in 0_u32..2000) {
        let mut facts = faulty();
        facts.streams = StreamCount::new(streams);
        facts.mux.as_mut().unwrap().batch_size = BatchKey::MultiUri {
            max_batch_size: at(Knob::MaxBatchSize, &present.to_string()),
        };
        let cap = number(&facts, RuleId::R3, Knob::MaxBatchSize);
        prop_assert_eq!(cap, i64::from(streams.max(present)));
    }
}
