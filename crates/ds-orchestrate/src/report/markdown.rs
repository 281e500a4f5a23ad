//! The report as Markdown, which is also what a terminal shows.

use std::fmt::Write as _;

use super::capture::capture_markdown;
use super::model::{
    BoundReport, CapacityReport, E2eReport, KnobReport, NamedTimeReport, PlateauReport, Report,
    TraceReport,
};

/// Renders the report.
pub fn markdown(report: &Report) -> String {
    let mut out = String::new();
    let mut line = |text: &str| {
        out.push_str(text);
        out.push('\n');
    };
    line(&format!("# {}", report.pipeline.path));
    line("");
    line(&report.summary);
    line("");
    if let Some(provenance) = &report.provenance {
        line(&format!("> {provenance}"));
        line("");
    }
    line("## Profile summary");
    line("");
    line(&format!("- **Pipeline** {}", pipeline(report)));
    line(&format!("- **Hardware** {}", hardware(report)));
    line(&format!("- **Ceilings** {}", ceilings(report)));
    let not_measured = || "not measured".to_owned();
    line(&format!(
        "- **Inference plateau** {}",
        report.plateau.as_ref().map_or_else(not_measured, plateau)
    ));
    line(&format!(
        "- **E2E measured** {}",
        report.e2e.as_ref().map_or_else(not_measured, e2e)
    ));
    line("");
    let no_trace = report.no_trace.as_deref();
    let sections = [
        report.plateau.as_ref().map(sweep).unwrap_or_default(),
        capture_markdown(&report.preflight, report.capture.as_ref()),
        report.bound.as_ref().map(bound).unwrap_or_default(),
        plugins(report.trace.as_ref(), no_trace),
        configs(report),
        format!(
            "### Capacity\n\n{}",
            capacity_markdown(&report.capacity, report.pipeline.fps_asked)
        ),
        uninstrumented(report),
        notes(report),
    ];
    for section in sections.into_iter().filter(|section| !section.is_empty()) {
        line(&section);
    }
    // One line end at the end, whatever the last section was.
    let trimmed = out.trim_end().len();
    out.truncate(trimmed);
    out.push('\n');
    out
}

/// The plateau and the sweep behind it.
pub fn sweep_markdown(report: &PlateauReport) -> String {
    format!(
        "- **Inference plateau** {}\n\n{}",
        plateau(report),
        sweep(report)
    )
}

/// The whole pipeline, what bounds it and where the time goes.
pub fn profile_markdown(
    measured: &E2eReport,
    verdict: &BoundReport,
    trace: Option<&TraceReport>,
    no_trace: Option<&str>,
) -> String {
    format!(
        "- **E2E measured** {}\n\n{}\n{}",
        e2e(measured),
        bound(verdict),
        plugins(trace, no_trace)
    )
}

/// Where the time of a trace goes.
pub fn trace_markdown(trace: Option<&TraceReport>, no_trace: Option<&str>) -> String {
    plugins(trace, no_trace)
}

fn pipeline(report: &Report) -> String {
    let pipeline = &report.pipeline;
    let own = pipeline
        .streams
        .map_or_else(|| "an unknown number of".to_owned(), |n| n.to_string());
    format!(
        "{}, {own} streams in {}; asked for: {} streams at {} frames/s",
        pipeline.form,
        count(pipeline.files.len(), "file"),
        pipeline.streams_asked,
        pipeline.fps_asked
    )
}

fn hardware(report: &Report) -> String {
    let Some(hardware) = &report.hardware else {
        return "unknown".to_owned();
    };
    let parts = [
        hardware.sm_count.map(|n| format!("SM ×{n}")),
        hardware.nvdec_count.map(|n| format!("NVDEC ×{n}")),
        hardware.pcie.as_ref().map(|link| format!("PCIe {link}")),
        hardware
            .memory_mib
            .map(|mib| format!("{:.0} GiB", mib / 1024.0)),
        hardware
            .driver
            .as_ref()
            .map(|driver| format!("driver {driver}")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{}: {}", hardware.name, parts.join(", "))
}

/// The ceilings that a pipeline meets; all of them are in the JSON report and in `dsprof hw`.
fn ceilings(report: &Report) -> String {
    let Some(hardware) = &report.hardware else {
        return "unknown".to_owned();
    };
    let wanted = [
        "tensor.fp16",
        "tensor.int8",
        "memory",
        "pcie.h2d",
        "decode.h264",
        "decode.hevc",
    ];
    let shown: Vec<String> = hardware
        .ceilings
        .iter()
        .filter(|ceiling| wanted.contains(&ceiling.id.as_str()))
        .map(|ceiling| match ceiling.value {
            Some(value) => format!("{} {value:.0} {}", ceiling.label, ceiling.unit),
            None => format!("{} unknown", ceiling.label),
        })
        .collect();
    shown.join("; ")
}

fn plateau(plateau: &PlateauReport) -> String {
    let batch = match (plateau.final_batch, plateau.fps_at_final_batch) {
        (Some(batch), Some(fps)) => format!("; batch to configure {batch}, {fps:.0} frames/s"),
        (Some(batch), None) => format!("; batch to configure {batch}"),
        _ => String::new(),
    };
    format!("{}{batch}", plateau.verdict)
}

fn e2e(e2e: &E2eReport) -> String {
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

fn sweep(plateau: &PlateauReport) -> String {
    let mut out = String::from(
        "### Sweep\n\n| Batch | Frames/s | Gain per doubling | Windows | SM | |\n|--:|--:|--:|--:|--:|---|\n",
    );
    for point in &plateau.points {
        let cell = |value: Option<f64>, places: usize, unit: &str| {
            value.map_or_else(|| "–".to_owned(), |value| format!("{value:.places$}{unit}"))
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            point.batch,
            cell(point.fps, 1, ""),
            cell(point.gain_percent, 1, " %"),
            point.windows,
            cell(point.sm_percent, 0, " %"),
            point.failure.as_deref().map_or_else(String::new, escape),
        );
    }
    bullets(&mut out, &plateau.notes);
    out
}

fn bound(bound: &BoundReport) -> String {
    let mut out = format!(
        "### Bound type\n\n**{}**, {} confidence. {}.\n",
        bound.kind,
        bound.confidence,
        sentence(&bound.action)
    );
    bullets(&mut out, &bound.evidence);
    if !bound.contradictions.is_empty() {
        out.push_str("\nEvidence on both sides:\n");
        bullets(&mut out, &bound.contradictions);
    }
    out
}

fn plugins(trace: Option<&TraceReport>, no_trace: Option<&str>) -> String {
    let mut out = String::from("### Per-plugin time\n\n");
    let Some(trace) = trace else {
        let reason = no_trace.unwrap_or("the profile stage did not run");
        let _ = writeln!(out, "No trace: {reason}.");
        return out;
    };
    if let (Some(span), Some(busy)) = (trace.active_span_ms, trace.busy_percent) {
        let upper = if trace.busy_is_upper_figure {
            ", an upper figure: graphs were traced as a whole"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "GPU busy {busy:.1} % of a GPU-active span of {span:.0} ms{upper}."
        );
    }
    match &trace.steps {
        Some(steps) => {
            let busy = steps
                .busy_percent
                .map_or_else(|| "unknown".to_owned(), |busy| format!("{busy:.1} %"));
            let _ = writeln!(
                out,
                "{} of {:.2} ms (median, by {}), GPU busy {busy} of a step.",
                count(steps.count, "step"),
                steps.median_ms,
                steps.method
            );
        }
        None => out.push_str("No steps found: the GPU's work does not repeat regularly.\n"),
    }
    if !trace.plugins.is_empty() {
        out.push_str("\n| Element | Share of span | CPU, self ms | GPU ms | Ranges |\n|---|--:|--:|--:|---|\n");
        for plugin in &trace.plugins {
            let ranges: Vec<String> = plugin
                .ranges
                .iter()
                .take(4)
                .map(|r| format!("{} ×{}", escape(&shorten(&r.name)), r.count))
                .collect();
            let _ = writeln!(
                out,
                "| {} | {} | {:.1} | {:.1} | {} |",
                escape(&plugin.name),
                share(plugin.percent_of_span),
                plugin.self_ms,
                plugin.gpu_ms,
                ranges.join(", ")
            );
        }
    }
    out.push_str("\n| Kernel or copy | Count | Total ms | Share of span |\n|---|--:|--:|--:|\n");
    for time in trace.kernels.iter().take(8).chain(&trace.copies) {
        let _ = writeln!(out, "{}", time_row(time));
    }
    if !trace.diagnostics.is_empty() {
        out.push_str("\nnsys says of this capture:\n");
        bullets(&mut out, &trace.diagnostics);
    }
    out
}

fn time_row(time: &NamedTimeReport) -> String {
    format!(
        "| {} | {} | {:.1} | {} |",
        escape(&shorten(&time.name)),
        time.count,
        time.total_ms,
        share(time.percent_of_span)
    )
}

fn share(percent: Option<f64>) -> String {
    percent.map_or_else(|| "–".to_owned(), |percent| format!("{percent:.1} %"))
}

fn configs(report: &Report) -> String {
    let title = if report.applied {
        "Applied configs"
    } else {
        "Applied configs: none yet, this is the plan"
    };
    format!(
        "### {title}\n\n{}",
        plan_markdown(&report.knobs, &report.expected)
    )
}

/// The knobs of a plan and what it expects.
pub fn plan_markdown(knobs: &[KnobReport], expected: &str) -> String {
    let mut out = String::new();
    let written: Vec<&KnobReport> = knobs
        .iter()
        .filter(|k| matches!(k.state.as_str(), "write" | "propose" | "benchmark only"))
        .collect();
    if written.is_empty() {
        out.push_str("Every knob that a rule can set holds its value already.\n");
    } else {
        out.push_str("| Knob | Old → new | Rule | Why |\n|---|---|---|---|\n");
        for (knob, targets) in grouped(&written) {
            let _ = writeln!(out, "{}", knob_row(knob, &targets));
        }
    }
    let held: Vec<String> = knobs
        .iter()
        .filter(|k| matches!(k.state.as_str(), "withheld" | "not derivable"))
        .map(|k| {
            format!(
                "{} {} `{}` {}: {}",
                k.rule, k.target, k.knob, k.state, k.because
            )
        })
        .collect();
    if !held.is_empty() {
        out.push_str("\nLeft alone:\n");
        bullets(&mut out, &held);
    }
    let _ = writeln!(out, "\nExpected: {expected}.");
    out
}

/// Rows that differ in their element only are one row: sixteen sources need no sixteen lines.
fn grouped<'a>(knobs: &[&'a KnobReport]) -> Vec<(&'a KnobReport, Vec<&'a str>)> {
    let alike = |a: &KnobReport, b: &KnobReport| {
        (
            &a.rule, &a.knob, &a.state, &a.old, &a.new, &a.because, &a.by_hand,
        ) == (
            &b.rule, &b.knob, &b.state, &b.old, &b.new, &b.because, &b.by_hand,
        )
    };
    let mut groups: Vec<(&KnobReport, Vec<&str>)> = Vec::new();
    for knob in knobs {
        match groups.iter_mut().find(|(first, _)| alike(first, knob)) {
            Some((_, targets)) => targets.push(&knob.target),
            None => groups.push((knob, vec![&knob.target])),
        }
    }
    groups
}

fn knob_row(knob: &KnobReport, targets: &[&str]) -> String {
    let old = knob.old.as_deref().unwrap_or("(absent)");
    let new = knob.new.as_deref().unwrap_or("");
    let state = match knob.state.as_str() {
        "propose" => " (proposed, not written)",
        "benchmark only" => " (only while measuring)",
        _ => "",
    };
    let by_hand = knob
        .by_hand
        .as_ref()
        .map_or_else(String::new, |reason| format!(" By hand: {reason}."));
    let targets = match targets {
        [first, .., last] => format!("{first} … {last} ({})", targets.len()),
        [only] => (*only).to_owned(),
        [] => String::new(),
    };
    format!(
        "| {} `{}` | {} → {}{state} | {} | {}: {}.{} |",
        escape(&targets),
        knob.knob,
        escape(old),
        escape(new),
        knob.rule,
        escape(knob.formula.as_deref().unwrap_or("")),
        escape(&knob.because),
        escape(&by_hand),
    )
}

/// How many streams fit, and why.
pub fn capacity_markdown(capacity: &CapacityReport, fps: f64) -> String {
    let mut out = format!("**{}** at {fps} frames/s", capacity.text);
    if let Some(resource) = &capacity.dominating {
        let _ = write!(out, "; {resource} decides");
    }
    out.push_str(".\n\n| Ceiling | Frames/s | Streams | |\n|---|--:|--:|---|\n");
    for limit in &capacity.limits {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            limit.resource,
            limit
                .fps
                .map_or_else(|| "unknown".to_owned(), |fps| format!("{fps:.0}")),
            limit
                .streams
                .map_or_else(|| "unknown".to_owned(), |streams| streams.to_string()),
            escape(&limit.formula),
        );
    }
    if let Some(advice) = &capacity.advice {
        let _ = writeln!(out, "\nFor more streams: {advice}.");
    }
    out
}

fn uninstrumented(report: &Report) -> String {
    if report.uninstrumented.is_empty() {
        return String::new();
    }
    let mut out = String::from("### Uninstrumented\n\nNo range shows the time of:\n");
    let kinds: Vec<String> = report
        .uninstrumented
        .iter()
        .map(|kind| format!("`{}` ×{}: {}", kind.element, kind.count, kind.reason))
        .collect();
    bullets(&mut out, &kinds);
    out
}

fn notes(report: &Report) -> String {
    let mut notes = report.pipeline.faults.clone();
    notes.extend(
        report
            .hardware
            .iter()
            .flat_map(|hardware| hardware.findings.clone()),
    );
    notes.extend(report.notes.clone());
    if notes.is_empty() {
        return String::new();
    }
    let mut out = String::from("### Notes\n");
    bullets(&mut out, &notes);
    out
}

fn bullets(out: &mut String, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    if !out.ends_with("\n\n") {
        out.push('\n');
    }
    for line in lines {
        let _ = writeln!(out, "- {line}");
    }
}

/// Cells must not end early or span lines.
fn escape(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}

/// Kernel names run to hundreds of characters; the JSON report and `trace stats` have them whole.
fn shorten(name: &str) -> String {
    const WIDTH: usize = 72;
    if name.chars().count() <= WIDTH {
        return name.to_owned();
    }
    let head: String = name.chars().take(WIDTH - 1).collect();
    format!("{head}…")
}

fn count(n: usize, word: &str) -> String {
    if n == 1 {
        format!("1 {word}")
    } else {
        format!("{n} {word}s")
    }
}

fn sentence(fragment: &str) -> String {
    let mut chars = fragment.chars();
    chars.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(chars).collect()
    })
}
