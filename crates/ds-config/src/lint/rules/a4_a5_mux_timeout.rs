//! A4 and A5: how long the legacy mux waits for a batch to fill.

use super::{Look, Report, Rule, Severity};
use crate::lint::context::Purpose;
use crate::model::{Knob, KnobSetting};

/// From here on a timeout is taken for one that was never thought about, in microseconds: a source
/// that ends or stalls holds all others up for a second or more. Samples carry 4,000,000.
const LONG: i64 = 1_000_000;

/// How far a timeout may be off the frame period, in per cent. Samples for 30 fps hold 33000, which
/// is one per cent off.
const TOLERANCE_PERCENT: i64 = 2;

/// No timeout.
pub(super) const A4: Rule = Rule {
    id: "DS004",
    code: "A4",
    severity: Severity::Warning,
    title: "the mux has no `batched-push-timeout`",
    reason: "Without one the legacy mux waits for ever until its batch is full: one dead source stalls all.",
    guard: "The new mux; a batch of 1, which needs no wait; a benchmark of files only; a Flow, which sets 33000.",
    remedy: "set `batched-push-timeout` to 1,000,000 divided by the highest frame rate",
    fixed_by: Some("R1"),
    check: missing,
};

/// An endless one.
pub(super) const A5: Rule = Rule {
    id: "DS005",
    code: "A5",
    severity: Severity::Warning,
    title: "`batched-push-timeout` is -1: the mux waits for ever",
    reason: "One source that stalls or dies keeps the frames of all others.",
    guard: "The new mux; a batch of 1; a benchmark of files only, where NVIDIA's own script uses -1.",
    remedy: "set `batched-push-timeout` to 1,000,000 divided by the highest frame rate",
    fixed_by: Some("R1"),
    check: endless,
};

/// One that is far too long.
pub(super) const A5B: Rule = Rule {
    id: "DS006",
    code: "A5b",
    severity: Severity::Warning,
    title: "`batched-push-timeout` is a second or more",
    reason: "A source that misses a frame delays the frames of all others by that much, which is seen as stutter.",
    guard: "The new mux; a batch of 1; a benchmark of files only.",
    remedy: "set `batched-push-timeout` to 1,000,000 divided by the highest frame rate",
    fixed_by: Some("R1"),
    check: long,
};

/// One of another frame rate.
pub(super) const A5C: Rule = Rule {
    id: "DS007",
    code: "A5c",
    severity: Severity::Note,
    title: "`batched-push-timeout` does not fit the frame rate",
    reason: "The period of one frame is 1,000,000 µs divided by the frame rate: a longer timeout adds delay, a shorter \
             one sends batches that are not full. Samples hold 40000, which is for 25 fps.",
    guard: "The new mux; a batch of 1; a frame rate that neither the caller nor every source states.",
    remedy: "set `batched-push-timeout` to 1,000,000 divided by the highest frame rate",
    fixed_by: Some("R1"),
    check: of_another_rate,
};

/// The timeouts of the legacy muxes that wait at all.
fn timeouts<'a>(look: &Look<'a>) -> impl Iterator<Item = &'a KnobSetting> {
    let never_waits = |setting: &&KnobSetting| {
        let id = setting.target.element;
        let batch = look.setting(id, Knob::MuxBatchSize);
        let element = look.pipeline.element(id);
        batch.and_then(KnobSetting::integer) == Some(1)
            || element.is_some_and(|element| look.needs_new_mux(element))
    };
    look.pipeline
        .knobs_of(Knob::MuxBatchedPushTimeout)
        .filter(move |setting| !never_waits(setting))
}

/// The timeouts that should not be long.
fn bounded<'a>(look: &Look<'a>) -> impl Iterator<Item = &'a KnobSetting> {
    let is_benchmark = look.context.purpose == Purpose::Benchmark && look.is_file_only();
    timeouts(look).filter(move |_| !is_benchmark)
}

fn missing(look: &Look<'_>, report: &mut Report<'_>) {
    for setting in bounded(look).filter(|setting| setting.is_missing()) {
        let element = look.pipeline.element(setting.target.element);
        if !element.is_some_and(|element| look.is_flow(element)) {
            let message = "the mux has no `batched-push-timeout` and waits for ever";
            report.add(look.place(setting), message);
        }
    }
}

fn endless(look: &Look<'_>, report: &mut Report<'_>) {
    for setting in bounded(look) {
        if let Some(timeout) = setting.integer().filter(|timeout| *timeout < 0) {
            let message = format!("`batched-push-timeout` is {timeout}: the mux waits for ever");
            report.add(look.place(setting), message);
        }
    }
}

fn long(look: &Look<'_>, report: &mut Report<'_>) {
    for setting in bounded(look) {
        if let Some(timeout) = setting.integer().filter(|timeout| *timeout >= LONG) {
            let message = format!("the mux waits up to {timeout} µs for a batch to fill");
            report.add(look.place(setting), message);
        }
    }
}

fn of_another_rate(look: &Look<'_>, report: &mut Report<'_>) {
    let Some(fps) = look.fps() else {
        return;
    };
    let (numerator, denominator) = (i64::from(fps.numerator), i64::from(fps.denominator));
    let period = (1_000_000 * denominator + numerator / 2) / numerator;
    for setting in timeouts(look) {
        let timeout = setting
            .integer()
            .filter(|timeout| (0..LONG).contains(timeout));
        let Some(timeout) = timeout else { continue };
        if (timeout - period).abs() * 100 > period * TOLERANCE_PERCENT {
            let message = format!(
                "`batched-push-timeout` is {timeout} µs, and a frame at {numerator}/{denominator} fps takes {period} µs"
            );
            report.add(look.place(setting), message).remedy =
                format!("set `batched-push-timeout={period}`");
        }
    }
}
