//! `dsprof trace busy`.

use anyhow::Result;
use ds_nsys::{Busy, CheckOptions, DeviceBusy, GpuWork, Verdict, Window};
use serde_json::{Value, json};

use super::figures::{
    busy_shares, busy_shares_json, interval_json, millis, partial, rank, rank_json,
};
use super::input;
use super::page::Page;
use super::sources::Sources;
use crate::args::ReportFormat;
use crate::cli_trace::PartArgs;
use crate::cmd::json as json_text;
use crate::exit::Status;
use crate::output;

pub(super) fn run(args: &PartArgs, sources: &Sources) -> Result<Status> {
    let trace = sources.open(&args.trace)?;
    let window = input::window(args.window)?;
    let busy = input::reading(trace.path(), || trace.busy(window))?;
    // Where the real work lies is part of the verdict: one definition for every share that is printed.
    let options = CheckOptions {
        window,
        ..CheckOptions::default()
    };
    let verdict = input::reading(trace.path(), || trace.check(None, &options))?;
    let text = match args.print.format {
        ReportFormat::Json => json_text(&as_json(&busy, &verdict))?,
        format => as_page(&busy, &verdict, window, format),
    };
    output::data(&text)?;
    Ok(Status::Fine)
}

const HEADING: [&str; 7] = [
    "PID",
    "Device",
    "Busy (ms)",
    "Kernels (ms)",
    "Sum (ms)",
    "Overlap (ms)",
    "Span (ms)",
];

fn as_page(busy: &Busy, verdict: &Verdict, window: Window, format: ReportFormat) -> String {
    let mut page = Page::new(format);
    if busy.devices.is_empty() {
        page.line("no GPU work in this trace");
        return page.finish();
    }
    let rows: Vec<Vec<String>> = busy.devices.iter().map(row).collect();
    page.table(&HEADING, &rows, &[0, 1, 2, 3, 4, 5, 6]);
    if let Some(part) = input::window_line(window) {
        page.line(&part);
    }
    if let Some(session) = busy.session {
        page.line(&format!("session: {} ms", millis(session)));
    }
    for device in busy.devices.iter().filter(|device| device.dropped() > 0) {
        page.line(&format!(
            "{}: {} rows without valid times are left out",
            rank(device.device),
            device.dropped()
        ));
    }
    partial(&mut page, verdict);
    busy_shares(&mut page, &verdict.shares);
    page.finish()
}

fn row(device: &DeviceBusy) -> Vec<String> {
    let upper = if device.is_upper_figure() { "≤ " } else { "" };
    vec![
        device.device.process.pid().to_string(),
        device.device.ordinal.to_string(),
        format!("{upper}{}", millis(device.busy_time())),
        millis(device.kernel_time()),
        millis(device.sum()),
        millis(device.overlap()),
        device
            .span()
            .map_or_else(|| "–".to_owned(), |span| millis(span.duration())),
    ]
}

fn as_json(busy: &Busy, verdict: &Verdict) -> Value {
    let devices: Vec<Value> = busy
        .devices
        .iter()
        .map(|device| {
            let work: Vec<Value> = device
                .work
                .iter()
                .map(|(kind, work)| {
                    json!({
                        "kind": work_name(*kind),
                        "count": work.count,
                        "busy_ns": work.intervals.total().0,
                        "sum_ns": work.sum.0,
                    })
                })
                .collect();
            json!({
                "rank": rank_json(device.device),
                "busy_ns": device.busy_time().0,
                "kernels_ns": device.kernel_time().0,
                "sum_ns": device.sum().0,
                "overlap_ns": device.overlap().0,
                "span": device.span().map(interval_json),
                "is_upper_figure": device.is_upper_figure(),
                "dropped_rows": device.dropped(),
                "work": work,
            })
        })
        .collect();
    json!({
        "schema": "dsprof.busy/2",
        "session_ns": busy.session.map(|session| session.0),
        "devices": devices,
        "is_partial": verdict.is_partial(),
        "distortion": verdict.distortion,
        "busy_shares": busy_shares_json(&verdict.shares),
    })
}

fn work_name(kind: GpuWork) -> &'static str {
    match kind {
        GpuWork::Kernel => "kernels",
        GpuWork::Graph => "graphs",
        GpuWork::Copy => "copies",
        GpuWork::Set => "sets",
    }
}
