//! `nvidia-smi topo -m`: how GPUs are connected.

use crate::error::{Error, Output, SmiFailure};

/// The connection matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Topology {
    /// The column headings: devices first, then affinities.
    pub columns: Vec<String>,
    /// One row per device.
    pub rows: Vec<TopologyRow>,
}

/// One row of the matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopologyRow {
    /// The device, such as `GPU0` or `NIC0`.
    pub device: String,
    /// The cells under the headings; `None` where nothing or `N/A` stands.
    pub cells: Vec<Option<String>>,
}

impl Topology {
    /// Reads the matrix. Its header carries terminal escapes even in a file, and its columns are
    /// separated by tabs.
    ///
    /// # Errors
    ///
    /// If the text is an error of nvidia-smi or holds no matrix.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if let Some(failure) = SmiFailure::from_text(text) {
            return Err(failure.into());
        }
        let plain = without_escapes(text);
        let mut lines = plain.lines().skip_while(|line| !line.contains("GPU0"));
        let header = lines.next().ok_or(Error::Missing {
            output: Output::Topology,
            what: "matrix",
        })?;
        let columns: Vec<String> = header
            .split('\t')
            .skip(1)
            .map(|cell| cell.trim().to_owned())
            .collect();
        // The matrix ends at the blank line before the legend.
        let rows = lines
            .take_while(|line| !line.trim().is_empty())
            .map(row)
            .collect();
        Ok(Self { columns, rows })
    }
}

fn row(line: &str) -> TopologyRow {
    let mut cells = line.split('\t').map(str::trim);
    TopologyRow {
        device: cells.next().unwrap_or_default().to_owned(),
        cells: cells
            .map(|cell| super::present(cell).map(str::to_owned))
            .collect(),
    }
}

/// Removes `ESC [ … letter` sequences.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or("", |end| &after[end + 1..]);
    }
    plain.push_str(rest);
    plain
}
