//! C1 to C4: the tracker.

use super::{Look, Report, Rule, Severity};
use crate::lint::context::DeepStreamVersion;
use crate::model::{Element, Knob, Role};

/// The last release whose application reads `enable-batch-process` and `enable-past-frame`.
const LAST_WITH_BATCH_PROCESS: DeepStreamVersion = DeepStreamVersion { major: 6, minor: 2 };

/// NVIDIA's tracker library from DeepStream 6.0 on.
const LIBRARY: &str = "libnvds_nvmultiobjecttracker.so";

/// NVIDIA's libraries before 6.0, one for each algorithm.
const OLD_LIBRARIES: [&str; 3] = [
    "libnvds_nvdcf.so",
    "libnvds_mot_iou.so",
    "libnvds_mot_klt.so",
];

/// Keys that no tracker has any more.
pub(super) const C1: Rule = Rule {
    id: "DS020",
    code: "C1",
    severity: Severity::Note,
    title: "the tracker has `enable-batch-process` or `enable-past-frame`",
    reason: "Since 6.3 nvtracker has neither: deepstream-app warns of an unknown key, and a gst-launch command with such \
             a property ends.",
    guard: "DeepStream 6.2 or older.",
    remedy: "remove the key; the tracker always works on batches",
    fixed_by: None,
    check: removed_keys,
};

/// A size that does not fit the hardware.
pub(super) const C2: Rule = Rule {
    id: "DS021",
    code: "C2",
    severity: Severity::Note,
    title: "the tracker's size is no multiple of 32",
    reason: "NVIDIA recommends multiples of 32 for `tracker-width` and `tracker-height`.",
    guard: "3D and mask trackers, whose samples use the size of the frame.",
    remedy: "set `tracker-width=480` and `tracker-height=288`",
    fixed_by: Some("R4"),
    check: odd_size,
};

/// A library that is not NVIDIA's present one.
pub(super) const C3: Rule = Rule {
    id: "DS022",
    code: "C3",
    severity: Severity::Warning,
    title: "the tracker library is from before 6.0, or another maker's",
    reason: "The libraries before 6.0 are gone from later releases; KLT tracked on the CPU.",
    guard: "Where a library of another maker is meant, allow the finding.",
    remedy: "use `libnvds_nvmultiobjecttracker.so` with a configuration file of the installed release",
    fixed_by: None,
    check: other_library,
};

/// No configuration.
pub(super) const C4: Rule = Rule {
    id: "DS023",
    code: "C4",
    severity: Severity::Warning,
    title: "the tracker has no `ll-config-file`",
    reason: "The library then takes its built-in values, which are neither the fast nor the accurate preset.",
    guard: "A library of another maker, which may need none.",
    remedy: "set `ll-config-file` to NVIDIA's `config_tracker_NvDCF_max_perf.yml`",
    fixed_by: Some("R4"),
    check: without_config,
};

fn trackers<'a>(look: &Look<'a>) -> impl Iterator<Item = &'a Element> {
    look.pipeline.elements_with(Role::Tracker)
}

fn removed_keys(look: &Look<'_>, report: &mut Report<'_>) {
    if look
        .context
        .version
        .is_some_and(|version| version <= LAST_WITH_BATCH_PROCESS)
    {
        return;
    }
    for tracker in trackers(look) {
        for written in look.written(tracker) {
            if matches!(
                written.key.as_str(),
                "enable-batch-process" | "enable-past-frame"
            ) {
                let message = format!(
                    "nvtracker has had no `{}` since DeepStream 6.3",
                    written.key
                );
                report.add(written.place.clone(), message);
            }
        }
    }
}

fn odd_size(look: &Look<'_>, report: &mut Report<'_>) {
    for tracker in trackers(look) {
        let config = look.setting(tracker.id, Knob::TrackerLlConfigFile);
        let config = config
            .and_then(|setting| setting.text())
            .unwrap_or_default();
        let config = config.to_ascii_lowercase();
        if config.contains("3d") || config.contains("mask") {
            continue;
        }
        for knob in [Knob::TrackerWidth, Knob::TrackerHeight] {
            let Some(setting) = look.setting(tracker.id, knob) else {
                continue;
            };
            if let Some(size) = setting.integer().filter(|size| *size > 0 && size % 32 != 0) {
                let message = format!("`{}` is {size}, which is no multiple of 32", knob.key());
                report.add(look.place(setting), message);
            }
        }
    }
}

fn other_library(look: &Look<'_>, report: &mut Report<'_>) {
    for setting in look.pipeline.knobs_of(Knob::TrackerLlLibFile) {
        let Some(name) = setting
            .text()
            .map(file_name)
            .filter(|name| !name.is_empty())
        else {
            continue;
        };
        let message = if OLD_LIBRARIES.contains(&name) {
            format!("`{name}` is a tracker library from before DeepStream 6.0")
        } else if name != LIBRARY {
            format!("`{name}` is no tracker library of NVIDIA")
        } else {
            continue;
        };
        report.add(look.place(setting), message);
    }
}

fn without_config(look: &Look<'_>, report: &mut Report<'_>) {
    for setting in look.pipeline.knobs_of(Knob::TrackerLlConfigFile) {
        let library = look.setting(setting.target.element, Knob::TrackerLlLibFile);
        let library = library.and_then(|library| library.text()).map(file_name);
        let is_other =
            library.is_some_and(|name| name != LIBRARY && !OLD_LIBRARIES.contains(&name));
        if setting.is_missing() && !is_other {
            report.add(look.place(setting), "the tracker has no `ll-config-file`");
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
