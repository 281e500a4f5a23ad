//! `dmon`: a line a second until it is ended.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::gpu::{Activity, Gpu, Utilisation};
use crate::deadline::sleep_until;

/// What is printed, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    groups: Vec<Group>,
    every: Duration,
    count: Option<u32>,
}

/// Columns that are asked for together, in the order in which they are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Power,
    Utilisation,
    Clocks,
    Memory,
}

impl Group {
    fn of(letter: char) -> Option<Self> {
        match letter {
            'p' => Some(Self::Power),
            'u' => Some(Self::Utilisation),
            'c' => Some(Self::Clocks),
            'm' => Some(Self::Memory),
            _ => None,
        }
    }

    fn columns(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Power => &[("pwr", "W"), ("gtemp", "C"), ("mtemp", "C")],
            Self::Utilisation => &[
                ("sm", "%"),
                ("mem", "%"),
                ("enc", "%"),
                ("dec", "%"),
                ("jpg", "%"),
                ("ofa", "%"),
            ],
            Self::Clocks => &[("mclk", "MHz"), ("pclk", "MHz")],
            Self::Memory => &[("fb", "MB"), ("bar1", "MB"), ("ccpm", "MB")],
        }
    }

    fn cells(self, gpu: &Gpu, utilisation: Utilisation, used_mib: u64) -> Vec<String> {
        let dash = || "-".to_owned();
        match self {
            // No power or temperature is simulated; nvidia-smi prints a dash for what it does not know.
            Self::Power => vec![dash(), dash(), dash()],
            Self::Utilisation => vec![
                utilisation.sm.to_string(),
                utilisation.memory.to_string(),
                "0".to_owned(),
                utilisation.decoder.to_string(),
                // A T4 has neither a JPEG nor an optical-flow engine that is counted.
                dash(),
                dash(),
            ],
            Self::Clocks => vec![gpu.max_memory_mhz.to_string(), gpu.max_sm_mhz.to_string()],
            Self::Memory => vec![used_mib.to_string(), "5".to_owned(), "0".to_owned()],
        }
    }
}

impl Options {
    /// Reads `-s`, `-d`, `-c` and `-i 0`; without `-s` the groups are p, u and c.
    pub(super) fn parse(options: &[&str]) -> Option<Self> {
        let mut read = Self {
            groups: vec![Group::Power, Group::Utilisation, Group::Clocks],
            every: Duration::from_secs(1),
            count: None,
        };
        let mut words = options.iter();
        while let Some(option) = words.next() {
            let value = words.next()?;
            match *option {
                "-s" => {
                    read.groups = value.chars().map(Group::of).collect::<Option<_>>()?;
                    read.groups.sort_unstable();
                    read.groups.dedup();
                }
                "-d" => read.every = Duration::from_secs(value.parse().ok().filter(|n| *n > 0)?),
                "-c" => read.count = Some(value.parse().ok()?),
                "-i" => (*value == "0").then_some(())?,
                _ => return None,
            }
        }
        Some(read)
    }
}

/// Prints until the count is reached or nobody reads any more.
pub(super) fn run(
    options: &Options,
    gpu: &Gpu,
    activity: &Activity<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns: Vec<_> = options
        .groups
        .iter()
        .flat_map(|group| group.columns())
        .collect();
    let line = |first: &str, cells: &mut dyn Iterator<Item = &str>| {
        cells.fold(first.to_owned(), |line, cell| format!("{line} {cell:>6}")) + " \n"
    };
    let head = line("# gpu", &mut columns.iter().map(|(name, _)| *name))
        + &line("# Idx", &mut columns.iter().map(|(_, unit)| *unit));
    out.write_all(head.as_bytes())?;
    out.flush()?;
    let mut watch = activity.watch()?;
    let mut next = Instant::now();
    let mut printed = 0;
    while options.count.is_none_or(|count| printed < count) {
        next += options.every;
        sleep_until(next);
        let utilisation = watch.lap()?;
        let used = activity.memory_mib()?;
        let cells: Vec<String> = options
            .groups
            .iter()
            .flat_map(|group| group.cells(gpu, utilisation, used))
            .collect();
        let text = line("    0", &mut cells.iter().map(String::as_str));
        out.write_all(text.as_bytes())?;
        out.flush()?;
        printed += 1;
    }
    Ok(())
}
