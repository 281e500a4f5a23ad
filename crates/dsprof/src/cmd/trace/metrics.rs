//! `dsprof trace metrics`.

use anyhow::Result;
use ds_nsys::{MetricSamples, MetricUnit, Reading, Share};
use serde_json::{Value, json};

use super::figures::percent;
use super::input;
use super::kineto;
use super::page::Page;
use super::sources::Sources;
use crate::args::ReportFormat;
use crate::cli_trace::MetricsArgs;
use crate::cmd::json as json_text;
use crate::exit::{Status, Usage};
use crate::output;

/// The quantiles that are printed beside the mean.
const MEDIAN: Share = Share(0.5);
const P95: Share = Share(0.95);

pub(super) fn run(args: &MetricsArgs, sources: &Sources) -> Result<Status> {
    if args.above.is_some_and(|level| !level.is_finite()) {
        return Err(Usage("--above: give a number".to_owned()).into());
    }
    let trace = sources.open(&args.part.trace)?;
    kineto::refuse(&trace, "hardware counters")?;
    let window = input::window(args.part.window)?;
    let metrics = input::reading(trace.path(), || trace.gpu_metrics(window))?;
    let text = match args.part.print.format {
        ReportFormat::Json => json_text(&as_json(metrics.as_deref(), args.above))?,
        format => match metrics {
            Some(metrics) => as_page(&metrics, args.above, format),
            None => not_sampled(&trace.gpu_metrics_messages()?, format),
        },
    };
    output::data(&text)?;
    Ok(Status::Fine)
}

/// Absent counters are not counters that read 0.
fn not_sampled(messages: &[String], format: ReportFormat) -> String {
    let mut page = Page::new(format);
    page.line(
        "no counters were sampled: the capture did not ask for them, or was not permitted to",
    );
    for message in messages {
        page.line(&format!("the profiler says: \"{message}\""));
    }
    page.finish()
}

fn as_page(metrics: &[MetricSamples], above: Option<f64>, format: ReportFormat) -> String {
    let mut page = Page::new(format);
    let above_heading = above.map(|level| format!("Above {level}"));
    let mut heading = vec!["GPU", "Samples", "Mean", "P50", "P95", "Max"];
    heading.extend(above_heading.as_deref());
    heading.push("Counter");
    let rows: Vec<Vec<String>> = metrics.iter().map(|metric| row(metric, above)).collect();
    let right: Vec<usize> = (0..heading.len() - 1).collect();
    page.table(&heading, &rows, &right);
    for metric in metrics.iter().filter(|metric| metric.negative() > 0) {
        page.line(&format!(
            "{}: {} negative samples, which no counter can have",
            name(metric),
            metric.negative()
        ));
    }
    page.finish()
}

fn row(metric: &MetricSamples, above: Option<f64>) -> Vec<String> {
    let mut row = vec![
        metric.gpu.to_string(),
        metric.count().to_string(),
        printed(metric.mean()),
        printed(metric.quantile(MEDIAN)),
        printed(metric.quantile(P95)),
        printed(metric.quantile(Share(1.0))),
    ];
    row.extend(above.map(|level| percent(Some(metric.share_above(level)))));
    row.push(name(metric).to_owned());
    row
}

fn name(metric: &MetricSamples) -> &str {
    metric.name.as_deref().unwrap_or("a counter without a name")
}

fn printed(reading: Reading) -> String {
    match reading.unit {
        MetricUnit::Percent => format!("{:.1} %", reading.value),
        MetricUnit::Hertz => format!("{:.1} MHz", reading.value / 1e6),
        _ => format!("{:.1}", reading.value),
    }
}

fn as_json(metrics: Option<&[MetricSamples]>, above: Option<f64>) -> Value {
    let of_metric = |metric: &MetricSamples| {
        json!({
            "gpu": metric.gpu,
            "name": metric.name.as_deref(),
            "unit": match metric.unit {
                MetricUnit::Percent => "%",
                MetricUnit::Hertz => "Hz",
                _ => "as named",
            },
            "samples": metric.count(),
            "mean": metric.mean().value,
            "p50": metric.quantile(MEDIAN).value,
            "p95": metric.quantile(P95).value,
            "max": metric.quantile(Share(1.0)).value,
            "share_above": above.map(|level| metric.share_above(level).0),
            "negative_samples": metric.negative(),
        })
    };
    let metrics: Option<Vec<Value>> =
        metrics.map(|metrics| metrics.iter().map(of_metric).collect());
    json!({"schema": "dsprof.metrics/1", "above": above, "metrics": metrics})
}
