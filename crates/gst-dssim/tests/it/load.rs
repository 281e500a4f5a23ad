//! The stand-in load: what it prints, and how it goes wrong when it is told to.

use std::process::{Command, Output};

fn load(args: &[&str], variables: &[(&str, &str)]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dssim-load"))
        .args(args)
        .envs(variables.iter().copied())
        .output()
        .expect("dssim-load runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The sum of the rates of each window.
fn windows(output: &Output) -> Vec<f64> {
    let printed = text(&output.stdout);
    let running = printed.split("Pipeline running").nth(1).unwrap_or_default();
    let rows = running
        .lines()
        .filter_map(|line| line.strip_prefix("**PERF:  "));
    rows.filter(|row| !row.contains("FPS"))
        .map(|row| {
            let rates = row
                .split('\t')
                .filter_map(|column| column.split(' ').next());
            rates.filter_map(|rate| rate.parse::<f64>().ok()).sum()
        })
        .collect()
}

#[test]
fn it_is_as_fast_as_the_model_says() {
    // 10 ms + 10 ms a frame: 4 frames in 50 ms, 80 frames/s. Windows hold whole batches.
    let output = load(
        &["--batch", "4", "--seconds", "2", "--interval", "0.5"],
        &[
            ("DSSIM_INFER_BASE_MS", "10"),
            ("DSSIM_INFER_FRAME_MS", "10"),
        ],
    );
    assert!(output.status.success(), "{}", text(&output.stderr));
    let windows = windows(&output);
    assert_eq!(windows.len(), 4, "{}", text(&output.stdout));
    // 2 s of the model hold 160 frames; a host that stands still makes them fewer, never more than a batch more.
    let frames = windows.iter().sum::<f64>() * 0.5;
    assert!(frames > 0.0 && frames <= 164.0, "{windows:?}");
}

#[test]
fn a_batch_that_does_not_fit_ends_it_before_the_first_frame() {
    for (batch, fits) in [("4", true), ("8", false)] {
        let output = load(
            &["--batch", batch, "--seconds", "0.2", "--interval", "0.1"],
            &[("DSSIM_FAULTS", "oom@8")],
        );
        assert_eq!(output.status.success(), fits, "batch {batch}");
        assert_eq!(text(&output.stderr).contains("OutOfMemory"), !fits);
    }
}

#[test]
fn a_crash_ends_it_by_a_signal_and_a_stall_does_not_end_it() {
    use std::os::unix::process::ExitStatusExt as _;

    let args = ["--batch", "1", "--seconds", "1", "--interval", "0.25"];
    let crashed = load(&args, &[("DSSIM_FAULTS", "crash@300")]);
    assert_eq!(crashed.status.signal(), Some(6), "{:?}", crashed.status);
    let stalled = load(&args, &[("DSSIM_FAULTS", "stall@0")]);
    assert!(stalled.status.success());
    assert_eq!(windows(&stalled), [0.0; 4]);
}

#[test]
fn sources_that_end_early_end_it_in_order() {
    let args = ["--batch", "1", "--seconds", "60", "--interval", "0.1"];
    let output = load(&args, &[("DSSIM_FAULTS", "eos@350")]);
    assert!(text(&output.stdout).ends_with("App run successful\n"));
    assert_eq!(windows(&output).len(), 3);
}

#[test]
fn an_engine_is_built_on_the_first_run_alone() {
    let state = tempfile::tempdir().expect("a folder");
    let folder = state.path().display().to_string();
    let variables = [
        ("DSSIM_STATE", folder.as_str()),
        ("DSSIM_ENGINE_BUILD_MS", "50"),
    ];
    let args = ["--batch", "2", "--seconds", "0.2", "--interval", "0.1"];
    let builds = |output: &Output| text(&output.stderr).contains("serialize cuda engine to file");
    assert!(builds(&load(&args, &variables)));
    assert!(!builds(&load(&args, &variables)));
}
