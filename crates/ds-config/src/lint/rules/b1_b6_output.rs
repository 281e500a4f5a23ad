//! B1 to B6: what is done with the frames at the end.

use super::{Look, Report, Rule, Severity};
use crate::model::{Knob, KnobSetting, Role, SinkKind};

/// A sink that keeps time.
pub(super) const B1: Rule = Rule {
    id: "DS012",
    code: "B1",
    severity: Severity::Warning,
    title: "an enabled sink waits for the clock",
    reason: "With `sync=1` a file is played in real time, and the frame rate that is measured is that of the file.",
    guard: "Live output is wanted; a message broker on which nothing is written.",
    remedy: "set `sync=0` on the sink to measure",
    fixed_by: Some("R6"),
    check: synchronous,
};

/// A sink on the screen.
pub(super) const B2: Rule = Rule {
    id: "DS013",
    code: "B2",
    severity: Severity::Warning,
    title: "an enabled sink shows the frames on the screen",
    reason: "It is bound to the refresh rate of the display: every model then seems to reach 60 fps, whatever its \
             precision and size.",
    guard: "Live output is wanted; `fpsdisplaysink video-sink=fakesink`.",
    remedy: "use `fakesink` (`type=1`) with `sync=0` to measure",
    fixed_by: Some("R6"),
    check: on_screen,
};

/// A sink that records.
pub(super) const B3: Rule = Rule {
    id: "DS014",
    code: "B3",
    severity: Severity::Note,
    title: "an enabled sink encodes to a file",
    reason: "Encoding takes its own share of the GPU, and limits the frame rate where the encoder is the slowest part.",
    guard: "Live output is wanted; a file that is written without an encoder.",
    remedy: "use `fakesink` (`type=1`) with `sync=0` to measure",
    fixed_by: Some("R6"),
    check: recorded,
};

/// A tiler.
pub(super) const B4: Rule = Rule {
    id: "DS015",
    code: "B4",
    severity: Severity::Note,
    title: "the tiler is on",
    reason: "It scales every frame into one picture that a measurement does not need.",
    guard: "Live output is wanted.",
    remedy: "leave the tiler out to measure",
    fixed_by: Some("R6"),
    check: tiled,
};

/// An on-screen display.
pub(super) const B5: Rule = Rule {
    id: "DS016",
    code: "B5",
    severity: Severity::Note,
    title: "the on-screen display is on",
    reason: "It draws on every frame, which a measurement does not need.",
    guard: "Live output is wanted.",
    remedy: "leave the on-screen display out to measure",
    fixed_by: Some("R6"),
    check: drawn,
};

/// One that draws on the CPU.
pub(super) const B6: Rule = Rule {
    id: "DS017",
    code: "B6",
    severity: Severity::Warning,
    title: "the on-screen display draws on the CPU",
    reason: "With `process-mode=0` every frame is drawn on by the CPU, which soon limits the whole pipeline.",
    guard: "A `process-mode` that is not written: the default is the GPU.",
    remedy: "set `process-mode=1` on the on-screen display",
    fixed_by: None,
    check: drawn_by_cpu,
};

fn synchronous(look: &Look<'_>, report: &mut Report<'_>) {
    if look.wants_output() {
        return;
    }
    for sink in look
        .pipeline
        .sinks
        .iter()
        .filter(|sink| sink.sync == Some(true))
    {
        let setting = look.setting(sink.element, Knob::SinkSync);
        let is_default = setting.is_some_and(KnobSetting::is_missing);
        // What a broker does by default is not published.
        if is_default && sink.kind == SinkKind::MessageBroker {
            continue;
        }
        let place = match setting {
            Some(setting) => look.place(setting),
            None => look.element_place(sink.element),
        };
        let message = if is_default {
            "the sink waits for the clock, which is its default"
        } else {
            "the sink waits for the clock"
        };
        report.add(place, message);
    }
}

fn on_screen(look: &Look<'_>, report: &mut Report<'_>) {
    sinks(
        look,
        report,
        SinkKind::Display,
        "the sink shows the frames on the screen",
    );
}

fn recorded(look: &Look<'_>, report: &mut Report<'_>) {
    // deepstream-app encodes whatever it writes to a file.
    let is_app = look.has(Role::Application);
    if is_app || look.has(Role::Encoder) {
        sinks(
            look,
            report,
            SinkKind::File,
            "the sink encodes the frames to a file",
        );
    }
}

fn sinks(look: &Look<'_>, report: &mut Report<'_>, kind: SinkKind, message: &str) {
    if look.wants_output() {
        return;
    }
    for sink in look.pipeline.sinks.iter().filter(|sink| sink.kind == kind) {
        // The display that only counts frames may hand them to nothing.
        let inner = look
            .pipeline
            .element(sink.element)
            .and_then(|element| look.own(element, "video-sink"));
        if inner.is_some_and(|inner| inner.value.as_deref() == Some("fakesink")) {
            continue;
        }
        let place = match look.setting(sink.element, Knob::SinkKind) {
            Some(setting) => look.place(setting),
            None => look.element_place(sink.element),
        };
        report.add(place, message);
    }
}

fn tiled(look: &Look<'_>, report: &mut Report<'_>) {
    elements(look, report, Role::Tiler, "the tiler is on");
}

fn drawn(look: &Look<'_>, report: &mut Report<'_>) {
    elements(look, report, Role::Osd, "the on-screen display is on");
}

fn elements(look: &Look<'_>, report: &mut Report<'_>, role: Role, message: &str) {
    if look.wants_output() {
        return;
    }
    for element in look.pipeline.elements_with(role) {
        report.add(element.place.clone(), message);
    }
}

fn drawn_by_cpu(look: &Look<'_>, report: &mut Report<'_>) {
    for element in look.pipeline.elements_with(Role::Osd) {
        let mode = look.own(element, "process-mode");
        if let Some(mode) = mode.filter(|mode| mode.integer() == Some(0)) {
            report.add(mode.place.clone(), "`process-mode` is 0: the CPU draws");
        }
    }
}
