//! Printed tables: cells, the receivers of rows, and the formats.

use std::borrow::Cow;
use std::io::{self, Write};

use super::text::{NameWidth, table_text};
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
        table_text(self, names)
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
