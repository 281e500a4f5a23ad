//! R6: visible output.

use ds_derive::{
    ConsumerKind, Facts, Knob, OutputWish, Present, RuleId, Sink, SinkKind, Switch, Value, Variant,
    Variants, derive,
};
use proptest::prelude::*;

use crate::support::{at, consumer, derived, display_sink, faulty, page, snapshot};

fn with_output() -> Facts {
    let mut facts = faulty();
    facts.consumers = vec![
        consumer(ConsumerKind::Tiler, Knob::TilerEnable),
        consumer(ConsumerKind::Osd, Knob::OsdEnable),
    ];
    let mut file = Sink::new("[sink1]", SinkKind::File);
    file.element = at(Knob::SinkElement, "filesink");
    let mut fake = Sink::new("[sink2]", SinkKind::Fake);
    fake.sync = at(Knob::SinkSync, "0");
    facts.sinks = vec![
        display_sink(),
        file,
        fake,
        Sink::new("[sink3]", SinkKind::Message),
        Sink::new("[sink4]", SinkKind::Network),
        Sink::new("appsink0", SinkKind::Other),
    ];
    facts
}

#[test]
fn a_display_becomes_a_fakesink_that_does_not_wait() {
    // sync=1 shows the source's 30 fps whatever the GPU can do; fakesink with sync=0 shows the GPU.
    let facts = faulty();
    let element = derived(&facts, RuleId::R6, Knob::SinkElement);
    assert_eq!(element.new, Value::from("fakesink"));
    let sync = derived(&facts, RuleId::R6, Knob::SinkSync);
    assert_eq!(sync.new, Value::Switch(Switch::Off));
    assert_eq!(sync.variant, Variant::Every);
}

#[test]
fn nobody_wants_output() {
    snapshot("r6__no_output", &page(&with_output(), RuleId::R6));
    assert_eq!(derive(&with_output()).variants, Variants::One);
}

#[test]
fn somebody_wants_to_see_it() {
    let mut facts = with_output();
    facts.options.output = OutputWish::Visible;
    snapshot("r6__visible_output", &page(&facts, RuleId::R6));
    let plan = derive(&facts);
    assert_eq!(plan.variants, Variants::WithAndWithoutOutput);
    let in_own_variant = plan
        .changes(Variant::Every)
        .filter(|change| change.rule == RuleId::R6);
    assert_eq!(in_own_variant.count(), 0);
}

#[test]
fn elements_that_no_key_switches() {
    let mut facts = with_output();
    facts.consumers[0].enable = Present::Absent;
    facts.sinks.clear();
    snapshot("r6__no_key", &page(&facts, RuleId::R6));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn what_is_kept_in_one_variant_goes_in_the_other(recorded in any::<bool>()) {
        let mut asked = with_output();
        asked.options.output = if recorded { OutputWish::Recorded } else { OutputWish::Visible };
        let of_r6 = |facts: &Facts, variant| {
            let plan = derive(facts);
            let changes = plan.changes(variant).filter(|change| change.rule == RuleId::R6);
            changes.map(|change| (change.knob, change.target.clone(), change.new.clone())).collect::<Vec<_>>()
        };
        prop_assert_eq!(of_r6(&asked, Variant::Benchmark), of_r6(&with_output(), Variant::Every));
    }
}
