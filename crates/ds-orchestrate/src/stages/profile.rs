//! Stage 5: the whole pipeline, once without a profiler and once under Nsight Systems.

use std::time::Duration;

use ds_ceilings::StreamCount;
use ds_derive::Outcome as PointOutcome;

use super::sweep::{WARM_UP, classify, last_line, run_load};
use super::{GpuLoad, Launch, Session, TraceReading, read_trace};
use crate::error::Error;
use crate::fps::FpsStatus;
use crate::process::{BUNDLE_PLACEHOLDER, CommandSpec, Exit, RunError};
use crate::progress::Event;

/// What to profile.
#[derive(Debug, Clone)]
pub struct ProfileRequest {
    /// The whole pipeline.
    pub launch: Launch,
    /// The batch that it is to run with.
    pub batch: u32,
    /// Its streams.
    pub streams: u32,
    /// How long the clean run is to measure.
    pub seconds: u32,
    /// How long the profiled run is to run; shorter, because traces grow.
    pub trace_seconds: u32,
}

/// What came of the capture.
#[derive(Debug, Clone, PartialEq)]
pub enum CaptureState {
    /// There is a trace.
    Captured(Box<TraceReading>),
    /// There is none, for this reason.
    NotCaptured(String),
}

/// What the stage measured.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileReading {
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
    let (program, args) = request
        .launch
        .fill(request.batch, request.streams, request.seconds);
    let spec = CommandSpec::new("profile/clean", program, args)
        .timeout(WARM_UP + Duration::from_secs(u64::from(request.seconds)));
    session.tell(&Event::Running(spec.to_string()));
    let clean = run_load(session, &spec, "profile/dmon", request.seconds)?;
    let streams = clean
        .log
        .aggregate()
        .and_then(|segment| u32::try_from(segment.n_streams).ok());
    let (profiled, capture) = match capture(session, request) {
        Ok((profiled, trace)) => (Some(profiled), CaptureState::Captured(Box::new(trace))),
        Err(Missed::Reason(reason)) => {
            session.tell(&Event::Fallback(format!("no trace: {reason}")));
            (None, CaptureState::NotCaptured(reason))
        }
        Err(Missed::Stop(error)) => return Err(error),
    };
    Ok(ProfileReading {
        clean: classify(&clean.log, &clean.outcome, None),
        clean_status: clean.log.status,
        streams: streams.map(StreamCount::new),
        load: clean.load,
        command: spec.to_string(),
        profiled,
        capture,
    })
}

/// Why there is no trace.
enum Missed {
    /// The run goes on without one.
    Reason(String),
    /// The run ends.
    Stop(Error),
}

impl From<RunError> for Missed {
    fn from(error: RunError) -> Self {
        match error {
            RunError::NotFound { program } => Self::Reason(format!("`{program}` was not found")),
            RunError::Io { .. } => Self::Reason(error.to_string()),
            error => Self::Stop(error.into()),
        }
    }
}

/// Where the report and its export lie in the bundle.
const REPORT: &str = "trace/e2e.nsys-rep";
const EXPORT: &str = "trace/e2e.sqlite";

fn capture(
    session: &mut Session<'_>,
    request: &ProfileRequest,
) -> Result<(PointOutcome, TraceReading), Missed> {
    let nsys = session.nsys.clone();
    if session.files.is_none() {
        return Err(Missed::Reason(
            "a trace needs a bundle to lie in".to_owned(),
        ));
    }
    let version = CommandSpec::new("profile/nsys-version", &nsys, ["--version"]);
    session.runner.run_quietly(&version)?;

    let spec = capture_command(&nsys, request);
    session.tell(&Event::Running(spec.to_string()));
    let mut reader = crate::fps::FpsReader::new();
    let outcome = session.runner.run(&spec, &mut |stream, chunk| {
        if stream == crate::process::OutputStream::Stdout {
            reader.push_bytes(chunk);
        }
        crate::process::Flow::Continue
    })?;
    let profiled = classify(&reader.finish(), &outcome, None);

    let inside = |file: &str| format!("{BUNDLE_PLACEHOLDER}/{file}");
    let export = CommandSpec::new(
        "profile/export",
        &nsys,
        [
            "export",
            "--type=sqlite",
            "--force-overwrite=true",
            "--output",
            &inside(EXPORT),
            &inside(REPORT),
        ],
    )
    .timeout(Duration::from_secs(300))
    .produces(EXPORT);
    let exported = session.runner.run_quietly(&export)?;
    // nsys ends with status 0 in many cases in which it did nothing: the file decides.
    let Some(path) = session.file(EXPORT) else {
        let (what, outcome) = if exported.exit == Exit::Code(0) {
            ("profile", &outcome)
        } else {
            ("export", &exported)
        };
        return Err(Missed::Reason(format!(
            "nsys {what} left no trace ({}): {}",
            outcome.exit,
            last_line(outcome)
        )));
    };
    read_trace(&path)
        .map(|trace| (profiled, trace))
        .map_err(|error| Missed::Reason(error.to_string()))
}

/// The capture: CUDA and NVTX, no CPU sampling (kernel times need none, and it makes traces large), CUDA graphs node by
/// node so that kernels inside them have names. A program that is told how long to run ends by itself; one that is not is
/// ended by nsys.
fn capture_command(nsys: &str, request: &ProfileRequest) -> CommandSpec {
    let seconds = request.trace_seconds;
    let mut args: Vec<String> = [
        "profile",
        "--trace=cuda,nvtx",
        "--sample=none",
        "--cpuctxsw=none",
        "--cuda-graph-trace=node",
        "--force-overwrite=true",
    ]
    .map(str::to_owned)
    .to_vec();
    if !request.launch.takes_seconds() {
        args.push(format!("--delay={WARM_UP_BEFORE_TRACE}"));
        args.push(format!("--duration={seconds}"));
    }
    let (program, program_args) = request.launch.fill(request.batch, request.streams, seconds);
    args.extend([
        "--output".to_owned(),
        format!(
            "{BUNDLE_PLACEHOLDER}/{}",
            REPORT.trim_end_matches(".nsys-rep")
        ),
    ]);
    args.push(program);
    args.extend(program_args);
    CommandSpec::new("profile/capture", nsys, args)
        .timeout(Duration::from_secs(300 + u64::from(seconds)))
        .produces(REPORT)
}

/// Seconds before the trace begins where the program itself does not know how long it runs: models have loaded by then.
const WARM_UP_BEFORE_TRACE: u32 = 15;
