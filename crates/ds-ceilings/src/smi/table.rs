//! `nvidia-smi` without arguments: the table for people.
//!
//! Names are cut in it and columns move between drivers. It is read for what users paste, and
//! because only it shows MIG devices to an account that may not run `-q`; programs should ask with
//! `--query-gpu` and `-q -x`.

use super::cell::{Place, present};
use super::report::{MigDevice, MigMode};
use crate::error::{Error, Output, SmiFailure};
use crate::units::{Bytes, Fraction};

/// The table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SmiTable {
    /// The version of the kernel driver.
    pub driver_version: Option<String>,
    /// The GPUs, in the order of the output.
    pub gpus: Vec<TableGpu>,
    /// MIG devices, each with the index of its GPU.
    pub mig_devices: Vec<(u32, MigDevice)>,
}

/// One GPU of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableGpu {
    /// Its index.
    pub index: u32,
    /// Its name; ends in `...` where the table cut it.
    pub name: String,
    /// Memory in use.
    pub memory_used: Option<Bytes>,
    /// All memory.
    pub memory_total: Option<Bytes>,
    /// Utilisation of the GPU.
    pub gpu: Option<Fraction>,
    /// Whether MIG is on.
    pub mig_mode: Option<MigMode>,
}

impl SmiTable {
    /// Reads the table, or the lines of it that somebody pasted.
    ///
    /// # Errors
    ///
    /// If the text is an error of nvidia-smi or holds neither a GPU nor a MIG device.
    pub fn parse(text: &str) -> Result<Self, Error> {
        if let Some(failure) = SmiFailure::from_text(text) {
            return Err(failure.into());
        }
        let mut table = Self::default();
        let mut section = Heading::Gpus;
        for (index, line) in text.lines().enumerate() {
            section = heading(line).unwrap_or(section);
            table.driver_version = table.driver_version.take().or_else(|| driver_version(line));
            let cells: Vec<&str> = line
                .trim()
                .trim_matches('|')
                .split('|')
                .map(str::trim)
                .collect();
            match section {
                Heading::Gpus => table.gpu_line(index + 1, &cells)?,
                Heading::MigDevices => table.mig_devices.extend(mig_device(&cells)),
                Heading::Processes => {}
            }
        }
        if table.gpus.is_empty() && table.mig_devices.is_empty() {
            return Err(Error::Missing {
                output: Output::Table,
                what: "GPU",
            });
        }
        Ok(table)
    }

    /// A GPU takes two or three lines: name, readings, MIG mode.
    fn gpu_line(&mut self, line: usize, cells: &[&str]) -> Result<(), Error> {
        let [left, middle, right] = cells else {
            return Ok(());
        };
        if let Some((index, name)) = index_and_name(left) {
            let name = name.to_owned();
            self.gpus.push(TableGpu {
                index,
                name,
                memory_used: None,
                memory_total: None,
                gpu: None,
                mig_mode: None,
            });
        } else if let Some(gpu) = self.gpus.last_mut() {
            if let Some((used, total)) = middle.split_once('/') {
                let place = |field| Place {
                    output: Output::Table,
                    line: Some(line),
                    field,
                };
                gpu.memory_used = place("memory used").mib(used)?;
                gpu.memory_total = place("memory total").mib(total)?;
                let share = right.split_whitespace().next().and_then(present);
                gpu.gpu = share
                    .map(|share| place("utilisation").percent(share))
                    .transpose()?
                    .flatten();
            } else if left.is_empty() && middle.is_empty() {
                gpu.mig_mode = MigMode::from_cell(right);
            }
        }
        Ok(())
    }
}

/// The parts of the output.
#[derive(Clone, Copy, Debug)]
enum Heading {
    Gpus,
    MigDevices,
    Processes,
}

fn heading(line: &str) -> Option<Heading> {
    let text = line.trim().trim_matches('|').trim();
    match text {
        "MIG devices:" => Some(Heading::MigDevices),
        "Processes:" => Some(Heading::Processes),
        _ => None,
    }
}

/// `Driver Version: 580.159.04`, from 610 on `KMD Version: …`.
fn driver_version(line: &str) -> Option<String> {
    let (_, rest) = line
        .split_once("Driver Version:")
        .or_else(|| line.split_once("KMD Version:"))?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// `0  NVIDIA H200                    On`: the last word is the persistence or driver model.
fn index_and_name(cell: &str) -> Option<(u32, &str)> {
    let (index, rest) = cell.split_once(char::is_whitespace)?;
    let (name, _) = rest
        .trim()
        .rsplit_once("  ")
        .or_else(|| rest.trim().rsplit_once(' '))?;
    Some((index.parse().ok()?, name.trim()))
        .filter(|(_, name)| name.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// ` 0  2  0  0 | 16925MiB / 71424MiB | 16  0 | 3  0  3  0  3`: the engines are CE, ENC, DEC, OFA,
/// JPG.
fn mig_device(cells: &[&str]) -> Option<(u32, MigDevice)> {
    let [ids, memory, sm, engines] = cells else {
        return None;
    };
    let numbers = |text: &str| {
        text.split_whitespace()
            .map(|word| word.parse().ok())
            .collect::<Option<Vec<u32>>>()
    };
    let ids = numbers(ids)?;
    let [gpu, gpu_instance, compute_instance, index] = *ids.as_slice() else {
        return None;
    };
    let engines = numbers(engines)?;
    let [copy, encoders, decoders, ofa, jpeg] = *engines.as_slice() else {
        return None;
    };
    let total = memory
        .split_once('/')
        .and_then(|(_, total)| total.trim().strip_suffix("MiB")?.parse().ok());
    let device = MigDevice {
        index: Some(index),
        gpu_instance: Some(gpu_instance),
        compute_instance: Some(compute_instance),
        sm_count: sm
            .split_whitespace()
            .next()
            .and_then(|count| count.parse().ok()),
        copy_engines: Some(copy),
        encoders: Some(encoders),
        decoders: Some(decoders),
        ofa: Some(ofa),
        jpeg: Some(jpeg),
        memory: total.map(Bytes::from_mib),
    };
    Some((gpu, device))
}
