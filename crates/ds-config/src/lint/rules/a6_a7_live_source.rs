//! A6 and A7: whether the legacy mux knows that its sources are live.

use super::{Look, Report, Rule, Severity};
use crate::model::{Knob, Role, SourceKind};

/// Live sources that the mux takes for files.
pub(super) const A6: Rule = Rule {
    id: "DS008",
    code: "A6",
    severity: Severity::Warning,
    title: "a camera or RTSP source, and `live-source` is not 1",
    reason: "NVIDIA's documentation asks for it with RTSP and camera sources; users who left it out report lag and low frame \
             rates.",
    guard: "The new mux, which has no such property.",
    remedy: "set `live-source=1` on the mux",
    fixed_by: Some("R1"),
    check: taken_for_files,
};

/// Files that the mux takes for live sources.
pub(super) const A7: Rule = Rule {
    id: "DS009",
    code: "A7",
    severity: Severity::Note,
    title: "`live-source` is 1 and all sources are files",
    reason: "The property tells the mux that frames arrive in real time, which those of a file do not.",
    guard: "Files played as if they were live: `simulate-fps-interval-ms`, `identity sync=true`, or live output is \
            wanted; nvmultiurisrcbin, which takes cameras at run time.",
    remedy: "set `live-source=0` on the mux",
    fixed_by: Some("R1"),
    check: taken_for_live,
};

fn taken_for_files(look: &Look<'_>, report: &mut Report<'_>) {
    let is_live = |kind| matches!(kind, SourceKind::Rtsp | SourceKind::Usb | SourceKind::Csi);
    let mut sources = look.pipeline.sources.iter();
    let Some(source) = sources.find(|source| is_live(source.kind)) else {
        return;
    };
    let what = match source.kind {
        SourceKind::Rtsp => "an RTSP stream",
        _ => "a camera",
    };
    for setting in look.pipeline.knobs_of(Knob::MuxLiveSource) {
        if setting.is_missing() || setting.flag() == Some(false) {
            let message =
                format!("{what} is among the sources, and `live-source` of the mux is not 1");
            report.add(look.place(setting), message);
        }
    }
}

fn taken_for_live(look: &Look<'_>, report: &mut Report<'_>) {
    let is_simulated = look
        .pipeline
        .elements
        .iter()
        .any(|element| match element.role {
            Role::Source => look.own(element, "simulate-fps-interval-ms").is_some(),
            _ if element.factory == "identity" => {
                look.own(element, "sync").is_some_and(|sync| sync.is_on())
            }
            _ => false,
        });
    // nvmultiurisrcbin takes sources at run time, which may be cameras.
    let takes_more = look.has(Role::MultiSource);
    if !look.is_file_only() || is_simulated || takes_more || look.wants_output() {
        return;
    }
    for setting in look.pipeline.knobs_of(Knob::MuxLiveSource) {
        if setting.flag() == Some(true) {
            report.add(
                look.place(setting),
                "`live-source` is 1 and all sources are files",
            );
        }
    }
}
