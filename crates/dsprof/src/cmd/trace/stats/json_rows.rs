//! Rows as JSON, laid out as `nsys stats --format json` does (2023.4.4): one object a row, numbers as they are printed.

use std::io::{self, Write};

use ds_nsys::{Cell, Heading, RowSink, Style};
use serde_json::{Number, Value};

use super::Contents;

/// Writes rows as they come.
pub(super) struct JsonRows<W> {
    out: W,
    style: Style,
    columns: &'static [&'static str],
    contents: Contents,
}

impl<W: Write> JsonRows<W> {
    pub(super) fn new(out: W, style: Style) -> Self {
        Self {
            out,
            style,
            columns: &[],
            contents: Contents::Nothing,
        }
    }

    /// Closes the list.
    pub(super) fn finish(mut self) -> io::Result<Contents> {
        let end: &[u8] = match self.contents {
            Contents::Rows => b"\n]\n",
            Contents::Nothing => b"[]\n",
        };
        self.out.write_all(end)?;
        Ok(self.contents)
    }
}

impl<W: Write> RowSink for JsonRows<W> {
    fn heading(&mut self, heading: &Heading) -> io::Result<()> {
        self.columns = heading.columns;
        Ok(())
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        let before = match self.contents {
            Contents::Rows => ",\n  {",
            Contents::Nothing => "[\n  {",
        };
        self.contents = Contents::Rows;
        self.out.write_all(before.as_bytes())?;
        for (at, (column, cell)) in self.columns.iter().zip(cells).enumerate() {
            let comma = if at == 0 { "" } else { "," };
            let value = value(cell, self.style);
            write!(self.out, "{comma}\n    {}: {value}", Value::from(*column))?;
        }
        self.out.write_all(b"\n  }")
    }
}

/// A number keeps the digits that are printed; one that JSON cannot hold is nothing.
fn value(cell: &Cell<'_>, style: Style) -> String {
    let printed = cell.printed(style);
    match cell {
        Cell::Text(text) => Value::from(text.as_ref()).to_string(),
        _ if printed.parse::<Number>().is_ok() => printed.into_owned(),
        _ => Value::Null.to_string(),
    }
}
