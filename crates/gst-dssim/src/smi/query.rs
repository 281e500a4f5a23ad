//! `--query-gpu=…`.

use std::io::{self, Write};

use super::BAD_FIELD;
use super::gpu::{Activity, Gpu, Utilisation};

/// How a query is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    header: Header,
    units: Units,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Header {
    Printed,
    Left,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Units {
    Printed,
    Left,
}

impl Format {
    /// Reads `--format=csv[,noheader][,nounits]`; `-i 0` may stand beside it.
    pub(super) fn parse(options: &[&str]) -> Option<Self> {
        let mut format = None;
        let mut options = options.iter();
        while let Some(option) = options.next() {
            match *option {
                "-i" => {
                    options.next().filter(|index| **index == "0")?;
                }
                option => {
                    let mut words = option.strip_prefix("--format=")?.split(',');
                    words.next().filter(|word| *word == "csv")?;
                    let mut read = Self {
                        header: Header::Printed,
                        units: Units::Printed,
                    };
                    for word in words {
                        match word {
                            "noheader" => read.header = Header::Left,
                            "nounits" => read.units = Units::Left,
                            _ => return None,
                        }
                    }
                    format = Some(read);
                }
            }
        }
        format
    }
}

/// Answers a query; a field that does not exist loses the whole answer, as with the real program.
pub(super) fn run(
    fields: &[&str],
    format: Format,
    gpu: &Gpu,
    activity: &Activity<'_>,
    out: &mut dyn Write,
) -> io::Result<u8> {
    let utilisation = if fields.iter().any(|field| field.starts_with("utilization.")) {
        activity.over_a_moment()?
    } else {
        Utilisation::default()
    };
    let used = activity.memory_mib()?;
    let mut cells = Vec::new();
    for field in fields {
        let Some(cell) = cell(field, gpu, used, utilisation) else {
            writeln!(out, "Field \"{field}\" is not a valid field to query.\n")?;
            return Ok(BAD_FIELD);
        };
        cells.push(cell);
    }
    if format.header == Header::Printed {
        let names: Vec<String> = fields
            .iter()
            .zip(&cells)
            .map(|(field, (_, unit))| match unit {
                Some(unit) => format!("{field} [{unit}]"),
                None => (*field).to_owned(),
            })
            .collect();
        writeln!(out, "{}", names.join(", "))?;
    }
    let values: Vec<String> = cells
        .iter()
        .map(|(value, unit)| match (unit, format.units) {
            (Some(unit), Units::Printed) => format!("{value} {unit}"),
            _ => value.clone(),
        })
        .collect();
    writeln!(out, "{}", values.join(", "))?;
    Ok(0)
}

/// The value of a field and its unit; `None` for a field that is not known.
fn cell(
    field: &str,
    gpu: &Gpu,
    used_mib: u64,
    utilisation: Utilisation,
) -> Option<(String, Option<&'static str>)> {
    let plain = |value: &str| Some((value.to_owned(), None));
    let with = |value: u64, unit| Some((value.to_string(), Some(unit)));
    let free = gpu.memory_mib.saturating_sub(gpu.reserved_mib + used_mib);
    match field {
        "index" => plain("0"),
        "count" => plain("1"),
        "name" | "gpu_name" => plain(gpu.name),
        "uuid" | "gpu_uuid" => plain(gpu.uuid),
        "driver_version" => plain(gpu.driver),
        "pci.bus_id" | "gpu_bus_id" => plain("00000000:00:04.0"),
        "compute_cap" => plain("7.5"),
        "mig.mode.current" => plain("[N/A]"),
        "ecc.mode.current" => plain("Enabled"),
        "compute_mode" => plain("Default"),
        "pstate" => plain("P0"),
        "pcie.link.gen.max" | "pcie.link.gen.current" => plain("3"),
        "pcie.link.width.max" | "pcie.link.width.current" => plain("16"),
        "memory.total" => with(gpu.memory_mib, "MiB"),
        "memory.reserved" => with(gpu.reserved_mib, "MiB"),
        "memory.used" => with(used_mib, "MiB"),
        "memory.free" => with(free, "MiB"),
        "utilization.gpu" => with(utilisation.sm.into(), "%"),
        "utilization.memory" => with(utilisation.memory.into(), "%"),
        "utilization.decoder" => with(utilisation.decoder.into(), "%"),
        "utilization.encoder" => with(0, "%"),
        "clocks.max.sm" | "clocks.max.graphics" | "clocks.sm" | "clocks.gr" => {
            with(gpu.max_sm_mhz.into(), "MHz")
        }
        "clocks.max.memory" | "clocks.max.mem" | "clocks.mem" => {
            with(gpu.max_memory_mhz.into(), "MHz")
        }
        "clocks.video" => with(gpu.max_video_mhz.into(), "MHz"),
        _ => None,
    }
}
