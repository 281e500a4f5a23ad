//! `dsprof tune` on a gst-launch line: swept, planned and measured with the stand-in elements; then the plan is written,
//! and the pipeline runs as fast as it says.

use std::path::Path;

use gstdssim::model::{BoundBy, Load, Sinks};
use serde_json::Value;

use super::bench::{Bench, gstreamer, is_live, number, text};
use super::cases::{self, Case};

const INFER: &str = "\
[property]
onnx-file=model.onnx
batch-size=1
network-mode=2
infer-dims=3;544;960
";

/// The rate of the second run, as a share of what the plan states.
const OF_THE_PLAN: f64 = 0.95;

/// A line as people write it, with the batch left at 1.
fn line(bench: &Bench) -> String {
    let case = &bench.case;
    let video = bench.write("video.mp4", "");
    let sources: String = (0..case.load.streams)
        .map(|stream| {
            format!(
                "  nvurisrcbin uri=file://{} ! mux.sink_{stream} \\\n",
                video.display()
            )
        })
        .collect();
    let (width, height) = case.source;
    let infer = bench.write("infer.txt", INFER);
    let tracker = if case.model.tracker_frame.is_zero() {
        String::new()
    } else {
        "  nvtracker tracker-width=480 tracker-height=288 ! \\\n".to_owned()
    };
    let sync = match case.load.sinks {
        Sinks::AsFast => "false",
        Sinks::Paced => "true",
    };
    format!(
        "#!/bin/sh\ngst-launch-1.0 -e \\\n{sources}  \
         nvstreammux name=mux batch-size=1 width={width} height={height} batched-push-timeout=40000 ! \\\n  \
         queue ! nvinfer config-file-path={} batch-size=1 ! \\\n{tracker}  \
         nvdslogger fps-measurement-interval-sec=1 ! \\\n  \
         fakesink sync={sync}\n",
        infer.display()
    )
}

fn check(case: Case) {
    let Some(gstreamer) = is_live().then(gstreamer).flatten() else {
        return;
    };
    let bench = Bench::with_elements(case, gstreamer);
    let pipeline = line(&bench);
    bench.write("pipeline.sh", &pipeline);
    let mut args = vec!["tune".to_owned(), "pipeline.sh".to_owned()];
    args.extend(bench.wishes());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    bench.dsprof(&args);
    let report = bench.report();
    bench.check(&report, measured(&bench.case, &report));

    let plan = bench.dsprof(&[
        "derive",
        "pipeline.sh",
        "--replay",
        "bundle",
        "--format",
        "json",
    ]);
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    bench.dsprof(&["derive", "pipeline.sh", "--replay", "bundle", "--apply"]);
    let written = std::fs::read_to_string(bench.path("pipeline.sh")).expect("it is there");
    let batch = format!("batch-size={}", plan["final_batch"]);
    assert!(written.contains(&batch), "{batch} in\n{written}");
    second_run(&bench, &plan);
}

/// What ran as the whole: the variant for measuring has no sink that waits for time stamps.
fn measured(case: &Case, report: &Value) -> Load {
    let command = report["e2e"]["command"].as_str().unwrap_or_default();
    Load {
        sinks: if command.contains("/variant") {
            Sinks::AsFast
        } else {
            case.load.sinks
        },
        ..case.load
    }
}

/// Runs what was written, without dsprof, and holds its rate against the plan.
fn second_run(bench: &Bench, plan: &Value) {
    // "212 frames/s, limited by …", or "at least 383 frames/s …".
    let stated = plan["expected"].as_str().and_then(|text| {
        let mut words = text.split_whitespace();
        words.find_map(|word| word.parse::<f64>().ok())
    });
    let stated = stated.unwrap_or_else(|| panic!("no rate in {}", plan["expected"]));
    let ran = bench
        .command(Path::new("timeout"))
        .args(["-s", "INT", "--kill-after=10", "12", "sh", "pipeline.sh"])
        .output()
        .expect("it runs");
    let printed = text(&ran.stdout);
    let windows: Vec<f64> = printed.lines().filter_map(rate_of).collect();
    // The first is partial.
    let steady = windows.get(1..).unwrap_or_default();
    assert!(steady.len() >= 6, "{printed}\n{}", text(&ran.stderr));
    let count = u32::try_from(steady.len()).expect("few");
    let rate = steady.iter().sum::<f64>() / f64::from(count);
    bench.say(&format!(
        "the plan states {stated} frames/s, then {rate:.0}"
    ));
    // What the plan states is what inference and decoding allow; no rule of it speeds a tracker up.
    let truth = bench.case.model.truth(Load {
        sinks: Sinks::AsFast,
        ..bench.case.load
    });
    let reachable = if truth.bound == BoundBy::Tracker {
        truth.e2e_fps
    } else {
        stated
    };
    assert!(
        rate >= reachable * OF_THE_PLAN,
        "{rate} for {reachable}: {steady:?}"
    );
    assert!(number(&plan["final_batch"]) > 0.0);
}

/// The sum over the streams of a line of nvdslogger.
fn rate_of(line: &str) -> Option<f64> {
    let body = line.strip_prefix("**PERF : ")?;
    let rates = body.split('\t').filter_map(|column| {
        let (_, rate) = column.split_once('(')?;
        rate.strip_suffix(')')?.parse::<f64>().ok()
    });
    Some(rates.sum())
}

#[test]
fn live_gst_decode_bound() {
    check(cases::decode_bound());
}

#[test]
fn live_gst_compute_bound() {
    check(cases::compute_bound());
}

#[test]
fn live_gst_plateau_at_4() {
    check(cases::plateau_at_4());
}

#[test]
fn live_gst_plateau_at_16() {
    check(cases::plateau_at_16());
}

#[test]
fn live_gst_plateau_not_reached() {
    check(cases::plateau_not_reached());
}

#[test]
fn live_gst_tracker_bound() {
    check(cases::tracker_bound());
}

#[test]
fn live_gst_paced_by_the_sink() {
    check(cases::paced_by_the_sink());
}
