//! Stage 3: the batch sweep.

use std::time::{Duration, Instant};

use ds_ceilings::{Batch, Bytes, Fps, StreamCount};
use ds_derive::{Failure, Outcome as PointOutcome, SweepPoint};

use super::sampling::{memory_sampler, read_load, read_memory, sampler};
use super::watch::{LoadWatch, Patience, read_log, steady_windows};
use super::{GpuLoad, Launch, Session};
use crate::error::Error;
use crate::fps::{FpsLog, FpsStatus, FpsStream, FpsUnit};
use crate::process::{CommandSpec, Exit, Outcome, RunError};
use crate::progress::Event;
use crate::signals::mean;

/// What to sweep.
#[derive(Debug, Clone)]
pub struct SweepRequest {
    /// The load.
    pub launch: Launch,
    /// The batches, ascending.
    pub batches: Vec<Batch>,
    /// How long the load of each batch is to run at most once it is warm.
    pub seconds: u32,
    /// How often each batch is run.
    pub repeat: u32,
    /// How long a load may show nothing.
    pub patience: Patience,
    /// What counts as one buffer at the counter: a frame, or a batch of frames.
    pub counted: Counted,
}

/// What the rate on the console counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Whatever its emitter counts: frames, or buffers of unknown size.
    ByEmitter,
    /// Batches behind the mux.
    Batches,
}

/// What came of one batch.
#[derive(Debug, Clone, PartialEq)]
pub struct SweptBatch {
    /// The point for the plateau: the windows of all its runs together.
    pub point: SweepPoint,
    /// What the console log of the first run said about itself.
    pub status: Option<FpsStatus>,
    /// The GPU's utilisation beside the first run, or why there is none.
    pub load: Result<GpuLoad, String>,
    /// The most memory that was in use on the GPU during any run, by whatever ran there.
    pub memory: Option<Bytes>,
    /// Output of its runs that was not kept, in bytes.
    pub dropped: u64,
    /// The command that ran.
    pub command: String,
    /// What came of each run.
    pub runs: Vec<PointOutcome>,
}

impl SweptBatch {
    /// How far apart the means of its runs lie, as a share of their mean; `None` for fewer than two that gave a rate.
    pub fn spread(&self) -> Option<f64> {
        let means: Vec<Fps> = self.runs.iter().filter_map(mean_of).collect();
        let (low, high) = (means.iter().min()?, means.iter().max()?);
        let spread = (high.get() - low.get()) / mean(&means)?.get();
        (means.len() > 1 && spread.is_finite()).then_some(spread)
    }

    /// What to know about its runs; `None` where one ran as it should.
    fn note(&self) -> Option<String> {
        let batch = self.point.batch;
        let failed: Vec<String> = self
            .runs
            .iter()
            .filter_map(|run| match run {
                PointOutcome::Ran { .. } => None,
                PointOutcome::Failed { why, .. } => Some(why.to_string()),
            })
            .collect();
        let n_runs = self.runs.len();
        let mut parts = Vec::new();
        if let Some(spread) = self.spread() {
            let percent = 100.0 * spread;
            let n = n_runs - failed.len();
            parts.push(format!(
                "{n} runs, their means within {percent:.1} % of each other"
            ));
        }
        if !failed.is_empty() && failed.len() < n_runs {
            let n = failed.len();
            parts.push(format!(
                "{n} of {n_runs} runs gave no rate: {}",
                failed.join(", ")
            ));
        }
        // A load that was stopped leaves a few bytes unread, of which nothing need be said.
        if self.dropped > 1 << 20 {
            let dropped = Bytes::new(self.dropped);
            parts.push(format!("{dropped:.0} of its output were not kept"));
        }
        (!parts.is_empty()).then(|| format!("batch {batch}: {}", parts.join("; ")))
    }
}

/// The mean rate of a run that gave one.
fn mean_of(outcome: &PointOutcome) -> Option<Fps> {
    match outcome {
        PointOutcome::Ran { windows } => mean(windows),
        PointOutcome::Failed { .. } => None,
    }
}

/// What the sweep measured.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepReading {
    /// One entry a batch, ascending.
    pub batches: Vec<SweptBatch>,
}

impl SweepReading {
    /// The points for the plateau.
    pub fn points(&self) -> Vec<SweepPoint> {
        self.batches
            .iter()
            .map(|batch| batch.point.clone())
            .collect()
    }

    /// What to know about the runs behind the points.
    pub fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = self.batches.iter().filter_map(SweptBatch::note).collect();
        let memory: Vec<String> = self
            .batches
            .iter()
            .filter_map(|swept| Some(format!("{} at batch {}", swept.memory?, swept.point.batch)))
            .collect();
        if !memory.is_empty() {
            notes.push(format!("GPU memory in use at most: {}", memory.join(", ")));
        }
        notes
    }
}

/// The batches of a sweep: powers of two up to `limit`, and `limit` itself when it is none.
///
/// ```
/// use ds_orchestrate::batches_to_try;
///
/// let batches: Vec<u32> = batches_to_try(12).into_iter().map(|b| b.get()).collect();
/// assert_eq!(batches, [1, 2, 4, 8, 12]);
/// ```
pub fn batches_to_try(limit: u32) -> Vec<Batch> {
    let powers =
        std::iter::successors(Some(1_u32), |b| b.checked_mul(2)).take_while(|b| *b <= limit);
    let mut batches: Vec<Batch> = powers.filter_map(Batch::new).collect();
    if !limit.is_power_of_two() {
        batches.extend(Batch::new(limit));
    }
    batches
}

/// Runs the load once a batch, or as often as is asked for, and reads its rate, with `nvidia-smi` beside it. A batch that
/// fails is noted and the sweep goes on.
///
/// # Errors
///
/// When the load's program does not exist, the run is interrupted, or a replay does not hold the command.
pub fn sweep(session: &mut Session<'_>, request: &SweepRequest) -> Result<SweepReading, Error> {
    let mut batches = Vec::new();
    for (index, batch) in request.batches.iter().enumerate() {
        session.tell(&Event::Batch(*batch, index + 1, request.batches.len()));
        let swept = one_batch(session, request, *batch)?;
        session.tell(&Event::BatchDone(*batch, in_words(&swept)));
        batches.push(swept);
    }
    Ok(SweepReading { batches })
}

fn in_words(swept: &SweptBatch) -> String {
    let what = match &swept.point.outcome {
        PointOutcome::Ran { windows } => format!(
            "{:.2} frames/s over {} windows",
            mean(windows).map_or(0.0, Fps::get),
            windows.len()
        ),
        PointOutcome::Failed { why, .. } => why.to_string(),
    };
    match swept.status {
        Some(FpsStatus::Paced { rate }) => {
            format!("{what}, paced at {rate} by source, sink or display")
        }
        _ => what,
    }
}

/// Runs one batch as often as is asked for and puts the windows together.
fn one_batch(
    session: &mut Session<'_>,
    request: &SweepRequest,
    batch: Batch,
) -> Result<SweptBatch, Error> {
    let (program, args) = request
        .launch
        .fill(batch.get(), batch.get(), request.seconds);
    let frames_a_buffer = match request.counted {
        Counted::ByEmitter => None,
        Counted::Batches => Some(batch),
    };
    let mut measured = Vec::new();
    for run in 1..=request.repeat.max(1) {
        let name = |what: &str| match run {
            1 => format!("sweep/b{batch}/{what}"),
            _ => format!("sweep/b{batch}/{what}-{run}"),
        };
        let load = CommandSpec::new(name("load"), &program, args.clone());
        measured.push(run_patiently(
            session,
            load,
            &name("dmon"),
            request.patience,
            frames_a_buffer,
        )?);
    }
    let runs: Vec<PointOutcome> = measured
        .iter()
        .map(|measured| classify(&measured.log, &measured.outcome, frames_a_buffer))
        .collect();
    let memory = measured.iter().filter_map(|measured| measured.memory).max();
    let dropped = measured.iter().map(|m| m.outcome.dropped).sum();
    let first = measured.swap_remove(0);
    Ok(SweptBatch {
        point: SweepPoint {
            batch,
            streams: StreamCount::new(batch.get()),
            outcome: pooled(&runs),
        },
        status: Some(first.log.status),
        load: first.load,
        memory,
        dropped,
        command: CommandSpec::new("", program, args).to_string(),
        runs,
    })
}

/// The windows of all runs that gave a rate; where none did, what came of the first.
fn pooled(runs: &[PointOutcome]) -> PointOutcome {
    let windows: Vec<Fps> = runs
        .iter()
        .filter_map(|run| match run {
            PointOutcome::Ran { windows } => Some(windows),
            PointOutcome::Failed { .. } => None,
        })
        .flatten()
        .copied()
        .collect();
    let failed = |run: &&PointOutcome| matches!(run, PointOutcome::Failed { .. });
    match runs.iter().find(failed) {
        Some(failure) if windows.is_empty() => failure.clone(),
        _ => PointOutcome::Ran { windows },
    }
}

/// What a load did.
pub(super) struct MeasuredLoad {
    pub(super) log: FpsLog,
    pub(super) outcome: Outcome,
    pub(super) load: Result<GpuLoad, String>,
    /// How long it took to show its first rate; `None` where it showed none.
    pub(super) warm_up: Option<Duration>,
    pub(super) memory: Option<Bytes>,
}

/// Runs a load with the samplers beside it, for so many seconds of shown rates at most.
pub(super) fn run_load(
    session: &mut Session<'_>,
    load: &CommandSpec,
    sampler_purpose: &str,
    seconds: u32,
) -> Result<MeasuredLoad, Error> {
    let patience = Patience::new(seconds);
    run_patiently(session, load.clone(), sampler_purpose, patience, None)
}

/// Runs a load with the samplers beside it. It is stopped once its rate is known well enough or was shown for long enough,
/// and given up when it shows nothing.
fn run_patiently(
    session: &mut Session<'_>,
    load: CommandSpec,
    sampler_purpose: &str,
    patience: Patience,
    frames_a_buffer: Option<Batch>,
) -> Result<MeasuredLoad, Error> {
    let load = load.timeout(patience.in_all()).line_buffered();
    let memory_purpose = sampler_purpose.replace("dmon", "memory");
    let sides = [
        sampler(sampler_purpose.to_owned(), &load),
        memory_sampler(memory_purpose, &load),
    ];
    let mut watch = LoadWatch::new(patience, frames_a_buffer, now());
    let seconds = patience.longest.as_secs();
    session.tell(&Event::Load(u32::try_from(seconds).unwrap_or(u32::MAX)));
    let progress = &mut *session.progress;
    let (outcome, sampled) = session.runner.run_beside(&load, &sides, &mut |heard| {
        let seen = watch.heard(heard, now());
        if let Some(rate) = seen.rate {
            progress(&Event::Rate(rate));
        }
        seen.flow
    })?;
    let mut sampled = sampled.into_iter();
    let mut next = || sampled.next().expect("a runner answers for each command");
    let (utilisation, memory) = (next(), next());
    if let Err(error @ RunError::NotRecorded { .. }) = utilisation {
        return Err(error.into());
    }
    Ok(MeasuredLoad {
        log: read_log(&outcome),
        outcome,
        load: read_load(utilisation, session.gpu_index),
        memory: read_memory(&memory, session.gpu_index),
        warm_up: watch.warm_up(),
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a rate has been shown is a matter of the wall clock"
)]
fn now() -> Instant {
    Instant::now()
}

/// Warm-up that is allowed on top of the measured time where nobody watches a program.
pub(super) const WARM_UP: Duration = Duration::from_secs(120);

/// Texts by which CUDA, TensorRT and PyTorch say that memory ran out.
const OUT_OF_MEMORY: [&str; 5] = [
    "out of memory",
    "OutOfMemory",
    "CUDA_ERROR_OUT_OF_MEMORY",
    "cudaErrorMemoryAllocation",
    "Cannot allocate memory",
];
/// Texts by which nvinfer says that it has no engine (DeepStream 9.1, nvdsinfer_context_impl.cpp).
const NO_ENGINE: [&str; 3] = [
    "build engine file failed",
    "build backend context failed",
    "no model file matched",
];

/// What came of a load: its steady windows, or why there is no rate. A counter of buffers gives a rate of frames only
/// where it is known how many frames a buffer holds.
pub(super) fn classify(
    log: &FpsLog,
    outcome: &Outcome,
    frames_a_buffer: Option<Batch>,
) -> PointOutcome {
    let windows = steady_windows(log);
    if let Some(why) = failure(log, outcome, windows) {
        let detail = detail(why, outcome);
        return PointOutcome::Failed { why, detail };
    }
    // Frames where the log holds any: what counts buffers counts the same frames elsewhere.
    let counts_buffers = log.aggregate().is_none()
        && log
            .streams
            .iter()
            .any(|stream| stream.unit == FpsUnit::Buffers);
    match frames_a_buffer {
        _ if !counts_buffers => PointOutcome::Ran {
            windows: windows.to_vec(),
        },
        Some(batch) => PointOutcome::Ran {
            windows: windows
                .iter()
                .filter_map(|rate| rate.scaled(f64::from(batch.get())))
                .collect(),
        },
        None => PointOutcome::Failed {
            why: Failure::NoSteadyWindow,
            detail:
                "the console counts buffers, not frames, and how many frames a buffer holds is not known"
                    .to_owned(),
        },
    }
}

/// Why a load gave no rate; `None` where it gave one. A text about memory or engines counts only where something went
/// wrong: TensorRT prints such texts of tactics that it then does without.
fn failure(log: &FpsLog, outcome: &Outcome, windows: &[Fps]) -> Option<Failure> {
    let showed_frames = || {
        let last = |stream: &FpsStream| stream.last_sample.is_some_and(|rate| rate > Fps::ZERO);
        !windows.is_empty() || log.streams.iter().any(last)
    };
    // One that was given up fell silent, or to zero, where it had shown frames.
    let fell_silent = outcome.exit == Exit::GivenUp && !log.saw_end_of_stream && showed_frames();
    let stalled = fell_silent || log.status == FpsStatus::Stall;
    let ended_well = matches!(
        outcome.exit,
        Exit::Code(0) | Exit::Stopped | Exit::TimedOut | Exit::GivenUp
    );
    if ended_well && !stalled && !windows.is_empty() && log.status != FpsStatus::Fault {
        return None;
    }
    Some(if holds(outcome, &OUT_OF_MEMORY) {
        Failure::OutOfMemory
    } else if holds(outcome, &NO_ENGINE) {
        Failure::EngineBuild
    } else if stalled {
        Failure::Stall
    } else if !ended_well {
        Failure::Crash
    } else if !windows.is_empty() {
        return None;
    } else if log.windows_in_log > 1 {
        Failure::ZeroFps
    } else {
        match outcome.exit {
            Exit::GivenUp => Failure::Silent,
            Exit::TimedOut => Failure::Timeout,
            _ => Failure::NoSteadyWindow,
        }
    })
}

fn holds(outcome: &Outcome, needles: &[&str]) -> bool {
    [&outcome.stdout, &outcome.stderr].into_iter().any(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        needles.iter().any(|needle| text.contains(needle))
    })
}

/// What the program said last, behind how it ended where that is the news.
fn detail(why: Failure, outcome: &Outcome) -> String {
    let said = last_line(outcome);
    let ended = match (why, outcome.exit) {
        // The kernel says so to nobody but its own log.
        (Failure::Crash, Exit::Signal(9)) => {
            "signal 9, which the kernel sends where memory has run out".to_owned()
        }
        (Failure::Crash, exit @ Exit::Signal(_)) => exit.to_string(),
        (Failure::Silent | Failure::Timeout, exit) => match outcome.duration {
            Some(time) => format!("{exit} after {} s", time.as_secs()),
            None => return said,
        },
        _ => return said,
    };
    if said.is_empty() {
        ended
    } else {
        format!("{ended}; it said last: {said}")
    }
}

/// The last line that a program printed, standard error first.
pub(super) fn last_line(outcome: &Outcome) -> String {
    [&outcome.stderr, &outcome.stdout]
        .into_iter()
        .find_map(|bytes| {
            let text = String::from_utf8_lossy(bytes);
            text.lines()
                .rev()
                .map(str::trim)
                .find(|line| !line.is_empty())
                .map(|line| line.chars().take(200).collect())
        })
        .unwrap_or_default()
}
