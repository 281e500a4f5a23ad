//! The GPU that is shown, and how busy it is.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use super::totals;
use crate::ledger::Totals;
use crate::model::Model;

/// What stays the same about a GPU.
#[derive(Debug, Clone, Copy)]
pub struct Gpu {
    /// The product name as printed.
    pub name: &'static str,
    /// A UUID that no real GPU has.
    pub uuid: &'static str,
    /// The version of the driver that is shown.
    pub driver: &'static str,
    /// All memory, in MiB.
    pub memory_mib: u64,
    /// Memory that the driver keeps for itself, in MiB.
    pub reserved_mib: u64,
    /// The highest clock of the multiprocessors, in MHz.
    pub max_sm_mhz: u32,
    /// The highest memory clock, in MHz.
    pub max_memory_mhz: u32,
    /// The highest clock of the decoding engines, in MHz.
    pub max_video_mhz: u32,
}

impl Gpu {
    /// A Tesla T4, with the clocks and the memory that a recorded `nvidia-smi -q -x` of one shows (driver 515.105.01).
    pub const T4: Self = Self {
        name: "Tesla T4",
        uuid: "GPU-00000000-0000-4000-8000-00000000d551",
        driver: "550.90.07",
        memory_mib: 15360,
        reserved_mib: 388,
        max_sm_mhz: 1590,
        max_memory_mhz: 5001,
        max_video_mhz: 1470,
    };
}

/// Shares of time in whole percent, as nvidia-smi prints them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Utilisation {
    /// The multiprocessors.
    pub sm: u8,
    /// The memory.
    pub memory: u8,
    /// All decoding engines.
    pub decoder: u8,
}

impl Utilisation {
    /// The share of `time` that the counters grew by. Every engine counts as a part of the decoders. Memory is busy
    /// for half of the time of inference: no pipeline of a T4 was measured for it, and nothing rests on it.
    fn between(before: &Totals, after: &Totals, time: Duration, engines: u32) -> Self {
        let share = |busy: Duration, of: f64| {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a number between 0 and 100"
            )]
            let percent = (busy.as_secs_f64() / of * 100.0).round().clamp(0.0, 100.0) as u8;
            percent
        };
        let seconds = time.as_secs_f64();
        let inference = after.inference.saturating_sub(before.inference);
        let decode = after.decode.saturating_sub(before.decode);
        Self {
            sm: share(inference, seconds),
            memory: share(inference / 2, seconds),
            decoder: share(decode, seconds * f64::from(engines)),
        }
    }
}

/// How busy the GPU is, by the ledgers of all processes that use it.
#[derive(Debug, Clone)]
pub struct Activity<'a> {
    model: &'a Model,
}

impl<'a> Activity<'a> {
    /// That of one machine.
    pub fn of(model: &'a Model) -> Self {
        Self { model }
    }

    /// Memory in use now, in MiB.
    pub(super) fn memory_mib(&self) -> io::Result<u64> {
        Ok(totals(self.model.state.as_deref())?.memory_mib)
    }

    /// Utilisation over the next moment, for readings that are no series.
    pub(super) fn over_a_moment(&self) -> io::Result<Utilisation> {
        let mut watch = self.watch()?;
        thread::sleep(Duration::from_millis(200));
        watch.lap()
    }

    /// Begins a series.
    pub(super) fn watch(&self) -> io::Result<Watch<'a>> {
        Ok(Watch {
            model: self.model,
            seen: totals(self.model.state.as_deref())?,
            at: Instant::now(),
        })
    }
}

/// A series of readings.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    model: &'a Model,
    seen: Totals,
    at: Instant,
}

impl Watch<'_> {
    /// Utilisation since the reading before.
    pub(super) fn lap(&mut self) -> io::Result<Utilisation> {
        let (now, seen) = (Instant::now(), totals(self.model.state.as_deref())?);
        let time = now - self.at;
        let lap = Utilisation::between(&self.seen, &seen, time, self.model.decode_engines);
        (self.seen, self.at) = (seen, now);
        Ok(lap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_engines_of_which_one_works_are_half_busy() {
        let after = Totals {
            inference: Duration::from_millis(1840),
            decode: Duration::from_secs(2),
            memory_mib: 0,
        };
        let lap = Utilisation::between(&Totals::default(), &after, Duration::from_secs(2), 2);
        let expected = Utilisation {
            sm: 92,
            memory: 46,
            decoder: 50,
        };
        assert_eq!(lap, expected);
    }
}
