//! What the rules say: a value, the reason why there is none, or what is missing.

use std::fmt;

use crate::knob::Knob;
use crate::value::{Present, Value};

/// A rule. The order is the order in which rules run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuleId {
    /// The stream mux.
    R1,
    /// Inference.
    R2,
    /// Decoding.
    R3,
    /// The tracker.
    R4,
    /// Skipped inferences.
    R4a,
    /// Queues.
    R5,
    /// Visible output.
    R6,
    /// Capacity.
    R7,
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::R1 => "R1",
            Self::R2 => "R2",
            Self::R3 => "R3",
            Self::R4 => "R4",
            Self::R4a => "R4a",
            Self::R5 => "R5",
            Self::R6 => "R6",
            Self::R7 => "R7",
        })
    }
}

/// The element that a knob belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// The stream mux.
    Mux,
    /// The policy file of the new mux.
    MuxPolicy,
    /// The model that sees every frame.
    PrimaryInfer,
    /// A model behind another, by the number in [`InferRole::Secondary`](crate::InferRole::Secondary).
    SecondaryInfer(u32),
    /// A source, by its name.
    Source(String),
    /// The nvmultiurisrcbin around the mux.
    MultiUriSource,
    /// The tracker.
    Tracker,
    /// A queue, by its name.
    Queue(String),
    /// All queues of a form that has no key for them.
    Queues,
    /// The on-screen display.
    Osd,
    /// The tiler.
    Tiler,
    /// A sink, by its name.
    Sink(String),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mux => f.write_str("mux"),
            Self::MuxPolicy => f.write_str("mux policy file"),
            Self::PrimaryInfer => f.write_str("primary infer"),
            Self::SecondaryInfer(number) => write!(f, "secondary infer {number}"),
            Self::Source(name) => write!(f, "source {name}"),
            Self::MultiUriSource => f.write_str("nvmultiurisrcbin"),
            Self::Tracker => f.write_str("tracker"),
            Self::Queue(name) => write!(f, "queue {name}"),
            Self::Queues => f.write_str("queues"),
            Self::Osd => f.write_str("osd"),
            Self::Tiler => f.write_str("tiler"),
            Self::Sink(name) => write!(f, "sink {name}"),
        }
    }
}

/// How much a derived value can be relied on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// It rests on something that is not known, and says so.
    Low,
    /// It rests on a measurement with a caveat, or on a judgement that may not suit everybody.
    Medium,
    /// It follows from what was measured or documented.
    High,
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

/// What is to become of a derived value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Disposition {
    /// It is what the knob holds already, by its configuration or by its default.
    Unchanged,
    /// It is to be written.
    Write,
    /// It is to be shown and not written: the user decides.
    Propose,
}

/// Which of the written variants a value belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Every one, among them the user's own file.
    Every,
    /// Only the one that is run to measure.
    Benchmark,
}

/// A value that a rule derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivation {
    /// The rule.
    pub rule: RuleId,
    /// The knob.
    pub knob: Knob,
    /// The element that it belongs to.
    pub target: Target,
    /// What it holds now, and where.
    pub old: Present,
    /// What it is to hold.
    pub new: Value,
    /// The formula with its numbers.
    pub formula: String,
    /// Why, in one sentence.
    pub because: String,
    /// How much it can be relied on.
    pub confidence: Confidence,
    /// What is to become of it.
    pub disposition: Disposition,
    /// Which variant it belongs to.
    pub variant: Variant,
}

/// What follows from a withheld value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Consequence {
    /// The knob keeps what it holds.
    Keep,
    /// No edit helps: nothing of the plan may be written until the user has dealt with the reason.
    Stop,
}

/// A knob that a rule leaves alone although it could set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Withheld {
    /// The rule.
    pub rule: RuleId,
    /// The knob.
    pub knob: Knob,
    /// The element that it belongs to.
    pub target: Target,
    /// What it holds now, and where.
    pub present: Present,
    /// Why it is left alone, in one sentence.
    pub reason: String,
    /// What follows.
    pub consequence: Consequence,
}

/// A knob for which a fact is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotDerivable {
    /// The rule.
    pub rule: RuleId,
    /// The knob.
    pub knob: Knob,
    /// The element that it belongs to.
    pub target: Target,
    /// What has to become known, or be made, first.
    pub missing: String,
}

/// One line of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A rule has a value.
    Derived(Derivation),
    /// A rule holds back.
    Withheld(Withheld),
    /// A rule misses a fact.
    NotDerivable(NotDerivable),
}

impl Entry {
    /// The rule that it comes from.
    #[must_use]
    pub fn rule(&self) -> RuleId {
        match self {
            Self::Derived(entry) => entry.rule,
            Self::Withheld(entry) => entry.rule,
            Self::NotDerivable(entry) => entry.rule,
        }
    }

    /// The knob that it is about.
    #[must_use]
    pub fn knob(&self) -> Knob {
        match self {
            Self::Derived(entry) => entry.knob,
            Self::Withheld(entry) => entry.knob,
            Self::NotDerivable(entry) => entry.knob,
        }
    }

    /// The element that it is about.
    #[must_use]
    pub fn target(&self) -> &Target {
        match self {
            Self::Derived(entry) => &entry.target,
            Self::Withheld(entry) => &entry.target,
            Self::NotDerivable(entry) => &entry.target,
        }
    }
}
