//! Takes out what only serves the eye, unless somebody wants to look.
//!
//! | Knob | Value | Withheld when |
//! |---|---|---|
//! | OSD and tiler `enable` | 0 | the form has no key that switches them |
//! | sink `type` | fakesink | the sink sends messages (no entry), or a program reads from it |
//! | sink `sync` | 0 | the same |
//!
//! If output was asked for, the user's own variant keeps OSD, tiler and sinks, and these values go into a second
//! variant that is run to measure.
//!
//! A display takes frames at its own rate and a synchronised sink at that of the source: either hides what the GPU can
//! do behind a steady 30 or 60 frames per second.
//!
//! Sources: public reports of pipelines that show 60 frames per second at any precision with a display sink
//! (marcoslucianops/DeepStream-Yolo issues 239, 299, 496) and the source's rate with `sync=1` (issue 437); sink types of
//! the DeepStream 9.1 source.

use super::line::{Derived, Line, fixed};
use crate::derivation::{Confidence, Entry, RuleId, Target};
use crate::facts::{Consumer, ConsumerKind, Facts, OutputWish, Sink, SinkKind};
use crate::knob::Knob;
use crate::value::{Present, Switch, Value};

pub(super) fn derive(facts: &Facts) -> Vec<Entry> {
    let consumers = facts
        .consumers
        .iter()
        .filter_map(|consumer| switch_off(facts, consumer));
    let sinks = facts.sinks.iter().flat_map(|sink| of_sink(facts, sink));
    consumers.chain(sinks).collect()
}

/// Whether an element is still in the user's variant when the plan has been written.
pub(super) fn stays_in_place(facts: &Facts, consumer: &Consumer) -> bool {
    let Some(value) = consumer.enable.value() else {
        return true;
    };
    let serves_the_eye = eye_knob(consumer.kind).is_some();
    let goes = serves_the_eye && facts.options.output == OutputWish::None;
    *value != Value::Switch(Switch::Off) && !goes
}

fn eye_knob(kind: ConsumerKind) -> Option<(Knob, Target)> {
    match kind {
        ConsumerKind::Osd => Some((Knob::OsdEnable, Target::Osd)),
        ConsumerKind::Tiler => Some((Knob::TilerEnable, Target::Tiler)),
        ConsumerKind::Analytics | ConsumerKind::Preprocess | ConsumerKind::MessageConverter => None,
    }
}

/// Puts a value into every variant if nobody wants output, else into the one that is run to measure.
fn set(facts: &Facts, line: Line<'_>, derived: Derived) -> Entry {
    match facts.options.output {
        OutputWish::None => line.set(derived),
        OutputWish::Visible | OutputWish::Recorded => line.set_in_benchmark(derived),
    }
}

fn switch_off(facts: &Facts, consumer: &Consumer) -> Option<Entry> {
    let (knob, target) = eye_knob(consumer.kind)?;
    let line = Line {
        rule: RuleId::R6,
        knob,
        target,
        present: &consumer.enable,
    };
    Some(match &consumer.enable {
        Present::Value { .. } => {
            let because = "it draws for the eye and takes its share of the GPU";
            set(facts, line, fixed(Switch::Off, because, Confidence::Medium))
        }
        Present::Absent | Present::Computed { .. } => line.withhold(
            "no key that can be written switches it: take the element out of the pipeline by hand",
        ),
    })
}

fn of_sink(facts: &Facts, sink: &Sink) -> Vec<Entry> {
    let line = |knob, present| Line {
        rule: RuleId::R6,
        knob,
        target: Target::Sink(sink.name.clone()),
        present,
    };
    let element = line(Knob::SinkElement, &sink.element);
    let because = match sink.kind {
        SinkKind::Message => return Vec::new(),
        SinkKind::Other => {
            let reason = "a program may read from this sink, so that it stays as it is";
            return vec![
                element.withhold(reason),
                line(Knob::SinkSync, &sink.sync).withhold(reason),
            ];
        }
        SinkKind::Fake => "nothing waits for the clock of a sink that shows nothing",
        SinkKind::Display => "a display takes frames at its own rate",
        SinkKind::File => "nobody asked for a recording, and the encoder takes its share",
        SinkKind::Network => "nobody asked for a stream, and the encoder takes its share",
    };
    let mut entries = Vec::new();
    if sink.kind != SinkKind::Fake {
        let fake = fixed("fakesink", because, Confidence::Medium);
        entries.push(set(facts, element, fake));
    }
    let sync = line(Knob::SinkSync, &sink.sync);
    let because = "a synchronised sink hides what the GPU can do behind the source's rate";
    entries.push(set(
        facts,
        sync,
        fixed(Switch::Off, because, Confidence::High),
    ));
    entries
}
