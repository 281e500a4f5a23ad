//! Which report goes where, and how it is printed.
//!
//! As in `nsys stats`, the first format and the first output are for the first report, and the last ones for all reports
//! that remain.

use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use ds_nsys::Report;

use super::stem;
use crate::cli_trace::{StatsArgs, StatsFormat};
use crate::exit::Usage;
use crate::output;

/// One report to be made.
pub(super) struct Order {
    pub(super) report: Report,
    pub(super) format: StatsFormat,
    destination: Destination,
}

enum Destination {
    Console,
    File(PathBuf),
}

/// Standard output over several reports: between two of them a line is free.
#[derive(Default)]
pub(super) struct Console {
    is_begun: bool,
}

impl Order {
    /// Whether the report appears on a terminal.
    pub(super) fn is_seen(&self) -> bool {
        match self.destination {
            Destination::Console => io::stdout().is_terminal(),
            Destination::File(_) => false,
        }
    }

    /// Lets `make` write the report to where it belongs.
    pub(super) fn write(
        &self,
        console: &mut Console,
        make: &dyn Fn(&mut dyn Write) -> Result<()>,
    ) -> Result<()> {
        match &self.destination {
            Destination::Console => output::stream(|out| {
                // The text of a table begins with a free line of its own.
                let is_line_due = console.is_begun && self.format != StatsFormat::Text;
                make(&mut Apart {
                    out,
                    console,
                    is_line_due,
                })
            }),
            Destination::File(path) => {
                let mut made = Ok(());
                let written = ds_orchestrate::atomic::write_with(path, |out| {
                    made = make(out);
                    // Leaves the file as it was; the reason is told instead of this.
                    let is_made = made.is_ok();
                    is_made
                        .then_some(())
                        .ok_or_else(|| io::Error::other("no report"))
                });
                made?;
                written.with_context(|| format!("cannot write `{}`", path.display()))
            }
        }
    }
}

/// Begins with a free line, where one is due, as soon as anything is written.
struct Apart<'w> {
    out: &'w mut dyn Write,
    console: &'w mut Console,
    is_line_due: bool,
}

impl Write for Apart<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !bytes.is_empty() {
            if std::mem::take(&mut self.is_line_due) {
                self.out.write_all(b"\n")?;
            }
            self.console.is_begun = true;
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Matches reports with formats and outputs.
pub(super) fn orders(args: &StatsArgs, trace: &Path, reports: Vec<Report>) -> Result<Vec<Order>> {
    if args.format.len() > reports.len() || args.output.len() > reports.len() {
        return Err(Usage("more formats or outputs than reports: each is for one report, the last for all that remain".to_owned()).into());
    }
    let mut orders: Vec<Order> = Vec::with_capacity(reports.len());
    for (at, report) in reports.into_iter().enumerate() {
        let output = args
            .output
            .get(at)
            .or(args.output.last())
            .map_or("-", String::as_str);
        let format = args.format.get(at).or(args.format.last()).copied();
        let prefix = match output {
            "-" => None,
            "." => Some(stem(trace)),
            prefix => Some(prefix.into()),
        };
        let (format, destination) = match prefix {
            None => (format.unwrap_or(StatsFormat::Text), Destination::Console),
            Some(mut name) => {
                let format = format.unwrap_or(StatsFormat::Csv);
                name.push(format!("_{}.{}", file_name(&report), ending(format)));
                (format, Destination::File(name.into()))
            }
        };
        orders.push(Order {
            report,
            format,
            destination,
        });
    }
    Ok(orders)
}

/// The report with its options, as nsys 2023.4.4 was seen to name files: `cuda_gpu_kern_sum_base`.
fn file_name(report: &Report) -> String {
    report.to_string().replace([':', '='], "_")
}

fn ending(format: StatsFormat) -> &'static str {
    match format {
        StatsFormat::Text => "txt",
        StatsFormat::Csv => "csv",
        StatsFormat::Tsv => "tsv",
        StatsFormat::Json => "json",
    }
}
