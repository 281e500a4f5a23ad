//! `dsprof trace busy`.

use anyhow::Result;
use ds_nsys::{Busy, DeviceBusy, Nanos, Trace, Window};
use serde_json::json;

use crate::args::ReportFormat;
use crate::cli::BusyArgs;
use crate::exit::Status;
use crate::output;
use crate::table::table;

pub(crate) fn run(args: &BusyArgs) -> Result<Status> {
    let trace = Trace::open(&args.trace)?;
    for warning in trace.warnings() {
        output::message(&format!("note: {warning}"));
    }
    let busy = trace.busy(Window::ALL)?;
    let text = match args.format {
        ReportFormat::Json => super::json(&as_json(&busy))?,
        ReportFormat::Text | ReportFormat::Md => as_text(&busy, args.format),
    };
    output::data(&text)?;
    Ok(Status::Fine)
}

const HEADING: [&str; 9] = [
    "PID",
    "Device",
    "Busy (ms)",
    "Kernels (ms)",
    "Sum (ms)",
    "Overlap (ms)",
    "Span (ms)",
    "Of span",
    "Of session",
];

fn as_text(busy: &Busy, format: ReportFormat) -> String {
    if busy.devices.is_empty() {
        return "no GPU work in this trace\n".to_owned();
    }
    let rows: Vec<Vec<String>> = busy
        .devices
        .iter()
        .map(|device| row(busy, device))
        .collect();
    let mut out = if format == ReportFormat::Md {
        let lines: Vec<String> = rows
            .iter()
            .map(|row| format!("| {} |\n", row.join(" | ")))
            .collect();
        format!(
            "| {} |\n|{}\n{}",
            HEADING.join(" | "),
            "--:|".repeat(HEADING.len()),
            lines.concat()
        )
    } else {
        table(&HEADING, &rows, &[0, 1, 2, 3, 4, 5, 6, 7, 8])
    };
    if let Some(session) = busy.session {
        out.push_str(&format!("session: {} ms\n", millis(session)));
    }
    if busy.devices.iter().any(DeviceBusy::is_upper_figure) {
        out.push_str("≤ an upper figure: CUDA graphs were traced as a whole, and the gaps inside one count as busy\n");
    }
    for device in busy.devices.iter().filter(|device| device.dropped() > 0) {
        out.push_str(&format!(
            "PID {} device {}: {} rows without valid times are left out\n",
            device.device.process.pid(),
            device.device.ordinal,
            device.dropped()
        ));
    }
    out
}

fn row(busy: &Busy, device: &DeviceBusy) -> Vec<String> {
    let upper = if device.is_upper_figure() { "≤ " } else { "" };
    let percent = |share: Option<ds_nsys::Share>| {
        share.map_or_else(
            || "unknown".to_owned(),
            |share| format!("{upper}{:.1} %", share.percent()),
        )
    };
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
        percent(device.share_of_span()),
        percent(busy.share_of_session(device)),
    ]
}

fn millis(time: Nanos) -> String {
    format!("{:.3}", time.as_millis_f64())
}

fn as_json(busy: &Busy) -> serde_json::Value {
    let devices: Vec<_> = busy
        .devices
        .iter()
        .map(|device| {
            json!({
                "pid": device.device.process.pid(),
                "device": device.device.ordinal,
                "busy_ns": device.busy_time().0,
                "kernels_ns": device.kernel_time().0,
                "sum_ns": device.sum().0,
                "overlap_ns": device.overlap().0,
                "span_ns": device.span().map(|span| span.duration().0),
                "is_upper_figure": device.is_upper_figure(),
                "share_of_span": device.share_of_span().map(|share| share.0),
                "share_of_session": busy.share_of_session(device).map(|share| share.0),
                "dropped_rows": device.dropped(),
            })
        })
        .collect();
    json!({"schema": "dsprof.busy/1", "session_ns": busy.session.map(|session| session.0), "devices": devices})
}
