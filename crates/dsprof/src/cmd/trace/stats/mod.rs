//! `dsprof trace stats`: the reports of `nsys stats`, with the arguments that people already type.

mod destination;
mod json_rows;
mod printed;
mod split;

use std::cell::Cell;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write};
use std::path::Path;

use anyhow::{Context as _, Result};
use ds_nsys::{
    FileKind, MAGIC_LEN, NameWidth, Report, ReportKind, ReportOptions, SeparatedWriter,
    StatsOutput, Style, Trace,
};

use super::input;
use super::kineto;
use super::sources::Sources;
use crate::cli_trace::{StatsArgs, StatsFormat, StyleArg};
use crate::exit::{Status, Usage};
use crate::output;
use crate::progress::Bar;
use destination::{Console, Order, orders};
use json_rows::JsonRows;

/// The reports that nsys makes when nobody asks for others and that are reproduced here, in its order.
const BY_DEFAULT: [ReportKind; 7] = [
    ReportKind::NvtxSum,
    ReportKind::OsrtSum,
    ReportKind::CudaApiSum,
    ReportKind::CudaGpuKernSum,
    ReportKind::CudaGpuMemTimeSum,
    ReportKind::CudaGpuMemSizeSum,
    ReportKind::UmSum,
];

/// Where text tables of `nsys stats` cut names (seen with 2022.4.2 and 2023.4.4).
const NSYS_NAME_WIDTH: usize = 100;

pub(super) fn run(args: &StatsArgs, sources: &Sources) -> Result<Status> {
    let Some(path) = args.trace.as_deref().filter(|_| !args.help_reports) else {
        return list_reports();
    };
    let reports = args
        .report
        .iter()
        .map(|name| {
            name.trim()
                .parse::<Report>()
                .map_err(|error| unknown(name, &error))
        })
        .collect::<Result<Vec<_>, _>>()?;
    if let Some(printed) = printed_stats(path)? {
        return printed::run(args, &printed, &reports);
    }
    let trace = sources.open(path)?;
    let reports = if reports.is_empty() {
        BY_DEFAULT.map(Report::from).to_vec()
    } else {
        reports
    };
    let options = ReportOptions {
        style: match args.style {
            StyleArg::V2025 => Style::V2025,
            StyleArg::V2023 => Style::V2023,
        },
        window: input::window(args.window)?,
    };
    let mut console = Console::default();
    for order in orders(args, path, reports)? {
        let report = order.report;
        let progress = Cell::new(Some(Bar::during(&format!("reading {}", path.display()))));
        order.write(&mut console, &|out| {
            let mut out = Instead {
                out,
                progress: order.is_seen().then_some(&progress),
            };
            let rows = match args.by {
                Some(by) => split::write(&trace, by, &order, options, &mut out)?,
                None => write(&trace, &order, options, &mut out)?,
            };
            if rows == Contents::Nothing {
                progress.take();
                let why = kineto::cannot_answer(&trace, report.kind)
                    .map_or_else(String::new, |why| format!(": {why}"));
                output::message(&format!("{}: no data for {report}{why}", path.display()));
            }
            Ok(())
        })?;
    }
    Ok(Status::Fine)
}

/// Whether a report had anything to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Contents {
    Rows,
    Nothing,
}

/// Writes one report. Rows are handed on as they are read; of text they are measured first.
fn write(
    trace: &Trace,
    order: &Order,
    options: ReportOptions,
    out: &mut dyn Write,
) -> Result<Contents> {
    let mut out = Counted {
        out,
        contents: Contents::Nothing,
    };
    match order.format {
        StatsFormat::Text => {
            let names = NameWidth::AtMost(NSYS_NAME_WIDTH);
            trace
                .text_report(order.report, options, names)?
                .write(&mut out)?;
        }
        StatsFormat::Csv | StatsFormat::Tsv => {
            let mut writer = match order.format {
                StatsFormat::Tsv => SeparatedWriter::tsv(&mut out, options.style),
                _ => SeparatedWriter::csv(&mut out, options.style),
            };
            trace.report_into(order.report, options, &mut writer)?;
            writer.finish()?;
        }
        StatsFormat::Json => {
            let mut writer = JsonRows::new(&mut out, options.style);
            trace.report_into(order.report, options, &mut writer)?;
            return Ok(writer.finish()?);
        }
    }
    Ok(out.contents)
}

/// On a terminal, takes the progress away as soon as there is something else to see.
struct Instead<'w> {
    out: &'w mut dyn Write,
    progress: Option<&'w Cell<Option<Bar>>>,
}

impl Write for Instead<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(progress) = self.progress.take() {
            progress.take();
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Notes whether anything passes.
struct Counted<'w> {
    out: &'w mut dyn Write,
    contents: Contents,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !bytes.is_empty() {
            self.contents = Contents::Rows;
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn unknown(name: &str, error: &ds_nsys::Error) -> Usage {
    Usage(format!(
        "--report {name}: {error}; `--help-reports` lists them all"
    ))
}

fn list_reports() -> Result<Status> {
    let rows: Vec<Vec<String>> = ReportKind::all()
        .map(|kind| vec![kind.name().to_owned(), about(kind).to_owned()])
        .collect();
    let mut text = crate::table::plain(&rows);
    text.push_str("\nThe names from before 2023.2 (gpukernsum, cudaapisum, …) are accepted too. Options follow a colon: `:base` and\n");
    text.push_str("`:mangled` for kernel names, `:nvtx-name` for the range around the launch, `:rows=N` for um_sum.\n");
    output::data(&text)?;
    Ok(Status::Fine)
}

fn about(kind: ReportKind) -> &'static str {
    match kind {
        ReportKind::CudaApiGpuSum => "time in CUDA calls, kernels and memory operations together",
        ReportKind::CudaApiSum => "time in CUDA calls",
        ReportKind::CudaApiTrace => "every CUDA call",
        ReportKind::CudaGpuKernGbSum => "kernel time by name, grid and block",
        ReportKind::CudaGpuKernSum => "kernel time by name",
        ReportKind::CudaGpuMemSizeSum => "memory operations by size",
        ReportKind::CudaGpuMemTimeSum => "memory operations by time",
        ReportKind::CudaGpuSum => "kernels and memory operations together",
        ReportKind::CudaGpuTrace => "every kernel and memory operation",
        ReportKind::CudaKernExecSum => "launch, queue and kernel time",
        ReportKind::NvtxGpuProjSum => "NVTX ranges projected on the GPU work they launched",
        ReportKind::NvtxKernSum => "kernels by the NVTX ranges around their launch",
        ReportKind::NvtxPushpopSum => "NVTX push/pop ranges",
        ReportKind::NvtxPushpopTrace => "every NVTX push/pop range",
        ReportKind::NvtxStartendSum => "NVTX start/end ranges",
        ReportKind::NvtxSum => "NVTX ranges of both styles",
        ReportKind::OsrtSum => "time in calls of the operating system's runtime",
        ReportKind::UmSum => "unified memory by the addresses that migrated",
        _ => "",
    }
}

/// What the file holds, where it is no export but the output of somebody's `nsys stats`.
fn printed_stats(path: &Path) -> Result<Option<StatsOutput>> {
    // What cannot be opened, and what is a directory, is for the reader of exports to complain about.
    let Ok(mut file) = File::open(path) else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    let head = (&mut file).take(MAGIC_LEN as u64).read_to_end(&mut bytes);
    if head.is_err() || FileKind::recognise(&bytes) != FileKind::Other || !looks_like_text(&bytes) {
        return Ok(None);
    }
    file.read_to_end(&mut bytes)
        .with_context(|| format!("`{}` cannot be read", path.display()))?;
    let printed = StatsOutput::read(&bytes).with_context(|| format!("`{}`", path.display()))?;
    let says_something = !printed.tables.is_empty() || !printed.messages.is_empty();
    Ok(says_something.then_some(printed))
}

/// Text holds no zero bytes, but for UTF-16, which begins with a mark or has every second byte zero.
fn looks_like_text(head: &[u8]) -> bool {
    let is_utf_16 = matches!(
        head,
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [_, 0, _, 0, ..] | [0, _, 0, _, ..]
    );
    is_utf_16 || !head.contains(&0)
}

/// The trace's path without what an export's name ends with.
fn stem(path: &Path) -> OsString {
    let is_packed = path.extension().is_some_and(|ending| ending == "gz");
    let unpacked = if is_packed {
        path.with_extension("")
    } else {
        path.to_owned()
    };
    unpacked.with_extension("").into_os_string()
}
