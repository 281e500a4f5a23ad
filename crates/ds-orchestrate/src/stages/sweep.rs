//! Stage 3: the batch sweep.

use std::time::{Duration, Instant};

use ds_ceilings::{Batch, Fps, StreamCount};
use ds_derive::{Failure, Outcome as PointOutcome, SweepPoint};

use super::sampling::{read_load, sampler};
use super::{GpuLoad, Launch, Session};
use crate::error::Error;
use crate::fps::{FpsLog, FpsReader, FpsStatus, FpsStream, FpsUnit};
use crate::process::{CommandSpec, Exit, Flow, Outcome, OutputStream, RunError};
use crate::progress::Event;
use crate::signals::mean;

/// What to sweep.
#[derive(Debug, Clone)]
pub struct SweepRequest {
    /// The load.
    pub launch: Launch,
    /// The batches, ascending.
    pub batches: Vec<Batch>,
    /// How long the load of each batch is to run once it is warm.
    pub seconds: u32,
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
    /// The point for the plateau.
    pub point: SweepPoint,
    /// What the console log said about itself.
    pub status: Option<FpsStatus>,
    /// The GPU's utilisation beside it, or why there is none.
    pub load: Result<GpuLoad, String>,
    /// The command that ran.
    pub command: String,
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

/// Warm-up that is allowed on top of the measured time: models load and engines are built.
pub(super) const WARM_UP: Duration = Duration::from_secs(120);

/// Runs the load once a batch and reads its rate, with `nvidia-smi dmon` beside it. A batch that fails is noted and the
/// sweep goes on.
///
/// # Errors
///
/// When the load's program does not exist, the run is interrupted, or a replay does not hold the command.
pub fn sweep(session: &mut Session<'_>, request: &SweepRequest) -> Result<SweepReading, Error> {
    let mut batches = Vec::new();
    for (index, batch) in request.batches.iter().enumerate() {
        session.tell(&Event::Batch(*batch, index + 1, request.batches.len()));
        let swept = one_batch(session, request, *batch)?;
        let what = match &swept.point.outcome {
            PointOutcome::Ran { windows } => format!(
                "{:.2} frames/s over {} windows",
                mean(windows).map_or(0.0, Fps::get),
                windows.len()
            ),
            PointOutcome::Failed { why, .. } => why.to_string(),
        };
        session.tell(&Event::BatchDone(*batch, what));
        batches.push(swept);
    }
    Ok(SweepReading { batches })
}

fn one_batch(
    session: &mut Session<'_>,
    request: &SweepRequest,
    batch: Batch,
) -> Result<SweptBatch, Error> {
    let (program, args) = request
        .launch
        .fill(batch.get(), batch.get(), request.seconds);
    let purpose = format!("sweep/b{batch}");
    let load = CommandSpec::new(format!("{purpose}/load"), program, args)
        .timeout(WARM_UP + Duration::from_secs(u64::from(request.seconds)));
    let measured = run_load(session, &load, &format!("{purpose}/dmon"), request.seconds)?;
    let streams = StreamCount::new(batch.get());
    let frames_a_buffer = match request.counted {
        Counted::ByEmitter => None,
        Counted::Batches => Some(batch),
    };
    let outcome = classify(&measured.log, &measured.outcome, frames_a_buffer);
    Ok(SweptBatch {
        point: SweepPoint {
            batch,
            streams,
            outcome,
        },
        status: Some(measured.log.status),
        load: measured.load,
        command: load.to_string(),
    })
}

/// What a load did.
pub(super) struct MeasuredLoad {
    pub(super) log: FpsLog,
    pub(super) outcome: Outcome,
    pub(super) load: Result<GpuLoad, String>,
    /// How long it took to show its first rate; `None` where it showed none.
    pub(super) warm_up: Option<Duration>,
}

/// Runs a load with the sampler beside it. A load that does not end by itself is stopped once it has shown a rate for
/// the asked time.
pub(super) fn run_load(
    session: &mut Session<'_>,
    load: &CommandSpec,
    sampler_purpose: &str,
    seconds: u32,
) -> Result<MeasuredLoad, Error> {
    let side = sampler(sampler_purpose.to_owned(), load);
    let enough = Duration::from_secs(u64::from(seconds));
    let mut reader = FpsReader::new();
    let began = now();
    let mut first_rate: Option<Instant> = None;
    let progress = &mut *session.progress;
    let (outcome, sampled) = session
        .runner
        .run_beside(load, &side, &mut |stream, chunk| {
            if stream == OutputStream::Stdout {
                reader.push_bytes(chunk);
            }
            let Some(rate) = reader.latest_aggregate() else {
                return Flow::Continue;
            };
            progress(&Event::Rate(rate));
            let now = now();
            // One window more than asked for, because the first one is partial.
            if now - *first_rate.get_or_insert(now) > enough + Duration::from_secs(5) {
                Flow::Stop
            } else {
                Flow::Continue
            }
        })?;
    // What was printed to standard error counts too where standard output held nothing.
    let mut log = reader.finish();
    if log.emitter.is_none() && !outcome.stderr.is_empty() {
        let mut other = FpsReader::new();
        other.push_bytes(&outcome.stderr);
        let from_stderr = other.finish();
        if from_stderr.emitter.is_some() {
            log = from_stderr;
        }
    }
    if let Err(error @ RunError::NotRecorded { .. }) = sampled {
        return Err(error.into());
    }
    Ok(MeasuredLoad {
        log,
        outcome,
        load: read_load(sampled, session.gpu_index),
        warm_up: first_rate.map(|first| first - began),
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a rate has been shown is a matter of the wall clock"
)]
fn now() -> Instant {
    Instant::now()
}

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
    let text = outcome.stdout_text() + &outcome.stderr_text();
    let holds = |needles: &[&str]| needles.iter().any(|needle| text.contains(needle));
    let frames = log.aggregate().map(|segment| segment.windows.as_slice());
    let counts_buffers = |stream: &&FpsStream| stream.unit == FpsUnit::Buffers;
    // Frames where the log holds any: what counts buffers counts the same frames elsewhere.
    let buffers = log
        .streams
        .iter()
        .find(counts_buffers)
        .filter(|_| frames.is_none());
    let windows = frames
        .or(buffers.map(|stream| stream.windows.as_slice()))
        .unwrap_or_default();
    let ended_well = matches!(outcome.exit, Exit::Code(0) | Exit::Stopped | Exit::TimedOut);
    let failure = if holds(&OUT_OF_MEMORY) {
        Some(Failure::OutOfMemory)
    } else if holds(&NO_ENGINE) {
        Some(Failure::EngineBuild)
    } else if log.status == FpsStatus::Stall {
        Some(Failure::Stall)
    } else if !ended_well {
        Some(Failure::Crash)
    } else if !windows.is_empty() {
        None
    } else if log.windows_in_log > 1 {
        Some(Failure::ZeroFps)
    } else if outcome.exit == Exit::TimedOut {
        Some(Failure::Timeout)
    } else {
        Some(Failure::NoSteadyWindow)
    };
    match failure {
        Some(why) => PointOutcome::Failed {
            why,
            detail: last_line(outcome),
        },
        None if buffers.is_none() => PointOutcome::Ran {
            windows: windows.to_vec(),
        },
        None => match frames_a_buffer {
            Some(batch) => PointOutcome::Ran {
                windows: windows
                    .iter()
                    .filter_map(|rate| rate.scaled(f64::from(batch.get())))
                    .collect(),
            },
            None => PointOutcome::Failed {
                why: Failure::NoSteadyWindow,
                detail: "the console counts buffers, not frames, and how many frames a buffer holds is not known"
                    .to_owned(),
            },
        },
    }
}

/// The last line that a program printed, standard error first.
pub(super) fn last_line(outcome: &Outcome) -> String {
    [outcome.stderr_text(), outcome.stdout_text()]
        .iter()
        .find_map(|text| {
            text.lines()
                .rev()
                .map(str::trim)
                .find(|line| !line.is_empty())
                .map(str::to_owned)
        })
        .map(|line| line.chars().take(200).collect())
        .unwrap_or_default()
}
