//! Tables out of lines: where they begin and end, what their columns mean, what their values are worth.

use super::lines::{self, Line, is_separated_heading};
use super::numbers::NumberFormat;
use crate::error::{Error, Result};
use crate::units::{FracBytes, FracNanos, Share};

/// What the numbers of a column count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatsUnit {
    /// Nanoseconds.
    Nanoseconds,
    /// Microseconds, printed to the nanosecond.
    Microseconds,
    /// Milliseconds, printed to 100 ns.
    Milliseconds,
    /// Seconds, printed to 100 µs.
    Seconds,
    /// Per cent.
    Percent,
    /// 10^6 bytes.
    Megabytes,
    /// 1024 bytes.
    Kibibytes,
    /// 10^6 bytes a second.
    MegabytesPerSecond,
    /// A count, an id, or a text.
    None,
}

impl StatsUnit {
    /// The unit in parentheses at the end of a heading.
    fn from_heading(heading: &str) -> Option<Self> {
        let unit = heading.strip_suffix(')')?.rsplit_once('(')?.1;
        Some(match unit {
            "ns" => Self::Nanoseconds,
            "us" | "μs" => Self::Microseconds,
            "ms" => Self::Milliseconds,
            "s" | "sec" => Self::Seconds,
            "%" => Self::Percent,
            "MB" => Self::Megabytes,
            "KiB" => Self::Kibibytes,
            "MB/s" | "MBps" => Self::MegabytesPerSecond,
            _ => return None,
        })
    }

    /// How many nanoseconds or bytes one is; `None` for what is neither.
    fn scale(self) -> Option<f64> {
        match self {
            Self::Nanoseconds => Some(1.0),
            Self::Microseconds => Some(1e3),
            Self::Milliseconds | Self::Megabytes => Some(1e6),
            Self::Seconds => Some(1e9),
            Self::Kibibytes => Some(1024.0),
            Self::Percent | Self::MegabytesPerSecond | Self::None => None,
        }
    }

    fn is_size(self) -> bool {
        matches!(self, Self::Megabytes | Self::Kibibytes)
    }
}

/// A figure of a summary, whatever the release calls its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatsFigure {
    /// The share in per cent.
    Share,
    /// The total.
    Total,
    /// How many.
    Count,
    /// The mean.
    Mean,
    /// The median.
    Median,
    /// The least.
    Min,
    /// The most.
    Max,
    /// The standard deviation.
    StdDev,
    /// What it is about: a name, an operation, a range.
    Name,
}

impl StatsFigure {
    /// Headings of 2020 to 2026, without their unit.
    fn from_heading(heading: &str) -> Option<Self> {
        let stem = heading.split('(').next().unwrap_or(heading).trim();
        Some(match stem {
            "Time" => Self::Share,
            "Total Time" | "Total" => Self::Total,
            "Instances" | "Num Calls" | "Calls" | "Count" | "Operations" | "Kern Inst" => {
                Self::Count
            }
            "Avg" | "Average" => Self::Mean,
            "Med" | "Median" => Self::Median,
            "Min" | "Minimum" => Self::Min,
            "Max" | "Maximum" => Self::Max,
            "StdDev" => Self::StdDev,
            "Name" | "Operation" | "Range" | "Kernel Name" => Self::Name,
            _ => return None,
        })
    }

    fn has_fraction(self) -> bool {
        matches!(self, Self::Share | Self::Mean | Self::Median | Self::StdDev)
    }
}

/// A column as printed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatsColumn {
    /// Its heading.
    pub heading: String,
    /// Its unit: from the heading, or from what the release is known to print without saying.
    pub unit: StatsUnit,
    /// Which figure it holds, in summaries.
    pub figure: Option<StatsFigure>,
}

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub enum StatsValue {
    /// Nothing was printed.
    Empty,
    /// A number in the unit of its column.
    Number(f64),
    /// A text; one that ends with `…` was cut.
    Text(String),
    /// A number whose fraction was cut off and cannot be recomputed.
    Lost,
}

/// What a reader of a table has to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatsNote {
    /// So many names are cut: different rows may show the same name, and must not be added up.
    NamesCut(usize),
    /// The locale cut fractions off: means and shares were recomputed, medians and deviations are lost.
    FractionsLost,
    /// Times were converted to a unit too coarse for small values.
    CoarseUnit(StatsUnit),
}

/// One table.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StatsTable {
    /// The report, under the name that the text uses; `None` where it names none.
    pub report: Option<String>,
    /// The line of the heading, counted from 1.
    pub line: usize,
    /// The columns.
    pub columns: Vec<StatsColumn>,
    /// The rows.
    pub rows: Vec<Vec<StatsValue>>,
    /// What a reader has to know.
    pub notes: Vec<StatsNote>,
}

/// A duration or a size.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum StatsAmount {
    /// A duration.
    Time(FracNanos),
    /// A size.
    Size(FracBytes),
}

/// One row of a summary; `None` is unknown.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct StatsRow {
    /// The name as printed.
    pub name: String,
    /// The share of the total of all rows.
    pub share: Option<Share>,
    /// How many.
    pub count: Option<u64>,
    /// The total.
    pub total: Option<StatsAmount>,
    /// The mean.
    pub mean: Option<StatsAmount>,
    /// The median.
    pub median: Option<StatsAmount>,
    /// The least.
    pub min: Option<StatsAmount>,
    /// The most.
    pub max: Option<StatsAmount>,
    /// The standard deviation.
    pub stddev: Option<StatsAmount>,
}

impl StatsTable {
    /// The rows of a summary, with times in nanoseconds and sizes in bytes; empty for other reports.
    #[must_use]
    pub fn summary(&self) -> Vec<StatsRow> {
        let Some(name_at) = self.position(StatsFigure::Name) else {
            return Vec::new();
        };
        let rows = self.rows.iter().map(|row| {
            let amount = |figure| self.amount(row, figure);
            let name = match row.get(name_at) {
                Some(StatsValue::Text(name)) => name.clone(),
                _ => String::new(),
            };
            StatsRow {
                name,
                share: self
                    .number(row, StatsFigure::Share)
                    .map(|percent| Share(percent / 100.0)),
                count: self.number(row, StatsFigure::Count).and_then(whole),
                total: amount(StatsFigure::Total),
                mean: amount(StatsFigure::Mean),
                median: amount(StatsFigure::Median),
                min: amount(StatsFigure::Min),
                max: amount(StatsFigure::Max),
                stddev: amount(StatsFigure::StdDev),
            }
        });
        rows.collect()
    }

    /// The value of a figure in the unit of its column.
    fn number(&self, row: &[StatsValue], figure: StatsFigure) -> Option<f64> {
        match row.get(self.position(figure)?)? {
            StatsValue::Number(value) => Some(*value),
            StatsValue::Empty | StatsValue::Text(_) | StatsValue::Lost => None,
        }
    }

    fn amount(&self, row: &[StatsValue], figure: StatsFigure) -> Option<StatsAmount> {
        let unit = self.columns[self.position(figure)?].unit;
        let value = self.number(row, figure)? * unit.scale()?;
        Some(if unit.is_size() {
            StatsAmount::Size(FracBytes(value))
        } else {
            StatsAmount::Time(FracNanos(value))
        })
    }

    fn position(&self, figure: StatsFigure) -> Option<usize> {
        self.columns
            .iter()
            .position(|column| column.figure == Some(figure))
    }

    fn new(
        report: Option<String>,
        line: usize,
        headings: impl IntoIterator<Item = String>,
    ) -> Self {
        let mut columns: Vec<StatsColumn> = headings
            .into_iter()
            .map(|heading| StatsColumn {
                unit: StatsUnit::from_heading(&heading).unwrap_or(StatsUnit::None),
                figure: StatsFigure::from_heading(&heading),
                heading,
            })
            .collect();
        // Until 2021 only the total named its unit, and sizes, in KiB, did not at all.
        let total = columns
            .iter()
            .find(|column| column.figure == Some(StatsFigure::Total))
            .map(|total| {
                let is_bare = total.heading.trim() == "Total";
                if is_bare {
                    StatsUnit::Kibibytes
                } else {
                    total.unit
                }
            });
        for column in &mut columns {
            let is_amount = column.figure.is_some_and(|figure| {
                !matches!(
                    figure,
                    StatsFigure::Share | StatsFigure::Count | StatsFigure::Name
                )
            });
            if let Some(unit) = total.filter(|_| is_amount && column.unit == StatsUnit::None) {
                column.unit = unit;
            }
        }
        Self {
            report,
            line,
            columns,
            rows: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Turns printed cells into values and notes what they are worth.
    fn fill(
        &mut self,
        cells: Vec<Vec<String>>,
        format: NumberFormat,
        layout: Layout,
    ) -> Result<()> {
        let lossy = layout == Layout::Aligned && self.fractions_lost(&cells, format);
        let mut cut = 0;
        for (nth, row) in cells.into_iter().enumerate() {
            let mut values = Vec::with_capacity(row.len());
            for (column, cell) in self.columns.iter().zip(row) {
                let is_number =
                    column.unit != StatsUnit::None || column.figure == Some(StatsFigure::Count);
                values.push(if cell.is_empty() {
                    StatsValue::Empty
                } else if let Some(number) = format
                    .read(&cell)
                    .filter(|_| column.figure != Some(StatsFigure::Name))
                {
                    StatsValue::Number(number)
                } else if is_number {
                    let problem = format!(
                        "`{cell}` in column `{}` is no number in this locale",
                        column.heading
                    );
                    return Err(Error::StatsText {
                        line: self.line + nth + 1,
                        problem,
                    });
                } else {
                    cut += usize::from(cell.ends_with('…'));
                    StatsValue::Text(cell)
                });
            }
            self.rows.push(values);
        }
        if lossy {
            self.recompute();
            self.notes.push(StatsNote::FractionsLost);
        }
        if cut > 0 {
            self.notes.push(StatsNote::NamesCut(cut));
        }
        let coarse = [StatsUnit::Milliseconds, StatsUnit::Seconds].into_iter();
        self.notes.extend(
            coarse
                .filter(|unit| self.columns.iter().any(|column| column.unit == *unit))
                .map(StatsNote::CoarseUnit),
        );
        Ok(())
    }

    /// A locale with a decimal comma cuts the fractions of this layout: every one of them is then 0.
    fn fractions_lost(&self, cells: &[Vec<String>], format: NumberFormat) -> bool {
        let mut fractions = self
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| {
                column.unit.is_size() || column.figure.is_some_and(StatsFigure::has_fraction)
            })
            .flat_map(|(at, _)| cells.iter().filter_map(move |row| row.get(at)))
            .filter_map(|cell| cell.split_once(','))
            .peekable();
        format.decimal == ','
            && fractions.peek().is_some()
            && fractions.all(|(_, digits)| digits.bytes().all(|b| b == b'0'))
    }

    /// Replaces what was cut by what follows from exact totals and counts, and marks the rest as lost.
    fn recompute(&mut self) {
        let exact_totals = self
            .position(StatsFigure::Total)
            .is_some_and(|at| !self.columns[at].unit.is_size());
        let total_of = |table: &Self, row: &[StatsValue]| {
            table
                .number(row, StatsFigure::Total)
                .filter(|_| exact_totals)
        };
        let whole: f64 = self.rows.iter().filter_map(|row| total_of(self, row)).sum();
        let derived: Vec<(Option<f64>, Option<f64>)> = self
            .rows
            .iter()
            .map(|row| {
                let total = total_of(self, row);
                let count = self
                    .number(row, StatsFigure::Count)
                    .filter(|count| *count > 0.0);
                let mean = total.zip(count).map(|(total, count)| total / count);
                let share = total
                    .filter(|_| whole > 0.0)
                    .map(|total| total * 100.0 / whole);
                (mean, share)
            })
            .collect();
        for (row, (mean, share)) in self.rows.iter_mut().zip(derived) {
            for (column, value) in self.columns.iter().zip(row) {
                let known = |value: Option<f64>| value.map_or(StatsValue::Lost, StatsValue::Number);
                match column.figure {
                    Some(StatsFigure::Mean) if !column.unit.is_size() => *value = known(mean),
                    Some(StatsFigure::Share) => *value = known(share),
                    Some(figure) if figure.has_fraction() => *value = StatsValue::Lost,
                    Some(_) if column.unit.is_size() => *value = StatsValue::Lost,
                    _ => {}
                }
            }
        }
    }
}

/// A count, where the number is one.
fn whole(value: f64) -> Option<u64> {
    /// Up to 2^53 every whole double is exact.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() != 0.0 || !(0.0..=EXACT).contains(&value) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 0 to 2^53"
    )]
    let count = value as u64;
    Some(count)
}

/// How a table is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Separated fields; numbers as the program holds them.
    Separated,
    /// Aligned columns; numbers as the locale writes them.
    Aligned,
}

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
