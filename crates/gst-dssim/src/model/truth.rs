//! The answer that a model implies, in closed form and without dsprof's own code.
//!
//! Written down from the definitions of the design: the plateau is the smallest batch whose doubling brings less than
//! 5 % more, the final batch is no larger than the streams, and the capacity is the smallest of what inference at the
//! plateau and all decoding engines carry.

use std::fmt;

use super::Model;

/// What the pipeline is to carry.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Streams of the whole pipeline.
    pub streams: u32,
    /// Frames per second of each stream that the capacity is counted in.
    pub fps: f64,
    /// The largest batch of the sweep, a power of two.
    pub max_batch: u32,
    /// How the sinks of the whole pipeline take frames.
    pub sinks: Sinks,
}

/// How sinks take frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sinks {
    /// As fast as they come.
    AsFast,
    /// At the rate of the time stamps.
    Paced,
}

/// What sets the rate of the whole pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundBy {
    /// The decoding engines.
    Decode,
    /// Inference.
    Compute,
    /// The tracker.
    Tracker,
    /// The time stamps.
    Paced,
}

impl fmt::Display for BoundBy {
    /// The word that dsprof has for it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Decode => "decode",
            Self::Compute => "compute",
            Self::Tracker => "tracker",
            Self::Paced => "paced",
        })
    }
}

/// What a model implies for a load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Truth {
    /// The plateau batch; `None` where every doubling up to the largest batch is worth it.
    pub plateau: Option<u32>,
    /// The batch to configure.
    pub final_batch: u32,
    /// Frames per second of the sweep at the plateau, or at the largest batch.
    pub plateau_fps: f64,
    /// Frames per second of the whole pipeline at the final batch.
    pub e2e_fps: f64,
    /// What sets that rate.
    pub bound: BoundBy,
    /// Whole streams that the hardware carries.
    pub capacity: u32,
}

/// A doubling that brings less than this is not worth it: the design's stage 3.
const WORTHWHILE: f64 = 0.05;

impl Model {
    /// Frames per second of inference alone, with `batch` frames each time.
    pub fn inference_fps(&self, batch: u32) -> f64 {
        f64::from(batch) / self.inference(batch).as_secs_f64()
    }

    /// Frames per second that the engines decode of so many streams; a stream uses one engine at a time.
    pub fn decoded_fps(&self, streams: u32) -> f64 {
        self.decode_fps * f64::from(streams.min(self.decode_engines))
    }

    /// Frames per second of the sweep at a batch: as many looped files as frames in a batch, inference, nothing else.
    pub fn swept_fps(&self, batch: u32) -> f64 {
        self.inference_fps(batch).min(self.decoded_fps(batch))
    }

    /// What dsprof is to find.
    pub fn truth(&self, load: Load) -> Truth {
        let powers = std::iter::successors(Some(1_u32), |batch| batch.checked_mul(2));
        let batches: Vec<u32> = powers
            .take_while(|batch| *batch <= load.max_batch)
            .collect();
        let plateau = batches
            .iter()
            .zip(batches.iter().skip(1))
            .find(|(from, to)| self.swept_fps(**to) / self.swept_fps(**from) - 1.0 < WORTHWHILE)
            .map(|(from, _)| *from);
        let level = plateau.unwrap_or(load.max_batch);
        let final_batch = level.min(load.streams);
        let stages = [
            (BoundBy::Decode, self.decoded_fps(load.streams)),
            (BoundBy::Compute, self.inference_fps(final_batch)),
            (BoundBy::Tracker, self.tracker_frame.as_secs_f64().recip()),
            (
                BoundBy::Paced,
                match load.sinks {
                    Sinks::AsFast => f64::INFINITY,
                    Sinks::Paced => self.source_fps * f64::from(load.streams),
                },
            ),
        ];
        let [first, rest @ ..] = stages;
        let (bound, e2e_fps) =
            rest.into_iter().fold(
                first,
                |least, next| if next.1 < least.1 { next } else { least },
            );
        let plateau_fps = self.swept_fps(level);
        let carried = plateau_fps.min(self.decoded_fps(self.decode_engines)) / load.fps;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number of streams, far below 2^32"
        )]
        let capacity = carried.floor() as u32;
        Truth {
            plateau,
            final_batch,
            plateau_fps,
            e2e_fps,
            bound,
            capacity,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LOAD: Load = Load {
        streams: 32,
        fps: 10.0,
        max_batch: 32,
        sinks: Sinks::AsFast,
    };

    fn model(base_us: u64, frame_us: u64) -> Model {
        Model {
            infer_base: Duration::from_micros(base_us),
            infer_frame: Duration::from_micros(frame_us),
            ..Model::default()
        }
    }

    #[track_caller]
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 0.01, "{value} for {expected}");
    }

    #[test]
    fn a_small_base_is_at_its_plateau_at_four() {
        // 1.2 ms + 4 ms a frame: 2 in 9.2 ms, 4 in 17.2 ms, 8 in 33.2 ms: 217.39, 232.56, 240.96 frames/s, so
        // +7.0 % from 2 to 4 and +3.6 % from 4 to 8. 232.56 / 10 = 23 streams.
        let truth = model(1_200, 4_000).truth(LOAD);
        assert_eq!((truth.plateau, truth.final_batch), (Some(4), 4));
        near(truth.plateau_fps, 232.56);
        near(truth.e2e_fps, 232.56);
        assert_eq!((truth.bound, truth.capacity), (BoundBy::Compute, 23));
    }

    #[test]
    fn few_streams_keep_the_batch_small() {
        let truth = model(1_200, 4_000).truth(Load { streams: 2, ..LOAD });
        assert_eq!((truth.plateau, truth.final_batch), (Some(4), 2));
        near(truth.e2e_fps, 217.39);
    }

    #[test]
    fn a_large_base_does_not_reach_its_plateau() {
        // 6 ms + 2 ms a frame: 8 in 22 ms, 16 in 38 ms: 363.64 and 421.05 frames/s, +15.8 %.
        let truth = model(6_000, 2_000).truth(Load {
            max_batch: 16,
            ..LOAD
        });
        assert_eq!((truth.plateau, truth.final_batch), (None, 16));
        assert_eq!((truth.bound, truth.capacity), (BoundBy::Compute, 42));
    }

    #[test]
    fn two_engines_carry_two_streams_twice_as_fast() {
        // One stream 150, two 300, and four no more: the plateau is 2 though inference could go on.
        let truth = Model {
            decode_fps: 150.0,
            ..model(1_000, 1_000)
        }
        .truth(LOAD);
        assert_eq!((truth.plateau, truth.bound), (Some(2), BoundBy::Decode));
        near(truth.e2e_fps, 300.0);
        assert_eq!(truth.capacity, 30);
    }

    #[test]
    fn a_tracker_or_a_clock_slower_than_inference_sets_the_rate() {
        let tracked = Model {
            tracker_frame: Duration::from_millis(8),
            ..model(1_200, 4_000)
        }
        .truth(LOAD);
        near(tracked.e2e_fps, 125.0);
        assert_eq!((tracked.bound, tracked.capacity), (BoundBy::Tracker, 23));
        let paced = model(1_200, 4_000).truth(Load {
            streams: 4,
            sinks: Sinks::Paced,
            ..LOAD
        });
        near(paced.e2e_fps, 120.0);
        assert_eq!(paced.bound, BoundBy::Paced);
    }
}
