//! How many object ids survive, and what follows for the interval.

use super::super::document::{Align, Block, Document, Table};
use super::super::model::RetentionReport;
use super::known;

/// The dumps that were read; nothing where there is none.
pub fn retention_document(dumps: &[RetentionReport]) -> Document {
    let mut out = Document::default();
    let Some(first) = dumps.first() else {
        return out;
    };
    out.push(Block::Section("Track id retention".to_owned()));
    out.push(Block::Paragraph(first.definition.clone()));
    for dump in dumps {
        out.push(Block::Verdict {
            answer: dump
                .retention_percent
                .map_or_else(|| "unknown".to_owned(), |percent| format!("{percent:.1} %")),
            rest: format!(
                " of the ids survive at interval {} (`{}`). {}.",
                dump.interval, dump.path, dump.advice
            ),
        });
        out.push(Block::Table(streams(dump)));
        out.bullets(dump.notes.iter().cloned());
    }
    out
}

fn streams(dump: &RetentionReport) -> Table {
    let shares: Vec<Option<f64>> = dump.streams.iter().map(|s| s.retention_percent).collect();
    let rows = dump
        .streams
        .iter()
        .map(|stream| {
            vec![
                stream.stream.clone(),
                known(stream.retention_percent, 1, " %"),
                stream.kept.to_string(),
                stream.replaced.to_string(),
                stream.undecided.to_string(),
                stream.short_gaps.to_string(),
                stream.long_gaps.to_string(),
                stream.frames.to_string(),
            ]
        })
        .collect();
    Table::new(
        &[
            ("Stream", Align::Left),
            ("Retention", Align::Right),
            ("Kept", Align::Right),
            ("Replaced", Align::Right),
            ("Undecided", Align::Right),
            ("Short gaps", Align::Right),
            ("Long gaps", Align::Right),
            ("Frames", Align::Right),
        ],
        rows,
    )
    .with_bars(1, &shares, 100.0)
}
