//! From the readings of a run to the signals of the boundedness table.

use ds_ceilings::Fps;
use ds_config::Pipeline;
use ds_derive::{Idle, IdleBasis, Outcome, Plateau, Signals};
use ds_nsys::Plugin;

use crate::stages::{CaptureState, ProfileReading, TraceReading};

/// What was measured, in the form in which the table reads it. Whatever was not measured stays `None`.
pub fn signals_of(
    pipeline: &Pipeline,
    fps: Fps,
    plateau: Option<&Plateau>,
    decode_ceiling: Option<Fps>,
    profile: &ProfileReading,
) -> Signals {
    let trace = match &profile.capture {
        CaptureState::Captured(trace) => Some(trace.as_ref()),
        CaptureState::NotCaptured(_) => None,
    };
    let windows = match &profile.clean {
        Outcome::Ran { windows } => windows.clone(),
        Outcome::Failed { .. } => Vec::new(),
    };
    let at = |batch| {
        plateau
            .and_then(|p| p.points.iter().find(|m| m.batch.get() == batch))
            .map(|m| m.fps)
    };
    let live = pipeline.sources.iter().any(|source| {
        matches!(
            source.kind,
            ds_config::SourceKind::Rtsp | ds_config::SourceKind::Usb | ds_config::SourceKind::Csi
        )
    });
    let load = profile.load.as_ref().ok();
    let mut signals = Signals {
        decoder_utilisation: load.and_then(|load| load.decoder),
        streams: profile.streams,
        e2e: mean(&windows),
        e2e_windows: windows,
        plateau: plateau.and_then(|p| p.final_batch.and_then(|batch| p.fps_at(batch))),
        decode_ceiling,
        sweep_at_1: at(1),
        sweep_at_2: at(2),
        source_rate: live.then_some(fps),
        ..Signals::default()
    };
    if let Some(trace) = trace {
        from_trace(&mut signals, trace);
    }
    signals
}

fn from_trace(signals: &mut Signals, trace: &TraceReading) {
    signals.memcpy_share = trace.memcpy_share();
    signals.sync_share = trace.sync_share();
    signals.module_load_share = trace.module_load_share();
    signals.builder_share = trace.builder_share();
    let step_busy = trace.steps.as_ref().and_then(|steps| steps.busy);
    signals.gpu_busy = step_busy;
    signals.matrix_share = trace.matrix_share;
    signals.sm_active = trace.sm_active;
    signals.dram = trace.dram;
    signals.gpu_idle = match (step_busy, trace.busy_share()) {
        (Some(busy), _) => Some(Idle {
            share: busy.complement(),
            of: IdleBasis::MedianStep,
        }),
        (None, Some(busy)) => Some(Idle {
            share: busy.complement(),
            of: IdleBasis::GpuActiveSpan,
        }),
        (None, None) => None,
    };
    // A start/end range such as nvinfer's `buffer_process` lasts from a batch's arrival until its results are handed on:
    // behind it waits whatever is slow. Only where an element marks nothing else does its length count.
    let worked = |wanted: Plugin| {
        let sum: u64 = trace
            .plugins
            .iter()
            .filter(|plugin| plugin.plugin == wanted)
            .map(|plugin| match plugin.self_time.get() {
                0 => plugin.covered.get(),
                own => own,
            })
            .sum();
        (sum > 0).then(|| ds_ceilings::Nanos::new(sum))
    };
    signals.tracker_total = worked(Plugin::Tracker);
    signals.infer_total = worked(Plugin::Infer);
}

/// The mean of windows; `None` of none.
pub fn mean(windows: &[Fps]) -> Option<Fps> {
    let n = u32::try_from(windows.len()).ok().filter(|n| *n > 0)?;
    Fps::new(windows.iter().map(|w| w.get()).sum::<f64>() / f64::from(n))
}
