//! What bounds a pipeline: a test a row, the contradictions, and what is left open.

use ds_ceilings::{Nanos, StreamCount};
use ds_derive::{
    Bound, BoundKind, Certainty, Idle, IdleBasis, Ratio, Signal, Signals, THRESHOLDS, bound,
};
use proptest::prelude::*;

use crate::support::{fps, share, snapshot};

fn idle(value: f64) -> Option<Idle> {
    Some(Idle {
        share: share(value),
        of: IdleBasis::MedianStep,
    })
}

#[track_caller]
fn check(signals: &Signals, kind: BoundKind, certainty: Certainty) -> Bound {
    let found = bound(signals);
    assert_eq!(
        (found.kind, found.certainty),
        (kind, certainty),
        "{}",
        show(&found)
    );
    found
}

fn show(found: &Bound) -> String {
    let mut lines = vec![format!("{} ({})", found.kind, found.certainty)];
    lines.extend(
        found
            .evidence
            .iter()
            .map(|evidence| format!("  {evidence}")),
    );
    for contradiction in &found.contradictions {
        lines.push(format!("  contradicted: {}", contradiction.kind));
        lines.extend(
            contradiction
                .evidence
                .iter()
                .map(|evidence| format!("    {evidence}")),
        );
    }
    lines.extend(found.also.iter().map(|kind| format!("  also: {kind}")));
    lines.extend(
        found
            .missing
            .iter()
            .map(|signal| format!("  not measured: {signal}")),
    );
    lines.push(format!("  action: {}", found.kind.action()));
    lines.join("\n")
}

/// The aggregate rate of every window after the first of that pipeline at batch 8.
pub(crate) const PIPELINE_RESNET152_B8: [f64; 5] = [336.0, 328.72, 417.12, 413.76, 450.32];

/// A pipeline on an H200 that decodes eight files, batches them and infers with ResNet-152: the rates of the clean run
/// and the sweep, dmon beside them, and the shares of the profiled run. Driver 580.159.04, nsys 2025.3.2.
pub(crate) fn h200_pipeline() -> Signals {
    Signals {
        module_load_share: Some(share(0.0091)),
        memcpy_share: Some(share(0.0013)),
        decoder_utilisation: Some(share(0.055)),
        streams: Some(StreamCount::new(8)),
        e2e: Some(fps(389.18)),
        e2e_windows: PIPELINE_RESNET152_B8.map(fps).to_vec(),
        plateau: Some(fps(1739.07)),
        decode_ceiling: Some(fps(7652.0)),
        sweep_at_1: Some(fps(68.12)),
        sweep_at_2: Some(fps(141.81)),
        matrix_share: Some(share(0.413)),
        sync_share: Some(share(0.035)),
        gpu_idle: Some(Idle {
            share: share(0.889),
            of: IdleBasis::GpuActiveSpan,
        }),
        ..Signals::default()
    }
}

#[test]
fn the_h200_pipeline_is_bound_by_its_host() {
    // 389.18 of 1739.07 fps is 22 % of the plateau, and the GPU does nothing for 89 % of its span. The sweep's 68 to 142
    // fps, a ratio of 0.48 below 0.55, hints at the decoders, which stand at 5.5 %: contradicted.
    let found = check(&h200_pipeline(), BoundKind::Host, Certainty::High);
    assert_eq!(found.contradictions.len(), 1);
    assert_eq!(found.contradictions[0].kind, BoundKind::Decode);
    snapshot("bound__h200_pipeline", &show(&found));
    // The rate of the profiled run, 260 fps, tells the same.
    let profiled = Signals {
        e2e: Some(fps(260.0)),
        ..h200_pipeline()
    };
    check(&profiled, BoundKind::Host, Certainty::High);
}

#[test]
fn nothing_measured_is_unknown() {
    let found = check(
        &Signals::default(),
        BoundKind::Unknown,
        Certainty::Inconclusive,
    );
    assert!(found.evidence.is_empty() && found.contradictions.is_empty());
    snapshot("bound__nothing_measured", &show(&found));
}

#[test]
fn engine_build() {
    let mut signals = Signals {
        builder_share: Some(share(0.001)),
        ..Signals::default()
    };
    check(&signals, BoundKind::EngineBuild, Certainty::Medium);
    signals.module_load_share = Some(share(0.12));
    check(&signals, BoundKind::EngineBuild, Certainty::High);
    // Module loading of exactly 10 % is not above it, and a builder that did not run is none.
    signals.builder_share = Some(share(0.0));
    signals.module_load_share = Some(share(0.10));
    check(&signals, BoundKind::Unknown, Certainty::Inconclusive);
}

#[test]
fn memcpy() {
    let mut signals = Signals {
        memcpy_share: Some(share(0.29)),
        ..Signals::default()
    };
    check(&signals, BoundKind::Memcpy, Certainty::Medium);
    signals.e2e = Some(fps(500.0));
    signals.plateau = Some(fps(1000.0));
    check(&signals, BoundKind::Memcpy, Certainty::High);
    // Copies beside a pipeline at its plateau cost little, and the plateau matches as well.
    signals.e2e = Some(fps(950.0));
    let found = check(&signals, BoundKind::Memcpy, Certainty::Low);
    assert_eq!(found.also, [BoundKind::Compute]);
}

#[test]
fn decode() {
    let mut signals = Signals {
        decoder_utilisation: Some(share(0.97)),
        ..Signals::default()
    };
    check(&signals, BoundKind::Decode, Certainty::Medium);
    signals.e2e = Some(fps(900.0));
    signals.decode_ceiling = Some(fps(1000.0));
    check(&signals, BoundKind::Decode, Certainty::High);
    signals.decoder_utilisation = None;
    check(&signals, BoundKind::Decode, Certainty::Medium);
    // A ceiling that decoders at 40 % come close to cannot be right: no verdict.
    signals.decoder_utilisation = Some(share(0.40));
    let found = check(&signals, BoundKind::Unknown, Certainty::Inconclusive);
    assert_eq!(found.contradictions[0].kind, BoundKind::Decode);
    snapshot("bound__decode_contradicted", &show(&found));
}

#[test]
fn the_step_from_one_stream_to_two_is_a_hint() {
    let signals = Signals {
        sweep_at_1: Some(fps(461.0)),
        sweep_at_2: Some(fps(963.0)),
        ..Signals::default()
    };
    check(&signals, BoundKind::Decode, Certainty::Low);
}

#[test]
fn compute() {
    let mut signals = Signals {
        gpu_busy: Some(share(0.96)),
        e2e: Some(fps(980.0)),
        plateau: Some(fps(1000.0)),
        ..Signals::default()
    };
    check(&signals, BoundKind::Compute, Certainty::High);
    signals.matrix_share = Some(share(0.7));
    signals.sm_active = Some(share(0.9));
    let found = check(&signals, BoundKind::Compute, Certainty::High);
    snapshot("bound__compute", &show(&found));
    // Kernels that are mostly no matrix products cast doubt.
    signals.matrix_share = Some(share(0.3));
    check(&signals, BoundKind::Compute, Certainty::Medium);
    signals.plateau = None;
    check(&signals, BoundKind::Compute, Certainty::Low);
    signals.matrix_share = Some(share(0.7));
    check(&signals, BoundKind::Compute, Certainty::Medium);
    signals.matrix_share = None;
    signals.sm_active = None;
    check(&signals, BoundKind::Compute, Certainty::Low);
}

#[test]
fn a_busy_gpu_far_below_its_plateau_contradicts_itself() {
    let signals = Signals {
        gpu_busy: Some(share(0.96)),
        e2e: Some(fps(300.0)),
        plateau: Some(fps(1000.0)),
        ..Signals::default()
    };
    let found = check(&signals, BoundKind::Unknown, Certainty::Inconclusive);
    assert_eq!(found.contradictions[0].kind, BoundKind::Compute);
}

#[test]
fn bandwidth() {
    let mut signals = Signals {
        dram: Some(share(0.88)),
        sm_active: Some(share(0.5)),
        ..Signals::default()
    };
    check(&signals, BoundKind::Bandwidth, Certainty::Medium);
    // A busy GPU at its plateau would be compute, were it not waiting for its memory.
    signals.gpu_busy = Some(share(0.97));
    signals.e2e = Some(fps(980.0));
    signals.plateau = Some(fps(1000.0));
    let found = check(&signals, BoundKind::Bandwidth, Certainty::High);
    assert_eq!(found.contradictions[0].kind, BoundKind::Compute);
    // Busy multiprocessors beside it: compute.
    signals.sm_active = Some(share(0.9));
    check(&signals, BoundKind::Compute, Certainty::High);
}

#[test]
fn tracker() {
    let mut signals = Signals {
        tracker_total: Some(Nanos::new(3_000)),
        infer_total: Some(Nanos::new(2_000)),
        ..Signals::default()
    };
    check(&signals, BoundKind::Tracker, Certainty::Medium);
    signals.tracker_input = Some(fps(480.0));
    signals.tracker_output = Some(fps(300.0));
    check(&signals, BoundKind::Tracker, Certainty::High);
    signals.tracker_total = Some(Nanos::new(1_000));
    check(&signals, BoundKind::Tracker, Certainty::Medium);
    signals.tracker_output = Some(fps(479.0));
    check(&signals, BoundKind::Unknown, Certainty::Inconclusive);
}

#[test]
fn sync() {
    let mut signals = Signals {
        sync_share: Some(share(0.6)),
        gpu_idle: idle(0.7),
        ..Signals::default()
    };
    check(&signals, BoundKind::Sync, Certainty::Medium);
    signals.e2e = Some(fps(200.0));
    signals.plateau = Some(fps(1000.0));
    check(&signals, BoundKind::Sync, Certainty::High);
    // Waiting for a GPU that works is right.
    signals.gpu_idle = idle(0.1);
    check(&signals, BoundKind::Unknown, Certainty::Inconclusive);
}

#[test]
fn paced() {
    // Sixteen streams of 30 fps: 480.
    let mut signals = Signals {
        streams: Some(StreamCount::new(16)),
        e2e: Some(fps(479.0)),
        source_rate: Some(fps(30.0)),
        gpu_idle: idle(0.8),
        ..Signals::default()
    };
    check(&signals, BoundKind::Paced, Certainty::Medium);
    signals.e2e_windows = vec![fps(480.0); 6];
    check(&signals, BoundKind::Paced, Certainty::High);
    // A display at 60 Hz that takes every stream.
    signals.source_rate = None;
    signals.sink_rate = Some(fps(60.0));
    check(&signals, BoundKind::Paced, Certainty::Medium);
    // 8 % below the source, in windows that vary: the host.
    signals.sink_rate = None;
    signals.source_rate = Some(fps(30.0));
    signals.e2e = Some(fps(440.0));
    signals.e2e_windows = vec![fps(435.0), fps(445.0)];
    check(&signals, BoundKind::Host, Certainty::Medium);
}

#[test]
fn no_streams_are_not_paced() {
    let signals = Signals {
        streams: Some(StreamCount::ZERO),
        e2e: Some(fps(0.0)),
        e2e_windows: vec![fps(0.0); 6],
        source_rate: Some(fps(30.0)),
        ..Signals::default()
    };
    check(&signals, BoundKind::Unknown, Certainty::Inconclusive);
}

#[test]
fn host() {
    let mut signals = Signals {
        gpu_idle: idle(0.6),
        ..Signals::default()
    };
    check(&signals, BoundKind::Host, Certainty::Medium);
    signals.e2e = Some(fps(300.0));
    signals.plateau = Some(fps(1000.0));
    check(&signals, BoundKind::Host, Certainty::High);
    // At the plateau the sweep was bound by the host too, unless the GPU is known to be busy.
    signals.e2e = Some(fps(950.0));
    signals.gpu_busy = Some(share(0.4));
    check(&signals, BoundKind::Host, Certainty::Low);
    // Exactly 40 % is not above it.
    signals.gpu_idle = idle(0.4);
    check(&signals, BoundKind::Unknown, Certainty::Inconclusive);
}

#[test]
fn the_first_row_wins_and_the_others_are_named() {
    let signals = Signals {
        memcpy_share: Some(share(0.3)),
        decoder_utilisation: Some(share(0.95)),
        gpu_idle: idle(0.7),
        sync_share: Some(share(0.5)),
        ..Signals::default()
    };
    let found = check(&signals, BoundKind::Memcpy, Certainty::Low);
    assert_eq!(found.also, [BoundKind::Decode, BoundKind::Sync]);
    snapshot("bound__several_rows", &show(&found));
}

#[test]
fn every_signal_stands_in_the_table_with_a_source() {
    for row in THRESHOLDS {
        assert!(!row.source.is_empty() && row.limit.get() <= 1.0, "{row:?}");
        assert!(!row.signal.name().is_empty());
    }
    let kinds: Vec<BoundKind> = THRESHOLDS.iter().map(|row| row.kind).collect();
    assert!(kinds.is_sorted(), "the table is read from the top");
}

prop_compose! {
    fn any_signals()(
        shares in prop::array::uniform12(proptest::option::of(0.0_f64..=1.0)),
        rates in prop::array::uniform9(proptest::option::of(0.0_f64..2000.0)),
        windows in prop::collection::vec(0.0_f64..2000.0, 0..4),
        totals in prop::array::uniform2(proptest::option::of(0_u64..1_000_000)),
        streams in proptest::option::of(0_u32..40),
    ) -> Signals {
        let [builder, module, memcpy, decoder, busy, matrix, sm, dram, sync, idle, _, _] = shares.map(|value| value.map(share));
        let [e2e, plateau, ceiling, one, two, input, output, source, sink] = rates.map(|value| value.map(fps));
        let [tracker, infer] = totals.map(|total| total.map(Nanos::new));
        Signals {
            builder_share: builder,
            module_load_share: module,
            memcpy_share: memcpy,
            decoder_utilisation: decoder,
            streams: streams.map(StreamCount::new),
            e2e,
            e2e_windows: windows.into_iter().map(fps).collect(),
            plateau,
            decode_ceiling: ceiling,
            sweep_at_1: one,
            sweep_at_2: two,
            gpu_busy: busy,
            matrix_share: matrix,
            sm_active: sm,
            dram,
            tracker_total: tracker,
            infer_total: infer,
            tracker_input: input,
            tracker_output: output,
            sync_share: sync,
            gpu_idle: idle.map(|share| Idle { share, of: IdleBasis::MedianStep }),
            source_rate: source,
            sink_rate: sink,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_verdict_rests_on_evidence(signals in any_signals()) {
        let found = bound(&signals);
        prop_assert_eq!(&found, &bound(&signals));
        let met = found.evidence.iter().filter(|evidence| evidence.met).count();
        match found.certainty {
            Certainty::Inconclusive => prop_assert_eq!(found.kind, BoundKind::Unknown),
            Certainty::High => prop_assert!(met >= 2, "{}", show(&found)),
            Certainty::Low | Certainty::Medium => prop_assert!(met >= 1, "{}", show(&found)),
        }
        for evidence in &found.evidence {
            prop_assert_eq!(signals.read(evidence.threshold.signal), Some(evidence.value));
            prop_assert_eq!(Some(evidence.value), Ratio::new(evidence.value.get()));
        }
        prop_assert!(found.also.iter().all(|kind| *kind > found.kind));
        prop_assert!(found.contradictions.iter().all(|entry| entry.kind != found.kind));
        prop_assert!(found.missing.iter().all(|signal: &Signal| signals.read(*signal).is_none()));
    }

    #[test]
    fn frames_in_another_unit_change_no_verdict(signals in any_signals(), power in -3_i32..4) {
        // Pacing compares with rates in frames per second and is left out.
        let scale = |rate: Option<ds_ceilings::Fps>| rate.and_then(|rate| rate.scaled(2.0_f64.powi(power)));
        let unpaced = Signals { e2e_windows: Vec::new(), ..signals };
        let scaled = Signals {
            e2e: scale(unpaced.e2e),
            plateau: scale(unpaced.plateau),
            decode_ceiling: scale(unpaced.decode_ceiling),
            sweep_at_1: scale(unpaced.sweep_at_1),
            sweep_at_2: scale(unpaced.sweep_at_2),
            tracker_input: scale(unpaced.tracker_input),
            tracker_output: scale(unpaced.tracker_output),
            source_rate: scale(unpaced.source_rate),
            sink_rate: scale(unpaced.sink_rate),
            ..unpaced.clone()
        };
        prop_assert_eq!(bound(&unpaced), bound(&scaled));
    }
}
