//! Printed tables: cells, the receivers of rows, and the formats.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::style::Style;

/// One value of a printed table.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell<'a> {
    /// Nothing is known or nothing applies: printed as an empty field, never as 0.
    Empty,
    /// A whole number.
    Integer(i64),
    /// A number printed with a fixed count of decimals.
    Decimal {
        /// The unrounded value.
        value: f64,
        /// How many decimals are printed.
        places: u8,
    },
    /// A name.
    Text(Cow<'a, str>),
}

impl<'a> Cell<'a> {
    /// A name that the cell borrows.
    #[must_use]
    pub fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// One decimal, as `nsys stats` prints means and shares.
    pub(crate) fn tenths(value: f64) -> Self {
        Self::Decimal { value, places: 1 }
    }

    /// Three decimals, as `nsys stats` prints megabytes.
    pub(crate) fn thousandths(value: f64) -> Self {
        Self::Decimal { value, places: 3 }
    }

    /// A number where there is one.
    pub(crate) fn integer_or_empty(value: Option<i64>) -> Self {
        value.map_or(Self::Empty, Self::Integer)
    }

    /// The cell as it is printed; a number in it is also a valid JSON number.
    #[must_use]
    pub fn printed(&self, style: Style) -> Cow<'_, str> {
        match self {
            Self::Empty => Cow::Borrowed(""),
            Self::Integer(value) => Cow::Owned(value.to_string()),
            Self::Decimal { value, places } => Cow::Owned(style.decimal(*value, *places)),
            Self::Text(text) => Cow::Borrowed(text),
        }
    }

    /// Whether the cell holds a number.
    #[must_use]
    pub fn is_number(&self) -> bool {
        matches!(self, Self::Integer(_) | Self::Decimal { .. })
    }

    fn into_owned(self) -> Cell<'static> {
        match self {
            Self::Empty => Cell::Empty,
            Self::Integer(value) => Cell::Integer(value),
            Self::Decimal { value, places } => Cell::Decimal { value, places },
            Self::Text(text) => Cell::Text(Cow::Owned(text.into_owned())),
        }
    }
}

/// What a report says about itself before its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading {
    /// The report's name, such as `cuda_gpu_kern_sum`.
    pub report: &'static str,
    /// Its title in words.
    pub title: &'static str,
    /// The headings of its columns.
    pub columns: &'static [&'static str],
}

/// A receiver of a report's rows, one after the other: trace reports of a large export do not fit into memory.
pub trait RowSink {
    /// Takes the heading, once, before the first row; not called when the trace has no such data.
    ///
    /// # Errors
    ///
    /// Fails when the receiver cannot go on.
    fn heading(&mut self, heading: &Heading) -> io::Result<()>;

    /// Takes one row.
    ///
    /// # Errors
    ///
    /// Fails when the receiver cannot go on.
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()>;
}

/// A report in memory.
///
/// Without rows the trace has no such data; `nsys stats` then writes an empty file, without a heading, and so does this.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    style: Style,
    heading: Option<Heading>,
    rows: Vec<Vec<Cell<'static>>>,
}

impl Table {
    pub(crate) fn new(style: Style) -> Self {
        Self {
            style,
            heading: None,
            rows: Vec::new(),
        }
    }

    /// The report's heading; `None` when there is no data.
    #[must_use]
    pub fn heading(&self) -> Option<&Heading> {
        self.heading.as_ref()
    }

    /// The headings of the columns; none when there is no data.
    #[must_use]
    pub fn columns(&self) -> &'static [&'static str] {
        self.heading.map_or(&[], |heading| heading.columns)
    }

    /// The rows.
    #[must_use]
    pub fn rows(&self) -> &[Vec<Cell<'static>>] {
        &self.rows
    }

    /// Whether the trace has no such data.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The style that the numbers are printed in.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }

    /// The table as CSV, with quotes only where they are needed.
    #[must_use]
    pub fn to_csv(&self) -> String {
        self.separated(b',')
    }

    /// The table with tabs between the fields.
    #[must_use]
    pub fn to_tsv(&self) -> String {
        self.separated(b'\t')
    }

    fn separated(&self, separator: u8) -> String {
        let mut bytes = Vec::new();
        let mut writer = SeparatedWriter::new(&mut bytes, self.style, separator);
        self.replay(&mut writer).expect("memory takes every write");
        drop(writer);
        String::from_utf8(bytes).expect("cells are text")
    }

    /// The table in columns, as `nsys stats --format column` draws it in the C locale, with names cut as asked.
    #[must_use]
    pub fn to_text(&self, names: NameWidth) -> String {
        let Some(heading) = &self.heading else {
            return String::new();
        };
        let printed: Vec<Vec<String>> = self
            .rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|cell| names.fit(&cell.printed(self.style)))
                    .collect()
            })
            .collect();
        let widths: Vec<usize> = heading
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| {
                let widest = printed
                    .iter()
                    .filter_map(|row| row.get(at))
                    .map(|cell| cell.chars().count())
                    .max();
                widest.unwrap_or(0).max(column.chars().count())
            })
            .collect();
        let mut text = format!("\n ** {} ({}):\n\n", heading.title, heading.report);
        push_line(
            &mut text,
            heading
                .columns
                .iter()
                .zip(&widths)
                .map(|(column, width)| format!("{column:^width$}")),
        );
        push_line(&mut text, widths.iter().map(|width| "-".repeat(*width)));
        for (row, printed) in self.rows.iter().zip(&printed) {
            let cells = row.iter().zip(printed).zip(&widths);
            push_line(
                &mut text,
                cells.map(|((cell, printed), width)| match cell {
                    Cell::Text(_) => format!("{printed:<width$}"),
                    _ => format!("{printed:>width$}"),
                }),
            );
        }
        text
    }

    /// Hands the table to another receiver.
    ///
    /// # Errors
    ///
    /// Fails when the receiver does.
    pub fn replay(&self, sink: &mut dyn RowSink) -> io::Result<()> {
        if let Some(heading) = &self.heading {
            sink.heading(heading)?;
        }
        self.rows.iter().try_for_each(|row| sink.row(row))
    }
}

fn push_line(text: &mut String, fields: impl Iterator<Item = String>) {
    for field in fields {
        // One blank before the first column, two between columns.
        text.push_str(if text.ends_with('\n') { " " } else { "  " });
        text.push_str(&field);
    }
    text.push('\n');
}

impl RowSink for Table {
    fn heading(&mut self, heading: &Heading) -> io::Result<()> {
        self.heading = Some(*heading);
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.rows
            .push(cells.iter().cloned().map(Cell::into_owned).collect());
        Ok(())
    }
}

/// How wide names may get in a text table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameWidth {
    /// As long as they are.
    Full,
    /// At most so many characters, the last of them `…` where something was cut; `nsys stats` takes 100.
    AtMost(usize),
}

impl NameWidth {
    fn fit(self, text: &str) -> String {
        match self {
            Self::AtMost(width) if text.chars().count() > width => {
                let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
                cut.push('…');
                cut
            }
            Self::Full | Self::AtMost(_) => text.to_owned(),
        }
    }
}

/// Writes rows as they come, separated by commas or tabs.
pub struct SeparatedWriter<W: Write> {
    writer: csv::Writer<W>,
    style: Style,
}

impl<W: Write> SeparatedWriter<W> {
    /// A writer of CSV.
    pub fn csv(output: W, style: Style) -> Self {
        Self::new(output, style, b',')
    }

    /// A writer of fields separated by tabs.
    pub fn tsv(output: W, style: Style) -> Self {
        Self::new(output, style, b'\t')
    }

    fn new(output: W, style: Style, separator: u8) -> Self {
        let writer = csv::WriterBuilder::new()
            .delimiter(separator)
            .from_writer(output);
        Self { writer, style }
    }

    /// Passes on what is still buffered.
    ///
    /// # Errors
    ///
    /// Fails when the output does.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl<W: Write> RowSink for SeparatedWriter<W> {
    fn heading(&mut self, heading: &Heading) -> io::Result<()> {
        self.writer
            .write_record(heading.columns)
            .map_err(io::Error::from)
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        for cell in cells {
            self.writer
                .write_field(cell.printed(self.style).as_bytes())
                .map_err(io::Error::from)?;
        }
        self.writer
            .write_record(None::<&[u8]>)
            .map_err(io::Error::from)
    }
}
