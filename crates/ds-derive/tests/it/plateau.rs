//! The plateau: what a sweep says, and every caveat.

use std::fmt::Write as _;

use ds_ceilings::StreamCount;
use ds_derive::{
    Failure, Note, Outcome, Plateau, PlateauBatch, STEADY_WINDOWS, SweepPoint, WORTHWHILE_GAIN,
    plateau,
};
use proptest::prelude::*;

use crate::support::{batch, flat_sweep, fps, plateau_not_reached, snapshot};

/// The aggregate rate of every window after the first, batch by batch: FP16 ResNet-152 at 448 x 448 fed with pinned
/// frames on one H200, driver 580.159.04.
pub(crate) const RESNET152: [(u32, [f64; 5]); 6] = [
    (1, [61.98, 68.44, 64.87, 72.77, 72.55]),
    (2, [131.54, 144.62, 153.9, 155.02, 123.96]),
    (4, [299.36, 259.04, 272.52, 274.28, 290.88]),
    (8, [587.2, 622.32, 622.72, 424.64, 554.0]),
    (16, [1009.44, 1101.12, 992.48, 1201.76, 1111.04]),
    (32, [1751.68, 1747.84, 1696.0, 1751.36, 1748.48]),
];

/// The same for ResNet-50 at 224 x 224.
pub(crate) const RESNET50: [(u32, [f64; 5]); 6] = [
    (1, [249.95, 257.99, 251.49, 192.55, 232.29]),
    (2, [264.48, 273.98, 304.68, 420.46, 423.7]),
    (4, [806.08, 735.8, 791.56, 817.12, 660.44]),
    (8, [1084.0, 1115.92, 1890.64, 1318.48, 1192.8]),
    (16, [2367.36, 3644.48, 2783.68, 2711.04, 2329.12]),
    (32, [7185.92, 6147.2, 4936.32, 6488.96, 5622.08]),
];

fn recorded(recording: &[(u32, [f64; 5])]) -> Vec<SweepPoint> {
    recording
        .iter()
        .map(|(size, windows)| ran(*size, windows))
        .collect()
}

fn ran(size: u32, windows: &[f64]) -> SweepPoint {
    SweepPoint {
        batch: batch(size),
        streams: StreamCount::new(size),
        outcome: Outcome::Ran {
            windows: windows.iter().copied().map(fps).collect(),
        },
    }
}

fn failed(size: u32, why: Failure, detail: &str) -> SweepPoint {
    SweepPoint {
        batch: batch(size),
        streams: StreamCount::new(size),
        outcome: Outcome::Failed {
            why,
            detail: detail.to_owned(),
        },
    }
}

fn show(plateau: &Plateau) -> String {
    let mut page = format!(
        "{:?}, final batch {:?}\n",
        plateau.found,
        plateau.final_batch.map(|b| b.get())
    );
    for point in &plateau.points {
        writeln!(
            page,
            "  batch {:>3}: {} over {} windows",
            point.batch.get(),
            point.fps,
            point.windows
        )
        .unwrap();
    }
    for step in &plateau.steps {
        let interval = step.interval.map_or_else(
            || "no interval".to_owned(),
            |(low, high)| format!("{low} to {high}"),
        );
        writeln!(
            page,
            "  {:>3} to {:>3}: {} ({interval})",
            step.from.get(),
            step.to.get(),
            step.gain
        )
        .unwrap();
    }
    for note in &plateau.notes {
        writeln!(page, "- {note}").unwrap();
    }
    page
}

#[track_caller]
fn check(rates: &[(u32, f64)], streams: u32, found: PlateauBatch, final_batch: Option<u32>) {
    let plateau = plateau(&flat_sweep(rates, 6), StreamCount::new(streams));
    assert_eq!(plateau.found, found, "{}", show(&plateau));
    assert_eq!(plateau.final_batch, final_batch.map(batch));
}

#[test]
fn the_plateau_by_hand() {
    let reached = |size| PlateauBatch::Reached(batch(size));
    let not_reached = |largest| PlateauBatch::NotReached {
        largest: batch(largest),
    };
    // 8 to 16: 1020 / 1000 = 2 % more, the first step below 5 %.
    let rates = [
        (1, 200.0),
        (2, 390.0),
        (4, 700.0),
        (8, 1000.0),
        (16, 1020.0),
    ];
    check(&rates, 16, reached(8), Some(8));
    check(&rates, 3, reached(8), Some(3));
    // 100 to 105 is 5 % more: worth it. 100 to 104.9 is not.
    check(&[(1, 100.0), (2, 105.0)], 8, not_reached(2), Some(2));
    check(&[(1, 100.0), (2, 104.9)], 8, reached(1), Some(1));
    // One point has no step.
    check(&[(1, 100.0)], 1, not_reached(1), Some(1));
    check(&[], 4, PlateauBatch::NothingRan, None);
}

#[test]
fn a_gain_is_counted_per_doubling() {
    // 8 to 12 is log2(1.5) = 0.585 doublings. 4 % more over them is 1.04^(1/0.585) - 1 = 6.9 % per doubling: worth it,
    // while the 4 % themselves would not be.
    let sweep = flat_sweep(&[(8, 1000.0), (12, 1040.0)], 6);
    let found = plateau(&sweep, StreamCount::new(12));
    assert_eq!(found.found, PlateauBatch::NotReached { largest: batch(12) });
    assert!(
        (found.steps[0].gain.percent() - 6.935).abs() < 0.01,
        "{}",
        found.steps[0].gain
    );
    // From 4 to 16, two doublings, 44 % more is sqrt(1.44) - 1 = 20 % each.
    let found = plateau(
        &flat_sweep(&[(4, 100.0), (16, 144.0)], 6),
        StreamCount::new(16),
    );
    assert!((found.steps[0].gain.percent() - 20.0).abs() < 1e-9);
}

#[test]
fn resnet152_is_not_at_its_plateau_at_32() {
    let found = plateau(&recorded(&RESNET152), StreamCount::new(32));
    assert_eq!(found.found, PlateauBatch::NotReached { largest: batch(32) });
    // The means of 16 and 32 are 1083.17 and 1739.07: 60.6 % more.
    let last = found.steps.last().unwrap();
    assert_eq!(format!("{:.0}", last.gain), "+61 %");
    assert!((found.fps().unwrap().get() - 1739.07).abs() < 0.01);
    assert!(
        found
            .notes
            .iter()
            .any(|note| matches!(note, Note::Provisional { fewest: 5, .. }))
    );
    snapshot("plateau__resnet152", &show(&found));
}

#[test]
fn resnet50_more_than_doubles() {
    let found = plateau(&recorded(&RESNET50), StreamCount::new(32));
    assert_eq!(found.found, PlateauBatch::NotReached { largest: batch(32) });
    // 2767.14 to 6076.10: 119.6 % more.
    assert_eq!(format!("{:.0}", found.steps.last().unwrap().gain), "+120 %");
    let flagged = found
        .notes
        .iter()
        .any(|note| matches!(note, Note::MoreThanDoubled { step } if step.to == batch(32)));
    assert!(flagged, "{}", show(&found));
    snapshot("plateau__resnet50", &show(&found));
}

#[test]
fn a_gain_within_the_noise() {
    // The means are 100 and 104: 4 % more, from windows that scatter by 20 %.
    let noisy = |mean: f64| [0.8, 1.2, 0.9, 1.1, 0.85, 1.15].map(|factor| factor * mean);
    let sweep = [ran(1, &noisy(100.0)), ran(2, &noisy(104.0))];
    let found = plateau(&sweep, StreamCount::new(2));
    assert_eq!(found.found, PlateauBatch::Reached(batch(1)));
    assert!(found.steps[0].is_within_noise());
    assert!(!found.is_firm());
    snapshot("plateau__within_noise", &show(&found));
    // The same means without scatter are not in doubt.
    let firm = plateau(
        &flat_sweep(&[(1, 100.0), (2, 104.0)], 6),
        StreamCount::new(2),
    );
    assert!(firm.is_firm() && firm.notes.is_empty(), "{}", show(&firm));
}

#[test]
fn noise_beyond_the_plateau_is_no_caveat() {
    // 2 % from 1 to 2 decides; what 4 does is beyond it.
    let sweep = [
        ran(1, &[100.0; 6]),
        ran(2, &[102.0; 6]),
        ran(4, &[85.0, 130.0, 90.0, 125.0, 95.0, 120.0]),
    ];
    let found = plateau(&sweep, StreamCount::new(4));
    assert_eq!(found.found, PlateauBatch::Reached(batch(1)));
    assert!(found.steps[1].is_within_noise());
    let noted = |note: &Note| matches!(note, Note::WithinNoise { .. });
    assert!(!found.notes.iter().any(noted), "{}", show(&found));
}

#[test]
fn a_gap_that_is_not_worth_it_does_not_rise_again() {
    // 8 % over the two doublings from 1 to 4 is 3.9 % each.
    let found = plateau(
        &flat_sweep(&[(1, 100.0), (4, 108.0)], 6),
        StreamCount::new(4),
    );
    assert_eq!(found.found, PlateauBatch::Reached(batch(1)));
    assert_eq!(found.notes, []);
}

#[test]
fn a_rate_that_falls_and_one_that_rises_again() {
    let rates = [(1, 100.0), (2, 90.0), (4, 150.0), (8, 160.0)];
    let found = plateau(&flat_sweep(&rates, 6), StreamCount::new(8));
    assert_eq!(found.found, PlateauBatch::Reached(batch(1)));
    snapshot("plateau__fell_and_rose", &show(&found));
}

#[test]
fn batches_that_failed() {
    let sweep = [
        failed(16, Failure::OutOfMemory, "cudaErrorMemoryAllocation"),
        ran(1, &[100.0; 6]),
        failed(2, Failure::EngineBuild, ""),
        ran(4, &[300.0; 6]),
        ran(8, &[310.0; 6]),
        ran(32, &[0.0; 6]),
        ran(64, &[]),
    ];
    let found = plateau(&sweep, StreamCount::new(64));
    // 300 to 310 is 3.3 % more.
    assert_eq!(found.found, PlateauBatch::Reached(batch(4)));
    snapshot("plateau__failed", &show(&found));
}

#[test]
fn nothing_but_failures() {
    let sweep = [
        failed(1, Failure::Stall, ""),
        failed(2, Failure::Timeout, "120 s"),
    ];
    snapshot(
        "plateau__nothing_ran",
        &show(&plateau(&sweep, StreamCount::new(4))),
    );
}

#[test]
fn a_sweep_that_its_source_paces() {
    // 30 frames per second and stream at every batch: doubling doubles, and says nothing about the GPU.
    let rates = [(1, 30.0), (2, 60.0), (4, 120.0), (8, 240.0)];
    let found = plateau(&flat_sweep(&rates, 6), StreamCount::new(8));
    let rate = fps(30.0);
    assert_eq!(
        found.found,
        PlateauBatch::Paced {
            rate,
            largest: batch(8)
        }
    );
    snapshot("plateau__paced", &show(&found));
    // One batch off the rate, and it is a measurement.
    let mut sweep = flat_sweep(&rates, 6);
    sweep[3] = ran(8, &[240.0, 240.0, 234.0, 240.0, 240.0, 240.0]);
    let found = plateau(&sweep, StreamCount::new(8));
    assert_eq!(found.found, PlateauBatch::NotReached { largest: batch(8) });
    snapshot("plateau__partly_paced", &show(&found));
}

#[test]
fn two_printed_decimals_are_still_the_rate() {
    // Eight streams print 29.97 each, or 30.00: only the latter is a pacing rate.
    let of = |per_stream: f64| plateau(&[ran(8, &[8.0 * per_stream; 6])], StreamCount::new(8));
    assert!(matches!(of(30.0).found, PlateauBatch::Paced { .. }));
    assert!(matches!(of(30.004).found, PlateauBatch::Paced { .. }));
    assert!(matches!(of(29.97).found, PlateauBatch::NotReached { .. }));
}

#[test]
fn windows_of_one_batch_are_pooled() {
    let sweep = [ran(1, &[90.0, 110.0]), ran(1, &[100.0; 4])];
    let found = plateau(&sweep, StreamCount::new(1));
    assert_eq!(found.points.len(), 1);
    assert_eq!(found.points[0].windows, 6);
    assert_eq!(found.points[0].fps, fps(100.0));
    assert_eq!(found.fps_at(batch(1)), Some(fps(100.0)));
    assert_eq!(found.fps_at(batch(2)), None);
}

#[test]
fn a_sweep_that_was_capped_by_the_streams() {
    let found = plateau_not_reached(5);
    assert_eq!(found.final_batch, Some(batch(5)));
}

prop_compose! {
    /// Sweeps over powers of two with rates that are no multiple of a pacing rate.
    fn any_sweep()(windows in prop::collection::vec(prop::collection::vec(100_u32..100_000, 2..8), 1..7)) -> Vec<SweepPoint> {
        (0_u32..).zip(windows).map(|(power, windows)| {
            let windows: Vec<f64> = windows.iter().map(|window| f64::from(*window) * 0.7 + 0.31).collect();
            ran(1 << power, &windows)
        }).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_verdict_is_the_definition(sweep in any_sweep(), streams in 1_u32..100) {
        let found = plateau(&sweep, StreamCount::new(streams));
        let rate = |size| found.fps_at(batch(size)).unwrap().get();
        let sizes: Vec<u32> = sweep.iter().map(|point| point.batch.get()).collect();
        let first = sizes.windows(2).find(|pair| rate(pair[1]) / rate(pair[0]) - 1.0 < WORTHWHILE_GAIN.get());
        let expected = match first {
            Some(pair) => PlateauBatch::Reached(batch(pair[0])),
            None => PlateauBatch::NotReached { largest: batch(*sizes.last().unwrap()) },
        };
        prop_assert_eq!(found.found, expected);
        let final_batch = found.final_batch.unwrap().get();
        prop_assert!(final_batch <= streams && final_batch <= *sizes.last().unwrap());
    }

    #[test]
    fn the_order_of_the_points_does_not_matter(sweep in any_sweep().prop_flat_map(|sweep| (Just(sweep.clone()), Just(sweep).prop_shuffle()))) {
        let streams = StreamCount::new(16);
        prop_assert_eq!(plateau(&sweep.0, streams), plateau(&sweep.1, streams));
    }

    #[test]
    fn a_faster_clock_changes_no_verdict(sweep in any_sweep(), power in -2_i32..6) {
        // A power of two scales floating point numbers exactly.
        let scaled: Vec<SweepPoint> = sweep.iter().cloned().map(|mut point| {
            if let Outcome::Ran { windows } = &mut point.outcome {
                for window in windows {
                    *window = window.scaled(2.0_f64.powi(power)).unwrap();
                }
            }
            point
        }).collect();
        let streams = StreamCount::new(16);
        let (one, other) = (plateau(&sweep, streams), plateau(&scaled, streams));
        prop_assert_eq!(one.found, other.found);
        prop_assert_eq!(one.steps, other.steps);
    }

    #[test]
    fn more_streams_never_get_a_smaller_batch(sweep in any_sweep(), streams in 0_u32..100, more in 0_u32..100) {
        let batch = |streams| plateau(&sweep, StreamCount::new(streams)).final_batch;
        prop_assert!(batch(streams) <= batch(streams + more));
    }

    #[test]
    fn an_interval_holds_its_gain_and_short_runs_are_provisional(sweep in any_sweep()) {
        let found = plateau(&sweep, StreamCount::new(16));
        for step in &found.steps {
            let (low, high) = step.interval.unwrap();
            prop_assert!(low <= step.gain && step.gain <= high, "{} {low} {high}", step.gain);
        }
        let short = found.points.iter().any(|point| point.windows < STEADY_WINDOWS);
        let noted = found.notes.iter().any(|note| matches!(note, Note::Provisional { .. }));
        prop_assert_eq!(short, noted);
    }
}

#[test]
fn a_sink_that_waits_for_a_clock_which_is_read() {
    // fpsdisplaysink behind a mux: batches, at a rate that wavers about 30.
    let about = |size: u32| {
        let windows: Vec<f64> = [29.97, 30.02, 30.0, 29.99, 30.03, 29.98]
            .iter()
            .map(|rate| rate * f64::from(size))
            .collect();
        ran(size, &windows)
    };
    let found = plateau(&[about(1), about(2), about(4)], StreamCount::new(4));
    assert_eq!(
        found.found,
        PlateauBatch::Paced {
            rate: fps(30.0),
            largest: batch(4)
        }
    );
    let rate = fps(30.0);
    assert_eq!(found.notes, [Note::NearlyPaced { rate }]);
    // One batch alone may be so fast by chance.
    let alone = plateau(&[about(4)], StreamCount::new(4));
    assert!(matches!(alone.found, PlateauBatch::NotReached { .. }));
    // So may one among others, whose streams run at other rates.
    let faster = ran(2, &[120.0; 6]);
    let found = plateau(&[about(1), faster], StreamCount::new(4));
    assert!(
        !matches!(found.found, PlateauBatch::Paced { .. }),
        "{found:?}"
    );
}
