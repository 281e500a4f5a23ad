//! One cell of an output.

use crate::error::{Error, Output};
use crate::units::{Bytes, Fraction, Megahertz};

/// Texts that mean "no value" without brackets around them: `-q` and `-q -x` print these.
const BARE_MISSING: [&str; 4] = [
    "",
    "N/A",
    "Not Supported",
    "Requested functionality has been deprecated",
];

/// The text of a cell, or `None` if it means that there is no value.
///
/// Everything in square brackets is nvidia-smi's way to say so: `[N/A]`, `[Not Supported]`,
/// `[Unknown Error]`, `[Function Not Found]`, `[Requested functionality has been deprecated]`,
/// `[GPU requires reset]`, `[Insufficient Permissions]`.
#[must_use]
pub fn present(cell: &str) -> Option<&str> {
    let cell = cell.trim();
    let bracketed = cell.starts_with('[') && cell.ends_with(']');
    (!bracketed && !BARE_MISSING.contains(&cell)).then_some(cell)
}

/// Where a cell stands, for the error that names it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    pub(super) output: Output,
    pub(super) line: Option<usize>,
    pub(super) field: &'a str,
}

impl Place<'_> {
    fn bad(self, text: &str) -> Error {
        Error::BadCell {
            output: self.output,
            line: self.line,
            field: self.field.to_owned(),
            text: text.trim().to_owned(),
        }
    }

    /// A whole number with one of `units` behind it, or with none.
    fn whole(self, cell: &str, units: &[&str]) -> Result<Option<u64>, Error> {
        let Some(text) = present(cell) else {
            return Ok(None);
        };
        let bare = units
            .iter()
            .find_map(|unit| text.strip_suffix(unit))
            .unwrap_or(text)
            .trim();
        bare.parse().map(Some).map_err(|_| self.bad(text))
    }

    /// A plain count; `16x`, as the XML prints a link width, is one.
    pub(super) fn count(self, cell: &str) -> Result<Option<u32>, Error> {
        let value = self.whole(cell, &["x"])?;
        value
            .map(|value| u32::try_from(value).map_err(|_| self.bad(cell)))
            .transpose()
    }

    pub(super) fn megahertz(self, cell: &str) -> Result<Option<Megahertz>, Error> {
        let value = self.whole(cell, &["MHz"])?;
        value
            .map(|value| {
                u32::try_from(value)
                    .map(Megahertz::new)
                    .map_err(|_| self.bad(cell))
            })
            .transpose()
    }

    pub(super) fn mib(self, cell: &str) -> Result<Option<Bytes>, Error> {
        Ok(self.whole(cell, &["MiB", "MB"])?.map(Bytes::from_mib))
    }

    pub(super) fn percent(self, cell: &str) -> Result<Option<Fraction>, Error> {
        let value = self.whole(cell, &["%"])?;
        value
            .map(|value| {
                let percent = u32::try_from(value).map_err(|_| self.bad(cell))?;
                Fraction::from_percent(f64::from(percent)).ok_or_else(|| self.bad(cell))
            })
            .transpose()
    }
}
