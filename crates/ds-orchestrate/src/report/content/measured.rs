//! What was measured: the sweep, the whole pipeline, what bounds it and where the time goes.

use std::fmt::Write as _;

use super::super::document::{Align, Block, Curve, CurvePoint, CurveRate, Document, Table};
use super::super::model::{
    BoundReport, E2eReport, NamedTimeReport, PlateauReport, SweepPointReport, TraceReport,
};
use super::{count, known, shorten};

/// The plateau and the sweep behind it.
pub fn sweep_document(report: &PlateauReport) -> Document {
    let mut out = Document::default();
    out.push(Block::Facts(vec![(
        "Inference plateau".to_owned(),
        plateau_line(report),
    )]));
    out.push(Block::Section("Sweep".to_owned()));
    out.push(Block::Curve(curve(report)));
    out.push(Block::Table(sweep_table(report)));
    out.bullets(report.notes.iter().cloned());
    out
}

/// Where the time of a trace goes.
pub fn trace_document(trace: Option<&TraceReport>, no_trace: Option<&str>) -> Document {
    plugins(trace, no_trace)
}

/// The whole pipeline, what bounds it and where the time goes.
pub fn profile_document(
    measured: &E2eReport,
    verdict: &BoundReport,
    trace: Option<&TraceReport>,
    no_trace: Option<&str>,
) -> Document {
    let mut out = Document::default();
    out.push(Block::Facts(vec![(
        "E2E measured".to_owned(),
        e2e_line(measured),
    )]));
    out.then(utilisation(Some(measured), trace))
        .then(bound(verdict))
        .then(plugins(trace, no_trace))
}

pub(super) fn plateau_line(plateau: &PlateauReport) -> String {
    let batch = match (plateau.final_batch, plateau.fps_at_final_batch) {
        (Some(batch), Some(fps)) => format!("; batch to configure {batch}, {fps:.0} frames/s"),
        (Some(batch), None) => format!("; batch to configure {batch}"),
        _ => String::new(),
    };
    format!("{}{batch}", plateau.verdict)
}

pub(super) fn e2e_line(e2e: &E2eReport) -> String {
    let Some(fps) = e2e.fps else {
        return format!("no rate: {}", e2e.status);
    };
    let mut text = format!("{fps:.0} frames/s");
    if let Some(share) = e2e.percent_of_plateau {
        let _ = write!(
            text,
            " (= {share:.0} % of the rate at the batch to configure)"
        );
    }
    if let Some(streams) = e2e.streams {
        let _ = write!(text, ", {streams} streams");
    }
    let _ = write!(text, ", {}", count(e2e.windows, "steady window"));
    if let Some(profiled) = e2e.fps_profiled {
        let _ = write!(text, "; under the profiler {profiled:.0}");
    }
    if let Some(overhead) = e2e.overhead_percent {
        let _ = write!(text, " ({overhead:.1} % less)");
    }
    text
}

pub(super) fn curve(plateau: &PlateauReport) -> Curve {
    let point = |point: &SweepPointReport| CurvePoint {
        batch: point.batch,
        rate: match point.fps {
            Some(fps) => Ok(CurveRate {
                fps,
                interval: point.fps_low.zip(point.fps_high),
            }),
            None => Err(point
                .failure
                .clone()
                .unwrap_or_else(|| "no rate".to_owned())),
        },
    };
    Curve {
        points: plateau.points.iter().map(point).collect(),
        plateau: plateau.batch,
        final_batch: plateau.final_batch,
    }
}

pub(super) fn sweep_table(plateau: &PlateauReport) -> Table {
    let rates: Vec<Option<f64>> = plateau.points.iter().map(|point| point.fps).collect();
    let fastest = rates.iter().flatten().copied().fold(0.0, f64::max);
    let rows = plateau
        .points
        .iter()
        .map(|point| {
            vec![
                point.batch.to_string(),
                known(point.fps, 1, ""),
                half_width(point).map_or_else(String::new, |half| format!("± {half:.2} %")),
                known(point.gain_percent, 1, " %"),
                point.windows.to_string(),
                known(point.sm_percent, 0, " %"),
                mark(plateau, point),
            ]
        })
        .collect();
    Table::new(
        &[
            ("Batch", Align::Right),
            ("Frames/s", Align::Right),
            ("95 %", Align::Right),
            ("Gain per ×2", Align::Right),
            ("Windows", Align::Right),
            ("SM", Align::Right),
            ("", Align::Left),
        ],
        rows,
    )
    .with_bars(1, &rates, fastest)
}

/// Half the 95 % interval, in percent of the mean.
fn half_width(point: &SweepPointReport) -> Option<f64> {
    let half = (point.fps_high? - point.fps_low?) / 2.0;
    let percent = half / point.fps? * 100.0;
    percent.is_finite().then_some(percent)
}

fn mark(plateau: &PlateauReport, point: &SweepPointReport) -> String {
    if let Some(failure) = &point.failure {
        // The notes below the table say it whole.
        return failure.split(": ").next().unwrap_or(failure).to_owned();
    }
    let is = |batch: Option<u32>| batch == Some(point.batch);
    match (is(plateau.batch), is(plateau.final_batch)) {
        (true, true) => "plateau, configure".to_owned(),
        (true, false) => "plateau".to_owned(),
        (false, true) => "configure".to_owned(),
        (false, false) => String::new(),
    }
}

/// How busy the parts of the GPU were; nothing where nobody knows any of it.
pub(super) fn utilisation(e2e: Option<&E2eReport>, trace: Option<&TraceReport>) -> Document {
    let steps = trace.and_then(|trace| trace.steps.as_ref());
    let sampled = "nvidia-smi dmon, clean run";
    let traced = "trace";
    let busy = match trace {
        Some(trace) if trace.busy_is_upper_figure => "trace, an upper figure",
        _ => traced,
    };
    let rows = [
        ("SM: a kernel ran", e2e.and_then(|e| e.sm_percent), sampled),
        ("Decoder", e2e.and_then(|e| e.decoder_percent), sampled),
        (
            "Memory: read or written",
            e2e.and_then(|e| e.memory_percent),
            sampled,
        ),
        (
            "GPU busy, of its active span",
            trace.and_then(|t| t.busy_percent),
            busy,
        ),
        (
            "GPU busy, of the median step",
            steps.and_then(|s| s.busy_percent),
            busy,
        ),
        (
            "SM active",
            trace.and_then(|t| t.sm_active_percent),
            "trace, GPU metrics",
        ),
        (
            "Memory bandwidth",
            trace.and_then(|t| t.dram_percent),
            "trace, GPU metrics",
        ),
    ];
    let known: Vec<_> = rows
        .into_iter()
        .filter_map(|(name, percent, source)| Some((name, percent?, source)))
        .collect();
    let mut out = Document::default();
    if known.is_empty() {
        return out;
    }
    let percents: Vec<Option<f64>> = known.iter().map(|(_, percent, _)| Some(*percent)).collect();
    let cells = known
        .iter()
        .map(|(name, percent, source)| {
            vec![
                (*name).to_owned(),
                format!("{percent:.1} %"),
                (*source).to_owned(),
            ]
        })
        .collect();
    out.push(Block::Section("Utilisation".to_owned()));
    out.push(Block::Table(
        Table::new(
            &[
                ("Part", Align::Left),
                ("Share of time", Align::Right),
                ("Source", Align::Left),
            ],
            cells,
        )
        .with_bars(1, &percents, 100.0),
    ));
    out
}

pub(super) fn bound(bound: &BoundReport) -> Document {
    let mut out = Document::default();
    out.push(Block::Section("Bound type".to_owned()));
    out.push(Block::Verdict {
        answer: bound.kind.clone(),
        rest: format!(
            ", {} confidence. {}.",
            bound.confidence,
            sentence(&bound.action)
        ),
    });
    out.bullets(bound.evidence.iter().cloned());
    if !bound.contradictions.is_empty() {
        out.push(Block::Paragraph("Evidence on both sides:".to_owned()));
        out.bullets(bound.contradictions.iter().cloned());
    }
    out
}

pub(super) fn plugins(trace: Option<&TraceReport>, no_trace: Option<&str>) -> Document {
    let mut out = Document::default();
    out.push(Block::Section("Per-plugin time".to_owned()));
    let Some(trace) = trace else {
        let reason = no_trace.unwrap_or("the profile stage did not run");
        out.push(Block::Paragraph(format!("No trace: {reason}.")));
        return out;
    };
    if let (Some(span), Some(busy)) = (trace.active_span_ms, trace.busy_percent) {
        let upper = if trace.busy_is_upper_figure {
            ", an upper figure: graphs were traced as a whole"
        } else {
            ""
        };
        out.push(Block::Paragraph(format!(
            "GPU busy {busy:.1} % of a GPU-active span of {span:.0} ms{upper}."
        )));
    }
    out.push(Block::Paragraph(steps(trace)));
    if !trace.plugins.is_empty() {
        out.push(Block::Table(plugin_table(trace)));
    }
    out.push(Block::Table(kernel_table(trace)));
    if !trace.diagnostics.is_empty() {
        out.push(Block::Paragraph("nsys says of this capture:".to_owned()));
        out.bullets(trace.diagnostics.iter().cloned());
    }
    out
}

fn steps(trace: &TraceReport) -> String {
    let Some(steps) = &trace.steps else {
        return "No steps found: the GPU's work does not repeat regularly.".to_owned();
    };
    let busy = steps
        .busy_percent
        .map_or_else(|| "unknown".to_owned(), |busy| format!("{busy:.1} %"));
    format!(
        "{} of {:.2} ms (median, by {}), GPU busy {busy} of a step.",
        count(steps.count, "step"),
        steps.median_ms,
        steps.method
    )
}

fn plugin_table(trace: &TraceReport) -> Table {
    let shares: Vec<Option<f64>> = trace.plugins.iter().map(|p| p.percent_of_span).collect();
    let rows = trace
        .plugins
        .iter()
        .map(|plugin| {
            let ranges: Vec<String> = plugin
                .ranges
                .iter()
                .take(4)
                .map(|range| format!("{} ×{}", shorten(&range.name), range.count))
                .collect();
            vec![
                plugin.name.clone(),
                known(plugin.percent_of_span, 1, " %"),
                format!("{:.1}", plugin.self_ms),
                format!("{:.1}", plugin.gpu_ms),
                ranges.join(", "),
            ]
        })
        .collect();
    Table::new(
        &[
            ("Element", Align::Left),
            ("Share of span", Align::Right),
            ("CPU, self ms", Align::Right),
            ("GPU ms", Align::Right),
            ("Ranges", Align::Left),
        ],
        rows,
    )
    .with_bars(1, &shares, 100.0)
}

fn kernel_table(trace: &TraceReport) -> Table {
    let shown: Vec<&NamedTimeReport> = trace.kernels.iter().take(8).chain(&trace.copies).collect();
    let rows = shown
        .iter()
        .map(|time| {
            vec![
                shorten(&time.name),
                time.count.to_string(),
                format!("{:.1}", time.total_ms),
                known(time.percent_of_span, 1, " %"),
            ]
        })
        .collect();
    Table::new(
        &[
            ("Kernel or copy", Align::Left),
            ("Count", Align::Right),
            ("Total ms", Align::Right),
            ("Share of span", Align::Right),
        ],
        rows,
    )
    .cut()
}

fn sentence(fragment: &str) -> String {
    let mut chars = fragment.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
