//! The beginning of an entry: which rule speaks about which knob. Rules finish it with a value or a reason.

use crate::derivation::{
    Confidence, Consequence, Derivation, Disposition, Entry, NotDerivable, RuleId, Target, Variant,
    Withheld,
};
use crate::knob::Knob;
use crate::value::{Present, Value};

/// A rule, a knob, the element that it belongs to, and what it holds now.
pub(super) struct Line<'a> {
    pub(super) rule: RuleId,
    pub(super) knob: Knob,
    pub(super) target: Target,
    pub(super) present: &'a Present,
}

/// A value with the account of how it came about.
pub(super) struct Derived {
    pub(super) new: Value,
    pub(super) formula: String,
    pub(super) because: String,
    pub(super) confidence: Confidence,
}

impl Line<'_> {
    /// The value is to be written in every variant, unless the knob holds it already.
    pub(super) fn set(self, derived: Derived) -> Entry {
        let disposition = self.disposition(&derived.new);
        self.finish(derived, disposition, Variant::Every)
    }

    /// The value is to be written in the benchmark variant only.
    pub(super) fn set_in_benchmark(self, derived: Derived) -> Entry {
        let disposition = self.disposition(&derived.new);
        self.finish(derived, disposition, Variant::Benchmark)
    }

    /// The value is to be shown, and the user decides.
    pub(super) fn propose(self, derived: Derived) -> Entry {
        self.finish(derived, Disposition::Propose, Variant::Every)
    }

    /// The knob keeps what it holds.
    pub(super) fn withhold(self, reason: impl Into<String>) -> Entry {
        self.hold_back(reason.into(), Consequence::Keep)
    }

    /// No edit helps.
    pub(super) fn stop(self, reason: impl Into<String>) -> Entry {
        self.hold_back(reason.into(), Consequence::Stop)
    }

    /// A fact is missing.
    pub(super) fn missing(self, missing: impl Into<String>) -> Entry {
        Entry::NotDerivable(NotDerivable {
            rule: self.rule,
            knob: self.knob,
            target: self.target,
            missing: missing.into(),
        })
    }

    fn hold_back(self, reason: String, consequence: Consequence) -> Entry {
        Entry::Withheld(Withheld {
            rule: self.rule,
            knob: self.knob,
            target: self.target,
            present: self.present.clone(),
            reason,
            consequence,
        })
    }

    /// A knob that is not named and whose default is the value needs no edit: every line that is not written is one
    /// that the user need not review.
    fn disposition(&self, new: &Value) -> Disposition {
        let holds = match self.present {
            Present::Value { value, .. } => value == new,
            Present::Absent => self.knob.default_value().as_ref() == Some(new),
            Present::Computed { .. } => false,
        };
        if holds {
            Disposition::Unchanged
        } else {
            Disposition::Write
        }
    }

    fn finish(self, derived: Derived, disposition: Disposition, variant: Variant) -> Entry {
        Entry::Derived(Derivation {
            rule: self.rule,
            knob: self.knob,
            target: self.target,
            old: self.present.clone(),
            new: derived.new,
            formula: derived.formula,
            because: derived.because,
            confidence: derived.confidence,
            disposition,
            variant,
        })
    }
}

/// A value that needs no arithmetic.
pub(super) fn fixed(
    new: impl Into<Value>,
    because: impl Into<String>,
    confidence: Confidence,
) -> Derived {
    let new = new.into();
    Derived {
        formula: new.to_string(),
        new,
        because: because.into(),
        confidence,
    }
}
