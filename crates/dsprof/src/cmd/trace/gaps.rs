//! `dsprof trace gaps`.

use anyhow::Result;
use ds_nsys::{DeviceGaps, GapOptions};
use serde_json::{Value, json};

use super::figures::{interval_json, micros, millis, percent, rank, rank_json};
use super::input;
use super::page::Page;
use super::sources::Sources;
use crate::args::ReportFormat;
use crate::cli_trace::GapsArgs;
use crate::cmd::json as json_text;
use crate::exit::Status;
use crate::output;

pub(super) fn run(args: &GapsArgs, sources: &Sources) -> Result<Status> {
    let trace = sources.open(&args.part.trace)?;
    let options = GapOptions {
        window: input::window(args.part.window)?,
        listed: args.top,
    };
    let gaps = input::reading(trace.path(), || trace.gaps(options))?;
    let text = match args.part.print.format {
        ReportFormat::Json => json_text(&as_json(&gaps))?,
        format => as_page(&gaps, format),
    };
    output::data(&text)?;
    Ok(Status::Fine)
}

fn as_page(gaps: &[DeviceGaps], format: ReportFormat) -> String {
    let mut page = Page::new(format);
    if gaps.is_empty() {
        page.line("no GPU work in this trace: it has no gaps either");
    }
    for device in gaps {
        page.heading(&rank(device.device));
        page.line(&format!(
            "{} gaps, {} ms idle of a span of {} ms ({})",
            device.count,
            millis(device.idle),
            millis(device.span.duration()),
            percent(device.share_of_span())
        ));
        let classes: Vec<Vec<String>> = device
            .lengths
            .iter()
            .map(|class| {
                vec![
                    micros(class.from),
                    class.count.to_string(),
                    millis(class.idle),
                    percent(class.idle.share_of(device.idle)),
                ]
            })
            .collect();
        if !classes.is_empty() {
            page.separate();
            page.table(
                &["From (µs)", "Gaps", "Idle (ms)", "Of idle"],
                &classes,
                &[0, 1, 2, 3],
            );
        }
        let longest: Vec<Vec<String>> = device
            .longest
            .iter()
            .map(|gap| vec![millis(gap.duration()), millis(gap.start), millis(gap.end)])
            .collect();
        if !longest.is_empty() {
            page.separate();
            page.table(
                &["Longest (ms)", "Start (ms)", "End (ms)"],
                &longest,
                &[0, 1, 2],
            );
        }
    }
    page.finish()
}

fn as_json(gaps: &[DeviceGaps]) -> Value {
    let of_device = |device: &DeviceGaps| {
        let classes: Vec<Value> = device
            .lengths
            .iter()
            .map(|class| json!({"from_ns": class.from.0, "count": class.count, "idle_ns": class.idle.0}))
            .collect();
        let longest: Vec<Value> = device
            .longest
            .iter()
            .map(|gap| interval_json(*gap))
            .collect();
        json!({
            "rank": rank_json(device.device),
            "span": interval_json(device.span),
            "count": device.count,
            "idle_ns": device.idle.0,
            "share_of_span": device.share_of_span().map(|share| share.0),
            "lengths": classes,
            "longest": longest,
        })
    };
    json!({"schema": "dsprof.gaps/1", "devices": gaps.iter().map(of_device).collect::<Vec<_>>()})
}
