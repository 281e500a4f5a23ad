//! Looks at a load while it runs, and says when it has shown enough or shows nothing any more.

use std::time::{Duration, Instant};

use ds_ceilings::{Batch, Fps};

use crate::fps::{FpsLog, FpsReader, FpsUnit, MIN_STEADY_WINDOWS, relative_half_width};
use crate::process::{Flow, Heard, Outcome, OutputStream};

/// How long a load may take to show something. The clock stands beside the load, so none of this decides how a recording
/// is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// The longest that a load is measured, from its first rate on.
    pub longest: Duration,
    /// How long the first rate may take: models load. A choice of dsprof, twice the 60 s that Triton is known to need.
    pub warm_up: Duration,
    /// The same where the log says that an engine is being built. A choice of dsprof: INT8 and large models take TensorRT
    /// a quarter of an hour.
    pub engine_build: Duration,
    /// How long nothing but zeros, or nothing at all, may follow a rate. A choice of dsprof, four windows of
    /// deepstream-app's usual five seconds; an emitter that is slower is given four windows of its own.
    pub stall: Duration,
}

impl Patience {
    /// The patience with a load that is measured for so many seconds.
    #[must_use]
    pub fn new(seconds: u32) -> Self {
        Self {
            longest: Duration::from_secs(u64::from(seconds)),
            warm_up: Duration::from_secs(120),
            engine_build: Duration::from_secs(30 * 60),
            stall: Duration::from_secs(20),
        }
    }

    /// After this long a load is ended whatever it shows.
    pub(super) fn in_all(&self) -> Duration {
        self.engine_build + self.longest + 2 * self.stall
    }
}

/// A mean is known well enough when half its 95 % interval is below this share of it. A choice of dsprof: a fifth of the
/// 5 % by which a doubling of the batch has to pay.
const TIGHT: f64 = 0.01;
/// But not before this share of the longest time has been measured: clocks and temperatures take seconds to settle.
const AT_LEAST: u32 = 6;
/// How often the windows so far are judged at most. Some loads print hundreds of windows in a second.
const JUDGE_EVERY: Duration = Duration::from_millis(250);
/// An emitter of which one window is known has windows no longer than this, or is waited for no longer.
const LONGEST_WINDOW: Duration = Duration::from_secs(5);

/// What is printed while an engine is built: by nvinfer (DeepStream's nvdsinfer_context_impl.cpp), by TensorRT's builder,
/// and by trtexec and Polygraphy.
const BUILDS_ENGINE: [&str; 5] = [
    "Trying to create engine from model files",
    "Init builder kernel library",
    "Local timing cache in use",
    "Building engine",
    "building engine",
];
/// More than any of these texts is long: as much of one as may stand at the end of a piece of output.
const CARRY: usize = 64;

/// A load that runs.
pub(super) struct LoadWatch {
    patience: Patience,
    frames_a_buffer: Option<Batch>,
    /// Standard output and standard error, which is read where the former holds no rate.
    readers: [FpsReader; 2],
    carried: Vec<u8>,
    builds_engine: bool,
    began: Instant,
    first_rate: Option<Instant>,
    /// The last moment in which frames were seen.
    last_sign: Instant,
    longest_gap: Duration,
    n_windows: usize,
    judged: Option<Instant>,
}

/// What the watch makes of what it heard.
pub(super) struct Seen {
    pub(super) flow: Flow,
    /// A new rate, in frames where they are known.
    pub(super) rate: Option<Fps>,
}

impl LoadWatch {
    pub(super) fn new(patience: Patience, frames_a_buffer: Option<Batch>, now: Instant) -> Self {
        Self {
            patience,
            frames_a_buffer,
            readers: [FpsReader::new(), FpsReader::new()],
            carried: Vec::new(),
            builds_engine: false,
            began: now,
            first_rate: None,
            last_sign: now,
            longest_gap: Duration::ZERO,
            n_windows: 0,
            judged: None,
        }
    }

    /// Takes in what was heard at the moment `now`.
    pub(super) fn heard(&mut self, heard: Heard<'_>, now: Instant) -> Seen {
        let mut rate = None;
        if let Heard::Main(stream, chunk) = heard {
            self.readers[usize::from(stream == OutputStream::Stderr)].push_bytes(chunk);
            self.look_for_a_build(chunk);
            rate = self.new_rate(now);
        }
        Seen {
            flow: self.flow(now),
            rate,
        }
    }

    /// How long the load took to show its first rate; `None` where it showed none.
    pub(super) fn warm_up(&self) -> Option<Duration> {
        self.first_rate.map(|first| first - self.began)
    }

    fn reader(&self) -> &FpsReader {
        let [stdout, stderr] = &self.readers;
        if stdout.n_windows() > 0 {
            stdout
        } else {
            stderr
        }
    }

    /// Before the first rate an engine may be built; afterwards it does not matter any more.
    fn look_for_a_build(&mut self, chunk: &[u8]) {
        if self.builds_engine || self.first_rate.is_some() {
            return;
        }
        self.carried.extend_from_slice(chunk);
        let text = String::from_utf8_lossy(&self.carried);
        self.builds_engine = BUILDS_ENGINE.iter().any(|sign| text.contains(sign));
        self.carried
            .drain(..self.carried.len().saturating_sub(CARRY));
    }

    /// The rate of a window that was not there before.
    fn new_rate(&mut self, now: Instant) -> Option<Fps> {
        let n_windows = self.reader().n_windows();
        if n_windows == self.n_windows {
            return None;
        }
        self.n_windows = n_windows;
        let (rate, unit) = self.reader().latest()?;
        if rate > Fps::ZERO {
            if self.first_rate.is_some() {
                self.longest_gap = self.longest_gap.max(now - self.last_sign);
            }
            self.first_rate.get_or_insert(now);
            self.last_sign = now;
        }
        match (unit, self.frames_a_buffer) {
            (FpsUnit::Buffers, Some(batch)) => rate.scaled(f64::from(batch.get())),
            _ => Some(rate),
        }
    }

    fn flow(&mut self, now: Instant) -> Flow {
        let Some(first_rate) = self.first_rate else {
            let limit = if self.builds_engine {
                self.patience.engine_build
            } else {
                self.patience.warm_up
            };
            return if now - self.began > limit {
                Flow::GiveUp
            } else {
                Flow::Continue
            };
        };
        let silent = now - self.last_sign;
        if silent > self.patience.stall.max(4 * self.longest_gap) {
            return Flow::GiveUp;
        }
        let window = if self.longest_gap.is_zero() {
            LONGEST_WINDOW
        } else {
            self.longest_gap.min(LONGEST_WINDOW)
        };
        let measured = now - first_rate;
        // One window more than asked for, because the first one is partial. A load that has just fallen silent is waited
        // for: it may be a stall.
        if measured > self.patience.longest + window && silent <= 2 * window {
            return Flow::Stop;
        }
        if measured >= self.patience.longest / AT_LEAST && self.is_tight(now) {
            return Flow::Stop;
        }
        Flow::Continue
    }

    fn is_tight(&mut self, now: Instant) -> bool {
        let is_due = self.judged.is_none_or(|judged| now - judged >= JUDGE_EVERY);
        if !is_due || self.n_windows < MIN_STEADY_WINDOWS {
            return false;
        }
        self.judged = Some(now);
        let log = self.reader().so_far();
        let windows = steady_windows(&log);
        windows.len() >= MIN_STEADY_WINDOWS
            && relative_half_width(windows).is_some_and(|width| width < TIGHT)
    }
}

/// The steady windows of a log: of frames where it holds any, else of the first counter of buffers.
pub(super) fn steady_windows(log: &FpsLog) -> &[Fps] {
    let buffers = || {
        log.streams
            .iter()
            .find(|stream| stream.unit == FpsUnit::Buffers)
            .map(|stream| stream.windows.as_slice())
    };
    log.aggregate()
        .map(|segment| segment.windows.as_slice())
        .or_else(buffers)
        .unwrap_or_default()
}

/// Reads what a load printed, as it is kept: a replay finds the same. A program that was ended in the middle of a line
/// leaves the beginning of a number.
pub(super) fn read_log(outcome: &Outcome) -> FpsLog {
    let read = |bytes: &[u8]| {
        let whole = match outcome.exit {
            crate::process::Exit::Code(_) => bytes.len(),
            _ => bytes
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |end| end + 1),
        };
        let mut reader = FpsReader::new();
        reader.push_bytes(&bytes[..whole]);
        reader.finish()
    };
    let log = read(&outcome.stdout);
    if log.emitter.is_some() || outcome.stderr.is_empty() {
        return log;
    }
    // What was printed to standard error counts where standard output held nothing.
    let from_stderr = read(&outcome.stderr);
    if from_stderr.emitter.is_some() {
        from_stderr
    } else {
        log
    }
}
