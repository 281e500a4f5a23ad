//! One console line, recognised by its shape alone.
//!
//! Markers are looked for anywhere in the line: container runtimes put a time in front, and standard error of other
//! threads can end without a newline.

mod element;
mod perf;

use ds_ceilings::Fps;

use super::log::{FpsEmitter, FpsStreamId, FpsUnit};

/// A value that an emitter printed in place of a rate: `None` for `--.--`, `nan`, `inf`.
pub(super) type Sample = Option<Fps>;

/// What one line says.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// The pipeline was built; frames may never come.
    PipelineReady,
    /// The pipeline plays.
    PipelineRunning,
    /// The end of the stream reached the application.
    EndOfStream,
    /// `Active sources : N` of deepstream-test5.
    ActiveSources,
    /// Names of columns to come, and whose they are.
    Header(FpsEmitter, Vec<u32>),
    /// A `**PERF:` whose values stand on the next line, with the number of its pipeline if it has one.
    PerfAlone(Option<u32>),
    /// Values in columns that only their place names.
    Columns(Columns<'a>),
    /// Columns without a marker: data only where a line before announced them.
    BareColumns(Vec<Column<'a>>),
    /// Values of all streams, each with its name.
    Entries(FpsEmitter, Vec<(FpsStreamId, Sample)>),
    /// The value of one stream.
    Single(Single),
    /// An average since start.
    Cumulative(Cumulative),
    /// No rate.
    Other,
}

/// A line of columns after a marker.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Columns<'a> {
    pub(super) emitter: FpsEmitter,
    /// The number in `PERF(<i>)`, which several pipelines in one process print.
    pub(super) instance: Option<u32>,
    pub(super) columns: Vec<Column<'a>>,
}

/// One column: `value (average)`, perhaps after `id[name]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Column<'a> {
    /// The id, without the display name in brackets.
    pub(super) name: Option<&'a str>,
    pub(super) sample: Sample,
}

/// A line that speaks of one stream.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Single {
    pub(super) emitter: FpsEmitter,
    pub(super) stream: FpsStreamId,
    pub(super) unit: FpsUnit,
    pub(super) sample: Sample,
}

/// An average since start, of one stream or of each of several.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cumulative {
    pub(super) emitter: FpsEmitter,
    pub(super) stream: FpsStreamId,
    pub(super) average: Sample,
    /// The sum over streams, where the emitter prints it.
    pub(super) total: Sample,
}

impl<'a> Line<'a> {
    /// Recognises a line, given without its line end.
    pub(super) fn parse(line: &'a str) -> Self {
        perf::parse(line)
            .or_else(|| state(line))
            .or_else(|| element::parse(line))
            .or_else(|| perf::parse_unmarked(line))
            .unwrap_or(Self::Other)
    }
}

/// The lines that say where in its life a pipeline is.
fn state(line: &str) -> Option<Line<'static>> {
    // deepstream-app, gst-launch-1.0 and the Python sample apps, in this order.
    const ENDS: [&str; 3] = ["Received EOS", "Got EOS from element", "End-of-stream"];
    if line.contains("Pipeline running") {
        Some(Line::PipelineRunning)
    } else if line.contains("Pipeline ready") {
        Some(Line::PipelineReady)
    } else if ENDS.iter().any(|end| line.contains(end)) {
        Some(Line::EndOfStream)
    } else if line.contains("Active sources :") {
        Some(Line::ActiveSources)
    } else {
        None
    }
}

/// Reads what stands in the place of a rate; `None` if it is no number and none of the fillers for one.
fn sample(token: &str) -> Option<Sample> {
    if token == "--.--" {
        return Some(None);
    }
    token.parse::<f64>().ok().map(Fps::new)
}

/// Splits a leading decimal number off.
fn leading_number(text: &str) -> Option<(u32, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

/// A stream named by a number or by a word.
fn stream_id(name: &str) -> FpsStreamId {
    name.parse()
        .map_or_else(|_| FpsStreamId::Name(name.to_owned()), FpsStreamId::Index)
}
