//! The figures of one emitter, in windows.
//!
//! A window is one line where an emitter prints all streams on it, and one round of lines where it prints a line a
//! stream: a stream that speaks again opens the next window. Samples are kept, lines are not, so that memory grows with
//! the number of figures alone.

use std::collections::BTreeMap;

use ds_ceilings::Fps;

use super::line::{Column, Sample};
use super::log::{FpsEmitter, FpsStreamId, FpsUnit};

/// The most sources that deepstream-app takes (`MAX_SOURCE_BINS` in its source, DeepStream 9.1). A line with more
/// values is no data line, and a further name is no stream, so that a hostile log cannot buy memory with names.
pub(super) const MAX_STREAMS: usize = 1024;

/// One value in one window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Reading {
    pub(super) window: usize,
    pub(super) rate: Fps,
}

/// How a stream came into the log, which decides whether its first window is partial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entrance {
    /// It started: its first window with frames is partial.
    Started,
    /// It is one of those left after another was taken away, and ran before.
    WentOn,
}

/// Everything one stream printed.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    pub(super) id: Option<FpsStreamId>,
    pub(super) unit: FpsUnit,
    pub(super) entrance: Entrance,
    /// In ascending order of windows; a window without a number has none.
    pub(super) readings: Vec<Reading>,
    /// The window after the last one in which it was printed, with a number or without.
    pub(super) end: usize,
}

/// The columns of one pipeline, as long as their number stays the same.
#[derive(Debug)]
struct Layout {
    instance: Option<u32>,
    /// Indices of the present columns into [`Table::streams`].
    columns: Vec<usize>,
    /// The last header, as long as it can speak of the present columns or of the next ones.
    header: Option<Vec<u32>>,
    /// Whether the header speaks of columns that are yet to come.
    header_is_ahead: bool,
    last_window: Option<usize>,
}

impl Layout {
    /// Whether a line of so many columns is of another set of sources.
    fn is_changed_by(&self, n_columns: usize) -> bool {
        let is_renamed = self.header_is_ahead
            && self
                .header
                .as_ref()
                .is_some_and(|header| header.len() == n_columns);
        self.columns.len() != n_columns || is_renamed
    }
}

/// The figures of one emitter.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) emitter: FpsEmitter,
    pub(super) streams: Vec<Stream>,
    /// How many windows were printed, also before the pipeline ran.
    pub(super) n_windows: usize,
    /// How many of them were printed before it ran; no value may join them.
    n_windows_before_start: usize,
    by_name: BTreeMap<FpsStreamId, usize>,
    layouts: Vec<Layout>,
    latest: RoundSum,
    /// The sum of the window before the latest: the last one that is known to be complete where streams print a line
    /// each.
    before_latest: RoundSum,
    prints_whole_windows: bool,
}

/// The running sum of one window.
#[derive(Clone, Copy, Debug, Default)]
struct RoundSum {
    sum: Fps,
    n_samples: usize,
    n_missing: usize,
}

impl RoundSum {
    fn complete(self) -> Option<Fps> {
        (self.n_samples > 0 && self.n_missing == 0).then_some(self.sum)
    }
}

impl Table {
    pub(super) fn new(emitter: FpsEmitter) -> Self {
        Self {
            emitter,
            streams: Vec::new(),
            n_windows: 0,
            n_windows_before_start: 0,
            by_name: BTreeMap::new(),
            layouts: Vec::new(),
            latest: RoundSum::default(),
            before_latest: RoundSum::default(),
            prints_whole_windows: true,
        }
    }

    /// Forgets every figure so far but the count of windows: the pipeline runs from here.
    pub(super) fn start(&mut self) {
        self.n_windows_before_start = self.n_windows;
        self.streams.clear();
        self.by_name.clear();
        self.latest = RoundSum::default();
        self.before_latest = RoundSum::default();
        for layout in &mut self.layouts {
            layout.columns.clear();
            layout.header_is_ahead = layout.header.is_some();
            layout.last_window = None;
        }
    }

    /// The sum over streams in the last complete window, in which each stream has a number.
    pub(super) fn latest_sum(&self) -> Option<Fps> {
        if self.prints_whole_windows {
            self.latest.complete()
        } else {
            self.before_latest.complete()
        }
    }

    /// Whether any stream counts frames.
    pub(super) fn counts_frames(&self) -> bool {
        self.streams
            .iter()
            .any(|stream| stream.unit == FpsUnit::Frames)
    }

    /// Takes a header of the pipeline that has no number; with several pipelines in one process the header says
    /// nothing.
    pub(super) fn push_header(&mut self, ids: Vec<u32>) {
        let Some(at) = self.layout_of(None) else {
            return;
        };
        let layout = &mut self.layouts[at];
        layout.header_is_ahead = true;
        if layout.columns.len() == ids.len() {
            let names: Vec<_> = layout
                .columns
                .iter()
                .map(|&stream| self.streams[stream].id.clone())
                .collect();
            let header: Vec<_> = ids.iter().map(|&id| Some(FpsStreamId::Index(id))).collect();
            if names.iter().all(Option::is_none) {
                for (&stream, id) in layout.columns.iter().zip(header) {
                    self.streams[stream].id = id;
                }
                layout.header_is_ahead = false;
            } else if names == header {
                layout.header_is_ahead = false;
            }
        }
        layout.header = Some(ids);
    }

    /// Takes one line of columns. Where each has a name, the names count and not the places.
    pub(super) fn push_columns(&mut self, instance: Option<u32>, columns: &[Column<'_>]) {
        if columns.len() > MAX_STREAMS {
            return;
        }
        let names: Option<Vec<_>> = columns.iter().map(|column| column.name).collect();
        if let Some(names) = names {
            let named = names.into_iter().zip(columns);
            let entries = named
                .map(|(name, column)| (FpsStreamId::Name(name.to_owned()), column.sample))
                .collect();
            self.push_entries(entries);
            return;
        }
        let Some(at) = self.layout_of(instance) else {
            return;
        };
        if self.layouts[at].is_changed_by(columns.len()) {
            self.change_columns(at, columns.len());
        }
        // Pipelines in one process take turns; one that speaks again opens the next window.
        let layout = &self.layouts[at];
        let is_in_latest = layout
            .last_window
            .is_some_and(|window| window + 1 == self.n_windows);
        if instance.is_none() || is_in_latest || self.has_no_window() {
            self.open_window();
        }
        self.prints_whole_windows &= instance.is_none();
        let window = self.n_windows - 1;
        self.layouts[at].last_window = Some(window);
        for (place, column) in columns.iter().enumerate() {
            self.record(self.layouts[at].columns[place], column.sample);
        }
    }

    /// Takes one line with the values of all streams.
    pub(super) fn push_entries(&mut self, entries: Vec<(FpsStreamId, Sample)>) {
        if entries.is_empty() || entries.len() > MAX_STREAMS {
            return;
        }
        self.open_window();
        for (id, sample) in entries {
            if let Some(stream) = self.stream_named(id, FpsUnit::Frames) {
                self.record(stream, sample);
            }
        }
    }

    /// Takes the value of one stream.
    pub(super) fn push_single(&mut self, id: FpsStreamId, unit: FpsUnit, sample: Sample) {
        let Some(stream) = self.stream_named(id, unit) else {
            return;
        };
        self.prints_whole_windows = false;
        if self.has_no_window() || self.streams[stream].end == self.n_windows {
            self.open_window();
        }
        self.record(stream, sample);
    }

    fn has_no_window(&self) -> bool {
        self.n_windows == self.n_windows_before_start
    }

    fn open_window(&mut self) {
        self.n_windows += 1;
        self.before_latest = std::mem::take(&mut self.latest);
    }

    /// Notes a value in the latest window.
    fn record(&mut self, stream: usize, sample: Sample) {
        let window = self.n_windows - 1;
        let stream = &mut self.streams[stream];
        // A second value of one name on one line would count its frames twice.
        if stream.end > window {
            return;
        }
        stream.end = window + 1;
        let Some(rate) = sample else {
            self.latest.n_missing += 1;
            return;
        };
        stream.readings.push(Reading { window, rate });
        if stream.unit == FpsUnit::Frames {
            self.latest.sum = self.latest.sum + rate;
            self.latest.n_samples += 1;
        }
    }

    /// The index of a stream that has a name of its own; `None` for one too many.
    fn stream_named(&mut self, id: FpsStreamId, unit: FpsUnit) -> Option<usize> {
        if let Some(&stream) = self.by_name.get(&id) {
            return Some(stream);
        }
        if self.by_name.len() == MAX_STREAMS {
            return None;
        }
        let stream = self.add_stream(Some(id.clone()), unit, Entrance::Started);
        self.by_name.insert(id, stream);
        Some(stream)
    }

    fn add_stream(&mut self, id: Option<FpsStreamId>, unit: FpsUnit, entrance: Entrance) -> usize {
        self.streams.push(Stream {
            id,
            unit,
            entrance,
            readings: Vec::new(),
            end: 0,
        });
        self.streams.len() - 1
    }

    /// The index of the columns of one pipeline; `None` for one pipeline too many.
    fn layout_of(&mut self, instance: Option<u32>) -> Option<usize> {
        let known = self
            .layouts
            .iter()
            .position(|layout| layout.instance == instance);
        if known.is_some() || self.layouts.len() == MAX_STREAMS {
            return known;
        }
        self.layouts.push(Layout {
            instance,
            columns: Vec::new(),
            header: None,
            header_is_ahead: false,
            last_window: None,
        });
        Some(self.layouts.len() - 1)
    }

    /// Begins a new set of columns: the first one, or the one after sources came or went. Only the first set may be
    /// named by place; later ones wait for a header.
    fn change_columns(&mut self, at: usize, n_columns: usize) {
        let layout = &mut self.layouts[at];
        let is_first = layout.columns.is_empty();
        let entrance = if n_columns < layout.columns.len() {
            Entrance::WentOn
        } else {
            Entrance::Started
        };
        let header = layout
            .header
            .take()
            .filter(|ids| layout.header_is_ahead && ids.len() == n_columns);
        layout.header_is_ahead = false;
        layout.header.clone_from(&header);
        let instance = layout.instance;
        let named = |index| match instance {
            Some(instance) => FpsStreamId::Instance { instance, index },
            None => FpsStreamId::Index(index),
        };
        let ids: Vec<_> = match header {
            Some(ids) => ids.into_iter().map(|index| Some(named(index))).collect(),
            None if is_first => (0..)
                .take(n_columns)
                .map(|position| Some(named(position)))
                .collect(),
            None => vec![None; n_columns],
        };
        let columns = ids
            .into_iter()
            .map(|id| self.add_stream(id, FpsUnit::Frames, entrance))
            .collect();
        self.layouts[at].columns = columns;
    }
}
