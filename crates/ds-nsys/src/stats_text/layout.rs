//! Tables out of lines: where they begin and end, and which text belongs to which column.

use super::column::{StatsColumn, StatsFigure, StatsUnit};
use super::lines::{self, Line, is_separated_heading};
use super::numbers::NumberFormat;
use super::table::{Layout, StatsTable};
use crate::error::{Error, Result};

/// Reads a table of separated fields from its heading on; returns the line behind it.
pub(super) fn read_separated(
    lines: &[&str],
    heading: usize,
    separator: u8,
    report: Option<String>,
) -> Result<(StatsTable, usize)> {
    let text = lines[heading..].join("\n");
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let broken = |line: u64, problem: String| Error::StatsText {
        line: heading + usize::try_from(line).unwrap_or(usize::MAX - heading),
        problem,
    };
    let mut records = reader.records();
    let mut next_record = || -> Result<Option<(csv::StringRecord, u64)>> {
        let Some(record) = records.next() else {
            return Ok(None);
        };
        let record = record.map_err(|error| {
            broken(
                error.position().map_or(1, csv::Position::line),
                error.to_string(),
            )
        })?;
        let line = record.position().map_or(1, csv::Position::line);
        Ok(Some((record, line)))
    };
    let first = next_record()?.map(|(record, _)| record).unwrap_or_default();
    let mut table = StatsTable::new(report, heading + 1, first.iter().map(str::to_owned));
    let mut cells = Vec::new();
    let mut end = lines.len();
    while let Some((record, line)) = next_record()? {
        let mut at = heading + usize::try_from(line).unwrap_or(1) - 1;
        // The reader counts blank lines to the record behind them.
        at += lines
            .get(at..)
            .unwrap_or_default()
            .iter()
            .take_while(|text| text.trim().is_empty())
            .count();
        let is_next = lines.get(at).is_some_and(|text| {
            is_separated_heading(text, separator)
                || !matches!(lines::classify(text), Line::Text | Line::Blank)
        });
        if is_next {
            end = at;
            break;
        }
        if record.len() != table.columns.len() {
            if record.len() == 1 {
                // Output of the program, or whatever else follows a table.
                end = at;
                break;
            }
            let problem = format!(
                "{} fields where the heading has {}",
                record.len(),
                table.columns.len()
            );
            return Err(broken(line, problem));
        }
        cells.push(record.iter().map(|cell| cell.trim().to_owned()).collect());
    }
    let format = separated_format(&table, &cells);
    table.fill(cells, format, Layout::Separated)?;
    Ok((table, end))
}

/// CSV has no separators between thousands: a number with a comma in it has a decimal comma.
fn separated_format(table: &StatsTable, cells: &[Vec<String>]) -> NumberFormat {
    let mut numbers = table
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.unit != StatsUnit::None && column.unit != StatsUnit::Percent)
        .flat_map(|(at, _)| cells.iter().filter_map(move |row| row.get(at)));
    let has_comma = numbers.any(|number| number.contains(','));
    if has_comma {
        NumberFormat { decimal: ',' }
    } else {
        NumberFormat::POINT
    }
}

/// Reads a table in columns around its line of dashes; returns the line behind it.
pub(super) fn read_columns(
    lines: &[&str],
    dashes: usize,
    report: Option<String>,
) -> Result<(StatsTable, usize)> {
    let spans = spans(lines[dashes]);
    let (heading, headings) = headings_above(lines, dashes, spans.len())?;
    let mut table = StatsTable::new(report, heading + 1, headings);
    let mut cells: Vec<Vec<String>> = Vec::new();
    let mut end = dashes + 1;
    for (at, line) in lines.iter().enumerate().skip(dashes + 1) {
        match lines::classify(line) {
            Line::Blank => continue,
            Line::Text => {}
            _ => break,
        }
        let row = cut_at(line, &spans);
        if !table.is_row(&row) {
            break;
        }
        cells.push(row);
        end = at + 1;
    }
    let format = aligned_format(&table, &cells)?;
    table.fill(cells, format, Layout::Aligned)?;
    Ok((table, end))
}

impl StatsTable {
    /// Whether cells look like a row: something in every column of numbers, and nothing but numbers there.
    fn is_row(&self, cells: &[String]) -> bool {
        let numeric = self.columns.iter().zip(cells).filter(|(column, _)| {
            column.unit != StatsUnit::None || column.figure == Some(StatsFigure::Count)
        });
        let mut seen = false;
        for (_, cell) in numeric {
            if !cell.chars().all(|c| {
                c.is_ascii_digit()
                    || matches!(c, '.' | ',' | '-' | '\'' | ' ' | '\u{A0}' | '\u{202F}')
            }) {
                return false;
            }
            seen |= !cell.is_empty();
        }
        seen
    }
}

/// First and last character of every group of dashes.
fn spans(dashes: &str) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (at, c) in dashes.chars().enumerate() {
        match spans.last_mut() {
            _ if c != '-' => {}
            Some((_, end)) if *end == at => *end = at + 1,
            _ => spans.push((at, at + 1)),
        }
    }
    spans
}

/// The headings above the dashes, which a pasted log may have wrapped: lines up to the first that makes the count full.
fn headings_above(lines: &[&str], dashes: usize, count: usize) -> Result<(usize, Vec<String>)> {
    /// A heading of one line, wrapped, and a blank line each: no log was seen to spread wider.
    const LOOK_BACK: usize = 4;

    let mut headings: Vec<String> = Vec::new();
    for at in (dashes.saturating_sub(LOOK_BACK)..dashes).rev() {
        let words = lines[at]
            .split("  ")
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .map(str::to_owned);
        headings.splice(0..0, words);
        if headings.len() == count {
            return Ok((at, headings));
        }
    }
    let problem = format!("the headings above {count} columns cannot be told apart");
    Err(Error::StatsText {
        line: dashes + 1,
        problem,
    })
}

/// Cuts a line at the spans of its columns; the last one goes on to the end of the line.
fn cut_at(line: &str, spans: &[(usize, usize)]) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    let last = spans.len().saturating_sub(1);
    let cut = |(nth, (start, end)): (usize, &(usize, usize))| {
        let end = if nth == last {
            chars.len()
        } else {
            (*end).min(chars.len())
        };
        let cell: String = chars.get(*start..end).unwrap_or_default().iter().collect();
        cell.trim().to_owned()
    };
    spans.iter().enumerate().map(cut).collect()
}

/// The locale of an aligned table, from the columns whose values all have one decimal, or three in tables of sizes.
fn aligned_format(table: &StatsTable, cells: &[Vec<String>]) -> Result<NumberFormat> {
    let of_columns = |wanted: fn(&StatsColumn) -> bool| -> Vec<&str> {
        let positions = table
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| wanted(column));
        positions
            .flat_map(|(at, _)| cells.iter().filter_map(move |row| row.get(at)))
            .map(String::as_str)
            .filter(|cell| !cell.is_empty())
            .collect()
    };
    let shares = of_columns(|column| column.figure == Some(StatsFigure::Share));
    let sizes = of_columns(|column| column.unit.is_size());
    let learned = match (shares.is_empty(), sizes.is_empty()) {
        (false, _) => NumberFormat::from_fractions(shares, 1),
        (true, false) => NumberFormat::from_fractions(sizes, 3),
        (true, true) => {
            let means = of_columns(|column| column.figure == Some(StatsFigure::Mean));
            if means.is_empty() {
                Some(NumberFormat::POINT)
            } else {
                NumberFormat::from_fractions(means, 1)
            }
        }
    };
    learned.ok_or_else(|| Error::StatsText {
        line: table.line,
        problem: "point and comma cannot be told apart in this table's numbers".to_owned(),
    })
}

/// Reads a framed table from its upper frame on; returns the line behind it.
pub(super) fn read_framed(
    lines: &[&str],
    frame: usize,
    report: Option<String>,
) -> Result<(StatsTable, usize)> {
    let fields = |line: &str| -> Option<Vec<String>> {
        let inner = line.trim().strip_prefix('|')?.strip_suffix('|')?;
        Some(
            inner
                .split(" | ")
                .map(|field| field.trim().to_owned())
                .collect(),
        )
    };
    let headings = lines
        .get(frame + 1)
        .and_then(|line| fields(line))
        .ok_or_else(|| Error::StatsText {
            line: frame + 2,
            problem: "a frame without headings".to_owned(),
        })?;
    let mut table = StatsTable::new(report, frame + 2, headings);
    let spans: Vec<(usize, usize)> = frame_spans(lines[frame]);
    let mut cells = Vec::new();
    let mut end = frame + 2;
    for (at, line) in lines.iter().enumerate().skip(frame + 2) {
        end = at + 1;
        if matches!(lines::classify(line), Line::Frame) {
            if cells.is_empty() {
                continue;
            }
            break;
        }
        if !line.trim_start().starts_with('|') {
            end = at;
            break;
        }
        // By position and not by the bars: names may hold bars too.
        cells.push(cut_inside(line, &spans));
    }
    let format = aligned_format(&table, &cells)?;
    table.fill(cells, format, Layout::Aligned)?;
    Ok((table, end))
}

/// What lies between the corners of a frame.
fn frame_spans(frame: &str) -> Vec<(usize, usize)> {
    let corners: Vec<usize> = frame
        .chars()
        .enumerate()
        .filter(|(_, c)| *c == '+')
        .map(|(at, _)| at)
        .collect();
    corners
        .windows(2)
        .map(|pair| (pair[0] + 1, pair[1]))
        .collect()
}

fn cut_inside(line: &str, spans: &[(usize, usize)]) -> Vec<String> {
    let chars: Vec<char> = line.chars().collect();
    let cell = |(start, end): &(usize, usize)| -> String {
        chars
            .get(*start..(*end).min(chars.len()))
            .unwrap_or_default()
            .iter()
            .collect::<String>()
            .trim()
            .to_owned()
    };
    spans.iter().map(cell).collect()
}
