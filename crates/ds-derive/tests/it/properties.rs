//! What holds for every pipeline, whatever its shape.

use std::collections::BTreeSet;

use ds_derive::{Consequence, Disposition, Entry, Knob, OutputWish, Present, Variant, derive};
use proptest::prelude::*;

use crate::strategies::any_facts;
use crate::support::apply;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_same_facts_give_the_same_bytes(facts in any_facts()) {
        prop_assert_eq!(format!("{:?}", derive(&facts)), format!("{:?}", derive(&facts.clone())));
    }

    #[test]
    fn a_plan_that_was_applied_proposes_nothing_more(facts in any_facts()) {
        let plan = derive(&facts);
        let mut after = facts;
        apply(&mut after, &plan);
        let again = derive(&after);
        let left: Vec<_> = again.changes(Variant::Every).filter(|change| change.variant == Variant::Every).collect();
        prop_assert!(left.is_empty(), "{left:#?}");
        // What was derived the first time is what the knobs hold now.
        for change in plan.changes(Variant::Every).filter(|change| change.variant == Variant::Every) {
            let same = again
                .derivations()
                .find(|later| later.rule == change.rule && later.knob == change.knob && later.target == change.target);
            // A sink that became a fakesink has no element left to exchange, and a raised maximum is no longer too low.
            let gone = matches!(change.knob, Knob::SinkElement | Knob::OverallMaxFpsN | Knob::OverallMaxFpsD);
            prop_assert!(gone || same.is_some_and(|later| later.new == change.new), "{change:?}");
        }
    }

    #[test]
    fn no_knob_gets_two_values(facts in any_facts()) {
        let plan = derive(&facts);
        let mut seen = BTreeSet::new();
        for change in plan.derivations() {
            prop_assert!(seen.insert((change.knob, change.target.clone())), "{change:?}");
        }
    }

    #[test]
    fn an_entry_explains_itself(facts in any_facts()) {
        for entry in &derive(&facts).entries {
            let words = match entry {
                Entry::Derived(derivation) => {
                    prop_assert!(!derivation.formula.is_empty());
                    if derivation.disposition == Disposition::Write {
                        prop_assert!(derivation.old.value() != Some(&derivation.new));
                    }
                    &derivation.because
                }
                Entry::Withheld(withheld) => &withheld.reason,
                Entry::NotDerivable(missing) => &missing.missing,
            };
            prop_assert!(!words.is_empty() && !words.ends_with('.'), "{words}");
        }
    }

    #[test]
    fn values_stay_in_the_range_of_their_property(facts in any_facts()) {
        let plan = derive(&facts);
        let source = facts.sources.iter().filter_map(|source| source.size);
        let widest = source.clone().map(|size| size.width()).max();
        for change in plan.derivations() {
            let Some(number) = change.new.as_integer() else { continue };
            let range = match change.knob {
                Knob::MuxBatchSize | Knob::InferBatchSize => 1..=i64::from(facts.streams.get().max(1)),
                Knob::MuxWidth if facts.sources.iter().all(|source| source.size.is_some()) => {
                    1..=i64::from(widest.unwrap_or(u32::MAX))
                }
                Knob::BatchedPushTimeout => 1..=i64::from(i32::MAX),
                Knob::NetworkMode => 0..=2,
                Knob::NumExtraSurfaces => 1..=5,
                Knob::MaxBatchSize => i64::from(facts.streams.get())..=i64::MAX,
                Knob::QueueLeaky => 0..=2,
                _ => 0..=i64::from(u32::MAX),
            };
            prop_assert!(range.contains(&number), "{change:?}");
        }
    }

    #[test]
    fn a_stop_needs_a_fixed_batch(facts in any_facts()) {
        for stop in derive(&facts).stops() {
            prop_assert_eq!(stop.consequence, Consequence::Stop);
            prop_assert_eq!(stop.knob, Knob::InferBatchSize);
        }
    }

    #[test]
    fn output_that_was_asked_for_is_kept(mut facts in any_facts()) {
        facts.options.output = OutputWish::Visible;
        let touched = derive(&facts)
            .changes(Variant::Every)
            .any(|change| matches!(change.knob, Knob::OsdEnable | Knob::TilerEnable | Knob::SinkElement | Knob::SinkSync));
        prop_assert!(!touched);
    }

    #[test]
    fn a_computed_value_never_counts_as_right(facts in any_facts()) {
        for derivation in derive(&facts).derivations() {
            if let Present::Computed { .. } = derivation.old {
                prop_assert!(derivation.disposition != Disposition::Unchanged);
            }
        }
    }
}
