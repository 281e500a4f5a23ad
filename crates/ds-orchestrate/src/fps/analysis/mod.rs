//! The reading rules: from windows to steady windows, means and verdicts.

mod segment;
mod span;

use ds_ceilings::Fps;

use self::span::Span;
use super::log::{
    FpsEmitter, FpsLog, FpsSegment, FpsStatus, FpsStream, FpsStreamId, FpsUnit, MIN_STEADY_WINDOWS,
};
use super::reader::{Console, CumulativeLog};
use super::table::{Reading, Stream, Table};

/// The rates of common sources and displays. A window that equals one exactly was paced by it.
const PACED_RATES: [f64; 5] = [24.0, 25.0, 30.0, 50.0, 60.0];

/// What the log as a whole says about how the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Frames to the last window, or an orderly end.
    Orderly,
    /// Zeros to the last window, and no end of stream.
    Stalled,
}

/// Reads everything that a console printed.
pub(super) fn read(console: &Console) -> FpsLog {
    let is_never_running = console.is_ready && !console.is_running;
    let main = console.main_table();
    let mut log = FpsLog {
        emitter: main.map(|table| emitter_of(table, console)),
        other_emitters: Vec::new(),
        windows_in_log: main.map_or(0, |table| table.n_windows),
        streams: Vec::new(),
        segments: Vec::new(),
        saw_end_of_stream: console.saw_end_of_stream,
        status: FpsStatus::None,
    };
    let others = console.tables.iter().filter(|table| table.n_windows > 0);
    log.other_emitters = others
        .map(|table| emitter_of(table, console))
        .filter(|&e| Some(e) != log.emitter)
        .collect();
    if is_never_running {
        log.status = FpsStatus::NeverRunning;
    } else if let Some(table) = main {
        read_table(table, console, &mut log);
    } else if let Some(cumulative) = &console.cumulative {
        read_cumulative(cumulative, &mut log);
    }
    log
}

/// The name of the program behind a table: relatives of deepstream-app print the same columns.
fn emitter_of(table: &Table, console: &Console) -> FpsEmitter {
    match console.relative {
        Some(relative) if table.emitter == FpsEmitter::DeepstreamApp => relative,
        _ => table.emitter,
    }
}

fn read_table(table: &Table, console: &Console, log: &mut FpsLog) {
    let (frames, buffers): (Vec<_>, Vec<_>) = table
        .streams
        .iter()
        .partition(|stream| stream.unit == FpsUnit::Frames);
    let mut ending = Ending::Orderly;
    for group in [frames, buffers] {
        let group_ending = ending_of(&group, table, console);
        let spans = span::of_all(&group);
        let streams = group
            .iter()
            .zip(&spans)
            .map(|(stream, span)| read_stream(stream, span, group_ending));
        log.streams.extend(streams);
        // Buffers are batches of several streams at several places of one pipeline: their sum means nothing.
        if group
            .first()
            .is_some_and(|stream| stream.unit == FpsUnit::Frames)
        {
            log.segments = segment::of_all(&group, &spans, group_ending);
            ending = group_ending;
        }
    }
    log.status = verdict(log, ending);
}

/// Whether the group stood still at the end of the log. Zeros are a stall only where frames came before them, or where
/// the pipeline said that it runs.
fn ending_of(group: &[&Stream], table: &Table, console: &Console) -> Ending {
    let mut last = group
        .iter()
        .filter_map(|stream| stream.readings.last())
        .filter(|reading| reading.window + 1 == table.n_windows)
        .peekable();
    let stands_still = last.peek().is_some() && last.all(|reading| reading.rate == Fps::ZERO);
    let ever_ran = group.iter().any(|stream| {
        stream
            .readings
            .iter()
            .any(|reading| reading.rate > Fps::ZERO)
    });
    if stands_still && (ever_ran || console.is_running) && !console.saw_end_of_stream {
        Ending::Stalled
    } else {
        Ending::Orderly
    }
}

fn read_stream(stream: &Stream, span: &Span, ending: Ending) -> FpsStream {
    let steady = span.steady_readings(stream);
    let status = if span.is_faulty {
        FpsStatus::Fault
    } else if ending == Ending::Stalled && span.has_zero_tail() {
        FpsStatus::Stall
    } else {
        status_of(steady.len(), paced_rate(steady))
    };
    let windows: Vec<_> = steady.iter().map(|reading| reading.rate).collect();
    FpsStream {
        id: stream.id.clone(),
        unit: stream.unit,
        mean: mean(windows.iter().copied()),
        median: median(&windows),
        windows,
        last_sample: stream.readings.last().map(|reading| reading.rate),
        status,
    }
}

/// The status of a rate over `n_windows` steady windows, where nothing went wrong.
fn status_of(n_windows: usize, paced: Option<Fps>) -> FpsStatus {
    match (n_windows, paced) {
        (0, _) => FpsStatus::None,
        (n, _) if n < MIN_STEADY_WINDOWS => FpsStatus::Short { n },
        (_, Some(rate)) => FpsStatus::Paced { rate },
        (_, None) => FpsStatus::Ok,
    }
}

/// The one common rate that every reading has; `None` if there is no such rate or no reading.
fn paced_rate(readings: &[Reading]) -> Option<Fps> {
    let rate = readings.first()?.rate;
    let is_common = PACED_RATES
        .iter()
        .any(|&common| Fps::new(common) == Some(rate));
    (is_common && readings.iter().all(|reading| reading.rate == rate)).then_some(rate)
}

/// The worst that holds of the log, and without anything bad the status of the aggregate.
fn verdict(log: &FpsLog, ending: Ending) -> FpsStatus {
    if ending == Ending::Stalled {
        return FpsStatus::Stall;
    }
    if log
        .streams
        .iter()
        .any(|stream| stream.status == FpsStatus::Fault)
    {
        return FpsStatus::Fault;
    }
    if let Some(aggregate) = log.aggregate() {
        return aggregate.status;
    }
    if log
        .streams
        .iter()
        .any(|stream| stream.unit == FpsUnit::Frames)
    {
        return FpsStatus::None;
    }
    // Buffers have no aggregate: the log is worth as much as the stream that is known least.
    let least = log.streams.iter().min_by_key(|stream| stream.windows.len());
    least.map_or(FpsStatus::None, |stream| stream.status)
}

/// Averages since start cannot be told apart into windows: the last one of each stream is all there is.
fn read_cumulative(cumulative: &CumulativeLog, log: &mut FpsLog) {
    log.emitter = Some(cumulative.emitter);
    log.windows_in_log = cumulative.n_lines;
    for last in &cumulative.last {
        let Some(average) = last.average else {
            continue;
        };
        log.streams.push(FpsStream {
            id: Some(last.stream.clone()),
            unit: FpsUnit::Frames,
            windows: vec![average],
            mean: Some(average),
            median: Some(average),
            last_sample: Some(average),
            status: FpsStatus::Cumulative,
        });
    }
    let n_streams = |last: &FpsStreamId| match last {
        FpsStreamId::EachOf(n_streams) => usize::try_from(*n_streams).unwrap_or(usize::MAX),
        _ => 1,
    };
    // A total is printed over all streams; without one, the aggregate is the sum of what each stream printed last.
    let (n_streams, total) = match cumulative.last.last() {
        Some(last) if last.total.is_some() => (n_streams(&last.stream), last.total),
        _ => (
            log.streams.len(),
            Some(log.streams.iter().filter_map(|stream| stream.mean).sum()),
        ),
    };
    if let Some(mean) = total.filter(|_| !log.streams.is_empty()) {
        log.status = FpsStatus::Cumulative;
        log.segments.push(FpsSegment {
            n_streams,
            windows: vec![mean],
            n_windows: 1,
            mean,
            status: FpsStatus::Cumulative,
        });
    }
}

/// The arithmetic mean; `None` of nothing.
fn mean(rates: impl ExactSizeIterator<Item = Fps>) -> Option<Fps> {
    #[expect(clippy::cast_precision_loss, reason = "no log holds 2^53 windows")]
    let n_rates = rates.len() as f64;
    // Nothing over nothing is NaN, which is no rate.
    Fps::new(rates.sum::<Fps>().get() / n_rates)
}

fn median(rates: &[Fps]) -> Option<Fps> {
    let mut sorted = rates.to_vec();
    sorted.sort_unstable();
    let upper = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        Some(sorted[upper])
    } else {
        mean(sorted.get(upper.checked_sub(1)?..=upper)?.iter().copied())
    }
}
