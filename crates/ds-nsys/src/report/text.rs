//! Reports as text, in columns that are as wide as their widest cell.
//!
//! The widths are known only when every row was seen. Few rows are kept until then; a trace report, with its millions, is
//! made twice: once to measure, once to write.

use std::io::{self, Write};

use super::{Cell, Heading, Report, ReportOptions, RowSink, Table};
use crate::error::{Error, Result};
use crate::style::Style;
use crate::trace::Trace;

/// So many rows are kept: some 10 MB, and more than any summary has of a usual trace.
const ROWS_KEPT: usize = 20_000;

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

    /// How wide a text becomes.
    fn width(self, text: &str) -> usize {
        let width = text.chars().count();
        match self {
            Self::Full => width,
            Self::AtMost(most) => width.min(most),
        }
    }
}

/// A report whose columns were measured.
pub struct TextReport<'t> {
    trace: &'t Trace,
    report: Report,
    options: ReportOptions,
    measured: Measured,
}

impl Trace {
    /// Measures a report that [`TextReport::write`] then writes as text.
    ///
    /// # Errors
    ///
    /// Fails when a table cannot be read.
    pub fn text_report(
        &self,
        report: Report,
        options: ReportOptions,
        names: NameWidth,
    ) -> Result<TextReport<'_>> {
        let mut measured = Measured {
            names,
            style: options.style,
            widths: Vec::new(),
            kept: Some(Table::new(options.style)),
        };
        self.report_into(report, options, &mut measured)?;
        Ok(TextReport {
            trace: self,
            report,
            options,
            measured,
        })
    }
}

impl TextReport<'_> {
    /// Writes the report as `nsys stats --format column` draws it in the C locale, with names cut as asked; nothing where the
    /// trace has no such data.
    ///
    /// # Errors
    ///
    /// Fails when the output does, or when a table cannot be read again.
    pub fn write(&self, output: impl Write) -> Result<()> {
        let mut writer = TextWriter {
            output,
            names: self.measured.names,
            style: self.options.style,
            widths: &self.measured.widths,
        };
        match &self.measured.kept {
            Some(table) => table.replay(&mut writer).map_err(Error::Write),
            None => self
                .trace
                .report_into(self.report, self.options, &mut writer),
        }
    }
}

/// Measures rows, and keeps them as long as they are few.
struct Measured {
    names: NameWidth,
    style: Style,
    widths: Vec<usize>,
    kept: Option<Table>,
}

impl RowSink for Measured {
    fn heading(&mut self, heading: &Heading) -> io::Result<()> {
        self.widths = heading_widths(heading);
        self.kept
            .as_mut()
            .map_or(Ok(()), |kept| kept.heading(heading))
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        widen(&mut self.widths, cells, self.names, self.style);
        match &mut self.kept {
            Some(kept) if kept.rows().len() < ROWS_KEPT => kept.row(cells),
            _ => {
                self.kept = None;
                Ok(())
            }
        }
    }
}

/// A table in memory as text.
pub(super) fn table_text(table: &Table, names: NameWidth) -> String {
    let Some(heading) = table.heading() else {
        return String::new();
    };
    let style = table.style();
    let mut widths = heading_widths(heading);
    for row in table.rows() {
        widen(&mut widths, row, names, style);
    }
    let mut text = Vec::new();
    let mut writer = TextWriter {
        output: &mut text,
        names,
        style,
        widths: &widths,
    };
    table.replay(&mut writer).expect("memory takes every write");
    String::from_utf8(text).expect("cells are text")
}

fn heading_widths(heading: &Heading) -> Vec<usize> {
    heading
        .columns
        .iter()
        .map(|column| column.chars().count())
        .collect()
}

fn widen(widths: &mut [usize], cells: &[Cell<'_>], names: NameWidth, style: Style) {
    for (width, cell) in widths.iter_mut().zip(cells) {
        *width = names.width(&cell.printed(style)).max(*width);
    }
}

/// Writes rows as they come, in columns of known widths.
struct TextWriter<'w, W> {
    output: W,
    names: NameWidth,
    style: Style,
    widths: &'w [usize],
}

impl<W: Write> TextWriter<'_, W> {
    fn line(&mut self, fields: impl Iterator<Item = String>) -> io::Result<()> {
        for (at, field) in fields.enumerate() {
            // One blank before the first column, two between columns.
            let before = if at == 0 { " " } else { "  " };
            write!(self.output, "{before}{field}")?;
        }
        self.output.write_all(b"\n")
    }
}

impl<W: Write> RowSink for TextWriter<'_, W> {
    fn heading(&mut self, heading: &Heading) -> io::Result<()> {
        write!(
            self.output,
            "\n ** {} ({}):\n\n",
            heading.title, heading.report
        )?;
        let widths = self.widths;
        let columns = heading.columns.iter().zip(widths);
        self.line(columns.map(|(column, width)| format!("{column:^width$}")))?;
        self.line(widths.iter().map(|width| "-".repeat(*width)))
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        let (names, style, widths) = (self.names, self.style, self.widths);
        self.line(cells.iter().zip(widths).map(|(cell, width)| {
            let printed = names.fit(&cell.printed(style));
            match cell {
                Cell::Text(_) => format!("{printed:<width$}"),
                _ => format!("{printed:>width$}"),
            }
        }))
    }
}
