//! A capture out of a session that somebody started with `nsys launch`.
//!
//! No nsys attaches to a program that was not started under it: CUDA is traced by a library that is injected when the
//! program starts (`--attach` and its kin are unknown to 2022.4.2, 2023.4.4, 2025.5.2 and 2025.6.1). What works is
//! `nsys launch --session-new=NAME …` at the start, and `nsys start` and `nsys stop` on that session later. What is traced
//! was settled at the launch.

use std::time::Duration;

use super::Account;
use super::capture::{REPORT, read_report};
use super::find::{Nsys, find};
use super::flags::{Flags, Wish};
use super::words::{complaint, refusal};
use crate::error::Error;
use crate::process::{BUNDLE_PLACEHOLDER, CommandSpec, Outcome, RunError};
use crate::progress::Event;
use crate::stages::{CaptureState, GpuMetrics, Session};

/// What to capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachRequest {
    /// Name of the session.
    pub session: String,
    /// How long the trace is to be, in seconds.
    pub seconds: u32,
    /// Whether metrics of the GPU are sampled beside the trace.
    pub gpu_metrics: GpuMetrics,
    /// How long nsys may take to write and to export its report.
    pub patience: Duration,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct AttachReading {
    /// The trace.
    pub capture: CaptureState,
    /// How it came about.
    pub account: Account,
}

/// How long nsys may take to list sessions and to start a trace.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a trace in a session, waits, stops it, and reads the trace. The program of the session runs on.
///
/// # Errors
///
/// When there is no such session or somebody traces in it already, the run is interrupted, or a replay does not hold a
/// command. A capture that fails is a [`CaptureState::NotCaptured`].
pub fn attach(session: &mut Session<'_>, request: &AttachRequest) -> Result<AttachReading, Error> {
    let mut account = Account::default();
    let missed = |account, reason| {
        Ok(AttachReading {
            capture: CaptureState::NotCaptured(reason),
            account,
        })
    };
    if session.files.is_none() {
        return missed(account, "a trace needs a bundle to lie in".to_owned());
    }
    let nsys = match find(session)? {
        Ok(nsys) => nsys,
        Err(reason) => return missed(account, reason),
    };
    account.introduce(&nsys, &session.nsys);
    // `nsys start` on a session that is not there opens one of that name, with no program in it, and ends with status 0.
    check_session(&listed(session, &nsys, "profile/sessions")?, request)?;

    if let Err(reason) = start(session, &nsys, request, &mut account)? {
        return missed(account, reason);
    }
    let waited = session.runner.run_quietly(&wait(&nsys, request))?;
    if !waited.exit.is_success() {
        account.notes.push(format!(
            "the wait for the trace ended early ({})",
            waited.exit
        ));
    }
    let stop = CommandSpec::new(
        "profile/stop",
        &nsys.program,
        ["stop".to_owned(), format!("--session={}", request.session)],
    )
    .timeout(request.patience)
    .produces(REPORT);
    let stopped = session.runner.run_quietly(&stop)?;
    let is_there = listed(session, &nsys, "profile/sessions-after")?
        .iter()
        .any(|listed| listed.name == request.session);
    if !is_there {
        account.notes.push(format!(
            "session `{}` ended with the trace",
            request.session
        ));
    }
    let capture = match read_report(session, &nsys, &stop, &stopped, request.patience)? {
        Ok(trace) => {
            account.engine_build = trace.engine_build(None);
            CaptureState::Captured(Box::new(trace))
        }
        Err(reason) => CaptureState::NotCaptured(reason),
    };
    Ok(AttachReading { capture, account })
}

/// Starts the trace; inside, why it did not start.
fn start(
    session: &mut Session<'_>,
    nsys: &Nsys,
    request: &AttachRequest,
    account: &mut Account,
) -> Result<Result<(), String>, Error> {
    let mut wishes = vec![Wish::NoSampling, Wish::NoContextSwitches];
    wishes.extend(
        request
            .gpu_metrics
            .of(session.gpu_index)
            .map(Wish::GpuMetrics),
    );
    let mut flags = Flags::fitted(&wishes, nsys.version);
    let stem = REPORT.trim_end_matches(".nsys-rep");
    for number in 1.. {
        let mut args = vec!["start".to_owned(), format!("--session={}", request.session)];
        args.extend(flags.arguments());
        args.extend([
            "--force-overwrite=true".to_owned(),
            "--output".to_owned(),
            format!("{BUNDLE_PLACEHOLDER}/{stem}"),
        ]);
        let purpose = match number {
            1 => "profile/start".to_owned(),
            number => format!("profile/start-{number}"),
        };
        let spec = CommandSpec::new(purpose, &nsys.program, args).timeout(PATIENCE);
        account.command = Some(spec.to_string());
        session.tell(&Event::Running(spec.to_string()));
        let outcome = session.runner.run_quietly(&spec)?;
        if outcome.exit.is_success() {
            return Ok(Ok(()));
        }
        let fallback = refusal(&outcome).and_then(|refusal| flags.replace(&refusal));
        let Some(fallback) = fallback else {
            let reason = format!(
                "nsys did not start a trace in session `{}` ({}): {}",
                request.session,
                outcome.exit,
                complaint(&outcome)
            );
            return Ok(Err(reason));
        };
        session.tell(&Event::Fallback(fallback.to_string()));
        account.fallbacks.push(fallback);
    }
    unreachable!("every round but the last takes a flag away")
}

/// Waits. Whoever ends the wait before its time ends the trace too, so that no session is left tracing for ever; what was
/// traced is thrown away, since a report takes longer to write than there is time.
fn wait(nsys: &Nsys, request: &AttachRequest) -> CommandSpec {
    let script =
        r#"trap '"$1" cancel --session="$2"; exit 143' TERM INT; sleep "$3" & wait $!"#.to_owned();
    let seconds = request.seconds;
    CommandSpec::new(
        "profile/wait",
        "sh",
        [
            "-c".to_owned(),
            script,
            "sh".to_owned(),
            nsys.program.clone(),
            request.session.clone(),
            seconds.to_string(),
        ],
    )
    .timeout(PATIENCE + Duration::from_secs(u64::from(seconds)))
}

/// A row of `nsys sessions list`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Listed {
    state: String,
    name: String,
}

fn listed(session: &Session<'_>, nsys: &Nsys, purpose: &str) -> Result<Vec<Listed>, RunError> {
    let spec = CommandSpec::new(purpose, &nsys.program, ["sessions", "list"]).timeout(PATIENCE);
    Ok(rows(&session.runner.run_quietly(&spec)?))
}

/// The rows: id, time, state, number of launches, name, with a heading above.
fn rows(outcome: &Outcome) -> Vec<Listed> {
    let row = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [id, _time, state @ .., _launches, name] = words.as_slice() else {
            return None;
        };
        let is_row = id.bytes().all(|byte| byte.is_ascii_digit()) && !state.is_empty();
        is_row.then(|| Listed {
            state: state.join(" "),
            name: (*name).to_owned(),
        })
    };
    outcome.stdout_text().lines().filter_map(row).collect()
}

/// A session that can be traced in: a program was launched in it, and nobody traces.
fn check_session(listed: &[Listed], request: &AttachRequest) -> Result<(), Error> {
    let name = &request.session;
    let input = |what| Err(Error::Input { what });
    match listed.iter().find(|listed| listed.name == *name) {
        Some(found) if found.state == "Launched" => Ok(()),
        Some(found) => input(format!(
            "session `{name}` is in state `{}`: a trace can be started where it is `Launched`; stop what runs there \
             with `nsys stop --session={name}`",
            found.state
        )),
        None => {
            let names: Vec<String> = listed.iter().map(|one| format!("`{}`", one.name)).collect();
            let there = if names.is_empty() {
                "nsys lists none".to_owned()
            } else {
                format!("nsys lists {}", names.join(", "))
            };
            input(format!(
                "there is no nsys session `{name}` ({there}): no nsys attaches to a program that runs already; start it \
                 with `nsys launch --session-new={name} --trace=cuda,nvtx COMMAND`"
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{AttachRequest, GpuMetrics, Listed, check_session, rows};
    use crate::process::{Exit, Outcome};

    /// As 2023.4.4 prints it.
    const LIST: &str = "              ID         TIME                       STATE LAUNCH NAME\n         \
                        1020983        00:04                  Collection      1 busy\n         \
                        1020984        00:11                    Launched      1 ready\n";

    fn listed(text: &str) -> Vec<Listed> {
        rows(&Outcome {
            exit: Exit::Code(0),
            stdout: text.into(),
            stderr: Vec::new(),
            dropped: 0,
            duration: None,
            through: Vec::new(),
        })
    }

    fn refused(name: &str) -> Option<String> {
        let request = AttachRequest {
            session: name.to_owned(),
            seconds: 1,
            gpu_metrics: GpuMetrics::LeftOut,
            patience: std::time::Duration::ZERO,
        };
        check_session(&listed(LIST), &request)
            .err()
            .map(|error| error.to_string())
    }

    #[test]
    fn sessions_are_read_by_name_and_state() {
        let found: Vec<(String, String)> = listed(LIST)
            .into_iter()
            .map(|listed| (listed.name, listed.state))
            .collect();
        assert_eq!(
            found,
            [("busy", "Collection"), ("ready", "Launched")]
                .map(|(name, state)| (name.to_owned(), state.to_owned()))
        );
        assert_eq!(listed("ID TIME STATE LAUNCH NAME\n"), []);
    }

    #[test]
    fn a_session_must_wait_for_a_trace() {
        assert_eq!(refused("ready"), None);
        let busy = refused("busy").expect("somebody traces there");
        assert!(
            busy.contains("`Collection`") && busy.contains("nsys stop --session=busy"),
            "{busy}"
        );
        let missing = refused("other").expect("there is none");
        assert!(
            missing.contains("`busy`, `ready`") && missing.contains("--session-new=other"),
            "{missing}"
        );
    }
}
