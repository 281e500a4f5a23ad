//! One program under nsys.

use std::time::Duration;

use super::Account;
use super::find::{Nsys, find};
use super::flags::{Fallback, Flags, Wish};
use super::words::{complaint, refusal};
use crate::error::Error;
use crate::fps::{FpsLog, FpsReader};
use crate::process::{
    BUNDLE_PLACEHOLDER, CommandSpec, Exit, Flow, Outcome, OutputStream, Recorded, RunError,
};
use crate::progress::Event;
use crate::stages::{CaptureState, Session, TraceReading, read_trace};

/// Where the report and its export lie in the bundle.
pub(super) const REPORT: &str = "trace/e2e.nsys-rep";
const EXPORT: &str = "trace/e2e.sqlite";
/// What a target without an importer leaves in place of a report.
const STREAM: &str = "trace/e2e.qdstrm";

/// What to capture.
#[derive(Debug, Clone)]
pub(in crate::stages) struct CaptureRequest {
    /// The program.
    pub(in crate::stages) program: String,
    /// Its arguments.
    pub(in crate::stages) args: Vec<String>,
    /// When the trace begins and ends.
    pub(in crate::stages) pace: Pace,
    /// The GPU whose metrics are sampled too.
    pub(in crate::stages) gpu_metrics: Option<u32>,
    /// How long it may take beyond its own time: models load, and nsys writes its report.
    pub(in crate::stages) patience: Duration,
}

/// When a trace begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::stages) enum Pace {
    /// With the program, which runs for so many seconds once it is warm.
    Program(u32),
    /// After a delay and for so long, in seconds; the program does not end by itself.
    Window { delay: u32, seconds: u32 },
}

/// What came of it.
#[derive(Debug, Clone)]
pub(in crate::stages) struct Capture {
    /// What the program printed, and how it ended; `None` where it never ran under nsys.
    pub(in crate::stages) ran: Option<(FpsLog, Outcome)>,
    /// The trace.
    pub(in crate::stages) state: CaptureState,
    /// How it came about.
    pub(in crate::stages) account: Account,
}

/// Runs a program under nsys and reads the trace. What nsys refuses, or cannot do here, is replaced by the next best.
///
/// # Errors
///
/// When the run is interrupted, or a replay does not hold a command. A capture that fails is a
/// [`CaptureState::NotCaptured`].
pub(in crate::stages) fn capture(
    session: &mut Session<'_>,
    request: &CaptureRequest,
) -> Result<Capture, Error> {
    let mut account = Account::default();
    if session.files.is_none() {
        let reason = "a trace needs a bundle to lie in".to_owned();
        return Ok(Capture::missed(account, None, reason));
    }
    let nsys = match find(session)? {
        Ok(nsys) => nsys,
        Err(reason) => return Ok(Capture::missed(account, None, reason)),
    };
    account.introduce(&nsys, &session.nsys);
    let mut flags = Flags::fitted(&request.wishes(), nsys.version);
    let mut number = 1;
    loop {
        let spec = request.command(&nsys, &flags, number);
        account.command = Some(spec.to_string());
        session.tell(&Event::Running(spec.to_string()));
        let (log, outcome) = match run(session, &spec) {
            Ok(ran) => ran,
            Err(RunError::Io { program, source }) => {
                let reason = format!("could not run `{program}`: {source}");
                return Ok(Capture::missed(account, None, reason));
            }
            Err(error) => return Err(error.into()),
        };
        match weigh(
            session,
            &nsys,
            &spec,
            &outcome,
            &mut flags,
            request.patience,
        )? {
            Weighed::Trace(trace) => {
                account.judge(&spec, &outcome, &trace, &flags);
                if let Pace::Window { delay, seconds } = request.pace {
                    account.notes.push(format!(
                        "the trace began {delay} s after the start of the program and took {seconds} s"
                    ));
                }
                return Ok(Capture {
                    ran: Some((log, outcome)),
                    state: CaptureState::Captured(trace),
                    account,
                });
            }
            Weighed::Again(fallback) => {
                session.tell(&Event::Fallback(fallback.to_string()));
                account.fallbacks.push(fallback);
            }
            Weighed::Missed(reason) => {
                return Ok(Capture::missed(account, Some((log, outcome)), reason));
            }
        }
        number += 1;
    }
}

/// What an attempt was worth.
enum Weighed {
    Trace(Box<TraceReading>),
    /// Another attempt is made, with this difference.
    Again(Fallback),
    Missed(String),
}

fn weigh(
    session: &Session<'_>,
    nsys: &Nsys,
    spec: &CommandSpec,
    outcome: &Outcome,
    flags: &mut Flags,
    patience: Duration,
) -> Result<Weighed, Error> {
    let left_report = session.file(REPORT).is_some();
    if let Some(refusal) = refusal(outcome).filter(|_| !left_report) {
        return Ok(match flags.replace(&refusal) {
            Some(fallback) => Weighed::Again(fallback),
            None => Weighed::Missed(format!(
                "nsys did not take `{}`: {}",
                refusal.flag, refusal.words
            )),
        });
    }
    // A shipped recording holds the export and not always the report.
    if !left_report && session.runner.recorded(spec) == Recorded::Live {
        let reason = no_report(session, spec, outcome);
        let crashed = matches!(outcome.exit, Exit::Signal(_))
            || matches!(outcome.exit, Exit::Code(code) if code > 128 && code != 128 + SIGTERM);
        let whole_graphs = crashed.then(|| flags.whole_graphs(&reason)).flatten();
        return Ok(whole_graphs.map_or(Weighed::Missed(reason), Weighed::Again));
    }
    let trace = match read_report(session, nsys, spec, outcome, patience)? {
        Ok(trace) => trace,
        Err(reason) => return Ok(Weighed::Missed(reason)),
    };
    if trace.devices.is_empty()
        && let Some(words) = cupti_complaint(&trace)
        && let Some(fallback) = flags.whole_graphs(&words)
    {
        return Ok(Weighed::Again(fallback));
    }
    Ok(Weighed::Trace(Box::new(trace)))
}

/// The signal with which nsys ends a program whose time is up.
const SIGTERM: i32 = 15;

/// The warning or error in which nsys names CUPTI, the library that it traces CUDA with.
fn cupti_complaint(trace: &TraceReading) -> Option<String> {
    let complains = |text: &&String| text.contains("CUPTI") || text.contains("CUDA profiling");
    trace.diagnostics.iter().find(complains).cloned()
}

/// Runs the program under nsys and reads its rate while it runs.
fn run(session: &Session<'_>, spec: &CommandSpec) -> Result<(FpsLog, Outcome), RunError> {
    let mut reader = FpsReader::new();
    let outcome = session.runner.run(spec, &mut |stream, chunk| {
        if stream == OutputStream::Stdout {
            reader.push_bytes(chunk);
        }
        Flow::Continue
    })?;
    Ok((reader.finish(), outcome))
}

/// Exports the report and reads the export; inside, why that could not be done.
pub(super) fn read_report(
    session: &Session<'_>,
    nsys: &Nsys,
    captured: &CommandSpec,
    outcome: &Outcome,
    patience: Duration,
) -> Result<Result<TraceReading, String>, Error> {
    let inside = |file: &str| format!("{BUNDLE_PLACEHOLDER}/{file}");
    let export = CommandSpec::new(
        numbered("profile/export", captured),
        &nsys.program,
        [
            "export",
            "--type=sqlite",
            "--force-overwrite=true",
            "--output",
            &inside(EXPORT),
            &inside(REPORT),
        ],
    )
    .timeout(patience)
    .produces(EXPORT);
    // Where a recording holds no export, there was no report.
    let Some(exported) = session.ask_newly(&export)? else {
        return Ok(Err(no_report(session, captured, outcome)));
    };
    // nsys ends with status 0 in many cases in which it did nothing: the file decides.
    let Some(path) = session.file(EXPORT) else {
        return Ok(Err(format!(
            "nsys left a report, `{REPORT}` in the bundle, and could not export it ({}): {}",
            exported.exit,
            complaint(&exported)
        )));
    };
    Ok(read_trace(&path).map_err(|error| error.to_string()))
}

/// Why there is no report.
fn no_report(session: &Session<'_>, spec: &CommandSpec, outcome: &Outcome) -> String {
    let words = complaint(outcome);
    if outcome.exit == Exit::TimedOut {
        return format!(
            "nsys did not end within {} s and was ended with all that it had started; it left no report: {words}",
            spec.timeout.as_secs()
        );
    }
    if session.file(STREAM).is_some() {
        return format!(
            "nsys has no importer here, only the part for targets: it left `{STREAM}` in the bundle, which the nsys of \
             the same release on another machine imports ({}): {words}",
            outcome.exit
        );
    }
    format!("nsys ended ({}) and left no report: {words}", outcome.exit)
}

/// The purpose of what follows a capture, with the number of the attempt.
fn numbered(purpose: &str, captured: &CommandSpec) -> String {
    let number = captured.purpose.strip_prefix(CAPTURE).unwrap_or_default();
    format!("{purpose}{number}")
}

/// The purpose of the first attempt; a number follows in those behind it.
pub(in crate::stages) const CAPTURE: &str = "profile/capture";

impl CaptureRequest {
    fn wishes(&self) -> Vec<Wish> {
        let mut wishes = vec![
            Wish::Trace,
            Wish::NoSampling,
            Wish::NoContextSwitches,
            Wish::GraphNodes,
        ];
        wishes.extend(self.gpu_metrics.map(Wish::GpuMetrics));
        // nsys would end the program with SIGTERM while the program may still have something to print; what runs on when
        // nsys has ended is ended by dsprof.
        if let Pace::Window { delay, seconds } = self.pace {
            wishes.extend([Wish::Delay(delay), Wish::Duration(seconds), Wish::LetLive]);
        }
        wishes
    }

    fn command(&self, nsys: &Nsys, flags: &Flags, number: usize) -> CommandSpec {
        let stem = REPORT.trim_end_matches(".nsys-rep");
        let mut args = vec!["profile".to_owned()];
        args.extend(flags.arguments());
        args.extend([
            "--force-overwrite=true".to_owned(),
            "--output".to_owned(),
            format!("{BUNDLE_PLACEHOLDER}/{stem}"),
            self.program.clone(),
        ]);
        args.extend(self.args.iter().cloned());
        let purpose = match number {
            1 => CAPTURE.to_owned(),
            number => format!("{CAPTURE}-{number}"),
        };
        let own = match self.pace {
            Pace::Program(seconds) => seconds,
            Pace::Window { delay, seconds } => delay + seconds,
        };
        CommandSpec::new(purpose, &nsys.program, args)
            .timeout(self.patience + Duration::from_secs(u64::from(own)))
            .produces(REPORT)
    }
}

impl Capture {
    fn missed(account: Account, ran: Option<(FpsLog, Outcome)>, reason: String) -> Self {
        Self {
            ran,
            state: CaptureState::NotCaptured(reason),
            account,
        }
    }
}

impl Account {
    /// Says which nsys it is.
    pub(super) fn introduce(&mut self, nsys: &Nsys, named: &str) {
        let release = nsys
            .version
            .map_or_else(|| "of unknown release".to_owned(), |v| v.to_string());
        self.nsys = Some(format!("{} {release}", nsys.program));
        if let Some(because) = &nsys.instead {
            self.fallbacks.push(Fallback {
                asked: format!("`{named}`"),
                ran: format!("`{}`", nsys.program),
                because: because.clone(),
            });
        }
    }

    /// Says what the trace holds other than it was asked for.
    fn judge(
        &mut self,
        spec: &CommandSpec,
        outcome: &Outcome,
        trace: &TraceReading,
        flags: &Flags,
    ) {
        if outcome.exit == Exit::TimedOut {
            self.notes.push(format!(
                "nsys did not end within {} s and was ended with all that it had started; the report that it had \
                 written was read",
                spec.timeout.as_secs()
            ));
        }
        if flags.trace_graph_nodes() && trace.devices.iter().any(|device| device.is_upper_figure) {
            self.fallbacks.push(Fallback {
                asked: "CUDA graphs node by node".to_owned(),
                ran: "CUDA graphs as a whole".to_owned(),
                because: "that is what the trace holds".to_owned(),
            });
        }
        if trace.devices.is_empty()
            && let Some(words) = cupti_complaint(trace)
        {
            self.fallbacks.push(Fallback {
                asked: "a trace of CUDA and NVTX".to_owned(),
                ran: "a trace without CUDA".to_owned(),
                because: words,
            });
        }
        self.engine_build = trace.engine_build(super::engine_build(outcome));
    }
}
