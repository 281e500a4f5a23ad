//! What a run tells while it goes on, and how long it will yet take.

use std::fmt;
use std::time::Duration;

use ds_ceilings::{Batch, Fps};

use crate::bundle::StageName;

/// Something that happened. The binary turns it into a line or a bar; nothing here prints.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A stage began.
    Stage(StageName),
    /// The sweep is going to try these batches.
    Planned(Vec<Batch>),
    /// A batch of the sweep began: the batch, its place from 1, and how many there are.
    Batch(Batch, usize, usize),
    /// A load began that is measured for so many seconds once it shows a rate.
    Load(u32),
    /// The rate summed over the streams in the last window.
    Rate(Fps),
    /// A batch of the sweep ended, with what came of it in words.
    BatchDone(Batch, String),
    /// A program runs that takes a while.
    Running(String),
    /// How far that program is, in per cent.
    Percent(u8),
    /// Something did not go as planned, and the run went on without it.
    Fallback(String),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stage(stage) => write!(f, "stage: {stage}"),
            Self::Planned(batches) => write!(f, "sweep: {} batches", batches.len()),
            Self::Batch(batch, index, of) => write!(f, "sweep: batch {batch} ({index} of {of})"),
            Self::Load(seconds) => write!(f, "measuring for {seconds} s"),
            Self::Rate(fps) => write!(f, "{fps}"),
            Self::BatchDone(batch, what) => write!(f, "sweep: batch {batch}: {what}"),
            Self::Running(what) => write!(f, "running: {what}"),
            Self::Percent(percent) => write!(f, "{percent} %"),
            Self::Fallback(what) => write!(f, "note: {what}"),
        }
    }
}

/// Receives events.
pub type Progress<'a> = dyn FnMut(&Event) + 'a;

/// How long a stage will yet take, from what it told: the seconds of each load, the batches that are left, and the
/// warm-ups that were seen. The clock is the caller's.
#[derive(Debug, Clone, Default)]
pub struct Estimate {
    planned: Vec<Batch>,
    /// Batches that began.
    begun: usize,
    load: Option<LoadClock>,
    /// Loads that ended: how long each warmed up, and how long it took.
    ended: Vec<(Duration, Duration)>,
}

/// A load that runs.
#[derive(Debug, Clone, Copy)]
struct LoadClock {
    measured: Duration,
    began: Duration,
    first_rate: Option<Duration>,
}

impl Estimate {
    /// Takes in what happened, and when.
    pub fn note(&mut self, event: &Event, now: Duration) {
        match event {
            Event::Stage(_) => {
                self.end_load(now);
                self.planned.clear();
                self.begun = 0;
            }
            Event::Planned(batches) => {
                self.planned.clone_from(batches);
                self.begun = 0;
            }
            Event::Batch(..) => {
                self.end_load(now);
                self.begun += 1;
            }
            Event::Load(seconds) => {
                self.end_load(now);
                self.load = Some(LoadClock {
                    measured: Duration::from_secs(u64::from(*seconds)),
                    began: now,
                    first_rate: None,
                });
            }
            Event::Rate(_) => {
                if let Some(load) = &mut self.load {
                    load.first_rate.get_or_insert(now);
                }
            }
            Event::BatchDone(..) | Event::Running(_) => self.end_load(now),
            Event::Percent(_) | Event::Fallback(_) => {}
        }
    }

    /// Which batch of how many runs, from 1; `None` outside a sweep.
    pub fn position(&self) -> Option<(usize, usize)> {
        (self.begun > 0 && self.begun <= self.planned.len())
            .then_some((self.begun, self.planned.len()))
    }

    /// How long the stage will yet take; `None` as long as no warm-up was seen, because models load for seconds or for
    /// minutes.
    pub fn remaining(&self, now: Duration) -> Option<Duration> {
        let mean = |times: &mut dyn Iterator<Item = Duration>, n: usize| {
            let sum: Duration = times.sum();
            u32::try_from(n).ok().filter(|n| *n > 0).map(|n| sum / n)
        };
        let warm_up = mean(
            &mut self.ended.iter().map(|(warm_up, _)| *warm_up),
            self.ended.len(),
        );
        let this = match self.load {
            None => Duration::ZERO,
            Some(load) => {
                let first_rate = load.first_rate.or_else(|| Some(load.began + warm_up?))?;
                (first_rate + load.measured).saturating_sub(now)
            }
        };
        let left = self.planned.len().saturating_sub(self.begun);
        if left == 0 {
            return self.load.map(|_| this);
        }
        let whole = mean(
            &mut self.ended.iter().map(|(_, whole)| *whole),
            self.ended.len(),
        );
        // Before the first load has ended, the others are taken to be like the one that runs.
        let each = whole.or_else(|| {
            let load = self.load?;
            Some(load.first_rate?.saturating_sub(load.began) + load.measured)
        })?;
        Some(this + each * u32::try_from(left).ok()?)
    }

    /// A load that never showed a rate tells nothing about the next one.
    fn end_load(&mut self, now: Duration) {
        let Some(load) = self.load.take() else { return };
        if let Some(first_rate) = load.first_rate {
            self.ended.push((
                first_rate.saturating_sub(load.began),
                now.saturating_sub(load.began),
            ));
        }
    }
}

/// A time in words, no more exact than an estimate is: `about 40 s`, `about 3 min`, `about 1 h 20 min`.
pub fn rough(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => "a few seconds".to_owned(),
        10..90 => format!("about {} s", (seconds + 2) / 5 * 5),
        90..3570 => format!("about {} min", (seconds + 30) / 60),
        _ => {
            let minutes = (seconds + 150) / 300 * 5;
            format!("about {} h {} min", minutes / 60, minutes % 60)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn batch(n: u32) -> Batch {
        Batch::new(n).expect("a batch")
    }

    fn rate() -> Event {
        Event::Rate(Fps::new(100.0).expect("a rate"))
    }

    #[test]
    fn a_sweep_of_three_batches() {
        let mut estimate = Estimate::default();
        estimate.note(&Event::Planned([1, 2, 4].map(batch).to_vec()), at(0));
        assert_eq!(estimate.position(), None);
        estimate.note(&Event::Batch(batch(1), 1, 3), at(0));
        estimate.note(&Event::Load(30), at(0));
        assert_eq!(estimate.position(), Some((1, 3)));
        // Nobody knows how long models load.
        assert_eq!(estimate.remaining(at(5)), None);
        estimate.note(&rate(), at(10));
        // 30 s from the first rate on, then two more loads of 10 + 30 s.
        assert_eq!(estimate.remaining(at(10)), Some(at(30 + 2 * 40)));
        assert_eq!(estimate.remaining(at(25)), Some(at(15 + 2 * 40)));
        estimate.note(&rate(), at(26));
        estimate.note(&Event::BatchDone(batch(1), "100".to_owned()), at(44));
        // The load took 44 s.
        assert_eq!(estimate.remaining(at(44)), Some(at(2 * 44)));
        estimate.note(&Event::Batch(batch(2), 2, 3), at(44));
        estimate.note(&Event::Load(30), at(44));
        // 10 s of warm-up as before, 30 s of measuring, and one load of 44 s.
        assert_eq!(estimate.remaining(at(44)), Some(at(40 + 44)));
        estimate.note(&Event::BatchDone(batch(2), "crashed".to_owned()), at(50));
        estimate.note(&Event::Batch(batch(4), 3, 3), at(50));
        estimate.note(&Event::Load(30), at(50));
        assert_eq!(estimate.remaining(at(60)), Some(at(30)));
        // Late, but not negative.
        assert_eq!(estimate.remaining(at(200)), Some(at(0)));
    }

    #[test]
    fn a_load_outside_a_sweep() {
        let mut estimate = Estimate::default();
        estimate.note(&Event::Load(30), at(100));
        assert_eq!(estimate.remaining(at(100)), None);
        estimate.note(&rate(), at(104));
        assert_eq!(
            (estimate.position(), estimate.remaining(at(110))),
            (None, Some(at(24)))
        );
        estimate.note(&Event::Running("nsys".to_owned()), at(140));
        assert_eq!(estimate.remaining(at(140)), None);
    }

    #[test]
    fn times_in_words() {
        for (seconds, said) in [
            (4, "a few seconds"),
            (42, "about 40 s"),
            (89, "about 90 s"),
            (90, "about 2 min"),
            (600, "about 10 min"),
            (4800, "about 1 h 20 min"),
        ] {
            assert_eq!(rough(at(seconds)), said);
        }
    }
}
