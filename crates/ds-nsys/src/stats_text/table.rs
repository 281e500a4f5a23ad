//! The values of a table, and what they are worth.

use super::column::{StatsColumn, StatsFigure, StatsUnit};
use super::numbers::NumberFormat;
use crate::error::{Error, Result};
use crate::units::{FracBytes, FracNanos, Share};

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

    pub(super) fn new(
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
    pub(super) fn fill(
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
pub(super) enum Layout {
    /// Separated fields; numbers as the program holds them.
    Separated,
    /// Aligned columns; numbers as the locale writes them.
    Aligned,
}
