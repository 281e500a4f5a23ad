//! What a reader has to know before relying on a plateau.

use std::fmt;

use ds_ceilings::{Batch, Fps};

use super::{STEADY_WINDOWS, Step};
use crate::sweep::Failure;

/// What a reader has to know before relying on a plateau.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// Every step was still worth it: larger batches should be tried.
    NotReached {
        /// The largest batch that ran.
        largest: Batch,
    },
    /// Every window of every batch shows exactly a rate at which sources, sinks and displays run.
    Paced {
        /// The rate of every stream.
        rate: Fps,
    },
    /// The streams of every batch run at such a rate, as near as a clock that is read tells it.
    NearlyPaced {
        /// The rate of every stream.
        rate: Fps,
    },
    /// One batch among others is paced: its rate says what the source gave, not what the GPU can do.
    PacedBatch {
        /// The batch.
        batch: Batch,
        /// The rate of every stream.
        rate: Fps,
    },
    /// A step that led to the verdict lies within the noise of the windows.
    WithinNoise {
        /// The step.
        step: Step,
    },
    /// Means over fewer than [`STEADY_WINDOWS`] windows.
    Provisional {
        /// The batches concerned, ascending.
        batches: Vec<Batch>,
        /// The fewest windows among them.
        fewest: usize,
    },
    /// A larger batch brought fewer frames.
    Fell {
        /// The step.
        step: Step,
    },
    /// A doubling more than doubled the frames: something other than the batch limits the smaller one.
    MoreThanDoubled {
        /// The step.
        step: Step,
    },
    /// Beyond the plateau a batch brings more again.
    RisesAgain {
        /// The plateau.
        plateau: Batch,
        /// The batch that brings more.
        batch: Batch,
    },
    /// A batch gave no rate.
    FailedBatch {
        /// The batch.
        batch: Batch,
        /// Why.
        why: Failure,
        /// What the program said; may be empty.
        detail: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReached { largest } => write!(
                f,
                "not reached at batch {largest}: try larger batches, every rate here is a lower bound"
            ),
            Self::Paced { rate } => write!(
                f,
                "every stream runs at exactly {rate} in every window: source, sink or display sets the pace, so there is no plateau to read"
            ),
            Self::NearlyPaced { rate } => write!(
                f,
                "every stream runs at {rate} whatever the batch: source, sink or display sets the pace, so there is no plateau to read"
            ),
            Self::PacedBatch { batch, rate } => write!(
                f,
                "batch {batch} runs at exactly {rate} per stream: its rate is that of the source, sink or display"
            ),
            Self::WithinNoise { step } => {
                let Step { from, to, gain, .. } = step;
                write!(f, "{from} to {to} is within noise: {gain}")?;
                match step.interval {
                    Some((low, high)) => write!(f, ", 95 % interval {low} to {high}"),
                    None => Ok(()),
                }
            }
            Self::Provisional { batches, fewest } => {
                f.write_str("provisional: batch ")?;
                for (position, batch) in batches.iter().enumerate() {
                    let comma = if position == 0 { "" } else { ", " };
                    write!(f, "{comma}{batch}")?;
                }
                write!(
                    f,
                    " with fewer than {STEADY_WINDOWS} steady windows, {fewest} at the fewest"
                )
            }
            Self::Fell { step } => write!(
                f,
                "the rate fell from batch {} to {}: {}",
                step.from, step.to, step.gain
            ),
            Self::MoreThanDoubled { step } => write!(
                f,
                "from batch {} to {} a doubling more than doubles the rate ({}): something other than the batch limits batch {}",
                step.from, step.to, step.gain, step.from
            ),
            Self::RisesAgain { plateau, batch } => write!(
                f,
                "beyond the plateau of {plateau}, batch {batch} brings more again"
            ),
            Self::FailedBatch { batch, why, detail } if detail.is_empty() => {
                write!(f, "batch {batch} gave no rate: {why}")
            }
            Self::FailedBatch { batch, why, detail } => {
                write!(f, "batch {batch} gave no rate: {why} ({detail})")
            }
        }
    }
}
