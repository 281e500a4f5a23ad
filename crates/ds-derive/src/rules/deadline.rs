//! R1's deadline: how long a mux waits for the frame that is missing in its batch. The two muxes take it from different
//! places.

use ds_ceilings::Fps;

use super::line::{Derived, Line};
use super::r1_mux::on_mux;
use crate::derivation::{Confidence, Entry, RuleId, Target};
use crate::facts::{Mux, MuxGeneration};
use crate::knob::Knob;
use crate::value::{Present, Value};

/// The time-out of the legacy mux, or the policy of the new one.
pub(super) fn deadline(fps: Fps, mux: &Mux) -> Vec<Entry> {
    let timeout = on_mux(Knob::BatchedPushTimeout, &mux.batched_push_timeout);
    match mux.generation {
        MuxGeneration::Legacy => vec![match timeout_us(fps) {
            Some(micros) => timeout.set(Derived {
                new: Value::from(micros),
                formula: format!("round(1000000 / {}) = {micros}", fps.get()),
                because:
                    "one frame interval: a batch waits no longer than the next frame would take"
                        .to_owned(),
                confidence: Confidence::High,
            }),
            None => timeout.missing("a frame rate that gives a time-out between 1 us and 2147 s"),
        }],
        MuxGeneration::New => {
            let mut entries = vec![timeout.withhold(
                "the new nvstreammux ignores it: the deadline comes from overall-min-fps of the policy file",
            )];
            entries.extend(policy(fps, mux));
            entries
        }
    }
}

/// One frame interval in whole microseconds; `None` if it leaves the range of the property, a signed 32-bit integer.
fn timeout_us(fps: Fps) -> Option<u32> {
    whole(1e6 / fps.get(), f64::from(i32::MAX))
}

/// Rounds to a whole number in 1..=`most`.
fn whole(value: f64, most: f64) -> Option<u32> {
    let rounded = value.round();
    if !(1.0..=most.min(f64::from(u32::MAX))).contains(&rounded) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number between 1 and u32::MAX"
    )]
    Some(rounded as u32)
}

/// A frame rate as a fraction, to a thousandth of a frame: 30 is 30/1, 29.97 is 2997/100.
fn as_fraction(fps: Fps) -> Option<(u32, u32)> {
    let thousandths = whole(fps.get() * 1000.0, f64::from(u32::MAX))?;
    let divisor = gcd(thousandths, 1000);
    Some((thousandths / divisor, 1000 / divisor))
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn policy(fps: Fps, mux: &Mux) -> Vec<Entry> {
    let minimum = [
        (Knob::OverallMinFpsN, &mux.overall_min_fps_n),
        (Knob::OverallMinFpsD, &mux.overall_min_fps_d),
    ];
    let Some((n, d)) = as_fraction(fps) else {
        return minimum
            .map(|(knob, present)| {
                in_policy(knob, present).missing("a frame rate between 0.001 and 4294967 fps")
            })
            .into();
    };
    let because =
        format!("the deadline of a batch is {d}/{n} s after the last: one frame interval");
    let value = |part: u32, because: &str| Derived {
        new: Value::from(part),
        formula: format!("{} fps = {n}/{d}", fps.get()),
        because: because.to_owned(),
        confidence: Confidence::High,
    };
    let mut entries: Vec<Entry> = minimum
        .into_iter()
        .zip([n, d])
        .map(|((knob, present), part)| in_policy(knob, present).set(value(part, &because)))
        .collect();

    let maximum = [
        (Knob::OverallMaxFpsN, &mux.overall_max_fps_n),
        (Knob::OverallMaxFpsD, &mux.overall_max_fps_d),
    ];
    let [max_n, max_d] = maximum.map(|(knob, present)| effective(knob, present));
    let lines = maximum.map(|(knob, present)| in_policy(knob, present));
    match (max_n, max_d) {
        // Cross-multiplied: n / d > max_n / max_d.
        (Some(max_n), Some(max_d)) if i128::from(n) * max_d > max_n * i128::from(d) => {
            let because = "the maximum may not be below the minimum";
            let raised = lines.into_iter().zip([n, d]);
            entries.extend(raised.map(|(line, part)| line.set(value(part, because))));
        }
        (Some(_), Some(_)) => {}
        _ => entries.extend(
            lines.map(|line| line.missing("a readable overall-max-fps in the policy file")),
        ),
    }
    entries
}

/// What a number holds, by its configuration or its default.
fn effective(knob: Knob, present: &Present) -> Option<i128> {
    let value = match present {
        Present::Absent => knob.default_value()?,
        Present::Value { value, .. } => value.clone(),
        Present::Computed { .. } => return None,
    };
    value.as_integer().map(i128::from)
}

fn in_policy(knob: Knob, present: &Present) -> Line<'_> {
    Line {
        rule: RuleId::R1,
        knob,
        target: Target::MuxPolicy,
        present,
    }
}
