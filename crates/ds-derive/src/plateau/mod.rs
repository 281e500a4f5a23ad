//! The inference plateau: the batch beyond which a larger one brings next to nothing.

mod bootstrap;
mod note;

use std::collections::BTreeMap;
use std::fmt;

use ds_ceilings::{Batch, Fps, StreamCount};

use self::bootstrap::Interval95;
pub use self::note::Note;
use crate::sweep::{Failure, Outcome, SweepPoint};

/// A doubling of the batch that brings less than this share more frames is no longer worth it. The 5 % are a choice of
/// dsprof, kept in one place because the report, the notes and the bootstrap test all refer to it.
pub const WORTHWHILE_GAIN: Gain = Gain(0.05);

/// With fewer steady windows than this a mean is provisional. A choice of dsprof.
pub const STEADY_WINDOWS: usize = 6;

/// Rates at which sources, sinks and displays pace a pipeline, in frames per second and stream.
pub const PACING_RATES: [u32; 5] = [24, 25, 30, 50, 60];

/// How near a mean lies to a pacing rate that it is measured by: the 0.1 % between 30 and the 29.97 of NTSC, and as much
/// again for the windows' own ends. A choice of dsprof.
const NEARLY: f64 = 0.002;

/// What a sweep says about the batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Plateau {
    /// The plateau, or why there is none.
    pub found: PlateauBatch,
    /// The batch to configure for the streams asked for; `None` if no batch ran.
    pub final_batch: Option<Batch>,
    /// The batches that ran, ascending.
    pub points: Vec<Measured>,
    /// The steps between them, ascending.
    pub steps: Vec<Step>,
    /// What a reader has to know before relying on it.
    pub notes: Vec<Note>,
}

/// The plateau, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlateauBatch {
    /// The smallest batch whose doubling brings less than [`WORTHWHILE_GAIN`].
    Reached(Batch),
    /// Every step was still worth it.
    NotReached {
        /// The largest batch that ran.
        largest: Batch,
    },
    /// Something other than the GPU set the pace of every batch.
    Paced {
        /// The rate of every stream, one of [`PACING_RATES`].
        rate: Fps,
        /// The largest batch that ran.
        largest: Batch,
    },
    /// No batch gave a rate.
    NothingRan,
}

/// A batch that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The batch.
    pub batch: Batch,
    /// The frame rate summed over the streams: the mean of the steady windows.
    pub fps: Fps,
    /// The 95 % bootstrap interval of that mean; `None` with fewer than two windows.
    pub interval: Option<(Fps, Fps)>,
    /// How many steady windows there were.
    pub windows: usize,
    /// The rate of every stream in every window, if it is exactly one of [`PACING_RATES`].
    pub paced_at: Option<Fps>,
}

/// A relative change of the frame rate per doubling of the batch; negative for a loss.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Gain(f64);

impl Gain {
    /// The gain per doubling between two batches; `None` where the rates or batches allow none.
    fn per_doubling(from: (Batch, f64), to: (Batch, f64)) -> Option<Self> {
        let doublings = (f64::from(to.0.get()) / f64::from(from.0.get())).log2();
        let gain = (to.1 / from.1).powf(doublings.recip()) - 1.0;
        gain.is_finite().then_some(Self(gain))
    }

    /// The gain as a number: 0.61 for 61 % more.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// The gain in percent.
    #[must_use]
    pub fn percent(self) -> f64 {
        self.0 * 100.0
    }

    fn is_worthwhile(self) -> bool {
        self >= WORTHWHILE_GAIN
    }
}

impl fmt::Display for Gain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(1);
        write!(f, "{:+.digits$} %", self.percent())
    }
}

/// From one batch to the next that ran.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The smaller batch.
    pub from: Batch,
    /// The larger batch.
    pub to: Batch,
    /// The gain per doubling.
    pub gain: Gain,
    /// Its 95 % bootstrap interval; `None` if a batch has fewer than two windows.
    pub interval: Option<(Gain, Gain)>,
}

impl Step {
    /// Whether the noise of the windows leaves open on which side of [`WORTHWHILE_GAIN`] the gain lies.
    #[must_use]
    pub fn is_within_noise(&self) -> bool {
        self.interval
            .is_some_and(|(low, high)| !low.is_worthwhile() && high.is_worthwhile())
    }
}

/// Reads the plateau off a sweep, for a pipeline of `streams` streams.
///
/// Points may come in any order; windows of a batch that ran twice are pooled. A gap in the sweep is bridged by the
/// gain per doubling, and the batch that left it is noted.
#[must_use]
pub fn plateau(sweep: &[SweepPoint], streams: StreamCount) -> Plateau {
    let (runs, failures) = sort_out(sweep);
    let points: Vec<Measured> = runs
        .iter()
        .map(|(batch, run)| run.measured(*batch))
        .collect();
    let steps = steps(&runs, &points);
    let deciding = steps.iter().position(|step| !step.gain.is_worthwhile());

    let nearly_paced = common_pace(&points)
        .is_none()
        .then(|| nearly_common_pace(&runs))
        .flatten();
    let pace = common_pace(&points).or(nearly_paced);
    let found = match (points.last(), pace, deciding) {
        (None, _, _) => PlateauBatch::NothingRan,
        (Some(last), Some(rate), _) => PlateauBatch::Paced {
            rate,
            largest: last.batch,
        },
        (Some(_), None, Some(step)) => PlateauBatch::Reached(steps[step].from),
        (Some(last), None, None) => PlateauBatch::NotReached {
            largest: last.batch,
        },
    };
    let usable = match found {
        PlateauBatch::Reached(batch) => Some(batch),
        PlateauBatch::NotReached { largest } | PlateauBatch::Paced { largest, .. } => Some(largest),
        PlateauBatch::NothingRan => None,
    };
    let final_batch = usable.map(|batch| batch.min(at_most_streams(streams)));
    let steps_that_decide = deciding.map_or(steps.len(), |step| step + 1);
    let mut notes = notes(found, nearly_paced, &points, &steps, steps_that_decide);
    notes.extend(failures);
    Plateau {
        found,
        final_batch,
        points,
        steps,
        notes,
    }
}

/// The batch before any sweep: the number of streams, at most 16. A choice of dsprof that the sweep replaces.
pub(crate) fn preset_batch(streams: StreamCount) -> Batch {
    const PRESET: u32 = 16;
    Batch::new(PRESET).map_or(Batch::ONE, |preset| preset.min(at_most_streams(streams)))
}

/// The largest batch that this many streams fill in one tick.
fn at_most_streams(streams: StreamCount) -> Batch {
    Batch::new(streams.get()).unwrap_or(Batch::ONE)
}

impl Plateau {
    /// The rate that was measured at a batch.
    #[must_use]
    pub fn fps_at(&self, batch: Batch) -> Option<Fps> {
        let point = self.points.iter().find(|point| point.batch == batch)?;
        Some(point.fps)
    }

    /// The rate of the plateau, or of the largest batch that ran where there is none; see [`Plateau::found`].
    #[must_use]
    pub fn fps(&self) -> Option<Fps> {
        match self.found {
            PlateauBatch::Reached(batch) => self.fps_at(batch),
            PlateauBatch::NotReached { largest } | PlateauBatch::Paced { largest, .. } => {
                self.fps_at(largest)
            }
            PlateauBatch::NothingRan => None,
        }
    }

    /// Whether a plateau was found and no note casts doubt on it.
    #[must_use]
    pub fn is_firm(&self) -> bool {
        matches!(self.found, PlateauBatch::Reached(_))
            && !self.notes.iter().any(|note| {
                matches!(
                    note,
                    Note::WithinNoise { .. }
                        | Note::Provisional { .. }
                        | Note::RisesAgain { .. }
                        | Note::PacedBatch { .. }
                )
            })
    }
}

/// The pooled windows of one batch.
struct Run {
    streams: StreamCount,
    windows: Vec<Fps>,
}

impl Run {
    fn measured(&self, batch: Batch) -> Measured {
        Measured {
            batch,
            fps: bootstrap::mean(&self.windows),
            interval: Interval95::of_mean(&self.windows)
                .and_then(|found| Some((Fps::new(found.low)?, Fps::new(found.high)?))),
            windows: self.windows.len(),
            paced_at: pace(&self.windows, self.streams),
        }
    }
}

/// Separates the batches that gave a rate from those that did not, both ascending.
fn sort_out(sweep: &[SweepPoint]) -> (BTreeMap<Batch, Run>, Vec<Note>) {
    let mut runs: BTreeMap<Batch, Run> = BTreeMap::new();
    let mut failures: BTreeMap<Batch, Note> = BTreeMap::new();
    for point in sweep {
        let batch = point.batch;
        let (why, detail) = match &point.outcome {
            Outcome::Ran { windows } if windows.is_empty() => (Failure::NoSteadyWindow, ""),
            Outcome::Ran { windows } if windows.iter().all(|fps| *fps == Fps::ZERO) => {
                (Failure::ZeroFps, "")
            }
            Outcome::Ran { windows } => {
                let run = runs.entry(batch).or_insert_with(|| Run {
                    streams: point.streams,
                    windows: Vec::new(),
                });
                run.windows.extend(windows);
                continue;
            }
            Outcome::Failed { why, detail } => (*why, detail.as_str()),
        };
        let detail = detail.to_owned();
        failures
            .entry(batch)
            .or_insert(Note::FailedBatch { batch, why, detail });
    }
    (runs, failures.into_values().collect())
}

fn steps(runs: &BTreeMap<Batch, Run>, points: &[Measured]) -> Vec<Step> {
    let pairs = points.iter().zip(points.iter().skip(1));
    pairs
        .filter_map(|(from, to)| {
            let gain = Gain::per_doubling((from.batch, from.fps.get()), (to.batch, to.fps.get()))?;
            let interval =
                Interval95::of_ratio(&runs[&from.batch].windows, &runs[&to.batch].windows)
                    .and_then(|ratio| {
                        let bound =
                            |ratio| Gain::per_doubling((from.batch, 1.0), (to.batch, ratio));
                        Some((bound(ratio.low)?, bound(ratio.high)?))
                    });
            Some(Step {
                from: from.batch,
                to: to.batch,
                gain,
                interval,
            })
        })
        .collect()
}

/// The rate at which every window of every stream runs, if it is one of [`PACING_RATES`].
///
/// The console prints two decimals per stream, so a window may differ from the rate by half of the last one.
pub(crate) fn pace(windows: &[Fps], streams: StreamCount) -> Option<Fps> {
    const HALF_A_PRINTED_DIGIT: f64 = 0.005;
    // Without streams every rate of theirs is zero frames, and nothing is paced.
    let streams = (streams > StreamCount::ZERO).then(|| f64::from(streams.get()))?;
    let first = windows.first()?;
    let rate = PACING_RATES
        .iter()
        .map(|rate| f64::from(*rate))
        .find(|rate| (first.get() - rate * streams).abs() <= HALF_A_PRINTED_DIGIT * streams)?;
    windows
        .iter()
        .all(|window| (window.get() - rate * streams).abs() <= HALF_A_PRINTED_DIGIT * streams)
        .then(|| Fps::new(rate))
        .flatten()
}

/// The rate of the largest batch, if all batches are paced.
fn common_pace(points: &[Measured]) -> Option<Fps> {
    let all = points.iter().all(|point| point.paced_at.is_some());
    points.last().filter(|_| all)?.paced_at
}

/// The pacing rate at which the streams of every batch run to [`NEARLY`], where several batches ran. Emitters that divide by
/// the time that really passed (fpsdisplaysink, the Python samples) print 29.97 or 30.02 for a sink that waits for its
/// clock. One batch may come so near to a rate by chance; a GPU that is the limit gives each stream half as much when the
/// batch doubles, so that several batches do not.
fn nearly_common_pace(runs: &BTreeMap<Batch, Run>) -> Option<Fps> {
    let per_stream: Option<Vec<f64>> = runs
        .values()
        .map(|run| {
            let streams = f64::from(run.streams.get());
            (streams > 0.0).then(|| bootstrap::mean(&run.windows).get() / streams)
        })
        .collect();
    let per_stream = per_stream.filter(|rates| rates.len() > 1)?;
    PACING_RATES
        .iter()
        .map(|rate| f64::from(*rate))
        .find(|rate| {
            per_stream
                .iter()
                .all(|mean| (mean - rate).abs() <= NEARLY * rate)
        })
        .and_then(Fps::new)
}

fn notes(
    found: PlateauBatch,
    nearly_paced: Option<Fps>,
    points: &[Measured],
    steps: &[Step],
    steps_that_decide: usize,
) -> Vec<Note> {
    let mut notes = Vec::new();
    match found {
        PlateauBatch::NotReached { largest } => notes.push(Note::NotReached { largest }),
        PlateauBatch::Paced { rate, .. } => notes.push(match nearly_paced {
            Some(rate) => Note::NearlyPaced { rate },
            None => Note::Paced { rate },
        }),
        PlateauBatch::Reached(_) | PlateauBatch::NothingRan => {}
    }
    if !matches!(found, PlateauBatch::Paced { .. }) {
        notes.extend(points.iter().filter_map(|point| {
            let (batch, rate) = (point.batch, point.paced_at?);
            Some(Note::PacedBatch { batch, rate })
        }));
    }
    let short: Vec<&Measured> = points
        .iter()
        .filter(|point| point.windows < STEADY_WINDOWS)
        .collect();
    if let Some(fewest) = short.iter().map(|point| point.windows).min() {
        let batches = short.iter().map(|point| point.batch).collect();
        notes.push(Note::Provisional { batches, fewest });
    }
    for (position, step) in steps.iter().enumerate() {
        let step = *step;
        if position < steps_that_decide && step.is_within_noise() {
            notes.push(Note::WithinNoise { step });
        }
        if step.gain.get() < 0.0 {
            notes.push(Note::Fell { step });
        }
        if step.gain.get() > 1.0 {
            notes.push(Note::MoreThanDoubled { step });
        }
    }
    if let PlateauBatch::Reached(plateau) = found {
        let level = points.iter().find(|point| point.batch == plateau);
        let bar = level.and_then(|point| point.fps.scaled(1.0 + WORTHWHILE_GAIN.0));
        let next_but_one = points.iter().filter(|point| point.batch > plateau).skip(1);
        let higher = next_but_one.filter(|point| bar.is_some_and(|bar| point.fps > bar));
        notes.extend(higher.map(|point| Note::RisesAgain {
            plateau,
            batch: point.batch,
        }));
    }
    notes
}
