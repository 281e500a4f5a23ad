//! The machines, and what they are to carry.

use std::time::Duration;

use gstdssim::model::{Load, Model, Sinks};

/// A machine of known truth and its load.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) model: Model,
    pub(super) load: Load,
    /// Width and height of the sources, which the ceiling of the decoders depends on.
    pub(super) source: (u32, u32),
}

const HD: (u32, u32) = (1920, 1080);

fn case(name: &'static str, base_us: u64, frame_us: u64, streams: u32) -> Case {
    Case {
        name,
        model: Model {
            infer_base: Duration::from_micros(base_us),
            infer_frame: Duration::from_micros(frame_us),
            ..Model::default()
        },
        load: Load {
            streams,
            fps: 10.0,
            max_batch: streams,
            sinks: Sinks::AsFast,
        },
        source: HD,
    }
}

/// `a` / `b` = 0.3: +6.98 % from 2 to 4, +3.6 % from 4 to 8.
pub(super) fn plateau_at_4() -> Case {
    case("plateau-at-4", 1_320, 4_400, 16)
}

/// `a` / `b` = 1.15: +6.7 % from 8 to 16, +3.5 % from 16 to 32.
pub(super) fn plateau_at_16() -> Case {
    case("plateau-at-16", 1_265, 1_100, 32)
}

/// `a` / `b` = 3: still +15.8 % from 8 to 16.
pub(super) fn plateau_not_reached() -> Case {
    case("plateau-not-reached", 6_600, 2_200, 16)
}

/// `a` / `b` = 0.6, far more decoding than inference: +6.7 % from 4 to 8, +3.5 % from 8 to 16.
pub(super) fn compute_bound() -> Case {
    case("compute-bound", 1_980, 3_300, 16)
}

/// Frames of four times the size, of which an engine decodes a quarter as many: one stream 152 frames/s, two 305.
pub(super) fn decode_bound() -> Case {
    let mut case = case("decode-bound", 1_000, 1_000, 8);
    case.model.decode_fps /= 4.0;
    case.source = (HD.0 * 2, HD.1 * 2);
    case
}

/// 7 ms a frame, where inference at its plateau needs 4.7.
pub(super) fn tracker_bound() -> Case {
    let mut case = case("tracker-bound", 1_320, 4_400, 8);
    case.model.tracker_frame = Duration::from_millis(7);
    case
}

/// Four streams at 30 frames/s, where inference carries seven.
pub(super) fn paced_by_the_sink() -> Case {
    let mut case = case("paced-by-the-sink", 1_320, 4_400, 4);
    case.load.fps = 30.0;
    case.load.max_batch = 8;
    case.load.sinks = Sinks::Paced;
    case
}

/// All of them.
pub(super) fn all() -> Vec<Case> {
    vec![
        plateau_at_4(),
        plateau_at_16(),
        plateau_not_reached(),
        compute_bound(),
        decode_bound(),
        tracker_bound(),
        paced_by_the_sink(),
    ]
}

#[test]
fn the_cases_are_what_their_names_say() {
    use gstdssim::model::BoundBy;

    let truths: Vec<_> = all()
        .iter()
        .map(|case| {
            let truth = case.model.truth(case.load);
            (truth.plateau, truth.bound, truth.capacity)
        })
        .collect();
    assert_eq!(
        truths,
        [
            (Some(4), BoundBy::Compute, 21),
            (Some(16), BoundBy::Compute, 84),
            (None, BoundBy::Compute, 38),
            (Some(8), BoundBy::Compute, 28),
            (Some(2), BoundBy::Decode, 30),
            (Some(4), BoundBy::Tracker, 21),
            (Some(4), BoundBy::Paced, 7),
        ]
    );
}
