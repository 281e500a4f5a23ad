//! `dsprof trace steps`.

use anyhow::Result;
use ds_nsys::{
    CheckOptions, DeviceKey, FracNanos, Nanos, PrefillEvidence, Spread, StepKind, StepSeries,
    Verdict,
};
use serde_json::{Value, json};

use super::figures::{
    busy_shares, busy_shares_json, frac_millis, interval_json, millis, partial, percent, rank,
    rank_json, spread_json,
};
use super::input;
use super::page::Page;
use super::sources::Sources;
use crate::args::ReportFormat;
use crate::cli_trace::RuledArgs;
use crate::cmd::json as json_text;
use crate::exit::Status;
use crate::output;

pub(super) fn run(args: &RuledArgs, sources: &Sources) -> Result<Status> {
    let trace = sources.open(&args.part.trace)?;
    let options = CheckOptions {
        window: input::window(args.part.window)?,
        taxonomy: input::taxonomy(&args.rules)?,
        ..CheckOptions::default()
    };
    // The verdict holds the steps and the busy shares beside them, read once.
    let verdict = input::reading(trace.path(), || trace.check(None, &options))?;
    let text = match args.part.print.format {
        ReportFormat::Json => json_text(&as_json(&verdict))?,
        format => as_page(&verdict, format),
    };
    output::data(&text)?;
    Ok(Status::Fine)
}

fn as_page(verdict: &Verdict, format: ReportFormat) -> String {
    let mut page = Page::new(format);
    let steps = &verdict.steps;
    if steps.found().next().is_none() {
        page.line("no steps found");
    }
    for rank_steps in &steps.ranks {
        match &rank_steps.series {
            Some(series) => one_rank(&mut page, rank_steps.device, series),
            None if steps.found().next().is_some() => {
                page.heading(&rank(rank_steps.device));
                page.line("no steps found");
            }
            None => {}
        }
    }
    partial(&mut page, verdict);
    busy_shares(&mut page, &verdict.shares);
    page.finish()
}

fn one_rank(page: &mut Page, device: DeviceKey, series: &StepSeries) {
    page.heading(&format!("{}: {}", rank(device), series.bound));
    page.line(&format!(
        "{} complete steps by {}",
        series.steps.len(),
        series.method
    ));
    page.separate();
    let upper = if series.is_upper_figure { "≤ " } else { "" };
    let row = |name: &str, sign: &str, spread: &Spread| {
        vec![
            name.to_owned(),
            format!("{sign}{}", frac_millis(spread.median)),
            format!("{sign}{}", frac_millis(spread.mean)),
            frac_millis(spread.deviation),
            format!("{sign}{}", millis(spread.p95)),
        ]
    };
    let rows = [
        row("step", "", &series.duration),
        row("busy", upper, &series.busy),
        row(
            "idle",
            if series.is_upper_figure { "≥ " } else { "" },
            &series.idle,
        ),
        row("host gap", "", &series.host_gap),
    ];
    page.table(
        &[
            "",
            "Median (ms)",
            "Mean (ms)",
            "Median dev. (ms)",
            "P95 (ms)",
        ],
        &rows,
        &[1, 2, 3, 4],
    );
    page.line(&match series.communication {
        Some((exposed, hidden)) => {
            format!(
                "communication in the median step: {} ms exposed, {} ms hidden",
                frac_millis(exposed),
                frac_millis(hidden)
            )
        }
        None => "communication: unknown, graphs traced as a whole hide their kernels".to_owned(),
    });
    page.line(&format!(
        "launches in the median step: {} graphs, {} kernels one by one",
        series.graph_launches, series.eager_launches
    ));
    let mixed = series
        .steps
        .iter()
        .filter(|step| step.kind == StepKind::Mixed)
        .count();
    let mixed = if mixed > 0 {
        format!("; {mixed} of them also generated tokens")
    } else {
        String::new()
    };
    page.line(&format!(
        "prompt processing: {} of {} steps, {} of busy time{mixed}",
        series.prefill.steps,
        series.steps.len(),
        percent(series.prefill.share_of_busy)
    ));
    for reading in series.readings.iter().skip(1) {
        page.line(&format!(
            "beside it, {}: {} steps, median {} ms",
            reading.method,
            reading.steps,
            frac_millis(reading.median)
        ));
    }
    if let Some(agreement) = series.agreement() {
        page.line(&format!("the two best anchors agree to {agreement}"));
    }
}

fn as_json(verdict: &Verdict) -> Value {
    let ranks: Vec<Value> = verdict
        .steps
        .ranks
        .iter()
        .map(|rank| json!({"rank": rank_json(rank.device), "series": rank.series.as_ref().map(series_json)}))
        .collect();
    json!({
        "schema": "dsprof.steps/1",
        "is_partial": verdict.is_partial(),
        "distortion": verdict.distortion,
        "ranks": ranks,
        "busy_shares": busy_shares_json(&verdict.shares),
    })
}

fn series_json(series: &StepSeries) -> Value {
    let nanos = |time: FracNanos| time.0;
    let readings: Vec<Value> = series
        .readings
        .iter()
        .map(|reading| {
            json!({"method": reading.method.to_string(), "steps": reading.steps, "median_ns": nanos(reading.median)})
        })
        .collect();
    let steps: Vec<Value> = series
        .steps
        .iter()
        .map(|step| {
            json!({
                "start_ns": step.span.start.0,
                "end_ns": step.span.end.0,
                "kind": match step.kind {
                    StepKind::Decode => "decode",
                    StepKind::Mixed => "mixed",
                    StepKind::Prefill => "prefill",
                },
                "context_tokens": step.tokens.map(|tokens| tokens.context),
                "generation_tokens": step.tokens.map(|tokens| tokens.generation),
                "busy_ns": step.busy.0,
                "host_gap_ns": step.host_gap.0,
                "exposed_communication_ns": step.communication.map(|time| time.exposed).map(whole),
                "hidden_communication_ns": step.communication.map(|time| time.hidden).map(whole),
                "graph_launches": step.graph_launches,
                "eager_launches": step.eager_launches,
            })
        })
        .collect();
    json!({
        "method": series.method.to_string(),
        "agreement": series.agreement().map(|share| share.0),
        "readings": readings,
        "window": interval_json(series.window),
        "bound": series.bound.to_string(),
        "is_upper_figure": series.is_upper_figure,
        "duration": spread_json(&series.duration),
        "busy": spread_json(&series.busy),
        "idle": spread_json(&series.idle),
        "host_gap": spread_json(&series.host_gap),
        "exposed_communication_ns": series.communication.map(|(exposed, _)| nanos(exposed)),
        "hidden_communication_ns": series.communication.map(|(_, hidden)| nanos(hidden)),
        "graph_launches": series.graph_launches,
        "eager_launches": series.eager_launches,
        "prefill": {
            "evidence": match series.prefill.evidence {
                PrefillEvidence::ContextTokens => "context tokens",
                PrefillEvidence::LaunchesOutsideGraphs => "launches outside graphs",
                PrefillEvidence::OtherKernels => "other kernels",
            },
            "steps": series.prefill.steps,
            "share_of_busy": series.prefill.share_of_busy.map(|share| share.0),
        },
        "steps": steps,
    })
}

fn whole(time: Nanos) -> i64 {
    time.0
}
