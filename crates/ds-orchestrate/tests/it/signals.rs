//! What the boundedness table is given of a run.

use std::collections::BTreeMap;

use ds_ceilings::{Fps, Fraction, Nanos, StreamCount};
use ds_config::Pipeline;
use ds_derive::{Failure, IdleBasis, Outcome, Signals};
use ds_nsys::Plugin;
use ds_orchestrate::{
    Account, CaptureState, DeviceReading, FpsStatus, NamedTime, PluginReading, ProfileReading,
    StepReading, Subject, TraceReading, signals_of,
};

fn millis(ms: u64) -> Nanos {
    Nanos::new(ms * 1_000_000)
}

fn fps(value: f64) -> Fps {
    Fps::new(value).expect("a rate")
}

fn named(name: &str, ms: u64) -> NamedTime {
    NamedTime {
        name: name.to_owned(),
        count: 1,
        total: millis(ms),
    }
}

/// 100 ms of GPU activity, 40 of them busy, 20 with copies; 60 ms in API calls, half of them waiting.
fn trace() -> TraceReading {
    let device = DeviceReading {
        pid: 1,
        device: "0".to_owned(),
        busy: millis(40),
        kernels: millis(25),
        span: Some(millis(100)),
        is_upper_figure: false,
    };
    TraceReading {
        builder: Vec::new(),
        written_by: None,
        active_span: Some(millis(100)),
        session: Some(millis(500)),
        devices: vec![device],
        kernels: vec![named("kernel", 25)],
        kernel_total: Some(millis(25)),
        kernel_names: 1,
        copies: vec![
            named("[CUDA memcpy Host-to-Device]", 15),
            named("[CUDA memcpy Device-to-Host]", 5),
        ],
        api_total: Some(millis(60)),
        sync_total: Some(millis(30)),
        module_load_total: Some(millis(2)),
        plugins: Vec::new(),
        steps: None,
        matrix_share: Fraction::new(0.5),
        sm_active: Fraction::new(0.3),
        dram: None,
        diagnostics: Vec::new(),
    }
}

fn profiled(capture: CaptureState, clean: Outcome) -> ProfileReading {
    ProfileReading {
        subject: Subject::GivenLoad,
        account: Account::default(),
        clean,
        clean_status: FpsStatus::Ok,
        streams: Some(StreamCount::new(4)),
        load: Err("not sampled".to_owned()),
        command: "load".to_owned(),
        profiled: None,
        capture,
    }
}

fn ran(rates: &[f64]) -> Outcome {
    Outcome::Ran {
        windows: rates.iter().copied().map(fps).collect(),
    }
}

fn pipeline(uri: &str) -> Pipeline {
    let text = format!(
        "[application]\n[source0]\nenable=1\ntype=4\nuri={uri}\n[streammux]\nbatch-size=1\n"
    );
    let files = BTreeMap::from([("app.txt".to_owned(), text.into_bytes())]);
    Pipeline::resolve("app.txt", &files).expect("a pipeline")
}

fn signals(reading: &ProfileReading, uri: &str) -> Signals {
    signals_of(&pipeline(uri), fps(30.0), None, Some(fps(1000.0)), reading)
}

fn with_trace(change: impl FnOnce(&mut TraceReading)) -> Signals {
    let mut trace = trace();
    change(&mut trace);
    signals(
        &profiled(
            CaptureState::Captured(Box::new(trace)),
            ran(&[100.0, 120.0]),
        ),
        "rtsp://camera/1",
    )
}

#[track_caller]
fn check(share: Option<Fraction>, percent: f64) {
    let share = share.expect("it was measured").percent();
    assert!((share - percent).abs() < 1e-9, "{share} %");
}

#[test]
fn shares_are_of_the_span_in_which_the_gpu_worked() {
    let signals = with_trace(|_| {});
    // 20 ms of copies and 2 ms of module loads in 100 ms; 30 of 60 ms in API calls wait.
    check(signals.memcpy_share, 20.0);
    check(signals.module_load_share, 2.0);
    check(signals.sync_share, 50.0);
    check(signals.matrix_share, 50.0);
    check(signals.sm_active, 30.0);
    assert_eq!(
        signals.dram, None,
        "what was not sampled is unknown, not zero"
    );
}

#[test]
fn idle_is_of_the_median_step_where_there_are_steps() {
    let without = with_trace(|_| {}).gpu_idle.expect("a span");
    assert_eq!(without.of, IdleBasis::GpuActiveSpan);
    check(Some(without.share), 60.0);

    let steps = StepReading {
        method: "gaps".to_owned(),
        count: 9,
        median: millis(10),
        busy: Fraction::new(0.9),
    };
    let with = with_trace(|trace| trace.steps = Some(steps));
    check(with.gpu_busy, 90.0);
    let idle = with.gpu_idle.expect("steps");
    assert_eq!(idle.of, IdleBasis::MedianStep);
    check(Some(idle.share), 10.0);
}

#[test]
fn tracker_and_inference_are_told_by_their_plugin() {
    let plugin = |plugin, ms| PluginReading {
        name: String::new(),
        plugin,
        covered: millis(ms),
        self_time: millis(ms),
        gpu_time: Nanos::new(0),
        ranges: Vec::new(),
    };
    let signals = with_trace(|trace| {
        trace.plugins = vec![plugin(Plugin::Tracker, 70), plugin(Plugin::Infer, 30)];
    });
    assert_eq!(
        (signals.tracker_total, signals.infer_total),
        (Some(millis(70)), Some(millis(30)))
    );
    assert_eq!(with_trace(|_| {}).tracker_total, None);
}

#[test]
fn a_batch_that_waits_behind_a_slow_tracker_is_no_work_of_inference() {
    let plugin = |plugin, covered, own| PluginReading {
        name: String::new(),
        plugin,
        covered: millis(covered),
        self_time: millis(own),
        gpu_time: Nanos::new(0),
        ranges: Vec::new(),
    };
    // `buffer_process` covers all of the 100 ms; the ranges of the threads say what was done.
    let signals = with_trace(|trace| {
        trace.plugins = vec![
            plugin(Plugin::Infer, 100, 5),
            plugin(Plugin::Tracker, 90, 90),
        ];
    });
    assert_eq!(
        (signals.tracker_total, signals.infer_total),
        (Some(millis(90)), Some(millis(5)))
    );
    // nvinferserver marks nothing else.
    let signals = with_trace(|trace| trace.plugins = vec![plugin(Plugin::Infer, 100, 0)]);
    assert_eq!(signals.infer_total, Some(millis(100)));
}

#[test]
fn rates_come_from_the_clean_run() {
    let signals = with_trace(|_| {});
    assert_eq!(signals.e2e, Some(fps(110.0)));
    assert_eq!(signals.e2e_windows.len(), 2);
    assert_eq!(
        signals.source_rate,
        Some(fps(30.0)),
        "an RTSP camera has a pace of its own"
    );
    assert_eq!(signals.decode_ceiling, Some(fps(1000.0)));
}

#[test]
fn what_was_not_measured_stays_unknown() {
    let failed = Outcome::Failed {
        why: Failure::Crash,
        detail: String::new(),
    };
    let signals = signals(
        &profiled(CaptureState::NotCaptured("no nsys".to_owned()), failed),
        "file:///a.mp4",
    );
    assert_eq!(
        (
            signals.e2e,
            signals.memcpy_share,
            signals.gpu_idle.is_none()
        ),
        (None, None, true)
    );
    assert_eq!(signals.source_rate, None, "a file has no pace");
}
