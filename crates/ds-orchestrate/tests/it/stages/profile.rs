//! The whole pipeline, clean and under nsys, and each way in which there is no trace.

use std::fs;
use std::path::Path;
use std::time::Duration;

use ds_ceilings::StreamCount;
use ds_derive::Outcome as Point;
use ds_orchestrate::process::{CommandSpec, Exit, Outcome, RunError};
use ds_orchestrate::{
    CaptureState, Counted, Error, GpuMetrics, Launch, ProfileReading, ProfileRequest, Subject,
    profile,
};

use super::{dmon, steady, with_session};
use crate::support::{Fake, folder, not_found, outcome, put, testdata};

pub(super) fn request() -> ProfileRequest {
    ProfileRequest {
        launch: Launch::parse("load --batch {batch} --seconds {seconds}").expect("a command"),
        batch: 8,
        streams: 8,
        seconds: 30,
        trace_seconds: 10,
        subject: Subject::GivenLoad,
        counted: Counted::ByEmitter,
        gpu_metrics: GpuMetrics::LeftOut,
        patience: Duration::from_secs(60),
    }
}

/// Profiles with a clean run that works and an nsys that answers.
fn profiled(
    root: Option<&Path>,
    nsys: impl Fn(&CommandSpec) -> Result<Outcome, RunError>,
) -> (ProfileReading, Vec<String>) {
    let fake = Fake::new(|spec| match spec.program.as_str() {
        "nvidia-smi" => Ok(outcome(Exit::Stopped, dmon(), "")),
        "nsys" => nsys(spec),
        _ => Ok(outcome(Exit::Code(0), steady(50.0), "")),
    });
    let (reading, events) = with_session(&fake, root, |session| profile(session, &request()));
    (reading.expect("the pipeline runs"), events)
}

/// What an nsys of this version prints, whatever it is asked.
fn version() -> Outcome {
    outcome(
        Exit::Code(0),
        "NVIDIA Nsight Systems version 2025.3.2.474-253236389321v0\n",
        "",
    )
}

fn is(spec: &CommandSpec, subcommand: &str) -> bool {
    spec.args.first().is_some_and(|first| first == subcommand)
}

/// Checks that there is no trace for a reason that holds each of `expected`, and that all else was measured.
#[track_caller]
fn check_no_trace(reading: &ProfileReading, expected: &[&str]) {
    let CaptureState::NotCaptured(reason) = &reading.capture else {
        panic!("there is no trace to read");
    };
    for part in expected {
        assert!(reason.contains(part), "{reason}");
    }
    let Point::Ran { windows } = &reading.clean else {
        panic!("{:?}", reading.clean);
    };
    assert_eq!(windows.len(), 8);
    assert_eq!(reading.streams, Some(StreamCount::new(1)));
    assert!(reading.load.is_ok());
}

#[test]
fn a_missing_nsys() {
    let folder = folder();
    let (reading, events) = profiled(Some(folder.path()), |spec| Err(not_found(spec)));
    check_no_trace(&reading, &["`nsys` was not found"]);
    assert_eq!(reading.profiled, None);
    assert!(
        events
            .iter()
            .any(|event| event.starts_with("note: ") && event.contains("nsys")),
        "{events:?}"
    );
}

#[test]
fn an_nsys_that_cannot_be_started() {
    let folder = folder();
    let (reading, _) = profiled(Some(folder.path()), |_| {
        let source = std::io::Error::from(std::io::ErrorKind::PermissionDenied);
        Err(RunError::Io {
            program: "nsys".to_owned(),
            source,
        })
    });
    check_no_trace(&reading, &["could not run `nsys`"]);
}

#[test]
fn a_capture_that_ends_well_and_leaves_nothing() {
    let folder = folder();
    let (reading, _) = profiled(Some(folder.path()), |spec| {
        Ok(if is(spec, "profile") {
            outcome(
                Exit::Code(0),
                "",
                "The target application terminated early.\n",
            )
        } else {
            version()
        })
    });
    check_no_trace(&reading, &["nsys"]);
}

#[test]
fn an_export_that_fails() {
    let folder = folder();
    fs::create_dir(folder.path().join("trace")).expect("an empty folder");
    let report = folder.path().join("trace/e2e.nsys-rep");
    let (reading, _) = profiled(Some(folder.path()), |spec| {
        if is(spec, "profile") {
            put(&report, "a report");
            return Ok(outcome(Exit::Code(0), "", ""));
        }
        Ok(if is(spec, "export") {
            outcome(Exit::Code(1), "", "Report could not be loaded\n")
        } else {
            version()
        })
    });
    check_no_trace(
        &reading,
        &["export", "exit status 1", "Report could not be loaded"],
    );
}

/// An nsys that leaves `bytes` as its export at `file`.
fn leaves(root: &Path, file: &str, bytes: &[u8]) -> ProfileReading {
    fs::create_dir(root.join("trace")).expect("an empty folder");
    let (reading, _) = profiled(Some(root), |spec| {
        if is(spec, "profile") {
            put(&root.join("trace/e2e.nsys-rep"), "a report");
        }
        if is(spec, "export") {
            put(&root.join(file), bytes);
        }
        Ok(version())
    });
    reading
}

#[test]
fn an_export_that_is_no_trace() {
    let folder = folder();
    let reading = leaves(
        folder.path(),
        "trace/e2e.sqlite",
        b"not a database at all, but some text",
    );
    check_no_trace(&reading, &["e2e.sqlite"]);
}

#[test]
fn an_export_that_was_cut_off() {
    let folder = folder();
    let whole =
        fs::read(testdata("nsys/captures/decode_graph/trace.sqlite.gz")).expect("it is shipped");
    let reading = leaves(
        folder.path(),
        "trace/e2e.sqlite.gz",
        &whole[..whole.len() / 2],
    );
    check_no_trace(&reading, &["e2e.sqlite"]);
}

#[test]
fn an_export_that_can_be_read() {
    let folder = folder();
    let whole =
        fs::read(testdata("nsys/captures/decode_graph/trace.sqlite.gz")).expect("it is shipped");
    let reading = leaves(folder.path(), "trace/e2e.sqlite.gz", &whole);
    let CaptureState::Captured(trace) = &reading.capture else {
        panic!("{:?}", reading.capture);
    };
    // 103.564 ms of GPU-busy time in a graph-level trace, which is an upper figure.
    let device = &trace.devices[0];
    assert_eq!(
        ((device.busy.get() + 500) / 1000, device.is_upper_figure),
        (103_564, true)
    );
    assert!(reading.profiled.is_some());
}

#[test]
fn a_trace_needs_a_place() {
    let (reading, _) = profiled(None, |_| Ok(version()));
    check_no_trace(&reading, &["bundle"]);
}

#[test]
fn a_pipeline_that_does_not_exist_ends_the_stage() {
    let fake = Fake::new(|spec| Err(not_found(spec)));
    let (reading, _) = with_session(&fake, None, |session| profile(session, &request()));
    let error = reading.expect_err("there is no pipeline");
    assert!(
        matches!(&error, Error::Run(RunError::NotFound { program }) if program == "load"),
        "{error}"
    );
}

#[test]
fn an_interrupt_under_nsys_ends_the_stage() {
    let folder = folder();
    let fake = Fake::new(|spec| match spec.program.as_str() {
        "nsys" => Err(RunError::Interrupted {
            program: "nsys".to_owned(),
        }),
        "nvidia-smi" => Ok(outcome(Exit::Stopped, dmon(), "")),
        _ => Ok(outcome(Exit::Code(0), steady(50.0), "")),
    });
    let (reading, _) = with_session(&fake, Some(folder.path()), |session| {
        profile(session, &request())
    });
    assert_eq!(
        reading.expect_err("it was interrupted").kind(),
        ds_orchestrate::ErrorKind::Interrupted
    );
}
