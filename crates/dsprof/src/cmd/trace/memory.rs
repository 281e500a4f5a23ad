//! `dsprof trace memory`.

use anyhow::Result;
use ds_nsys::{MemoryKind, MemoryUsage};
use serde_json::{Value, json};

use super::figures::{megabytes, millis, rank_json};
use super::input;
use super::kineto;
use super::page::Page;
use super::sources::Sources;
use crate::args::ReportFormat;
use crate::cli_trace::MemoryArgs;
use crate::cmd::json as json_text;
use crate::exit::Status;
use crate::output;

pub(super) fn run(args: &MemoryArgs, sources: &Sources) -> Result<Status> {
    let trace = sources.open(&args.trace)?;
    kineto::refuse(&trace, "allocations of the CUDA API")?;
    let usage = input::reading(trace.path(), || trace.memory_usage())?;
    let text = match args.print.format {
        ReportFormat::Json => json_text(&as_json(usage.as_deref()))?,
        format => as_page(usage.as_deref(), format),
    };
    output::data(&text)?;
    Ok(Status::Fine)
}

fn as_page(usage: Option<&[MemoryUsage]>, format: ReportFormat) -> String {
    let mut page = Page::new(format);
    let Some(usage) = usage else {
        page.line("no allocations were recorded: capture with `--cuda-memory-usage=true`");
        return page.finish();
    };
    let rows: Vec<Vec<String>> = usage
        .iter()
        .map(|usage| {
            vec![
                usage.device.process.pid().to_string(),
                usage.device.ordinal.to_string(),
                kind(usage.kind),
                megabytes(usage.peak),
                millis(usage.peak_at),
                megabytes(usage.at_end),
                megabytes(usage.late_growth()),
                usage.allocations.to_string(),
                usage.frees.to_string(),
            ]
        })
        .collect();
    let heading = [
        "PID",
        "Device",
        "Memory",
        "Peak (MB)",
        "Peak at (ms)",
        "At end (MB)",
        "Late growth (MB)",
        "Allocations",
        "Frees",
    ];
    page.table(&heading, &rows, &[0, 1, 3, 4, 5, 6, 7, 8]);
    page.line("allocated since the capture began; late growth: what the second half left more than the first");
    let unmatched: u64 = usage.iter().map(|usage| usage.unmatched_frees).sum();
    if unmatched > 0 {
        page.line(&format!(
            "{unmatched} frees of memory that was allocated before the capture change no figure"
        ));
    }
    page.finish()
}

fn kind(kind: MemoryKind) -> String {
    let name = match kind {
        MemoryKind::Pageable => "pageable",
        MemoryKind::Pinned => "pinned",
        MemoryKind::Device => "device",
        MemoryKind::Array => "array",
        MemoryKind::Managed => "managed",
        MemoryKind::DeviceStatic => "device static",
        MemoryKind::ManagedStatic => "managed static",
        MemoryKind::Other(code) => return format!("kind {code}"),
        _ => "another kind",
    };
    name.to_owned()
}

fn as_json(usage: Option<&[MemoryUsage]>) -> Value {
    let of_usage = |usage: &MemoryUsage| {
        json!({
            "rank": rank_json(usage.device),
            "memory": kind(usage.kind),
            "is_on_device": usage.kind.is_on_device(),
            "allocations": usage.allocations,
            "frees": usage.frees,
            "unmatched_frees": usage.unmatched_frees,
            "peak_bytes": usage.peak.0,
            "peak_at_ns": usage.peak_at.0,
            "at_middle_bytes": usage.at_middle.0,
            "at_end_bytes": usage.at_end.0,
            "late_growth_bytes": usage.late_growth().0,
        })
    };
    let usage: Option<Vec<Value>> = usage.map(|usage| usage.iter().map(of_usage).collect());
    json!({"schema": "dsprof.memory/1", "usage": usage})
}
