//! B7 and B8: deepstream-app's own measurement of the frame rate.

use super::{Look, Report, Rule, Severity};
use crate::model::{ElementId, Knob, KnobSetting};

/// No measurement.
pub(super) const B7: Rule = Rule {
    id: "DS018",
    code: "B7",
    severity: Severity::Note,
    title: "performance measurement is off",
    reason: "deepstream-app then prints no frame rates.",
    guard: "Programs other than deepstream-app.",
    remedy: "set `enable-perf-measurement=1` and `perf-measurement-interval-sec=5` in `[application]`",
    fixed_by: None,
    check: off,
};

/// A measurement without an interval.
pub(super) const B8: Rule = Rule {
    id: "DS019",
    code: "B8",
    severity: Severity::Error,
    title: "performance measurement is on and has no interval",
    reason: "The timer then runs at 0 ms, and the frame rate is a division by 0.",
    guard: "Programs other than deepstream-app.",
    remedy: "set `perf-measurement-interval-sec=5` in `[application]`",
    fixed_by: None,
    check: without_interval,
};

fn interval<'a>(look: &Look<'a>, application: ElementId) -> Option<&'a KnobSetting> {
    look.setting(application, Knob::PerfInterval)
}

fn off(look: &Look<'_>, report: &mut Report<'_>) {
    for setting in look.pipeline.knobs_of(Knob::PerfMeasurement) {
        if setting.is_missing() || setting.flag() == Some(false) {
            report.add(look.place(setting), "deepstream-app prints no frame rates");
        }
    }
}

fn without_interval(look: &Look<'_>, report: &mut Report<'_>) {
    for setting in look.pipeline.knobs_of(Knob::PerfMeasurement) {
        let Some(interval) = interval(look, setting.target.element) else {
            continue;
        };
        let is_zero = interval.is_missing() || interval.integer() == Some(0);
        if setting.flag() == Some(true) && is_zero {
            report.add(
                look.place(setting),
                "`enable-perf-measurement` is 1 and `perf-measurement-interval-sec` is missing or 0",
            );
        }
    }
}
