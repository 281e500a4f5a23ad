//! The plan as a whole: what it expects and what it says beside the knobs.

use ds_ceilings::StreamCount;
use ds_derive::{
    DecodeCeiling, Facts, Pace, PlanNote, Qualifier, RuleId, SourceKind, Variant, derive, plateau,
};

use crate::support::{
    batch, faulty, flat_sweep, fps, plateau_at_8, plateau_not_reached, snapshot, source,
};

fn live(streams: u32) -> Facts {
    let mut facts = faulty();
    facts.streams = StreamCount::new(streams);
    facts.sources = vec![source("[source0]", SourceKind::Rtsp)];
    facts.sources[0].streams = facts.streams;
    facts.plateau = Some(plateau_at_8(streams));
    facts
}

#[track_caller]
fn check(facts: &Facts, rate: Option<f64>, qualifier: Qualifier, pace: Option<Pace>) {
    let found = derive(facts).expectation;
    assert_eq!(
        (found.fps, found.qualifier, found.limited_by),
        (rate.map(fps), qualifier, pace),
        "{}",
        found.formula
    );
}

#[test]
fn the_expected_rate_by_hand() {
    // Sixteen live streams of 30 fps deliver 480, below the 1000 of batch 8.
    check(
        &live(16),
        Some(480.0),
        Qualifier::Exactly,
        Some(Pace::Sources),
    );
    // Sixty-four would deliver 1920.
    check(
        &live(64),
        Some(1000.0),
        Qualifier::Exactly,
        Some(Pace::Inference),
    );
    // A file among live sources runs as fast as it is read.
    let mut mixed = live(16);
    mixed.sources.push(source("[source1]", SourceKind::File));
    check(
        &mixed,
        Some(1000.0),
        Qualifier::Exactly,
        Some(Pace::Inference),
    );
    // Files are not paced.
    check(
        &faulty(),
        Some(1000.0),
        Qualifier::Exactly,
        Some(Pace::Inference),
    );
    let mut facts = faulty();
    facts.decode = DecodeCeiling::Known(fps(600.0));
    check(&facts, Some(600.0), Qualifier::Exactly, Some(Pace::Decode));
    facts.decode = DecodeCeiling::Unknown;
    check(
        &facts,
        Some(1000.0),
        Qualifier::AtMost,
        Some(Pace::Inference),
    );
    // Not reached at 32, and 32 is what is configured: it may be more with a larger batch.
    facts.decode = DecodeCeiling::NotUsed;
    facts.streams = StreamCount::new(64);
    facts.plateau = Some(plateau_not_reached(64));
    check(
        &facts,
        Some(1739.0),
        Qualifier::AtLeast,
        Some(Pace::Inference),
    );
    // Twelve streams get batch 12, which the sweep left out: at least the 560 of batch 8.
    facts.streams = StreamCount::new(12);
    facts.plateau = Some(plateau_not_reached(12));
    check(
        &facts,
        Some(560.0),
        Qualifier::AtLeast,
        Some(Pace::Inference),
    );
    facts.plateau = None;
    facts.decode = DecodeCeiling::Unknown;
    check(&facts, None, Qualifier::Open, None);
}

#[test]
fn a_paced_sweep_gives_a_lower_bound() {
    let mut facts = faulty();
    let rates = [(1, 30.0), (2, 60.0), (4, 120.0), (8, 240.0), (16, 480.0)];
    facts.plateau = Some(plateau(&flat_sweep(&rates, 6), facts.streams));
    check(
        &facts,
        Some(480.0),
        Qualifier::AtLeast,
        Some(Pace::Inference),
    );
}

#[test]
fn more_streams_than_the_batch_are_served_in_turns() {
    let plan = derive(&live(20));
    // 20 / 8 = 2.5, so three batches a tick.
    let expected = PlanNote::StreamsAboveBatch {
        streams: StreamCount::new(20),
        batch: batch(8),
        batches_per_tick: 3,
    };
    assert_eq!(plan.notes, [expected]);
    assert_eq!(derive(&live(8)).notes, []);
}

#[test]
fn a_configuration_with_other_sources_than_asked_for() {
    let mut facts = live(8);
    facts.sources.push(source("[source1]", SourceKind::Rtsp));
    // The first group stands for eight streams, the second for one.
    let differ = PlanNote::SourcesDiffer {
        configured: StreamCount::new(9),
        asked: StreamCount::new(8),
    };
    assert_eq!(derive(&facts).notes, [differ]);
    // Sources that are not known differ from nothing.
    facts.sources.clear();
    assert_eq!(derive(&facts).notes, []);
}

#[test]
fn without_a_sweep_the_batch_is_a_preset() {
    let mut facts = faulty();
    facts.plateau = None;
    facts.streams = StreamCount::new(40);
    // min(40, 16) = 16; 40 / 16 = 2.5.
    let notes: Vec<String> = derive(&facts)
        .notes
        .iter()
        .map(PlanNote::to_string)
        .collect();
    snapshot("plan__preset", &notes.join("\n"));
    facts.streams = StreamCount::new(0);
    assert_eq!(derive(&facts).final_batch, Some(batch(1)));
}

#[test]
fn rules_run_in_their_order() {
    let rules: Vec<RuleId> = derive(&faulty())
        .entries
        .iter()
        .map(|entry| entry.rule())
        .collect();
    assert!(rules.is_sorted());
}

#[test]
fn the_changes_of_the_faulty_pipeline() {
    let plan = derive(&faulty());
    let lines: Vec<String> = plan
        .changes(Variant::Benchmark)
        .map(|change| {
            let old = change
                .old
                .value()
                .map_or_else(|| "-".to_owned(), ToString::to_string);
            format!(
                "{} {} {}: {old} -> {}",
                change.rule,
                change.target,
                change.knob.name(),
                change.new
            )
        })
        .collect();
    let text = format!("{}\n{}", lines.join("\n"), plan.expectation.formula);
    snapshot("plan__faulty", &text);
}
