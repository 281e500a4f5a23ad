//! Changes to cells and columns of a sources table.

use super::{Line, SourcesCsv};
use crate::error::{Error, ErrorKind};
use crate::text_edit::{Span, TextEdit};

pub(super) fn set(
    table: &SourcesCsv,
    row: usize,
    column: &str,
    value: &str,
) -> Result<TextEdit, Error> {
    check_value(value)?;
    let Some(line) = table.rows.get(row) else {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("no row {row} in a table of {}", table.rows.len()),
        ));
    };
    let Some(index) = table.column(column) else {
        return Err(Error::new(
            ErrorKind::NotFound,
            format!("no column `{column}` in the table"),
        ));
    };
    Ok(replace(table, line.cells[index], value))
}

pub(super) fn set_column(table: &SourcesCsv, column: &str, value: &str) -> Result<TextEdit, Error> {
    check_value(value)?;
    let Some(index) = table.column(column) else {
        check_value(column)?;
        return add_column(table, column, value);
    };
    table.rows.iter().try_fold(TextEdit::empty(), |edit, line| {
        edit.union(replace(table, line.cells[index], value))
    })
}

fn add_column(table: &SourcesCsv, column: &str, value: &str) -> Result<TextEdit, Error> {
    let all = std::iter::once((&table.header, column));
    let all = all.chain(table.rows.iter().map(|row| (row, value)));
    all.into_iter()
        .try_fold(TextEdit::empty(), |edit, (line, text)| {
            edit.union(append(table, line, text)?)
        })
}

/// Adds a cell at the end of a line, under a column that comes last.
fn append(table: &SourcesCsv, line: &Line, text: &str) -> Result<TextEdit, Error> {
    let bytes = table.bytes(line.span);
    let refuse = |why: &str| {
        let place = table.place(line.span.start());
        Err(Error::new(ErrorKind::InvalidValue, why).at(place))
    };
    if bytes.ends_with(b"\r") {
        return refuse("with CRLF line ends the last column is not known by its name");
    }
    if line.cells.len() > table.header.cells.len() {
        return refuse("a row with more cells than there are columns");
    }
    // A last comma opens no cell of its own, so the new one takes its place.
    let comma = if bytes.ends_with(b",") { "" } else { "," };
    Ok(TextEdit::insert(line.span.end(), format!("{comma}{text}")))
}

fn replace(table: &SourcesCsv, cell: Span, value: &str) -> TextEdit {
    let bytes = table.bytes(cell);
    let written = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if written == value.as_bytes() {
        return TextEdit::empty();
    }
    TextEdit::replace(Span::new(cell.start(), cell.start() + written.len()), value)
}

fn check_value(value: &str) -> Result<(), Error> {
    // An empty last cell would not be read as one.
    if value.is_empty() || value.contains([',', '\n', '\r']) {
        return Err(Error::new(
            ErrorKind::InvalidValue,
            format!("`{}` cannot stand in a cell", value.escape_debug()),
        ));
    }
    Ok(())
}
