//! What nvidia-smi says when it fails, and what is no output at all.

use std::error::Error as _;

use ds_ceilings::{
    ErrorKind, MigProfiles, SmiFailure, SmiList, SmiQuery, SmiReport, SmiTable, SmiVersion,
    Tegrastats, Topology, present,
};

#[test]
fn missing_cells_are_none() {
    for cell in [
        "[N/A]",
        "N/A",
        "",
        "  ",
        "[Not Supported]",
        "[Unknown Error]",
        "[Function Not Found]",
        "[Requested functionality has been deprecated]",
        "Requested functionality has been deprecated",
        "[GPU requires reset]",
        "[Insufficient Permissions]",
    ] {
        assert_eq!(present(cell), None, "`{cell}`");
    }
    for cell in ["0", "None", "Disabled", " 1980 MHz "] {
        assert_eq!(present(cell), Some(cell.trim()));
    }
}

#[test]
fn a_failed_run_is_known_by_its_text_before_its_exit_code() {
    let check = |exit, text, expected| {
        assert_eq!(
            SmiFailure::from_run(exit, text),
            expected,
            "{exit} `{text}`"
        );
    };
    check(0, "No devices were found", None);
    check(9, "", Some(SmiFailure::DriverNotReachable));
    check(9, "No devices were found", Some(SmiFailure::NoDevices));
    check(12, "", Some(SmiFailure::NvmlLibraryMissing));
    check(18, "", Some(SmiFailure::NvmlVersionMismatch));
    check(4, "", Some(SmiFailure::NoPermission));
    check(127, "", Some(SmiFailure::CommandNotFound));
    check(
        255,
        "ERROR: Option -m is missing its value.",
        Some(SmiFailure::UsageError),
    );
    check(1, "something new", None);
    // Drivers before 418 misspelt `latest`; only the first sentence is the mark.
    let old = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the \
               lastest NVIDIA driver is installed and running.";
    check(9, old, Some(SmiFailure::DriverNotReachable));
}

#[test]
fn an_error_text_is_an_error_of_every_reader() {
    let text = "Failed to initialize NVML: Driver/library version mismatch\n";
    for error in [
        SmiQuery::parse(text).expect_err("an error"),
        SmiQuery::parse_rows(text, &["name"]).expect_err("an error"),
        SmiReport::parse_xml(text).expect_err("an error"),
        SmiReport::parse_text(text).expect_err("an error"),
        SmiList::parse(text).expect_err("an error"),
        SmiTable::parse(text).expect_err("an error"),
        SmiVersion::parse(text).expect_err("an error"),
        Topology::parse(text).expect_err("an error"),
        MigProfiles::parse(text).expect_err("an error"),
    ] {
        assert_eq!(error.kind(), ErrorKind::Smi);
        assert_eq!(error.to_string(), "nvidia-smi reported an error");
        let source = error.source().expect("the failure itself").to_string();
        assert_eq!(
            source,
            "the NVML library and the loaded driver are of different versions"
        );
    }
}

#[test]
fn other_text_is_refused_with_its_reason() {
    let text = "once upon a time\n";
    for (error, message) in [
        (
            SmiReport::parse_xml(text).expect_err(text),
            "the `nvidia-smi -q -x` output is no well-formed XML at line 1",
        ),
        (
            SmiReport::parse_xml("<a/>").expect_err(text),
            "the `nvidia-smi -q -x` output has no GPU",
        ),
        (
            SmiReport::parse_xml("").expect_err(text),
            "the `nvidia-smi -q -x` output is empty",
        ),
        (
            SmiReport::parse_text(text).expect_err(text),
            "the `nvidia-smi -q` output has no GPU",
        ),
        (
            SmiList::parse(text).expect_err(text),
            "the `nvidia-smi -L` output has no GPU",
        ),
        (
            SmiTable::parse(text).expect_err(text),
            "the `nvidia-smi` output has no GPU",
        ),
        (
            SmiVersion::parse(text).expect_err(text),
            "the `nvidia-smi --version` output has no version",
        ),
        (
            Topology::parse(text).expect_err(text),
            "the `nvidia-smi topo -m` output has no matrix",
        ),
        (
            MigProfiles::parse(text).expect_err(text),
            "the `nvidia-smi mig -lgip` output has no profile",
        ),
        (
            Tegrastats::parse(text).expect_err(text),
            "the `tegrastats` output has no line with a `RAM` figure",
        ),
        (
            SmiQuery::parse("").expect_err(text),
            "the `nvidia-smi --query-gpu` output is empty",
        ),
        (
            SmiQuery::parse("0, 12 %\n").expect_err(text),
            "the `nvidia-smi --query-gpu` output has no header line",
        ),
    ] {
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

#[test]
fn a_cut_row_is_refused_and_named() {
    let error = SmiQuery::parse("index, name, uuid\n0, NVIDIA H200\n").expect_err("a cut row");
    let message =
        "line 2 of the `nvidia-smi --query-gpu` output has 2 cells where the header has 3";
    assert_eq!(error.to_string(), message);
}

#[test]
fn a_number_that_is_none_is_refused_and_named() {
    let query = SmiQuery::parse(
        "clocks.max.sm [MHz], memory.total [MiB]\nfast MHz, 5000000000000000000000 MiB\n",
    );
    let query = query.expect("the shape is right");
    let row = &query.gpus()[0];
    let error = row
        .megahertz("clocks.max.sm")
        .expect_err("no number")
        .to_string();
    assert_eq!(
        error,
        "line 2 of the `nvidia-smi --query-gpu` output: `fast MHz` is no value of clocks.max.sm"
    );
    assert_eq!(
        row.memory("memory.total").expect_err("too large").kind(),
        ErrorKind::Malformed
    );
    assert_eq!(
        row.count("index"),
        Ok(None),
        "a field that was not asked for"
    );
    let report = SmiReport::parse_xml(
        "<nvidia_smi_log><gpu><max_clocks><sm_clock>-5 MHz</sm_clock></max_clocks></gpu></nvidia_smi_log>",
    );
    let message = "the `nvidia-smi -q -x` output: `-5 MHz` is no value of max_clocks/sm_clock";
    assert_eq!(report.expect_err("a negative clock").to_string(), message);
}

#[test]
fn nesting_without_end_is_cut_and_not_followed() {
    let deep = format!(
        "<nvidia_smi_log><gpu>{}{}</gpu></nvidia_smi_log>",
        "<a>".repeat(500),
        "</a>".repeat(500)
    );
    let report = SmiReport::parse_xml(&deep).expect("a GPU without values");
    assert_eq!(report.gpus[0].name, None);
    let indented: String = (0..500)
        .map(|depth| format!("{}x\n", " ".repeat(depth)))
        .collect();
    assert_eq!(
        SmiReport::parse_text(&format!("GPU 0:0\n{indented}")).map(|report| report.gpus.len()),
        Ok(1)
    );
}
