//! R4a: skipped inferences.

use ds_derive::{Facts, IdRetention, Knob, RuleId};
use proptest::prelude::*;

use crate::support::{at, faulty, number, nvdcf, page, share, snapshot};

fn measured(entries: &[(u32, f64)]) -> Facts {
    let mut facts = faulty();
    facts.tracker = Some(nvdcf());
    facts.infers[0].interval = at(Knob::Interval, "2");
    facts.id_retention = entries
        .iter()
        .map(|(interval, kept)| IdRetention {
            interval: *interval,
            share: share(*kept),
        })
        .collect();
    facts
}

#[track_caller]
fn check(entries: &[(u32, f64)], expected: i64) {
    let facts = measured(entries);
    assert_eq!(number(&facts, RuleId::R4a, Knob::Interval), expected);
}

#[test]
fn the_interval_by_hand() {
    // 99.2 % at 2 allows 2; 98 % at 3 does not allow 3.
    check(&[(1, 0.998), (2, 0.992), (3, 0.98)], 2);
    // 95 % allows one skipped batch and no more.
    check(&[(1, 0.95), (2, 0.93)], 1);
    // 89.9 % allows none.
    check(&[(1, 0.899)], 0);
    // The limits themselves count as met.
    check(&[(4, 0.99)], 4);
    check(&[(1, 0.90)], 1);
    // Only what was measured is allowed, and the worse of two measurements counts.
    check(&[(2, 0.95)], 0);
    check(&[(2, 0.999), (2, 0.97)], 0);
    check(&[(0, 1.0)], 0);
}

#[test]
fn retention_that_was_measured() {
    snapshot(
        "r4a__measured",
        &page(&measured(&[(1, 0.998), (2, 0.94)]), RuleId::R4a),
    );
    snapshot(
        "r4a__too_low",
        &page(&measured(&[(1, 0.8), (2, 0.7)]), RuleId::R4a),
    );
    snapshot(
        "r4a__one_at_most",
        &page(&measured(&[(1, 0.95)]), RuleId::R4a),
    );
}

#[test]
fn a_dump_with_inference_in_every_batch_allows_no_interval() {
    let page = page(&measured(&[(0, 1.0)]), RuleId::R4a);
    assert!(page.contains("no interval above 0 was measured"), "{page}");
}

#[test]
fn retention_that_was_not_measured_and_no_tracker() {
    let mut facts = measured(&[]);
    let unmeasured = page(&facts, RuleId::R4a);
    facts.tracker = None;
    snapshot(
        "r4a__withheld",
        &format!("{unmeasured}\n{}", page(&facts, RuleId::R4a)),
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn better_retention_never_skips_less(
        entries in prop::collection::vec((0_u32..5, 0.0_f64..1.0), 1..6),
        better in 0.0_f64..1.0,
    ) {
        let interval = |entries: &[(u32, f64)]| number(&measured(entries), RuleId::R4a, Knob::Interval);
        let improved: Vec<(u32, f64)> = entries
            .iter()
            .map(|(interval, kept)| (*interval, kept + (1.0 - kept) * better))
            .collect();
        prop_assert!(interval(&entries) <= interval(&improved));
        // Nothing is skipped further than it was measured.
        let farthest = entries.iter().map(|(interval, _)| *interval).max().unwrap_or(0);
        prop_assert!((0..=i64::from(farthest)).contains(&interval(&entries)));
    }
}
