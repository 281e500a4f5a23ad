//! `dsprof trace plugins`.

use anyhow::Result;
use ds_nsys::{Nanos, PluginTimes, RangeStyle, Window};
use serde_json::{Value, json};

use super::figures::{millis, percent};
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
    let times = input::reading(trace.path(), || trace.plugin_times(window))?;
    // The wall that shares are of: the window where both its ends are given, else the session.
    let wall = if window == Window::ALL {
        trace.session_duration()?
    } else {
        trace.busy(window)?.session
    };
    let text = match args.print.format {
        ReportFormat::Json => json_text(&as_json(times.as_ref(), wall))?,
        format => match &times {
            Some(times) => as_page(times, wall, format),
            None => without_ranges(trace.capture().nvtx_traced(), format),
        },
    };
    output::data(&text)?;
    Ok(Status::Fine)
}

/// No ranges were exported; whether they were asked for is another question.
fn without_ranges(traced: Option<bool>, format: ReportFormat) -> String {
    let mut page = Page::new(format);
    page.line(match traced {
        Some(false) => "no NVTX ranges in this trace: NVTX was not traced",
        Some(true) => "no NVTX ranges in this trace: NVTX was traced, and nothing marked any",
        None => "no NVTX ranges in this trace: NVTX was not traced, or nothing marked any",
    });
    page.finish()
}

fn as_page(times: &PluginTimes, wall: Option<Nanos>, format: ReportFormat) -> String {
    let mut page = Page::new(format);
    let rows: Vec<Vec<String>> = times
        .plugins
        .iter()
        .map(|plugin| {
            vec![
                plugin.owner.to_string(),
                millis(plugin.covered),
                percent(wall.and_then(|wall| plugin.share_of(wall))),
                millis(plugin.self_time),
                millis(plugin.gpu_time),
                plugin.threads.len().to_string(),
            ]
        })
        .collect();
    page.table(
        &[
            "Owner",
            "Inside (ms)",
            "Of wall",
            "Self (ms)",
            "GPU (ms)",
            "Threads",
        ],
        &rows,
        &[1, 2, 3, 4, 5],
    );
    page.line("inside: any thread was in one of its ranges; self: without ranges nested inside, summed over threads; GPU: work launched there");
    if times.open > 0 {
        page.line(&format!(
            "{} ranges were still open at the end, and count until the last time of any range",
            times.open
        ));
    }
    if times.crossing > 0 {
        page.line(&format!(
            "{} start/end ranges ended on another thread than they began on",
            times.crossing
        ));
    }
    page.heading("Ranges");
    let rows: Vec<Vec<String>> = times
        .plugins
        .iter()
        .flat_map(|plugin| plugin.ranges.iter().map(move |range| (plugin, range)))
        .map(|(plugin, range)| {
            vec![
                plugin.owner.to_string(),
                range.text.clone(),
                range.count.to_string(),
                millis(range.total),
                range.self_time.map_or_else(|| "–".to_owned(), millis),
                millis(range.gpu_time),
            ]
        })
        .collect();
    page.table(
        &[
            "Owner",
            "Range",
            "Count",
            "Total (ms)",
            "Self (ms)",
            "GPU (ms)",
        ],
        &rows,
        &[2, 3, 4, 5],
    );
    page.finish()
}

fn as_json(times: Option<&PluginTimes>, wall: Option<Nanos>) -> Value {
    let plugins: Option<Vec<Value>> = times.map(|times| {
        let plugins = times.plugins.iter().map(|plugin| {
            let ranges: Vec<Value> = plugin
                .ranges
                .iter()
                .map(|range| {
                    json!({
                        "text": range.text,
                        "style": match range.style { RangeStyle::PushPop => "push/pop", RangeStyle::StartEnd => "start/end" },
                        "count": range.count,
                        "total_ns": range.total.0,
                        "self_ns": range.self_time.map(|time| time.0),
                        "gpu_ns": range.gpu_time.0,
                    })
                })
                .collect();
            let threads: Vec<Value> = plugin
                .threads
                .iter()
                .map(|thread| {
                    json!({
                        "pid": thread.thread.process().pid(),
                        "tid": thread.thread.tid(),
                        "covered_ns": thread.covered.0,
                        "self_ns": thread.self_time.0,
                    })
                })
                .collect();
            json!({
                "owner": plugin.owner.to_string(),
                "covered_ns": plugin.covered.0,
                "share_of_wall": wall.and_then(|wall| plugin.share_of(wall)).map(|share| share.0),
                "self_ns": plugin.self_time.0,
                "gpu_ns": plugin.gpu_time.0,
                "threads": threads,
                "ranges": ranges,
            })
        });
        plugins.collect()
    });
    json!({
        "schema": "dsprof.plugins/1",
        "wall_ns": wall.map(|wall| wall.0),
        "open": times.map(|times| times.open),
        "crossing": times.map(|times| times.crossing),
        "plugins": plugins,
    })
}
