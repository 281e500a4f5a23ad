//! Sets how many batches the primary model may skip, from how many object ids survived it.
//!
//! | Knob | Value | Withheld when |
//! |---|---|---|
//! | `interval` | the largest measured interval that keeps 99 % of the ids, or 1 if that keeps 90 %, else 0 | no tracker; the retention was not measured (R2 then writes 0) |
//!
//! An interval counts only if it was measured itself; of several measurements of one interval the worst counts.
//!
//! The limits of 99 % and 90 % are choices of dsprof.

use ds_ceilings::Fraction;

use super::line::{Derived, Line};
use super::r2_infer::target;
use crate::derivation::{Confidence, Entry, RuleId};
use crate::facts::{Facts, IdRetention, Infer, InferRole};
use crate::knob::Knob;
use crate::value::Value;

/// From this share of surviving ids on any measured interval is allowed. A choice of dsprof.
pub const KEEPS_IDS: f64 = 0.99;

/// From this share of surviving ids on an interval of 1 is allowed. A choice of dsprof.
pub const KEEPS_MOST_IDS: f64 = 0.90;

pub(super) fn derive(facts: &Facts) -> Vec<Entry> {
    let primaries = facts
        .infers
        .iter()
        .filter(|infer| infer.role == InferRole::Primary);
    let entry = |infer: &Infer| {
        let line = Line {
            rule: RuleId::R4a,
            knob: Knob::Interval,
            target: target(infer.role),
            present: &infer.interval,
        };
        if facts.tracker.is_none() {
            return line.withhold("without a tracker no inference may be skipped");
        }
        if facts.id_retention.is_empty() {
            return line.missing("the share of object ids that survives each interval");
        }
        line.set(longest(&facts.id_retention))
    };
    primaries.map(entry).collect()
}

fn longest(measured: &[IdRetention]) -> Derived {
    let worst = |interval: u32| {
        let same = measured.iter().filter(|entry| entry.interval == interval);
        same.map(|entry| entry.share).min()
    };
    let allowed = |interval: u32, share: Fraction| {
        share.get() >= KEEPS_IDS || (interval == 1 && share.get() >= KEEPS_MOST_IDS)
    };
    let best = measured
        .iter()
        .filter_map(|entry| Some((entry.interval, worst(entry.interval)?)))
        .filter(|(interval, share)| *interval > 0 && allowed(*interval, *share))
        .max();
    match best {
        Some((interval, share)) => Derived {
            new: Value::from(interval),
            formula: format!("retention {share} at interval {interval}"),
            because: if share.get() >= KEEPS_IDS {
                "at least 99 % of the ids survive".to_owned()
            } else {
                "at least 90 % of the ids survive, which allows one skipped batch".to_owned()
            },
            confidence: Confidence::Medium,
        },
        None => Derived {
            new: Value::from(0),
            formula: measured
                .iter()
                .map(|entry| format!("retention {} at interval {}", entry.share, entry.interval))
                .collect::<Vec<_>>()
                .join(", "),
            because: if measured.iter().all(|entry| entry.interval == 0) {
                "no interval above 0 was measured, and none is allowed unmeasured".to_owned()
            } else {
                "no measured interval keeps enough ids".to_owned()
            },
            confidence: Confidence::High,
        },
    }
}
