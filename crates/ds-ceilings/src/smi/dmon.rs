//! `nvidia-smi dmon`: one line per GPU and second.

use super::cell::Place;
use crate::error::{Error, Output, SmiFailure};
use crate::units::{Fraction, Megahertz};

/// The utilisation columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DmonColumn {
    /// Any kernel ran.
    Sm,
    /// Memory was read or written.
    Mem,
    /// Video encoders.
    Enc,
    /// Video decoders.
    Dec,
    /// JPEG engines.
    Jpg,
    /// Optical flow.
    Ofa,
}

impl DmonColumn {
    /// Every utilisation column, in the order of the output.
    pub const ALL: [Self; 6] = [
        Self::Sm,
        Self::Mem,
        Self::Enc,
        Self::Dec,
        Self::Jpg,
        Self::Ofa,
    ];

    /// The name in the header.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sm => "sm",
            Self::Mem => "mem",
            Self::Enc => "enc",
            Self::Dec => "dec",
            Self::Jpg => "jpg",
            Self::Ofa => "ofa",
        }
    }
}

/// A recording of dmon.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dmon {
    samples: Vec<DmonSample>,
}

/// One line of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DmonSample {
    /// The GPU index.
    pub gpu: u32,
    /// Clock of the streaming multiprocessors (`pclk`).
    pub sm_clock: Option<Megahertz>,
    /// Memory clock (`mclk`).
    pub memory_clock: Option<Megahertz>,
    /// Board power in whole watts (`pwr`).
    pub power_w: Option<u32>,
    /// The utilisation columns, in the order of [`DmonColumn::ALL`].
    shares: [Option<Fraction>; 6],
}

impl DmonSample {
    /// The share of a column; `None` where the column is missing or reads `-`, as all do on a
    /// divided GPU.
    #[must_use]
    pub fn share(&self, column: DmonColumn) -> Option<Fraction> {
        self.shares[column as usize]
    }

    /// The busiest engine of this line, memory left out.
    #[must_use]
    pub fn activity(&self) -> Option<Fraction> {
        DmonColumn::ALL
            .into_iter()
            .filter(|column| *column != DmonColumn::Mem)
            .filter_map(|c| self.share(c))
            .max()
    }
}

impl Dmon {
    /// Reads a recording by its header, whatever columns it has. Repeated headers are skipped. A
    /// last line without an end was cut while it was written: it is dropped, because a cut `100`
    /// reads as a valid `10`. So is a last line with too few cells, whatever ended it.
    ///
    /// # Errors
    ///
    /// If the text is an error of nvidia-smi, is empty, has no header with a `gpu` column, or a
    /// line does not fit its header.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if let Some(failure) = SmiFailure::from_text(text) {
            return Err(failure.into());
        }
        if text.trim().is_empty() {
            return Err(Error::Empty {
                output: Output::Dmon,
            });
        }
        let complete = text.rfind('\n').map_or("", |end| &text[..end]);
        let mut columns: Vec<&str> = Vec::new();
        let mut samples = Vec::new();
        let last = complete.trim_end().lines().count();
        for (index, line) in complete.lines().enumerate() {
            if let Some(header) = line.trim_start().strip_prefix('#') {
                let names: Vec<&str> = header.split_whitespace().collect();
                // The second header line holds units, under `Idx` where the first says `gpu`.
                if names.contains(&"gpu") {
                    columns = names;
                }
            } else if !line.trim().is_empty() {
                match sample(index + 1, line, &columns) {
                    Err(Error::Ragged {
                        line,
                        expected,
                        found,
                        ..
                    }) if line == last && found < expected => {}
                    outcome => samples.push(outcome?),
                }
            }
        }
        if columns.is_empty() {
            return Err(Error::Missing {
                output: Output::Dmon,
                what: "header with a `gpu` column",
            });
        }
        Ok(Self { samples })
    }

    /// Every sample, in the order of the output.
    #[must_use]
    pub fn samples(&self) -> &[DmonSample] {
        &self.samples
    }

    /// The indices of the GPUs, ascending.
    #[must_use]
    pub fn gpus(&self) -> Vec<u32> {
        let mut gpus: Vec<u32> = self.samples.iter().map(|sample| sample.gpu).collect();
        gpus.sort_unstable();
        gpus.dedup();
        gpus
    }
}

fn sample(line: usize, text: &str, columns: &[&str]) -> Result<DmonSample, Error> {
    let cells: Vec<&str> = text.split_whitespace().collect();
    if columns.is_empty() {
        return Err(Error::Missing {
            output: Output::Dmon,
            what: "header with a `gpu` column",
        });
    }
    if cells.len() != columns.len() {
        return Err(Error::Ragged {
            output: Output::Dmon,
            line,
            expected: columns.len(),
            found: cells.len(),
        });
    }
    // `-` stands for a reading that the device does not have.
    let cell = |name: &str| {
        let index = columns.iter().position(|column| *column == name)?;
        cells.get(index).copied().filter(|cell| *cell != "-")
    };
    let place = |field| Place {
        output: Output::Dmon,
        line: Some(line),
        field,
    };
    let gpu = cell("gpu")
        .map(|text| place("gpu").count(text))
        .transpose()?
        .flatten();
    let mut shares = [None; 6];
    for (share, column) in shares.iter_mut().zip(DmonColumn::ALL) {
        *share = cell(column.name())
            .map(|text| place(column.name()).percent(text))
            .transpose()?
            .flatten();
    }
    Ok(DmonSample {
        gpu: gpu.ok_or(Error::Missing {
            output: Output::Dmon,
            what: "GPU index in a sample",
        })?,
        sm_clock: cell("pclk")
            .map(|text| place("pclk").megahertz(text))
            .transpose()?
            .flatten(),
        memory_clock: cell("mclk")
            .map(|text| place("mclk").megahertz(text))
            .transpose()?
            .flatten(),
        power_w: cell("pwr")
            .map(|text| place("pwr").count(text))
            .transpose()?
            .flatten(),
        shares,
    })
}
