//! `nvidia-smi --query-gpu=… --format=csv`.

use super::cell::{Place, present};
use crate::error::{Error, Output, SmiFailure};
use crate::units::{Bytes, Fraction, Megahertz};

/// Spellings of one field. Source: `nvidia-smi --help-query-gpu`, drivers 580 to 610; the
/// `throttle` names are the older ones, and from 595 on `driver_version` is deprecated in favour of
/// `kmd_version`.
const ALIASES: [(&str, &str); 14] = [
    ("gpu_name", "name"),
    ("gpu_uuid", "uuid"),
    ("gpu_bus_id", "pci.bus_id"),
    ("clocks.gr", "clocks.current.graphics"),
    ("clocks.sm", "clocks.current.sm"),
    ("clocks.mem", "clocks.current.memory"),
    ("clocks.video", "clocks.current.video"),
    ("clocks.max.gr", "clocks.max.graphics"),
    ("clocks.max.mem", "clocks.max.memory"),
    (
        "clocks_throttle_reasons.active",
        "clocks_event_reasons.active",
    ),
    (
        "clocks_throttle_reasons.supported",
        "clocks_event_reasons.supported",
    ),
    ("gpu_serial", "serial"),
    ("gpu.power.requested_limit", "power.limit"),
    ("gpu.power.current_limit", "enforced.power.limit"),
];

/// What to ask for to identify a GPU: `nvidia-smi --query-gpu=… --format=csv`.
///
/// One unknown field loses the whole answer ([`SmiFailure::InvalidField`]), so a caller drops the
/// named field and asks again. The one most likely to be unknown stands last: `compute_cap` is no
/// field of driver 470.182.03.
pub const IDENTITY_FIELDS: [&str; 12] = [
    "index",
    "name",
    "uuid",
    "driver_version",
    "memory.total",
    "memory.free",
    "clocks.max.sm",
    "clocks.max.memory",
    "pcie.link.gen.max",
    "pcie.link.width.max",
    "mig.mode.current",
    "compute_cap",
];

/// The answer to a query: one row per GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmiQuery {
    fields: Vec<String>,
    rows: Vec<SmiRow>,
}

impl SmiQuery {
    /// Reads an output with a header line, with or without units.
    ///
    /// # Errors
    ///
    /// If the text is an error of nvidia-smi, is empty, or a line has another number of cells than
    /// the header.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut lines = data_lines(text)?;
        let (_, header) = lines.next().ok_or(Error::Empty {
            output: Output::Query,
        })?;
        let fields: Vec<String> = header
            .split(',')
            .map(|cell| canonical(without_unit(cell)))
            .collect();
        // A row of values where the header should be (`noheader`) would otherwise name fields after
        // values.
        if !fields.iter().all(|field| is_field_name(field)) {
            return Err(Error::Missing {
                output: Output::Query,
                what: "header line",
            });
        }
        Self::rows(fields, lines)
    }

    /// Reads an output made with `noheader`, given the fields in the order in which they were asked
    /// for.
    ///
    /// # Errors
    ///
    /// As [`SmiQuery::parse`].
    pub fn parse_rows(text: &str, fields: &[&str]) -> Result<Self, Error> {
        let fields = fields.iter().map(|field| canonical(field)).collect();
        Self::rows(fields, data_lines(text)?)
    }

    fn rows<'a>(
        fields: Vec<String>,
        lines: impl Iterator<Item = (usize, &'a str)>,
    ) -> Result<Self, Error> {
        let mut rows = Vec::new();
        for (line, text) in lines {
            let cells: Vec<String> = text.split(',').map(|cell| cell.trim().to_owned()).collect();
            if cells.len() != fields.len() {
                let (expected, found) = (fields.len(), cells.len());
                return Err(Error::Ragged {
                    output: Output::Query,
                    line,
                    expected,
                    found,
                });
            }
            rows.push(SmiRow {
                line,
                cells: fields.iter().cloned().zip(cells).collect(),
            });
        }
        Ok(Self { fields, rows })
    }

    /// The fields, in the order of the columns, without units and under their long names.
    #[must_use]
    pub fn fields(&self) -> &[String] {
        &self.fields
    }

    /// One row per GPU, in the order of the output.
    #[must_use]
    pub fn gpus(&self) -> &[SmiRow] {
        &self.rows
    }
}

/// The cells of one GPU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmiRow {
    line: usize,
    cells: Vec<(String, String)>,
}

impl SmiRow {
    /// The text of a field; `None` if it was not asked for or has no value.
    #[must_use]
    pub fn text(&self, field: &str) -> Option<&str> {
        self.raw(field).and_then(present)
    }

    /// A field that holds a plain number.
    ///
    /// # Errors
    ///
    /// If it holds a value that is no number.
    pub fn count(&self, field: &str) -> Result<Option<u32>, Error> {
        self.place(field).count(self.raw(field).unwrap_or_default())
    }

    /// A field that holds a clock.
    ///
    /// # Errors
    ///
    /// If it holds a value that is no clock.
    pub fn megahertz(&self, field: &str) -> Result<Option<Megahertz>, Error> {
        self.place(field)
            .megahertz(self.raw(field).unwrap_or_default())
    }

    /// A field that holds an amount of memory.
    ///
    /// # Errors
    ///
    /// If it holds a value that is no amount of memory.
    pub fn memory(&self, field: &str) -> Result<Option<Bytes>, Error> {
        self.place(field).mib(self.raw(field).unwrap_or_default())
    }

    /// A field that holds a share.
    ///
    /// # Errors
    ///
    /// If it holds a value that is no percentage.
    pub fn share(&self, field: &str) -> Result<Option<Fraction>, Error> {
        self.place(field)
            .percent(self.raw(field).unwrap_or_default())
    }

    fn raw(&self, field: &str) -> Option<&str> {
        let field = canonical(field);
        self.cells
            .iter()
            .find(|(name, _)| *name == field)
            .map(|(_, cell)| cell.as_str())
    }

    fn place<'a>(&self, field: &'a str) -> Place<'a> {
        Place {
            output: Output::Query,
            line: Some(self.line),
            field,
        }
    }
}

/// The lines that hold something, numbered from 1.
fn data_lines(text: &str) -> Result<impl Iterator<Item = (usize, &str)>, Error> {
    if let Some(failure) = SmiFailure::from_text(text) {
        return Err(failure.into());
    }
    if text.trim().is_empty() {
        return Err(Error::Empty {
            output: Output::Query,
        });
    }
    Ok(text
        .lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim().is_empty()))
}

/// `memory.total [MiB]` without its unit.
fn without_unit(cell: &str) -> &str {
    let cell = cell.trim();
    match cell.split_once(" [") {
        Some((name, unit)) if unit.ends_with(']') => name.trim_end(),
        _ => cell,
    }
}

/// The long name of a field.
fn canonical(field: &str) -> String {
    let field = field.trim();
    ALIASES
        .iter()
        .find(|(alias, _)| *alias == field)
        .map_or(field, |(_, long)| long)
        .to_owned()
}

/// Field names are words of letters, digits, points and underscores that begin with a letter.
fn is_field_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
}
