//! Which GPU this is, and every way in which nvidia-smi can fail to say it.

use std::fs;

use ds_ceilings::SmiFailure;
use ds_orchestrate::process::{CommandSpec, Exit, Outcome, RunError};
use ds_orchestrate::{Error, ErrorKind, HwReading, gpus_from_text, read_hw};

use super::with_session;
use crate::support::{Fake, not_found, outcome, testdata};

fn text(path: &str) -> String {
    fs::read_to_string(testdata(path)).expect("it is shipped")
}

/// A row of a query for one of the fields of the machine.
fn cell(field: &str, index: usize) -> String {
    match field {
        "index" => index.to_string(),
        "name" => ["NVIDIA H200", "NVIDIA L40S"][index].to_owned(),
        "compute_cap" => ["9.0", "8.9"][index].to_owned(),
        "memory.total" => "143771 MiB".to_owned(),
        _ => "[N/A]".to_owned(),
    }
}

/// Answers a query as nvidia-smi does, for as many GPUs.
fn answer_query(spec: &CommandSpec, gpus: usize) -> Outcome {
    let fields: Vec<&str> = fields_of(spec).expect("a query").split(',').collect();
    let mut text = fields.join(", ") + "\n";
    for index in 0..gpus {
        let cells: Vec<String> = fields.iter().map(|field| cell(field, index)).collect();
        text.push_str(&(cells.join(", ") + "\n"));
    }
    outcome(Exit::Code(0), text, "")
}

fn fields_of(spec: &CommandSpec) -> Option<&str> {
    spec.args
        .iter()
        .find_map(|arg| arg.strip_prefix("--query-gpu="))
}

/// Reads a machine whose query is answered by `query`, and its full report by `report`.
fn read(
    query: impl Fn(&CommandSpec) -> Result<Outcome, RunError>,
    report: impl Fn(&CommandSpec) -> Result<Outcome, RunError>,
) -> (Result<HwReading, Error>, Vec<String>) {
    let fake = Fake::new(|spec| {
        if fields_of(spec).is_some() {
            query(spec)
        } else {
            report(spec)
        }
    });
    with_session(&fake, None, read_hw)
}

fn h200_report(_: &CommandSpec) -> Result<Outcome, RunError> {
    Ok(outcome(
        Exit::Code(0),
        text("smi/xml/h200-580.159.04.xml"),
        "",
    ))
}

#[test]
fn an_h200() {
    let (reading, events) = read(|spec| Ok(answer_query(spec, 1)), h200_report);
    let reading = reading.expect("it answers");
    assert_eq!((reading.gaps.clone(), events), (vec![], vec![]));
    let gpu = reading.gpu(0).expect("it is there");
    assert_eq!(gpu.name, "NVIDIA H200");
    // The video clock stands in the report alone.
    assert!(gpu.max_clocks.video.is_some());
}

#[test]
fn a_field_that_the_driver_does_not_know_is_left_out() {
    let unknown = |field: &'static str| {
        move |spec: &CommandSpec| {
            let asked = fields_of(spec).expect("a query");
            if asked.split(',').any(|asked| asked == field) {
                let text = format!("Field \"{field}\" is not a valid field to query.\n\n");
                return Ok(outcome(Exit::Code(2), text, ""));
            }
            Ok(answer_query(spec, 1))
        }
    };
    for field in ["compute_cap", "mig.mode.current"] {
        let (reading, events) = read(unknown(field), h200_report);
        let reading = reading.expect("the rest is answered");
        let gap = format!("this driver knows no query field `{field}`");
        assert_eq!(
            (&reading.gaps, events),
            (&vec![gap.clone()], vec![format!("note: {gap}")])
        );
        assert_eq!(reading.gpu(0).expect("it is there").name, "NVIDIA H200");
    }
}

#[test]
fn a_complaint_about_a_field_that_was_not_asked_for_ends_it() {
    let (reading, _) = read(
        |_| {
            Ok(outcome(
                Exit::Code(2),
                text("smi/error/invalid-field-clocks-max-video.txt"),
                "",
            ))
        },
        h200_report,
    );
    check_failure(
        reading,
        &SmiFailure::InvalidField {
            field: "clocks.max.video".to_owned(),
        },
    );
}

#[track_caller]
fn check_failure(reading: Result<HwReading, Error>, expected: &SmiFailure) {
    let error = reading.expect_err("it fails");
    assert_eq!(error.kind(), ErrorKind::Program);
    let Error::Smi(ds_ceilings::Error::Smi(failure)) = &error else {
        panic!("{error}");
    };
    assert_eq!(failure, expected);
}

#[test]
fn a_missing_nvidia_smi() {
    let (reading, _) = read(|spec| Err(not_found(spec)), |spec| Err(not_found(spec)));
    check_failure(reading, &SmiFailure::CommandNotFound);
}

#[test]
fn every_error_of_nvidia_smi_is_recognised() {
    let bus = |bus_id: &str| bus_id.to_owned();
    // The exit codes are NVML's return values, see the manual page of nvidia-smi.
    let cases = [
        (
            "command-not-found-jetpack5",
            127,
            SmiFailure::CommandNotFound,
        ),
        (
            "gpu-lost",
            15,
            SmiFailure::GpuLost {
                bus_id: bus("0000:02:00.0"),
            },
        ),
        (
            "gpu-lost-two-blanks",
            15,
            SmiFailure::GpuLost {
                bus_id: bus("0000:03:00.0"),
            },
        ),
        (
            "handle-unknown-blank",
            255,
            SmiFailure::HandleUnknown {
                bus_id: bus("0000:0B:00.0"),
            },
        ),
        (
            "handle-unknown-detect",
            255,
            SmiFailure::HandleUnknown {
                bus_id: bus("0000:B1:00.0"),
            },
        ),
        (
            "handle-unknown-no-blank",
            255,
            SmiFailure::HandleUnknown {
                bus_id: bus("0000:07:00.0"),
            },
        ),
        ("library-missing", 12, SmiFailure::NvmlLibraryMissing),
        ("no-devices", 6, SmiFailure::NoDevices),
        ("no-driver", 9, SmiFailure::DriverNotReachable),
        ("no-supported-gpus", 255, SmiFailure::NoDevices),
        ("nvml-unknown-error", 255, SmiFailure::NvmlUnknown),
        ("topo-unsupported-windows-591.86", 1, SmiFailure::UsageError),
        (
            "version-mismatch-one-line",
            18,
            SmiFailure::NvmlVersionMismatch,
        ),
        (
            "version-mismatch-two-lines",
            18,
            SmiFailure::NvmlVersionMismatch,
        ),
    ];
    for (file, exit, expected) in cases {
        let printed = text(&format!("smi/error/{file}.txt"));
        // It prints its errors on standard output; a shell in its place prints on standard error.
        let (on_stdout, _) = read(
            |_| Ok(outcome(Exit::Code(exit), printed.clone(), "")),
            h200_report,
        );
        check_failure(on_stdout, &expected);
        let (on_stderr, _) = read(
            |_| Ok(outcome(Exit::Code(exit), "", printed.clone())),
            h200_report,
        );
        check_failure(on_stderr, &expected);
    }
}

#[test]
fn an_error_that_nobody_knows() {
    let (reading, _) = read(
        |_| Ok(outcome(Exit::Code(77), "first\nsomething new\n\n", "")),
        h200_report,
    );
    let error = reading.expect_err("it fails");
    assert_eq!(error.kind(), ErrorKind::Program);
    assert_eq!(
        error.to_string(),
        "`nvidia-smi` failed (exit status 77): something new"
    );
}

#[test]
fn a_signal_and_a_timeout() {
    for (exit, text) in [(Exit::Signal(9), "signal 9"), (Exit::TimedOut, "timed out")] {
        let (reading, _) = read(|_| Ok(outcome(exit, "", "")), h200_report);
        let error = reading.expect_err("it fails");
        assert_eq!(error.kind(), ErrorKind::Program);
        assert_eq!(
            error.to_string(),
            format!("`nvidia-smi` failed ({text}): it printed nothing")
        );
    }
}

#[test]
fn output_that_is_no_table() {
    let (reading, _) = read(|_| Ok(outcome(Exit::Code(0), "", "")), h200_report);
    let error = reading.expect_err("there is nothing");
    assert_eq!(error.kind(), ErrorKind::Input);
    assert_eq!(
        error.to_string(),
        "the `nvidia-smi --query-gpu` output is empty"
    );
}

#[test]
fn without_a_report_the_rest_is_known() {
    let (reading, events) = read(
        |spec| Ok(answer_query(spec, 1)),
        |_| Ok(outcome(Exit::Code(0), "<nvidia_smi_log>", "")),
    );
    let reading = reading.expect("the query is answered");
    assert_eq!(reading.gpu(0).expect("it is there").max_clocks.video, None);
    assert_eq!((reading.gaps.len(), events.len()), (1, 1));
    assert!(
        reading.gaps[0].starts_with("no full report of nvidia-smi"),
        "{}",
        reading.gaps[0]
    );
}

#[test]
fn one_of_several_gpus() {
    let (reading, _) = read(
        |spec| Ok(answer_query(spec, 2)),
        |spec| Err(not_found(spec)),
    );
    let reading = reading.expect("it answers");
    assert_eq!(reading.gpu(0).expect("it is there").name, "NVIDIA H200");
    assert_eq!(reading.gpu(1).expect("it is there").name, "NVIDIA L40S");
    let error = reading.gpu(2).expect_err("there are two");
    assert_eq!(error.kind(), ErrorKind::Input);
    assert_eq!(error.to_string(), "there is no GPU 2: 2 are listed");
}

#[test]
fn gpus_without_an_index_are_counted() {
    let gpus = gpus_from_text("name\nNVIDIA H200\nNVIDIA L40S\n").expect("a table");
    let reading = HwReading {
        gpus,
        ..HwReading::default()
    };
    assert_eq!(reading.gpu(1).expect("it is there").name, "NVIDIA L40S");
    assert!(reading.gpu(2).is_err());
}

#[test]
fn a_file_of_another_machine() {
    for file in [
        "smi/xml/t4-515.105.01.xml",
        "smi/query/l40s-595.80-idle.csv",
    ] {
        let gpus = gpus_from_text(&text(file)).expect("it is readable");
        assert_eq!(gpus.len(), 1, "{file}");
        assert!(gpus[0].driver_version.is_some(), "{file}");
    }
    let error = gpus_from_text(&text("smi/error/no-driver.txt")).expect_err("an error");
    assert!(
        matches!(
            error,
            Error::Smi(ds_ceilings::Error::Smi(SmiFailure::DriverNotReachable))
        ),
        "{error}"
    );
}
