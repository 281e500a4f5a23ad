//! Recordings of several processes whose slow rank, factor and time per step are known.
//!
//! What ran is said in `testdata/nsys/recordings/SOURCES.md`.

mod ranks;
mod verdicts;

use std::fs;
use std::path::PathBuf;

use ds_nsys::{Busy, DeviceKey, Nanos, StepMethod, StepOptions, StepSeries, Steps, Trace, Window};

use crate::support::{open, testdata};

/// A recording and how many reports were printed of it: those of two GPUs were made without the two that had nothing to
/// print.
const RECORDINGS: [(&str, usize); 8] = [
    ("two_graph", 14),
    ("two_node", 14),
    ("tp_graph", 12),
    ("tp_node", 12),
    ("tp_graph_rank0", 12),
    ("tp_graph_rank1", 12),
    ("tp_node_rank0", 12),
    ("tp_node_rank1", 12),
];

fn folder(name: &str) -> PathBuf {
    testdata("recordings").join(name)
}

fn file(name: &str) -> PathBuf {
    folder(name).join("trace.sqlite.gz")
}

fn recording(name: &str) -> Trace {
    open(&file(name))
}

fn busy(name: &str) -> Busy {
    recording(name).busy(Window::ALL).expect("readable")
}

fn steps(name: &str) -> Steps {
    let steps = recording(name).steps(&StepOptions::default());
    steps.expect("readable")
}

/// The steps of every rank of a recording, all of which have some.
#[track_caller]
fn series(steps: &Steps) -> Vec<(DeviceKey, &StepSeries)> {
    let found: Vec<_> = steps.found().collect();
    assert_eq!(found.len(), steps.ranks.len());
    found
}

/// What a rank printed about itself.
struct Printed {
    pid: u32,
    steps: usize,
    /// The mean time of a step by the host's clock, in milliseconds.
    tpot: f64,
}

/// What every rank printed, in the order of ranks, whether it was traced or not.
fn printed(name: &str) -> Vec<Printed> {
    let log = fs::read_to_string(folder(name).join("log.txt")).expect("a log");
    log.lines()
        .map(|line| {
            let value = |key: &str| {
                let mut words = line.split_whitespace();
                words
                    .find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
                    .unwrap_or_else(|| panic!("{key} in {line:?}"))
            };
            Printed {
                pid: value("pid").parse().expect("a number"),
                steps: value("steps").parse().expect("a number"),
                tpot: value("tpot_ms").parse().expect("a number"),
            }
        })
        .collect()
}

/// Whether a figure lies within a share of what it should be.
#[track_caller]
fn near(found: f64, expected: f64, share: f64) {
    assert!(
        (found / expected - 1.0).abs() <= share,
        "{found} instead of {expected}"
    );
}

#[test]
fn every_report_prints_as_the_profiler_does() {
    for (name, reports) in RECORDINGS {
        let compared = crate::captures::check(&file(name), &folder(name).join("nsys-stats"));
        assert_eq!(compared, reports, "{name}");
    }
}

#[test]
fn every_process_has_a_row_for_its_device() {
    for (name, expected) in [
        ("two_graph", &[(830, 0), (831, 0)][..]),
        ("two_node", &[(1040, 0), (1041, 0)]),
        ("tp_graph", &[(655, 0), (656, 1)]),
        ("tp_node", &[(941, 0), (942, 1)]),
        ("tp_graph_rank0", &[(1212, 0)]),
        ("tp_graph_rank1", &[(1452, 1)]),
        ("tp_node_rank0", &[(1657, 0)]),
        ("tp_node_rank1", &[(1927, 1)]),
    ] {
        let busy = busy(name);
        let rows: Vec<(u32, i64)> = busy
            .devices
            .iter()
            .map(|device| (device.device.process.pid(), device.device.ordinal))
            .collect();
        assert_eq!(rows, expected, "{name}");
        for device in &busy.devices {
            assert_eq!(device.is_upper_figure(), name.contains("graph"), "{name}");
            assert_eq!(device.dropped(), 0, "{name}");
        }
    }
}

/// Two GPUs work at the same time, and in no millisecond is either of them busy for longer than that millisecond.
#[test]
fn overlapping_work_of_two_devices_never_exceeds_the_time_of_either() {
    const SLICE: Nanos = Nanos(1_000_000);
    for name in ["tp_graph", "tp_node"] {
        let busy = busy(name);
        let [first, second] = busy.devices.as_slice() else {
            panic!("two devices, not {}", busy.devices.len())
        };
        let either = first.busy.with(&second.busy).total();
        let sum = first.busy_time() + second.busy_time();
        assert!(sum > either, "{name}: they work in turns");
        for device in [first, second] {
            let span = device.span().expect("work");
            let mut from = span.start;
            let mut slices = Nanos::ZERO;
            while from < span.end {
                let to = from + SLICE;
                let inside = device.busy.within(Window { from, to }).total();
                assert!(inside <= SLICE, "{name}: {inside} of {SLICE} from {from}");
                slices += inside;
                from = to;
            }
            assert_eq!(slices, device.busy_time(), "{name}");
        }
    }
}

/// The program's clock is another one than the trace's, and says the same of every rank that was traced.
#[test]
fn steps_take_as_long_as_the_program_says() {
    for (name, _) in RECORDINGS {
        let printed = printed(name);
        let steps = steps(name);
        for (device, series) in series(&steps) {
            let of_rank = printed.iter().find(|p| p.pid == device.process.pid());
            let of_rank = of_rank.expect("every traced rank printed a line");
            // The last step is not complete: nothing shows where it ends.
            assert_eq!(series.steps.len(), of_rank.steps - 1, "{name}");
            // The profiler's clock begins and ends a step on the GPU, the program's on the host: 0.2 % apart at most.
            near(series.duration.mean.0 / 1e6, of_rank.tpot, 0.01);
        }
    }
}

/// Ranges and graph launches find the same steps, and so does the idle gap on two GPUs; two processes take turns on one
/// GPU, which breaks the pattern of their gaps.
#[test]
fn anchors_agree() {
    for (name, _) in RECORDINGS {
        for (_, series) in series(&steps(name)) {
            assert_eq!(series.method, StepMethod::Range, "{name}");
            assert_eq!(series.readings[1].method, StepMethod::GraphLaunch, "{name}");
            let agreement = series.agreement().expect("two anchors");
            assert!(agreement.0 > 0.999, "{name}: {agreement}");
            let gap = series
                .readings
                .iter()
                .find(|reading| reading.method == StepMethod::IdleGap);
            assert!(gap.is_some() || name.starts_with("two"), "{name}");
            assert_eq!(series.prefill.steps, 0, "{name}");
        }
    }
}

/// A step works as long whether its graph is traced as a whole or node by node; only the second shows what it did.
#[test]
fn both_levels_of_graph_tracing_show_the_same_step() {
    for (graph, node) in [("two_graph", "two_node"), ("tp_graph", "tp_node")] {
        let (graph, node) = (steps(graph), steps(node));
        for ((_, whole), (_, nodes)) in series(&graph).into_iter().zip(series(&node)) {
            // In a whole graph the gaps between its nodes count too: 4.3 % at most.
            near(whole.busy.mean.0, nodes.busy.mean.0, 0.05);
            assert!(whole.is_upper_figure && !nodes.is_upper_figure);
            assert_eq!(whole.communication, None);
            assert!(nodes.communication.is_some());
        }
    }
    for (name, kernels) in [("two_graph", 188), ("two_node", 6188)] {
        for device in &busy(name).devices {
            // 150 steps of 40 kernels each are what a whole graph hides.
            assert_eq!(
                device.work[&ds_nsys::GpuWork::Kernel].count,
                kernels,
                "{name}"
            );
        }
    }
}
