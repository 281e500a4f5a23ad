//! nsys as it refuses, hangs, crashes and says nothing, and what takes its place.

use std::cell::Cell;
use std::fs;
use std::path::Path;

use ds_orchestrate::process::{CommandSpec, Exit, Outcome, RunError};
use ds_orchestrate::{
    AttachReading, AttachRequest, CaptureState, Error, GpuMetrics, Launch, ProfileReading,
    ProfileRequest, attach, profile,
};

use super::profile::request;
use super::{dmon, steady, with_session};
use crate::support::{Fake, folder, not_found, outcome, put, testdata};

const V2025: &str = "NVIDIA Nsight Systems version 2025.3.2.474-253236389321v0\n";
const V2023: &str = "NVIDIA Nsight Systems version 2023.4.4.54-234433681190v0\n";

fn said(exit: Exit, stdout: &str, stderr: &str) -> Result<Outcome, RunError> {
    Ok(outcome(exit, stdout, stderr))
}

fn is(spec: &CommandSpec, subcommand: &str) -> bool {
    spec.args.first().is_some_and(|first| first == subcommand)
}

fn has(spec: &CommandSpec, argument: &str) -> bool {
    spec.args.iter().any(|given| given == argument)
}

/// Profiles with an nsys that answers, and gives the commands that were asked for with it.
fn profiled(
    root: &Path,
    request: &ProfileRequest,
    nsys: impl Fn(&CommandSpec) -> Result<Outcome, RunError>,
) -> (ProfileReading, Vec<CommandSpec>) {
    let fake = Fake::new(|spec| match spec.program.as_str() {
        "nvidia-smi" => said(Exit::Stopped, &dmon(), ""),
        "load" => said(Exit::Code(0), &steady(50.0), ""),
        _ => nsys(spec),
    });
    let (reading, _) = with_session(&fake, Some(root), |session| profile(session, request));
    (reading.expect("the pipeline runs"), fake.asked())
}

/// Leaves a report, as `nsys profile` and `nsys stop` do.
fn leave_report(root: &Path) {
    fs::create_dir_all(root.join("trace")).expect("a folder");
    put(&root.join("trace/e2e.nsys-rep"), "a report");
}

/// Leaves an export with CUDA graphs traced as a whole.
fn leave_export(root: &Path) {
    let bytes =
        fs::read(testdata("nsys/captures/decode_graph/trace.sqlite.gz")).expect("it is shipped");
    put(&root.join("trace/e2e.sqlite.gz"), bytes);
}

fn fallbacks(reading: &ProfileReading) -> Vec<String> {
    reading
        .account
        .fallbacks
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn whole_graphs_where_nodes_are_refused() {
    let folder = folder();
    let root = folder.path();
    let (reading, asked) = profiled(root, &request(), |spec| {
        if is(spec, "profile") && has(spec, "--cuda-graph-trace=node") {
            return said(
                Exit::Code(1),
                "",
                "Illegal --cuda-graph-trace argument: node\n\nusage: nsys profile\n",
            );
        }
        if is(spec, "profile") {
            leave_report(root);
        }
        if is(spec, "export") {
            leave_export(root);
        }
        said(Exit::Code(0), V2025, "")
    });
    assert_eq!(
        fallbacks(&reading),
        [
            "asked for `--cuda-graph-trace=node`, ran `--cuda-graph-trace=graph` (kernels inside CUDA graphs have no names, \
             and busy time is an upper figure), because Illegal --cuda-graph-trace argument: node"
        ]
    );
    assert!(reading.capture.trace().is_some());
    // Each attempt has a purpose of its own, so that a replay tells them apart.
    let purposes: Vec<&str> = asked
        .iter()
        .map(|spec| spec.purpose.as_str())
        .filter(|purpose| purpose.starts_with("profile/capture") || purpose.ends_with("export-2"))
        .collect();
    assert_eq!(
        purposes,
        ["profile/capture", "profile/capture-2", "profile/export-2"]
    );
    let command = reading.account.command.expect("a command");
    assert!(command.contains("--cuda-graph-trace=graph"), "{command}");
    assert_eq!(reading.account.nsys.as_deref(), Some("nsys 2025.3.2"));
}

#[test]
fn what_the_trace_holds_is_said_where_it_is_not_what_was_asked_for() {
    let folder = folder();
    let root = folder.path();
    let (reading, _) = profiled(root, &request(), |spec| {
        if is(spec, "profile") {
            leave_report(root);
        }
        if is(spec, "export") {
            leave_export(root);
        }
        said(Exit::Code(0), V2025, "")
    });
    assert_eq!(
        fallbacks(&reading),
        [
            "asked for CUDA graphs node by node, ran CUDA graphs as a whole, because that is what the trace holds"
        ]
    );
}

#[test]
fn metrics_that_may_not_be_read_are_left_out() {
    let folder = folder();
    let root = folder.path();
    let mut request = request();
    request.gpu_metrics = GpuMetrics::Sampled;
    let (reading, asked) = profiled(root, &request, |spec| {
        if is(spec, "profile") && has(spec, "--gpu-metrics-devices=0") {
            return said(
                Exit::Code(1),
                "Illegal --gpu-metrics-devices argument: 0.\nInsufficient privilege, see \
                 https://developer.nvidia.com/ERR_NVGPUCTRPERM\n",
                "",
            );
        }
        if is(spec, "profile") {
            leave_report(root);
        }
        if is(spec, "export") {
            leave_export(root);
        }
        said(Exit::Code(0), V2025, "")
    });
    let first = &fallbacks(&reading)[0];
    assert!(
        first.starts_with("asked for `--gpu-metrics-devices=0`, ran without it")
            && first.contains("Insufficient privilege"),
        "{first}"
    );
    let captures = asked.iter().filter(|spec| is(spec, "profile")).count();
    assert_eq!(captures, 2);
}

#[test]
fn a_crash_under_nsys_is_tried_again_with_whole_graphs() {
    let folder = folder();
    let root = folder.path();
    let (reading, _) = profiled(root, &request(), |spec| {
        if is(spec, "profile") && has(spec, "--cuda-graph-trace=node") {
            return said(Exit::Code(139), "", "Segmentation fault in cuGraphLaunch\n");
        }
        if is(spec, "profile") {
            leave_report(root);
        }
        if is(spec, "export") {
            leave_export(root);
        }
        said(Exit::Code(0), V2025, "")
    });
    assert!(reading.capture.trace().is_some());
    assert!(
        fallbacks(&reading)[0].contains("cuGraphLaunch"),
        "{:?}",
        reading.account
    );
}

#[test]
fn an_nsys_that_hangs_is_said_to_have_been_ended() {
    let folder = folder();
    let (reading, asked) = profiled(folder.path(), &request(), |spec| {
        if is(spec, "profile") {
            said(Exit::TimedOut, "", "")
        } else {
            said(Exit::Code(0), V2023, "")
        }
    });
    let reason = reading.capture.missing().expect("no trace");
    assert!(
        reason.contains("did not end within 70 s") && reason.contains("left no report"),
        "{reason}"
    );
    assert!(!asked.iter().any(|spec| is(spec, "export")));
}

#[test]
fn a_report_that_a_hanging_nsys_had_written_is_read() {
    let folder = folder();
    let root = folder.path();
    let (reading, _) = profiled(root, &request(), |spec| {
        if is(spec, "profile") {
            leave_report(root);
            return said(Exit::TimedOut, "", "");
        }
        if is(spec, "export") {
            leave_export(root);
        }
        said(Exit::Code(0), V2023, "")
    });
    assert!(reading.capture.trace().is_some());
    assert!(reading.account.notes[0].contains("the report that it had written was read"));
}

#[test]
fn exit_zero_without_a_report_is_no_capture() {
    let folder = folder();
    let (reading, asked) = profiled(folder.path(), &request(), |spec| {
        let text = if is(spec, "profile") {
            "Generated:\n"
        } else {
            V2025
        };
        said(Exit::Code(0), text, "")
    });
    let reason = reading.capture.missing().expect("no trace");
    assert!(
        reason.contains("nsys ended (exit status 0) and left no report"),
        "{reason}"
    );
    assert!(!asked.iter().any(|spec| is(spec, "export")));
}

#[test]
fn an_nsys_without_an_importer() {
    let folder = folder();
    let root = folder.path();
    let (reading, _) = profiled(root, &request(), |spec| {
        if is(spec, "profile") {
            fs::create_dir_all(root.join("trace")).expect("a folder");
            put(&root.join("trace/e2e.qdstrm"), "a stream");
            return said(Exit::Code(0), "", "Importer was not found\n");
        }
        said(Exit::Code(0), V2025, "")
    });
    let reason = reading.capture.missing().expect("no trace");
    assert!(
        reason.contains("trace/e2e.qdstrm") && reason.contains("Importer was not found"),
        "{reason}"
    );
}

#[track_caller]
fn check_unfit(version: &str, expected: &str) {
    let folder = folder();
    let (reading, asked) = profiled(folder.path(), &request(), |spec| {
        if spec.program == "find" {
            return Err(not_found(spec));
        }
        said(Exit::Code(0), version, "")
    });
    let reason = reading.capture.missing().expect("no trace");
    assert!(reason.contains(expected), "{reason}");
    assert!(!asked.iter().any(|spec| is(spec, "profile")));
}

#[test]
fn releases_that_are_not_used() {
    check_unfit(
        "NVIDIA Nsight Systems version 2022.4.2.1-df9881f\n",
        "known to hang",
    );
    check_unfit(
        "NVIDIA Nsight Systems version 2021.3.3.2-b99c4d6\n",
        "too old",
    );
}

#[test]
fn another_nsys_where_that_on_the_path_is_not_used() {
    let folder = folder();
    let root = folder.path();
    let good = "/opt/nvidia/nsight-systems/2025.3.2/bin/nsys";
    let (reading, asked) = profiled(root, &request(), |spec| {
        match (spec.program.as_str(), spec.args[0].as_str()) {
            ("find", _) => said(
                Exit::Code(1),
                &format!("/usr/local/cuda-11.8/bin/nsys\n{good}\n"),
                "",
            ),
            ("nsys", _) => Err(not_found(spec)),
            (_, "profile") => {
                leave_report(root);
                said(Exit::Code(0), "", "")
            }
            (_, "export") => {
                leave_export(root);
                said(Exit::Code(0), "", "")
            }
            _ => said(Exit::Code(0), V2025, ""),
        }
    });
    assert!(reading.capture.trace().is_some());
    assert_eq!(
        fallbacks(&reading)[0],
        format!("asked for `nsys`, ran `{good}`, because `nsys` was not found")
    );
    let programs: Vec<&str> = asked
        .iter()
        .filter(|spec| spec.purpose.starts_with("profile/nsys-version"))
        .map(|spec| spec.program.as_str())
        .collect();
    assert_eq!(programs, ["nsys", good]);
}

#[test]
fn a_program_that_does_not_end_is_traced_in_a_window_and_left_alone() {
    let folder = folder();
    let root = folder.path();
    let mut request = request();
    request.launch = Launch::parse("load --batch {batch}").expect("a command");
    let (reading, asked) = profiled(root, &request, |spec| {
        if is(spec, "profile") {
            leave_report(root);
        }
        if is(spec, "export") {
            leave_export(root);
        }
        said(Exit::Code(0), V2025, "")
    });
    let capture = asked
        .iter()
        .find(|spec| is(spec, "profile"))
        .expect("a capture");
    assert!(
        has(capture, "--duration=10") && has(capture, "--kill=none"),
        "{capture}"
    );
    // The load shows its rate at once here, and the trace begins two seconds later.
    assert!(has(capture, "--delay=2"), "{capture}");
    // Most of what it printed was before the trace, so that its rate is not that under the profiler.
    assert_eq!(reading.profiled, None);
}

const SESSIONS: &str = "              ID         TIME                       STATE LAUNCH NAME\n         \
                        1020983        00:02                    Launched      1 serve\n";

fn attached(
    root: &Path,
    name: &str,
    nsys: impl Fn(&CommandSpec) -> Result<Outcome, RunError>,
) -> (Result<AttachReading, Error>, Vec<String>) {
    let fake = Fake::new(nsys);
    let request = AttachRequest {
        session: name.to_owned(),
        seconds: 3,
        gpu_metrics: GpuMetrics::LeftOut,
        patience: std::time::Duration::from_secs(60),
    };
    let (reading, _) = with_session(&fake, Some(root), |session| attach(session, &request));
    (reading, fake.purposes())
}

#[test]
fn a_session_is_started_waited_for_and_stopped() {
    let folder = folder();
    let root = folder.path();
    let (reading, purposes) = attached(root, "serve", |spec| {
        if is(spec, "stop") {
            leave_report(root);
        }
        if is(spec, "export") {
            leave_export(root);
        }
        let text = match spec.args[0].as_str() {
            "sessions" => SESSIONS,
            "--version" => V2023,
            _ => "",
        };
        said(Exit::Code(0), text, "")
    });
    let reading = reading.expect("a session");
    assert!(reading.capture.trace().is_some());
    assert_eq!(reading.account.notes, [""; 0]);
    assert_eq!(
        purposes,
        [
            "profile/nsys-version",
            "profile/sessions",
            "profile/start",
            "profile/wait",
            "profile/stop",
            "profile/sessions-after",
            "profile/export"
        ]
    );
}

#[test]
fn a_session_that_is_not_there_is_not_opened() {
    let folder = folder();
    let (reading, purposes) = attached(folder.path(), "other", |spec| {
        let text = if is(spec, "sessions") {
            SESSIONS
        } else {
            V2023
        };
        said(Exit::Code(0), text, "")
    });
    let error = reading.expect_err("no such session");
    assert!(
        error
            .to_string()
            .contains("no nsys attaches to a program that runs already"),
        "{error}"
    );
    assert!(!purposes.iter().any(|purpose| purpose == "profile/start"));
}

#[test]
fn a_trace_that_does_not_start_says_what_nsys_said() {
    let folder = folder();
    let (reading, purposes) =
        attached(folder.path(), "serve", |spec| match spec.args[0].as_str() {
            "sessions" => said(Exit::Code(0), SESSIONS, ""),
            "start" => said(
                Exit::Code(1),
                "",
                "Collection start is not allowed in this state.\n",
            ),
            _ => said(Exit::Code(0), V2023, ""),
        });
    let reading = reading.expect("a session");
    let CaptureState::NotCaptured(reason) = &reading.capture else {
        panic!("{reading:?}");
    };
    assert!(
        reason.contains("Collection start is not allowed"),
        "{reason}"
    );
    assert!(!purposes.iter().any(|purpose| purpose == "profile/stop"));
}

#[test]
fn attempts_are_counted_down_and_end() {
    let folder = folder();
    let n_captures = Cell::new(0);
    let (reading, _) = profiled(folder.path(), &request(), |spec| {
        if is(spec, "profile") {
            n_captures.set(n_captures.get() + 1);
            // It takes none of them, and names the first that it is given.
            let flag = spec.args[2]
                .split('=')
                .next()
                .unwrap_or_default()
                .to_owned();
            return said(
                Exit::Code(1),
                "",
                &format!("unrecognised option '{flag}=x'\n"),
            );
        }
        said(Exit::Code(0), V2025, "")
    });
    let reason = reading.capture.missing().expect("no trace");
    assert!(
        reason.contains("nsys did not take `--force-overwrite`"),
        "{reason}"
    );
    // No sampling, no context switches, graphs by node, whole graphs; then what it cannot do without.
    assert_eq!((n_captures.get(), reading.account.fallbacks.len()), (5, 4));
}
