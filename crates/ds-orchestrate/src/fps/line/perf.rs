//! The `**PERF` and `**FPS` lines: columns, headers, dictionaries, labelled values.

use super::{Column, Columns, Line, Sample, Single, leading_number, sample, stream_id};
use crate::fps::log::{FpsEmitter, FpsStreamId, FpsUnit};

/// What follows a marker such as `**PERF:` or `PERF(1):`.
struct Marked<'a> {
    instance: Option<u32>,
    body: &'a str,
}

/// Recognises a line with a marker.
pub(super) fn parse(line: &str) -> Option<Line<'_>> {
    if let Some(marked) = marked(line, "PERF") {
        return perf_body(&marked);
    }
    let marked = marked(line, "FPS")?;
    let columns = columns(marked.body)?;
    Some(Line::Columns(Columns {
        emitter: FpsEmitter::MeasureFpsProbe,
        instance: None,
        columns,
    }))
}

/// Recognises what the same programs print without a marker.
pub(super) fn parse_unmarked(line: &str) -> Option<Line<'_>> {
    if let Some((left, right)) = line.split_once("source_id") {
        return rtvi_cv(left, right);
    }
    let body = trimmed(line);
    if body.starts_with("FPS ") {
        return match labelled(body)? {
            Labelled::Header(ids) => Some(Line::Header(FpsEmitter::DslSourceMeter, ids)),
            Labelled::Values(..) => None,
        };
    }
    // The last character is cheap to look at, and most of a log is chatter.
    if !body.ends_with(')') {
        return None;
    }
    columns(body).map(Line::BareColumns)
}

/// Finds `word` as a marker: after asterisks, or with an instance number at the start of a word.
fn marked<'a>(line: &'a str, word: &str) -> Option<Marked<'a>> {
    line.match_indices(word).find_map(|(at, _)| {
        let before = &line[..at];
        let rest = &line[at + word.len()..];
        let (instance, rest) = match rest.strip_prefix('(') {
            Some(numbered) => {
                let (instance, rest) = leading_number(numbered)?;
                (Some(instance), rest.strip_prefix(')')?)
            }
            None => (None, rest),
        };
        let is_word_start = before.chars().next_back().is_none_or(char::is_whitespace);
        let is_marker = before.ends_with('*') || (instance.is_some() && is_word_start);
        if !is_marker {
            return None;
        }
        // nvdslogger puts a blank before its colon.
        let body = rest.trim_start_matches(' ').strip_prefix(':')?;
        Some(Marked { instance, body })
    })
}

fn perf_body<'a>(marked: &Marked<'a>) -> Option<Line<'a>> {
    let body = trimmed(marked.body);
    if body.is_empty() {
        return Some(Line::PerfAlone(marked.instance));
    }
    if let Some(dictionary) = body.strip_prefix('{') {
        let entries = dictionary_entries(dictionary.strip_suffix('}')?)?;
        return Some(Line::Entries(FpsEmitter::PythonPerfData, entries));
    }
    if body.starts_with("FPS_") {
        return Some(Line::Entries(
            FpsEmitter::NvdsLogger,
            nvdslogger_entries(body)?,
        ));
    }
    if body.starts_with("FPS") {
        return Some(match labelled(body)? {
            Labelled::Header(ids) => Line::Header(FpsEmitter::DeepstreamApp, ids),
            Labelled::Values(emitter, entries) => values(emitter, entries),
        });
    }
    // deepstream-app prints two blanks after its colon, the parallel-inference app one.
    let emitter = if marked.instance.is_none()
        && marked.body.starts_with(' ')
        && !marked.body.starts_with("  ")
    {
        FpsEmitter::ParallelInference
    } else {
        FpsEmitter::DeepstreamApp
    };
    let columns = columns(body)?;
    Some(Line::Columns(Columns {
        emitter,
        instance: marked.instance,
        columns,
    }))
}

/// The body without blanks around it and without the asterisks that pasting into Markdown leaves behind.
fn trimmed(body: &str) -> &str {
    body.trim().trim_end_matches('*').trim_end()
}

/// Reads `[id[name] ]value (average)` once or more. Columns end in a tab; where a log was pasted with blanks for tabs,
/// the closing parenthesis ends one.
fn columns(body: &str) -> Option<Vec<Column<'_>>> {
    let columns: Option<Vec<_>> = if body.contains('\t') {
        body.split('\t')
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .map(|text| column(text.strip_suffix(')')?))
            .collect()
    } else {
        body.strip_suffix(')')?.split(')').map(column).collect()
    };
    columns.filter(|columns| !columns.is_empty())
}

/// Reads one column, given without its closing parenthesis.
fn column(text: &str) -> Option<Column<'_>> {
    let (left, average) = text.rsplit_once('(')?;
    // The average is not used, but a line without one is not of this shape.
    sample(average.trim())?;
    let left = left.trim();
    let (name, value) = match left.rsplit_once(char::is_whitespace) {
        Some((name, value)) => (Some(name.trim_end()), value),
        None => (None, left),
    };
    let name = name.map(|name| name.split_once('[').map_or(name, |(id, _)| id));
    Some(Column {
        name,
        sample: sample(value)?,
    })
}

/// `value (average)<tab>source_id : n stream_name s`.
fn rtvi_cv<'a>(left: &'a str, right: &'a str) -> Option<Line<'a>> {
    let [Column { name: None, sample }] = columns(left.trim())?[..] else {
        return None;
    };
    let (source_id, _) = leading_number(right.trim_start().strip_prefix(':')?.trim_start())?;
    Some(Line::Single(Single {
        emitter: FpsEmitter::RtviCv,
        stream: FpsStreamId::Index(source_id),
        unit: FpsUnit::Frames,
        sample,
    }))
}

/// The inside of `{'stream0': 29.97, 'stream1': 30.0}`.
fn dictionary_entries(inside: &str) -> Option<Vec<(FpsStreamId, Sample)>> {
    let entry = |text: &str| {
        let (name, value) = text.rsplit_once(':')?;
        let name = name.trim().trim_matches(['\'', '"']);
        let id = stream_id(
            name.strip_prefix("stream")
                .filter(|digits| is_number(digits))
                .unwrap_or(name),
        );
        Some((id, sample(value.trim())?))
    };
    inside.split(',').map(entry).collect()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// `FPS_0 (28.49)` once or more.
fn nvdslogger_entries(mut rest: &str) -> Option<Vec<(FpsStreamId, Sample)>> {
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (index, after) = leading_number(rest.strip_prefix("FPS_")?)?;
        let (value, after) = after.trim_start().strip_prefix('(')?.split_once(')')?;
        entries.push((FpsStreamId::Index(index), sample(value.trim())?));
        rest = after.trim_start();
    }
    Some(entries)
}

/// Values that each have a label. The documentation of `PerfMonitor` shows one on a line and does not say whether
/// further streams stand beside it or below, so that one alone does not make a window.
fn values(emitter: FpsEmitter, mut entries: Vec<(FpsStreamId, Sample)>) -> Line<'static> {
    match entries.pop() {
        Some((stream, sample)) if entries.is_empty() && emitter == FpsEmitter::PerfMonitor => {
            Line::Single(Single {
                emitter,
                stream,
                unit: FpsUnit::Frames,
                sample,
            })
        }
        last => {
            entries.extend(last);
            Line::Entries(emitter, entries)
        }
    }
}

/// A run of labels, with values after them or without.
enum Labelled {
    /// `FPS 0 (Avg)` once or more.
    Header(Vec<u32>),
    /// `FPS 0 (Avg) 29.87` or `FPS0 12.40`, once or more.
    Values(FpsEmitter, Vec<(FpsStreamId, Sample)>),
}

fn labelled(body: &str) -> Option<Labelled> {
    let mut header = Vec::new();
    let mut values = Vec::new();
    let mut emitter = FpsEmitter::GdinoApp;
    let mut rest = body;
    // The total is redundant: it is the sum of the values before it.
    while !rest.is_empty() && !rest.starts_with("(total") {
        let (index, after) = leading_number(rest.strip_prefix("FPS")?.trim_start())?;
        let after = after.trim_start();
        let is_average = after
            .get(..5)
            .is_some_and(|label| label.eq_ignore_ascii_case("(avg)"));
        let after = if is_average {
            after[5..].trim_start()
        } else {
            after
        };
        if is_average && (after.is_empty() || after.starts_with("FPS")) {
            header.push(index);
            rest = after;
            continue;
        }
        if is_average {
            emitter = FpsEmitter::PerfMonitor;
        }
        let end = after.find(char::is_whitespace).unwrap_or(after.len());
        let (value, after) = after.split_at(end);
        values.push((FpsStreamId::Index(index), sample(value)?));
        rest = after.trim_start();
    }
    match (header.is_empty(), values.is_empty()) {
        (false, true) => Some(Labelled::Header(header)),
        (true, false) => Some(Labelled::Values(emitter, values)),
        // Labels with and without values on one line are no emitter's.
        (true, true) | (false, false) => None,
    }
}
