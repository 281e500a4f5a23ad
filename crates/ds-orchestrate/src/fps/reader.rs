//! Feeds console output, line by line or in chunks, into tables.

use ds_ceilings::Fps;

use super::analysis;
use super::line::{Columns, Cumulative, Line};
use super::log::{FpsEmitter, FpsLog, FpsUnit};
use super::table::{MAX_STREAMS, Table};

/// Longer lines are no FPS lines: 1,024 columns, the most that deepstream-app prints, with names of 256 characters and
/// their two values need about 300 kB.
const MAX_LINE_BYTES: usize = 1 << 20;

/// Reads a console as it is printed, or a log of one.
///
/// Feed it with [`push_line`](Self::push_line) or [`push_bytes`](Self::push_bytes), ask
/// [`latest_aggregate`](Self::latest_aggregate) for progress, and [`finish`](Self::finish) it. No input is an error: a
/// line that holds no rate is passed over.
#[derive(Debug, Default)]
pub struct FpsReader {
    partial: Vec<u8>,
    partial_is_too_long: bool,
    console: Console,
}

/// What has been understood so far.
#[derive(Debug, Default)]
pub(super) struct Console {
    pub(super) tables: Vec<Table>,
    pub(super) cumulative: Option<CumulativeLog>,
    pub(super) is_ready: bool,
    pub(super) is_running: bool,
    pub(super) saw_end_of_stream: bool,
    /// What gave the columns of deepstream-app away as those of one of its relatives.
    pub(super) relative: Option<FpsEmitter>,
    /// The pipeline whose `**PERF:` stood alone and whose values are still to come.
    awaited: Option<Option<u32>>,
    is_dsl: bool,
}

/// The averages since start of one emitter.
#[derive(Debug)]
pub(super) struct CumulativeLog {
    pub(super) emitter: FpsEmitter,
    pub(super) n_lines: usize,
    /// The last average of each stream.
    pub(super) last: Vec<Cumulative>,
}

impl FpsReader {
    /// A reader that has seen nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes one whole line, with or without its line end. Bytes pushed before it without a line end are a line of
    /// their own.
    pub fn push_line(&mut self, line: &str) {
        self.end_partial_line();
        if line.len() <= MAX_LINE_BYTES {
            self.console.push(line.trim_end_matches(['\n', '\r']));
        }
    }

    /// Takes a chunk of output, cut anywhere. Bytes that are not UTF-8 are read as replacement characters.
    pub fn push_bytes(&mut self, chunk: &[u8]) {
        let mut pieces = chunk.split(|&byte| byte == b'\n');
        let rest = pieces.next_back().unwrap_or_default();
        for piece in pieces {
            self.extend_partial_line(piece);
            self.end_partial_line();
        }
        self.extend_partial_line(rest);
    }

    /// The sum over streams in the last complete window, for showing progress: nothing is left out of it, neither
    /// start-up nor stalls. `None` before the pipeline runs, while a stream has no number, and for emitters that count
    /// buffers.
    #[must_use]
    pub fn latest_aggregate(&self) -> Option<Fps> {
        if self.console.is_ready && !self.console.is_running {
            return None;
        }
        match self.console.main_table() {
            Some(table) => table.latest_sum(),
            None => self.console.cumulative.as_ref()?.last.last()?.total,
        }
    }

    /// What was printed last, in what the emitter counts: [`Self::latest_aggregate`], or for an emitter that counts buffers
    /// the last rate of its first stream.
    #[must_use]
    pub fn latest(&self) -> Option<(Fps, FpsUnit)> {
        if let Some(rate) = self.latest_aggregate() {
            return Some((rate, FpsUnit::Frames));
        }
        if self.console.is_ready && !self.console.is_running {
            return None;
        }
        let table = self.console.main_table().filter(|t| !t.counts_frames())?;
        let last = table.streams.first()?.readings.last()?;
        Some((last.rate, FpsUnit::Buffers))
    }

    /// How many windows were printed.
    #[must_use]
    pub fn n_windows(&self) -> usize {
        match self.console.main_table() {
            Some(table) => table.n_windows,
            None => self
                .console
                .cumulative
                .as_ref()
                .map_or(0, |log| log.n_lines),
        }
    }

    /// Applies the reading rules to the whole lines that were pushed so far.
    #[must_use]
    pub fn so_far(&self) -> FpsLog {
        analysis::read(&self.console)
    }

    /// Applies the reading rules to everything that was pushed.
    #[must_use]
    pub fn finish(mut self) -> FpsLog {
        self.end_partial_line();
        analysis::read(&self.console)
    }

    fn extend_partial_line(&mut self, piece: &[u8]) {
        if self.partial.len() + piece.len() > MAX_LINE_BYTES {
            self.partial.clear();
            self.partial_is_too_long = true;
        }
        if !self.partial_is_too_long {
            self.partial.extend_from_slice(piece);
        }
    }

    fn end_partial_line(&mut self) {
        if !self.partial.is_empty() {
            let line = String::from_utf8_lossy(&self.partial);
            self.console.push(line.trim_end_matches('\r'));
            self.partial.clear();
        }
        self.partial_is_too_long = false;
    }
}

impl Console {
    /// The table that the result is read from: frames rather than buffers, then the one with the most windows, then
    /// the first.
    pub(super) fn main_table(&self) -> Option<&Table> {
        let tables = self.tables.iter().filter(|table| table.n_windows > 0);
        // `max_by_key` returns the last of equal elements, hence the reversal.
        tables
            .rev()
            .max_by_key(|table| (table.counts_frames(), table.n_windows))
    }

    fn push(&mut self, line: &str) {
        match Line::parse(line) {
            Line::PipelineReady => self.is_ready = true,
            Line::PipelineRunning => self.run(),
            Line::EndOfStream => self.saw_end_of_stream = true,
            Line::ActiveSources => self.relative = Some(FpsEmitter::DeepstreamTest5),
            Line::Header(emitter, ids) => {
                self.is_dsl |= emitter == FpsEmitter::DslSourceMeter;
                if emitter == FpsEmitter::DeepstreamApp
                    && self.relative == Some(FpsEmitter::ParallelInference)
                {
                    self.relative = None;
                }
                self.table(emitter).push_header(ids);
            }
            Line::PerfAlone(instance) => {
                self.relative = Some(FpsEmitter::DeepstreamTest5);
                self.awaited = Some(instance);
            }
            Line::Columns(columns) => self.push_columns(&columns),
            Line::BareColumns(columns) => {
                if let Some(instance) = self.awaited.take() {
                    self.table(FpsEmitter::DeepstreamApp)
                        .push_columns(instance, &columns);
                } else if self.is_dsl {
                    self.table(FpsEmitter::DslSourceMeter)
                        .push_columns(None, &columns);
                }
            }
            Line::Entries(emitter, entries) => self.table(emitter).push_entries(entries),
            Line::Single(single) => {
                self.table(single.emitter)
                    .push_single(single.stream, single.unit, single.sample);
            }
            Line::Cumulative(cumulative) => self.push_cumulative(cumulative),
            Line::Other => {}
        }
    }

    fn push_columns(&mut self, line: &Columns<'_>) {
        self.awaited = None;
        // One blank instead of two is no proof where a header was seen: pasting folds blanks.
        let mut emitter = line.emitter;
        if emitter == FpsEmitter::ParallelInference {
            emitter = FpsEmitter::DeepstreamApp;
            if !self.tables.iter().any(|table| table.emitter == emitter) {
                self.relative = Some(FpsEmitter::ParallelInference);
            }
        }
        self.table(emitter)
            .push_columns(line.instance, &line.columns);
    }

    /// Keeps the last average of each stream of the emitter that printed the first one.
    fn push_cumulative(&mut self, line: Cumulative) {
        let log = self.cumulative.get_or_insert_with(|| CumulativeLog {
            emitter: line.emitter,
            n_lines: 0,
            last: Vec::new(),
        });
        if log.emitter != line.emitter {
            return;
        }
        log.n_lines += 1;
        if line.total.is_some() {
            // A line with a total speaks of all streams, and replaces what was said of another number of them.
            log.last.clear();
        }
        if let Some(last) = log.last.iter_mut().find(|last| last.stream == line.stream) {
            *last = line;
        } else if log.last.len() < MAX_STREAMS {
            log.last.push(line);
        }
    }

    /// Drops what was printed before the pipeline ran. Where two pipelines say so, the first one counts.
    fn run(&mut self) {
        if !self.is_running {
            self.is_running = true;
            self.saw_end_of_stream = false;
            self.cumulative = None;
            self.tables.iter_mut().for_each(Table::start);
        }
    }

    fn table(&mut self, emitter: FpsEmitter) -> &mut Table {
        let at = self
            .tables
            .iter()
            .position(|table| table.emitter == emitter)
            .unwrap_or_else(|| {
                self.tables.push(Table::new(emitter));
                self.tables.len() - 1
            });
        &mut self.tables[at]
    }
}
