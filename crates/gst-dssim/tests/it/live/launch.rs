//! `dsprof tune --launch`: the load is a program, the plan a table, and nothing is written.

use std::fs;

use super::bench::{Bench, is_live};
use super::cases::{self, Case};
use gstdssim::model::Sinks;

/// A deepstream-app configuration; the load stands in for what it would run.
const CONFIGURATION: &str = "\
[application]
enable-perf-measurement=1
perf-measurement-interval-sec=1

[source0]
enable=1
type=3
uri=file:///video.mp4
num-sources=STREAMS

[streammux]
batch-size=1
batched-push-timeout=40000
width=WIDTH
height=HEIGHT

[primary-gie]
enable=1
batch-size=1
config-file=infer.txt

[sink0]
enable=1
type=1
sync=0
";

const INFER: &str = "\
[property]
onnx-file=model.onnx
batch-size=1
network-mode=2
infer-dims=3;544;960
";

fn check(case: Case) {
    if !is_live() {
        return;
    }
    let bench = Bench::new(case);
    let (width, height) = bench.case.source;
    let configuration = CONFIGURATION
        .replace("STREAMS", &bench.case.load.streams.to_string())
        .replace("WIDTH", &width.to_string())
        .replace("HEIGHT", &height.to_string());
    let files = [
        (
            bench.write("app.txt", &configuration),
            configuration.as_str(),
        ),
        (bench.write("infer.txt", INFER), INFER),
    ];
    let sync = match bench.case.load.sinks {
        Sinks::AsFast => "",
        Sinks::Paced => " --sync",
    };
    let e2e = format!(
        "dssim-load --batch {{batch}} --streams {{streams}} --seconds {{seconds}} --interval 0.5 --whole{sync}"
    );
    let mut args = vec!["tune".to_owned(), "app.txt".to_owned()];
    args.extend(bench.wishes());
    args.extend([
        "--launch".to_owned(),
        "dssim-load --batch {batch} --seconds {seconds} --interval 0.5".to_owned(),
        "--e2e-launch".to_owned(),
        e2e,
    ]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    bench.dsprof(&args);
    let report = bench.report();
    bench.check(&report, bench.case.load);
    let knobs = report["knobs"].as_array().expect("a plan");
    let planned = knobs
        .iter()
        .any(|row| row["target"] == "mux" && row["knob"] == "batch-size");
    assert!(planned, "{}: no batch in {knobs:#?}", bench.case.name);
    assert_eq!(report["applied"], false);
    for (path, before) in files {
        let after = fs::read_to_string(&path).expect("it is there");
        assert_eq!(after, before, "{} was written", path.display());
    }
}

#[test]
fn live_launch_decode_bound() {
    check(cases::decode_bound());
}

#[test]
fn live_launch_compute_bound() {
    check(cases::compute_bound());
}

#[test]
fn live_launch_plateau_at_4() {
    check(cases::plateau_at_4());
}

#[test]
fn live_launch_plateau_at_16() {
    check(cases::plateau_at_16());
}

#[test]
fn live_launch_plateau_not_reached() {
    check(cases::plateau_not_reached());
}

#[test]
fn live_launch_tracker_bound() {
    check(cases::tracker_bound());
}

#[test]
fn live_launch_paced_by_the_sink() {
    check(cases::paced_by_the_sink());
}

/// A batch that does not fit is named with its reason, and the sweep goes on to its answer.
#[test]
fn live_launch_out_of_memory_at_16() {
    if !is_live() {
        return;
    }
    let mut case = cases::plateau_at_4();
    case.model.faults = vec![gstdssim::model::Fault::OutOfMemory { batch: 16 }];
    let bench = Bench::new(case);
    bench.write(
        "app.txt",
        &CONFIGURATION
            .replace("STREAMS", "16")
            .replace("WIDTH", "1920")
            .replace("HEIGHT", "1080"),
    );
    bench.write("infer.txt", INFER);
    let mut args = vec![
        "tune".to_owned(),
        "app.txt".to_owned(),
        "--skip-profile".to_owned(),
    ];
    args.extend(bench.wishes());
    args.extend([
        "--launch".to_owned(),
        "dssim-load --batch {batch} --seconds {seconds} --interval 0.5".to_owned(),
    ]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    bench.dsprof(&args);
    let report = bench.report();
    assert_eq!(report["plateau"]["batch"].as_u64(), Some(4), "{report:#}");
    let notes = report["plateau"].to_string();
    assert!(notes.contains("16") && notes.contains("memory"), "{notes}");
}
