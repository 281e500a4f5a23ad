//! The table of sources that a deepstream-app YAML file names in `csv-file-path`.
//!
//! deepstream-app reads it line by line and cuts each line at its commas (DeepStream 9.1 source).
//! There are no quotes and no escapes, and blanks belong to the cell. Comments and blank lines are
//! skipped before the header only: after it every line is a source, and one with too few cells is
//! read past its end.

mod edit;

use crate::error::{Error, ErrorKind};
use crate::line_index::{LineIndex, Place};
use crate::text_edit::{Span, TextEdit};

/// One sources table: its bytes, its columns and its rows with the byte span of each cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcesCsv {
    text: Vec<u8>,
    lines: LineIndex,
    header: Line,
    rows: Vec<Line>,
}

/// One line of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// Without the `\n`; a `\r` before it stays in the last cell.
    span: Span,
    cells: Vec<Span>,
}

/// One source: a row of a [`SourcesCsv`].
#[derive(Debug, Clone, Copy)]
pub struct SourceRow<'a> {
    table: &'a SourcesCsv,
    line: &'a Line,
}

/// One cell of a [`SourceRow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceCell<'a> {
    bytes: &'a [u8],
    span: Span,
}

impl SourcesCsv {
    /// Reads a table.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Refused`], with the line, for a file without a header, and for a blank line, a
    /// comment or a short row below it.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let lines = LineIndex::new(text);
        let mut below = text_lines(text)
            .skip_while(|span| is_skipped_before_header(span.of(text).unwrap_or_default()));
        let Some(header) = below.next() else {
            return Err(Error::new(ErrorKind::Refused, "no header line"));
        };
        let header = Line::new(text, header);
        let mut rows = Vec::new();
        for span in below {
            let row = Line::new(text, span);
            if row.cells.len() < header.cells.len() {
                let message = match span.of(text) {
                    Some([] | b"\r") => "a blank line below the header".to_owned(),
                    Some([b'#', ..]) => "a comment below the header".to_owned(),
                    _ => format!(
                        "a row that fills {} of {} columns",
                        row.cells.len(),
                        header.cells.len()
                    ),
                };
                let place = lines.place(text, span.start());
                return Err(Error::new(ErrorKind::Refused, message).at(place));
            }
            rows.push(row);
        }
        Ok(Self {
            text: text.to_vec(),
            lines,
            header,
            rows,
        })
    }

    /// The file, byte for byte.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// The names of the columns. In a file with CRLF line ends the last one ends in `\r`, and
    /// deepstream-app does not know it by that name.
    pub fn columns(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.header.cells.iter().map(|span| self.bytes(*span))
    }

    /// The sources, disabled ones included.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = SourceRow<'_>> {
        let row = |line| SourceRow { table: self, line };
        self.rows.iter().map(row)
    }

    /// Gives one cell of one row, counted from 0, its value.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] for a row or a column that is not there (a new column needs a value
    /// in every row: [`SourcesCsv::set_column`]); [`ErrorKind::InvalidValue`] for a value that
    /// holds a comma or a line break.
    pub fn set(&self, row: usize, column: &str, value: &str) -> Result<TextEdit, Error> {
        edit::set(self, row, column, value)
    }

    /// Gives a column the same value in every row, and adds it to the header and to every row
    /// where the table lacks it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`] for a value that holds a comma or a line break, and for a new
    /// column in a table with CRLF line ends or with a row that is longer than the header.
    pub fn set_column(&self, column: &str, value: &str) -> Result<TextEdit, Error> {
        edit::set_column(self, column, value)
    }

    /// The line and column of a byte offset.
    #[must_use]
    pub fn place(&self, offset: usize) -> Place {
        self.lines.place(&self.text, offset)
    }

    /// The index of a column. Of two with one name the last is the one that counts, for the reader
    /// goes through the columns in order.
    fn column(&self, name: &str) -> Option<usize> {
        let named = |span: &Span| self.bytes(*span) == name.as_bytes();
        self.header.cells.iter().rposition(named)
    }

    fn bytes(&self, span: Span) -> &[u8] {
        span.of(&self.text).unwrap_or_default()
    }
}

impl<'a> SourceRow<'a> {
    /// The cell of a column; `None` where the table has no such column.
    #[must_use]
    pub fn get(self, column: &str) -> Option<SourceCell<'a>> {
        let span = *self.line.cells.get(self.table.column(column)?)?;
        Some(SourceCell {
            bytes: self.table.bytes(span),
            span,
        })
    }

    /// Where the row stands.
    #[must_use]
    pub fn place(self) -> Place {
        self.table.place(self.line.span.start())
    }

    /// The bytes of the row without its line end.
    #[must_use]
    pub fn span(self) -> Span {
        self.line.span
    }
}

impl<'a> SourceCell<'a> {
    /// The text of the cell, blanks included.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// The text of the cell where it is UTF-8.
    #[must_use]
    pub fn text(self) -> Option<&'a str> {
        str::from_utf8(self.bytes).ok()
    }

    /// The bytes of the cell in the file.
    #[must_use]
    pub fn span(self) -> Span {
        self.span
    }

    /// The number that `std::stoi` finds at the start of the cell: blanks before it and anything
    /// after it are passed over. `None` where it throws.
    #[must_use]
    pub fn int(self) -> Option<i32> {
        let blank = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
        let start = self.bytes.iter().position(|byte| !blank(byte))?;
        let text = &self.bytes[start..];
        let sign = usize::from(matches!(text.first(), Some(b'+' | b'-')));
        let digits = text[sign..].iter().take_while(|byte| byte.is_ascii_digit());
        let number = &text[..sign + digits.count()];
        str::from_utf8(number).ok()?.parse().ok()
    }
}

impl Line {
    fn new(text: &[u8], span: Span) -> Self {
        let mut cells = Vec::new();
        let mut start = span.start();
        let bytes = span.of(text).unwrap_or_default();
        for cell in bytes.split(|byte| *byte == b',') {
            cells.push(Span::new(start, start + cell.len()));
            start += cell.len() + 1;
        }
        // `std::getline` finds nothing after a last comma and nothing in an empty line.
        if cells.last().is_some_and(|span| span.is_empty()) {
            cells.pop();
        }
        Self { span, cells }
    }
}

/// The lines of a text without their `\n`; nothing after a last one.
fn text_lines(text: &[u8]) -> impl Iterator<Item = Span> {
    let mut start = 0;
    text.split_inclusive(|byte| *byte == b'\n')
        .map(move |line| {
            let begin = start;
            start += line.len();
            Span::new(
                begin,
                begin + line.strip_suffix(b"\n").unwrap_or(line).len(),
            )
        })
}

fn is_skipped_before_header(line: &[u8]) -> bool {
    line.trim_ascii().is_empty() || line.starts_with(b"#")
}
