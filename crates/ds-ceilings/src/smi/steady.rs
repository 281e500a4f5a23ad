//! The steady part of a dmon recording.
//!
//! A recording that runs beside a load also holds the time before it (a program that starts, an
//! engine that loads) and after it. An average over all of it says little: one such recording reads
//! 37 % where the load itself reads 99 %.

use std::ops::Range;

use super::dmon::{Dmon, DmonColumn, DmonSample};
use crate::units::Fraction;

/// A sample belongs to the load if its busiest engine reaches this share of the load's usual level.
/// In twelve recordings of CNN sweeps on one H200 (driver 580.159.04, 1 Hz) every sample inside a
/// load reads at least 52 % of that level, and those of its start and end at most 14 %.
const BUSY_SHARE_OF_LEVEL: f64 = 0.5;

/// The longest run of busy samples of one GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteadyWindow {
    samples: Vec<DmonSample>,
    range: Range<usize>,
}

impl SteadyWindow {
    /// The steady samples.
    #[must_use]
    pub fn samples(&self) -> &[DmonSample] {
        &self.samples
    }

    /// Their positions among the samples of this GPU, from 0.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The mean of a column; `None` where the column has no readings.
    #[must_use]
    pub fn mean(&self, column: DmonColumn) -> Option<Fraction> {
        // Readings are whole percent; summed as such, equal ones average to themselves.
        let readings = self
            .samples
            .iter()
            .filter_map(|sample| sample.share(column));
        let percents: Vec<f64> = readings.map(|share| share.percent().round()).collect();
        let count = u32::try_from(percents.len())
            .ok()
            .filter(|count| *count > 0)?;
        Fraction::from_percent(percents.iter().sum::<f64>() / f64::from(count))
    }

    /// The middle value of a column, the lower one of two; `None` where the column has no readings.
    #[must_use]
    pub fn median(&self, column: DmonColumn) -> Option<Fraction> {
        let mut shares: Vec<Fraction> = self
            .samples
            .iter()
            .filter_map(|sample| sample.share(column))
            .collect();
        shares.sort_unstable();
        shares.get(shares.len().checked_sub(1)? / 2).copied()
    }
}

impl Dmon {
    /// The steady part of one GPU's samples: the longest run, the earliest of equals, in which
    /// every sample is busy. `None` if nothing ran, or if the GPU prints no utilisation.
    #[must_use]
    pub fn steady(&self, gpu: u32) -> Option<SteadyWindow> {
        let samples: Vec<DmonSample> = self
            .samples()
            .iter()
            .copied()
            .filter(|sample| sample.gpu == gpu)
            .collect();
        let activity: Vec<f64> = samples
            .iter()
            .map(|sample| sample.activity().unwrap_or(Fraction::ZERO).get())
            .collect();
        let threshold = usual_level(&activity)? * BUSY_SHARE_OF_LEVEL;
        let range = longest_run(&activity, |value| value >= threshold)?;
        Some(SteadyWindow {
            samples: samples[range.clone()].to_vec(),
            range,
        })
    }
}

/// The upper quartile of the samples that are not idle: unlike the maximum it does not follow a
/// single spike, unlike the median not a long start-up that trickles along.
fn usual_level(activity: &[f64]) -> Option<f64> {
    let mut active: Vec<f64> = activity
        .iter()
        .copied()
        .filter(|value| *value > 0.0)
        .collect();
    active.sort_unstable_by(f64::total_cmp);
    let last = active.len().checked_sub(1)?;
    active.get(last - last / 4).copied()
}

/// The longest run of values that satisfy the condition.
fn longest_run(values: &[f64], busy: impl Fn(f64) -> bool) -> Option<Range<usize>> {
    let mut best: Option<Range<usize>> = None;
    let mut start = 0;
    for (index, value) in values.iter().enumerate() {
        if !busy(*value) {
            start = index + 1;
        } else if best
            .as_ref()
            .is_none_or(|best| index + 1 - start > best.len())
        {
            best = Some(start..index + 1);
        }
    }
    best
}
