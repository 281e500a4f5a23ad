//! From when to when a stream is steady, and what stands around that.

use std::ops::Range;

use ds_ceilings::Fps;

use crate::fps::table::{Entrance, Reading, Stream};

/// The life of one stream, in windows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Without the partial first window and without the falling edge.
    pub(super) steady: Range<usize>,
    /// The window that holds its start and is partial for it.
    pub(super) start: Option<usize>,
    /// The last window with frames, where only zeros follow: partial too.
    pub(super) falling_edge: Option<usize>,
    /// From the window after its last frame to its last one; empty if it ended with frames.
    pub(super) zero_tail: Range<usize>,
    /// Whether another stream was steady during its tail of zeros.
    pub(super) is_faulty: bool,
}

impl Span {
    /// Finds the spans of one stream; whether it is faulty, only its neighbours can say.
    fn of(stream: &Stream) -> Self {
        let readings = &stream.readings;
        let end = stream.end;
        let has_frames = |reading: &&Reading| reading.rate > Fps::ZERO;
        let frames = readings
            .iter()
            .find(has_frames)
            .zip(readings.iter().rev().find(has_frames));
        let Some((first, last)) = frames else {
            let zero_tail = readings.first().map_or(end, |reading| reading.window)..end;
            return Self {
                steady: end..end,
                start: None,
                falling_edge: None,
                zero_tail,
                is_faulty: false,
            };
        };
        let start = (stream.entrance == Entrance::Started).then_some(first.window);
        let has_tail = last.window + 1 < end
            && readings
                .last()
                .is_some_and(|reading| reading.rate == Fps::ZERO);
        let falling_edge = has_tail.then_some(last.window);
        let steady_from = start.map_or(first.window, |window| window + 1);
        let steady_to = falling_edge.unwrap_or(end).max(steady_from);
        Self {
            steady: steady_from..steady_to,
            start,
            falling_edge,
            zero_tail: if has_tail {
                last.window + 1..end
            } else {
                end..end
            },
            is_faulty: false,
        }
    }

    pub(super) fn has_zero_tail(&self) -> bool {
        !self.zero_tail.is_empty()
    }

    /// The readings in the steady windows.
    pub(super) fn steady_readings<'a>(&self, stream: &'a Stream) -> &'a [Reading] {
        readings_in(stream, &self.steady)
    }
}

/// The readings in a range of windows.
pub(super) fn readings_in<'a>(stream: &'a Stream, windows: &Range<usize>) -> &'a [Reading] {
    let from = stream
        .readings
        .partition_point(|reading| reading.window < windows.start);
    let to = stream
        .readings
        .partition_point(|reading| reading.window < windows.end);
    &stream.readings[from..to.max(from)]
}

/// The spans of streams that run side by side.
pub(super) fn of_all(streams: &[&Stream]) -> Vec<Span> {
    let mut spans: Vec<_> = streams.iter().map(|stream| Span::of(stream)).collect();
    let steady = union(
        spans
            .iter()
            .map(|span| span.steady.clone())
            .filter(|steady| !steady.is_empty())
            .collect(),
    );
    for span in &mut spans {
        // Its own steady windows never meet its tail, so the union may hold them.
        let next = steady.partition_point(|windows| windows.end <= span.zero_tail.start);
        span.is_faulty = span.has_zero_tail()
            && steady
                .get(next)
                .is_some_and(|windows| windows.start < span.zero_tail.end);
    }
    spans
}

/// Joins ranges that meet, in ascending order.
fn union(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}
