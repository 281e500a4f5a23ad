//! Sets the cost of the tracker: the size at which it looks at a frame, and its preset.
//!
//! | Knob | Value | Withheld when |
//! |---|---|---|
//! | `tracker-width`, `tracker-height` | 480 × 288 | the tracker works in space or on masks |
//! | `ll-config-file` | NvDCF max-perf of the installed DeepStream | the present configuration is of another algorithm, of several sub-batches, or not readable: proposed, not written |
//!
//! There is no entry without a tracker: the rule adds none.
//!
//! Sources: NVIDIA's preset `config_tracker_NvDCF_max_perf.yml`, which DeepStream installs from 6.0 on; 480 × 288 from
//! the pipeline-profiling skill of NVIDIA/DeepStream (581889d), both sides a multiple of 32 as the tracker asks for;
//! element defaults of 960 × 544 from the DeepStream 9.1 source; NVIDIA's samples run trackers in space and on masks at
//! 1920 × 1080.

use super::line::{Derived, Line, fixed};
use crate::derivation::{Confidence, Entry, RuleId, Target};
use crate::facts::{DeepStreamVersion, Facts, Tracker, TrackerAlgorithm};
use crate::knob::Knob;
use crate::value::{Present, Value};

/// The first release that installs the preset.
const FIRST_WITH_PRESET: DeepStreamVersion = DeepStreamVersion { major: 6, minor: 0 };

/// The name of the preset.
const PRESET: &str = "config_tracker_NvDCF_max_perf.yml";

/// Where it lies: `/opt/nvidia/deepstream/deepstream` is the link that the installer points to the installed release.
const PRESET_FOLDER: &str = "/opt/nvidia/deepstream/deepstream/samples/configs/deepstream-app";

pub(super) fn derive(facts: &Facts) -> Vec<Entry> {
    let Some(tracker) = &facts.tracker else {
        return Vec::new();
    };
    vec![
        side(tracker, Knob::TrackerWidth, &tracker.width, 480),
        side(tracker, Knob::TrackerHeight, &tracker.height, 288),
        preset(facts, tracker),
    ]
}

fn line(knob: Knob, present: &Present) -> Line<'_> {
    Line {
        rule: RuleId::R4,
        knob,
        target: Target::Tracker,
        present,
    }
}

fn side(tracker: &Tracker, knob: Knob, present: &Present, pixels: u32) -> Entry {
    let line = line(knob, present);
    let reason = match tracker.algorithm {
        TrackerAlgorithm::ThreeD => "a tracker in space works in the pixels of its camera model",
        TrackerAlgorithm::Mask => "a tracker on masks needs the detail of the frame",
        _ => {
            let because = "the tracker's cost follows its pixels; check the ids once, since a small object has few of them left";
            return line.set(fixed(pixels, because, Confidence::Medium));
        }
    };
    line.withhold(reason)
}

fn preset(facts: &Facts, tracker: &Tracker) -> Entry {
    let present = &tracker.ll_config_file;
    let line = line(Knob::LlConfigFile, present);
    let named = present.value().and_then(Value::as_text);
    let Some(version) = facts.deepstream else {
        return line
            .missing("the DeepStream release, which decides whether the preset is installed");
    };
    if version < FIRST_WITH_PRESET {
        return line.withhold(format!("DeepStream {version} does not install the preset"));
    }
    let path = match named {
        // The preset from wherever the user keeps it is the preset.
        Some(path) if path.rsplit('/').next() == Some(PRESET) => path.to_owned(),
        _ => format!("{PRESET_FOLDER}/{PRESET}"),
    };
    let derived = |because: &str| Derived {
        new: Value::from(path.as_str()),
        formula: format!("preset of DeepStream {version}"),
        because: because.to_owned(),
        confidence: Confidence::Medium,
    };
    let several = named.is_some_and(|path| path.trim_end_matches(';').contains(';'));
    match tracker.algorithm {
        TrackerAlgorithm::NvDcf if several => line.propose(derived(
            "the present value lists one configuration per sub-batch; NVIDIA's preset is for all streams at once",
        )),
        TrackerAlgorithm::NvDcf => line.set(derived(
            "NVIDIA's fastest preset of the same algorithm; its ids are less stable than those of the accuracy preset",
        )),
        TrackerAlgorithm::NotConfigured => line.set(derived(
            "NVIDIA's fastest preset; without a configuration the library runs on defaults that nobody chose",
        )),
        TrackerAlgorithm::Unknown => line.propose(derived(
            "the algorithm of the present configuration could not be read, so that the user decides",
        )),
        TrackerAlgorithm::Iou
        | TrackerAlgorithm::NvSort
        | TrackerAlgorithm::NvDeepSort
        | TrackerAlgorithm::Mask
        | TrackerAlgorithm::ThreeD => line.propose(derived(
            "the present configuration is of another algorithm, and exchanging it changes the results",
        )),
    }
}
