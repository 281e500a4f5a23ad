//! The aggregate, for each stretch of the log in which one set of streams is steady.

use std::collections::BTreeSet;
use std::ops::Range;

use ds_ceilings::Fps;

use super::span::{Span, readings_in};
use super::{Ending, mean, paced_rate, status_of};
use crate::fps::log::{FpsSegment, FpsStatus};
use crate::fps::table::Stream;

/// What changes at the beginning of a window. A window in which a stream starts or falls counts for no set.
#[derive(Clone, Copy, Debug)]
enum Change {
    Steady(usize),
    NoLongerSteady(usize),
    EdgeBegins,
    EdgeEnds,
    FaultBegins,
    FaultEnds,
}

/// One set of streams and the windows in which it was steady.
struct Stretch {
    windows: Range<usize>,
    streams: Vec<usize>,
    is_faulty: bool,
}

/// The aggregates of streams that count frames, in the order of the log.
pub(super) fn of_all(streams: &[&Stream], spans: &[Span], ending: Ending) -> Vec<FpsSegment> {
    let stretches = stretches(spans);
    let n_stretches = stretches.len();
    let segments = stretches
        .into_iter()
        .enumerate()
        .filter_map(|(at, stretch)| {
            let ending = if at + 1 == n_stretches {
                ending
            } else {
                Ending::Orderly
            };
            segment(streams, &stretch, ending)
        });
    segments.collect()
}

fn stretches(spans: &[Span]) -> Vec<Stretch> {
    let changes = changes(spans);
    let mut stretches = Vec::new();
    let mut steady = BTreeSet::new();
    let mut n_edges = 0_usize;
    let mut n_faults = 0_usize;
    let mut changes = changes.into_iter().peekable();
    while let Some((window, change)) = changes.next() {
        match change {
            Change::Steady(stream) => {
                steady.insert(stream);
            }
            Change::NoLongerSteady(stream) => {
                steady.remove(&stream);
            }
            Change::EdgeBegins => n_edges += 1,
            Change::EdgeEnds => n_edges -= 1,
            Change::FaultBegins => n_faults += 1,
            Change::FaultEnds => n_faults -= 1,
        }
        let Some(&(next, _)) = changes.peek() else {
            break;
        };
        if next > window && n_edges == 0 && !steady.is_empty() {
            let streams = steady.iter().copied().collect();
            stretches.push(Stretch {
                windows: window..next,
                streams,
                is_faulty: n_faults > 0,
            });
        }
    }
    stretches
}

/// Every change with the window it holds from, in ascending order.
fn changes(spans: &[Span]) -> Vec<(usize, Change)> {
    let mut changes = Vec::new();
    for (stream, span) in spans.iter().enumerate() {
        if !span.steady.is_empty() {
            changes.push((span.steady.start, Change::Steady(stream)));
            changes.push((span.steady.end, Change::NoLongerSteady(stream)));
        }
        for edge in [span.start, span.falling_edge].into_iter().flatten() {
            changes.push((edge, Change::EdgeBegins));
            changes.push((edge + 1, Change::EdgeEnds));
        }
        if span.is_faulty {
            changes.push((span.zero_tail.start, Change::FaultBegins));
            changes.push((span.zero_tail.end, Change::FaultEnds));
        }
    }
    // Within one window the order does not matter: nothing ends in the window in which it begins.
    changes.sort_by_key(|&(window, _)| window);
    changes
}

/// Sums one stretch up; `None` if some stream has no sample in it.
fn segment(streams: &[&Stream], stretch: &Stretch, ending: Ending) -> Option<FpsSegment> {
    let readings: Vec<_> = stretch
        .streams
        .iter()
        .map(|&stream| readings_in(streams[stream], &stretch.windows))
        .collect();
    let n_windows = readings.iter().map(|readings| readings.len()).min()?;
    let means: Option<Vec<_>> = readings
        .iter()
        .map(|readings| mean(readings.iter().map(|reading| reading.rate)))
        .collect();
    let mean = means?.into_iter().sum();

    let mut sums = vec![(Fps::ZERO, 0_usize); stretch.windows.len()];
    for reading in readings.iter().copied().flatten() {
        let (sum, n_samples) = &mut sums[reading.window - stretch.windows.start];
        *sum = *sum + reading.rate;
        *n_samples += 1;
    }
    let complete = sums
        .into_iter()
        .filter(|&(_, n_samples)| n_samples == readings.len());

    let paced: Option<Vec<_>> = readings
        .iter()
        .map(|readings| paced_rate(readings))
        .collect();
    let status = if stretch.is_faulty {
        FpsStatus::Fault
    } else if ending == Ending::Stalled {
        FpsStatus::Stall
    } else {
        status_of(n_windows, paced.and_then(|rates| rates.into_iter().min()))
    };
    Some(FpsSegment {
        n_streams: readings.len(),
        windows: complete.map(|(sum, _)| sum).collect(),
        n_windows,
        mean,
        status,
    })
}
