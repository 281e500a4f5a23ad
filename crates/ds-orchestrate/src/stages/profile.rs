//! Stage 5: the whole pipeline, once without a profiler and once under Nsight Systems.

use std::fmt;
use std::time::Duration;

use ds_ceilings::{Batch, StreamCount};
use ds_derive::Outcome as PointOutcome;

use super::nsys::{Account, CAPTURE, CaptureRequest, Pace, capture, engine_build};
use super::sweep::{WARM_UP, classify, run_load};
use super::{Counted, GpuLoad, Launch, Session, TraceReading};
use crate::error::Error;
use crate::fps::FpsStatus;
use crate::process::CommandSpec;
use crate::progress::Event;

/// What is run as the whole pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// A command that the user gave in its place.
    GivenLoad,
    /// The pipeline as its files are.
    AsItIs,
    /// The pipeline with the values of the plan for measuring, written into the bundle.
    BenchmarkVariant,
}

impl Subject {
    /// Whether the elements of the pipeline ran.
    pub fn is_the_pipeline(self) -> bool {
        self != Self::GivenLoad
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::GivenLoad => "the given command, in place of the pipeline",
            Self::AsItIs => "the pipeline as its files are",
            Self::BenchmarkVariant => {
                "the pipeline with the plan's values for measuring, from copies in the bundle"
            }
        })
    }
}

/// What to profile.
#[derive(Debug, Clone)]
pub struct ProfileRequest {
    /// The whole pipeline.
    pub launch: Launch,
    /// What that is.
    pub subject: Subject,
    /// What counts as one buffer at the counter.
    pub counted: Counted,
    /// The batch that it is to run with.
    pub batch: u32,
    /// Its streams.
    pub streams: u32,
    /// How long the clean run is to measure.
    pub seconds: u32,
    /// How long the profiled run is to run; shorter, because traces grow.
    pub trace_seconds: u32,
    /// Whether metrics of the GPU are sampled beside the trace.
    pub gpu_metrics: GpuMetrics,
    /// How long nsys may take beyond that: models load, and nsys writes its report.
    pub patience: Duration,
}

/// Whether metrics of the GPU are sampled beside a trace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GpuMetrics {
    /// They are not: reading counters takes a permission that few have.
    #[default]
    LeftOut,
    /// They are, where the machine permits it.
    Sampled,
}

impl GpuMetrics {
    /// The GPU whose metrics are sampled.
    pub(super) fn of(self, gpu: u32) -> Option<u32> {
        (self == Self::Sampled).then_some(gpu)
    }
}

/// What came of the capture.
#[derive(Debug, Clone, PartialEq)]
pub enum CaptureState {
    /// There is a trace.
    Captured(Box<TraceReading>),
    /// There is none, for this reason.
    NotCaptured(String),
}

impl CaptureState {
    /// The trace, where there is one.
    pub fn trace(&self) -> Option<&TraceReading> {
        match self {
            Self::Captured(trace) => Some(trace),
            Self::NotCaptured(_) => None,
        }
    }

    /// Why there is none, where there is none.
    pub fn missing(&self) -> Option<&str> {
        match self {
            Self::Captured(_) => None,
            Self::NotCaptured(reason) => Some(reason),
        }
    }
}

/// What the stage measured.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileReading {
    /// What ran.
    pub subject: Subject,
    /// Rate without a profiler.
    pub clean: PointOutcome,
    /// What the console log of the clean run said about itself.
    pub clean_status: FpsStatus,
    /// Streams that the console log showed; `None` when it names none.
    pub streams: Option<StreamCount>,
    /// Utilisation beside the clean run.
    pub load: Result<GpuLoad, String>,
    /// The command of the clean run.
    pub command: String,
    /// Rate of the profiled run; the difference to the clean one is what the profiler costs.
    pub profiled: Option<PointOutcome>,
    /// The trace.
    pub capture: CaptureState,
    /// How it came about.
    pub account: Account,
}

/// Runs the pipeline clean, then under nsys, and reads the trace.
///
/// # Errors
///
/// When the pipeline's program does not exist, the run is interrupted, or a replay does not hold a command. A capture
/// that fails is a [`CaptureState::NotCaptured`].
pub fn profile(
    session: &mut Session<'_>,
    request: &ProfileRequest,
) -> Result<ProfileReading, Error> {
    let spec = request.clean_command();
    session.tell(&Event::Running(spec.to_string()));
    let clean = run_load(session, &spec, "profile/dmon", request.seconds)?;
    let streams = clean
        .log
        .aggregate()
        .and_then(|segment| u32::try_from(segment.n_streams).ok());
    let captured = capture(session, &capture_request(session, request, clean.warm_up))?;
    let mut account = captured.account;
    if let CaptureState::NotCaptured(reason) = &captured.state {
        session.tell(&Event::Fallback(format!("no trace: {reason}")));
    }
    // Where the program does not end by itself, most of what it printed was before the trace.
    let profiled = captured
        .ran
        .filter(|_| {
            matches!(captured.state, CaptureState::Captured(_)) && request.launch.takes_seconds()
        })
        .map(|(log, outcome)| classify(&log, &outcome, request.frames_a_buffer()));
    if let Some(line) = engine_build(&clean.outcome) {
        account.notes.push(format!(
            "an engine was built while the run without a profiler started; the traced run found it: {line}"
        ));
    }
    Ok(ProfileReading {
        subject: request.subject,
        clean: classify(&clean.log, &clean.outcome, request.frames_a_buffer()),
        clean_status: clean.log.status,
        streams: streams.map(StreamCount::new),
        load: clean.load,
        command: spec.to_string(),
        profiled,
        capture: captured.state,
        account,
    })
}

impl ProfileRequest {
    /// The command of the run without a profiler.
    pub(crate) fn clean_command(&self) -> CommandSpec {
        let (program, args) = self.launch.fill(self.batch, self.streams, self.seconds);
        CommandSpec::new("profile/clean", program, args)
            .timeout(WARM_UP + Duration::from_secs(u64::from(self.seconds)))
    }

    /// How many frames a buffer holds at the counter, where that is known.
    fn frames_a_buffer(&self) -> Option<Batch> {
        match self.counted {
            Counted::ByEmitter => None,
            Counted::Batches => Batch::new(self.batch),
        }
    }
}

/// A program that is told how long to run is traced from end to end; one that is not is traced once it is warm.
fn capture_request(
    session: &Session<'_>,
    request: &ProfileRequest,
    warm_up: Option<Duration>,
) -> CaptureRequest {
    let seconds = request.trace_seconds;
    let (program, args) = request.launch.fill(request.batch, request.streams, seconds);
    let pace = if request.launch.takes_seconds() {
        Pace::Program(seconds)
    } else {
        let delay = delay(session, warm_up);
        Pace::Window { delay, seconds }
    };
    CaptureRequest {
        program,
        args,
        pace,
        gpu_metrics: request.gpu_metrics.of(session.gpu_index),
        patience: request.patience,
    }
}

/// Seconds before the trace begins where the program itself does not know how long it runs. The run without a profiler
/// showed its first rate after `warm_up`; under nsys a program starts more slowly, and a second too many costs a second,
/// one too few the trace: half as long again, and one more. A recording tells how long it was when it was made.
fn delay(session: &Session<'_>, warm_up: Option<Duration>) -> u32 {
    let recorded = session.runner.recorded_argv(CAPTURE).and_then(|argv| {
        argv.iter()
            .find_map(|argument| argument.strip_prefix("--delay=")?.parse().ok())
    });
    let measured = || {
        let seconds = warm_up?.mul_f64(1.5).as_secs() + 2;
        u32::try_from(seconds).ok()
    };
    recorded.or_else(measured).unwrap_or(UNKNOWN_WARM_UP)
}

/// The delay in seconds where no rate was seen. A choice of dsprof: models of usual size have loaded by then.
const UNKNOWN_WARM_UP: u32 = 15;
