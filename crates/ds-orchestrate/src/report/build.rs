//! From the values of a run to the report.

use ds_ceilings::{Ceilings, Fps, Fraction, GpuIdentity, Nanos};
use ds_config::Pipeline;
use ds_derive::{
    Bound, Capacity, Disposition, Entry, Outcome, Plan, Plateau, PlateauBatch, Present, Variant,
};

use super::capture::{capture_report, gate_reports};
use super::model::{
    BoundReport, CapacityReport, CeilingReport, E2eReport, HardwareReport, KnobReport, LimitReport,
    NamedTimeReport, PipelineReport, PlateauReport, PluginReport, Report, SCHEMA, StepReport,
    SweepPointReport, TraceReport, UninstrumentedReport,
};
use super::tracks::retention_report;
use crate::coverage::{coverage_in, uninstrumented};
use crate::pipeline::{PlannedEdits, Wishes};
use crate::preflight::Gate;
use crate::signals::mean;
use crate::stages::{
    CaptureState, NamedTime, PluginReading, ProfileReading, SweepReading, TraceReading,
};

/// Everything that a report is made of.
pub struct ReportInputs<'a> {
    /// The pipeline.
    pub pipeline: &'a Pipeline,
    /// What the user asked for.
    pub wishes: &'a Wishes,
    /// The GPU and its ceilings.
    pub hardware: Option<(&'a GpuIdentity, &'a Ceilings)>,
    /// The sweep and its plateau.
    pub sweep: Option<(&'a SweepReading, &'a Plateau)>,
    /// The plan.
    pub plan: &'a Plan,
    /// Where its values go.
    pub edits: &'a PlannedEdits,
    /// Whether they were written.
    pub applied: bool,
    /// The whole pipeline.
    pub profile: Option<&'a ProfileReading>,
    /// What had to hold before the whole pipeline was measured.
    pub gates: &'a [Gate],
    /// What bounds it.
    pub bound: Option<&'a Bound>,
    /// How many streams fit.
    pub capacity: &'a Capacity,
    /// Which program measured what.
    pub provenance: Option<String>,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// Puts a report together.
pub fn build_report(inputs: &ReportInputs<'_>) -> Report {
    let plateau = inputs
        .sweep
        .map(|(sweep, plateau)| plateau_report(sweep, plateau));
    let e2e = inputs
        .profile
        .map(|profile| e2e_report(profile, plateau.as_ref()));
    let trace = inputs.profile.and_then(|profile| match &profile.capture {
        CaptureState::Captured(trace) => Some(trace_report(trace)),
        CaptureState::NotCaptured(_) => None,
    });
    let no_trace = inputs.profile.and_then(|profile| match &profile.capture {
        CaptureState::Captured(_) => None,
        CaptureState::NotCaptured(reason) => Some(reason.clone()),
    });
    let bound = inputs.bound.map(bound_report);
    let capacity = capacity_report(inputs.capacity);
    let mut notes = inputs.notes.clone();
    notes.extend(inputs.plan.notes.iter().map(ToString::to_string));
    Report {
        schema: SCHEMA,
        dsprof: env!("CARGO_PKG_VERSION"),
        summary: summary(inputs, e2e.as_ref(), bound.as_ref(), &capacity),
        provenance: inputs.provenance.clone(),
        pipeline: pipeline_report(inputs),
        hardware: inputs
            .hardware
            .map(|(gpu, ceilings)| hardware_report(gpu, ceilings)),
        plateau,
        e2e,
        trace,
        no_trace,
        preflight: gate_reports(inputs.gates),
        capture: inputs.profile.map(capture_report),
        bound,
        knobs: knob_reports(inputs.plan, inputs.edits),
        applied: inputs.applied,
        expected: expected(inputs.plan),
        diff: inputs.edits.unified_diff(),
        tracks: inputs
            .wishes
            .retention
            .iter()
            .map(retention_report)
            .collect(),
        capacity,
        uninstrumented: not_covered(inputs)
            .into_iter()
            .map(|(element, count, reason)| UninstrumentedReport {
                element,
                count,
                reason,
            })
            .collect(),
        notes,
    }
}

/// The elements whose time no range shows: by a trace of the pipeline itself, else by what is known of their sources.
fn not_covered(inputs: &ReportInputs<'_>) -> Vec<(String, usize, String)> {
    let traced = inputs
        .profile
        .filter(|profile| profile.subject.is_the_pipeline())
        .and_then(|profile| profile.capture.trace());
    match traced {
        Some(trace) => coverage_in(inputs.pipeline, trace).uninstrumented,
        None => uninstrumented(inputs.pipeline),
    }
}

/// The answer in one sentence: rate, streams that fit, what bounds it, what to change.
fn summary(
    inputs: &ReportInputs<'_>,
    e2e: Option<&E2eReport>,
    bound: Option<&BoundReport>,
    capacity: &CapacityReport,
) -> String {
    let rate = match e2e.and_then(|e2e| Some((e2e.fps?, e2e.streams?))) {
        Some((fps, streams)) => format!(
            "{fps:.0} frames/s from {streams} {}",
            plural(streams, "stream")
        ),
        None => match inputs
            .sweep
            .and_then(|(_, plateau)| plateau.fps_at(plateau.final_batch?))
        {
            Some(fps) => format!("Inference alone reaches {:.0} frames/s", fps.get()),
            None => "No rate was measured".to_owned(),
        },
    };
    let fps = inputs.wishes.fps.get();
    let fits = match (capacity.delivered, capacity.streams) {
        (Some(delivered), Some(_)) => {
            format!(
                "as it runs it carries {delivered} streams at {fps} frames/s, the hardware {}",
                capacity.text
            )
        }
        (Some(delivered), None) => {
            format!("as it runs it carries {delivered} streams at {fps} frames/s")
        }
        (None, Some(_)) => format!("{} fit at {fps} frames/s", capacity.text),
        (None, None) => "how many streams fit is unknown".to_owned(),
    };
    match bound {
        Some(bound) if bound.kind != "unknown" => {
            format!(
                "{rate}; {fits}; {} bounds it ({} confidence). Change first: {}.",
                bound.kind, bound.confidence, bound.action
            )
        }
        Some(_) => format!("{rate}; {fits}; what bounds it could not be told."),
        None => format!("{rate}; {fits}."),
    }
}

fn plural(n: u32, word: &str) -> String {
    if n == 1 {
        word.to_owned()
    } else {
        format!("{word}s")
    }
}

fn pipeline_report(inputs: &ReportInputs<'_>) -> PipelineReport {
    let pipeline = inputs.pipeline;
    PipelineReport {
        path: pipeline
            .files
            .first()
            .map_or_else(String::new, |file| file.path().to_owned()),
        form: pipeline.form.to_string(),
        files: pipeline
            .files
            .iter()
            .map(|file| file.path().to_owned())
            .collect(),
        streams: pipeline.streams(),
        streams_asked: inputs.wishes.streams.get(),
        fps_asked: inputs.wishes.fps.get(),
        faults: pipeline.faults.iter().map(ToString::to_string).collect(),
    }
}

/// The GPU and its ceilings.
pub fn hardware_report(gpu: &GpuIdentity, ceilings: &Ceilings) -> HardwareReport {
    HardwareReport {
        name: gpu.name.clone(),
        driver: gpu.driver_version.clone(),
        compute_capability: gpu
            .compute_cap
            .or_else(|| ceilings.product.as_ref().map(|product| product.compute_cap))
            .map(|cap| cap.to_string()),
        sm_count: ceilings.sm_count,
        nvdec_count: ceilings.decoder.engines(),
        pcie: ceilings
            .pcie_link
            .map(|link| format!("Gen{} x{}", link.generation.number(), link.width)),
        memory_mib: gpu
            .memory_total
            .map(|memory| round(memory.get() as f64 / f64::from(1 << 20), 0)),
        ceilings: ceilings
            .rows()
            .into_iter()
            .map(|row| CeilingReport {
                id: row.id,
                label: row.label,
                value: row.value.map(|value| round(value, 1)),
                unit: row.unit.to_owned(),
                formula: row.formula,
                source: row.source,
                confidence: row.confidence.map(|confidence| confidence.to_string()),
                caveat: row.caveat,
                reason: row.reason,
            })
            .collect(),
        findings: ceilings.findings.iter().map(ToString::to_string).collect(),
    }
}

/// The sweep as a report.
pub fn plateau_report(sweep: &SweepReading, plateau: &Plateau) -> PlateauReport {
    let (verdict, batch) = match plateau.found {
        PlateauBatch::Reached(batch) => (format!("batch {batch}"), Some(batch.get())),
        PlateauBatch::NotReached { largest } => (format!("not reached at {largest}"), None),
        PlateauBatch::Paced { rate, .. } => {
            (format!("none: every stream is paced at {rate}"), None)
        }
        PlateauBatch::NothingRan => ("none: no batch ran".to_owned(), None),
    };
    let point = |swept: &crate::stages::SweptBatch| {
        let batch = swept.point.batch;
        let measured = plateau.points.iter().find(|m| m.batch == batch);
        let interval = measured.and_then(|m| m.interval);
        let load = swept.load.as_ref().ok();
        SweepPointReport {
            batch: batch.get(),
            fps: measured.map(|m| round(m.fps.get(), 2)),
            fps_low: interval.map(|(low, _)| round(low.get(), 2)),
            fps_high: interval.map(|(_, high)| round(high.get(), 2)),
            windows: measured.map_or(0, |m| m.windows),
            gain_percent: plateau
                .steps
                .iter()
                .find(|s| s.to == batch)
                .map(|s| round(s.gain.percent(), 1)),
            sm_percent: load.and_then(|load| percent(load.sm)),
            decoder_percent: load.and_then(|load| percent(load.decoder)),
            memory_percent: load.and_then(|load| percent(load.memory)),
            failure: match &swept.point.outcome {
                Outcome::Ran { .. } => None,
                Outcome::Failed { why, detail } if detail.is_empty() => Some(why.to_string()),
                Outcome::Failed { why, detail } => Some(format!("{why}: {detail}")),
            },
            command: swept.command.clone(),
        }
    };
    PlateauReport {
        verdict,
        batch,
        final_batch: plateau.final_batch.map(|batch| batch.get()),
        fps_at_final_batch: plateau
            .final_batch
            .and_then(|batch| plateau.fps_at(batch))
            .map(|fps| round(fps.get(), 2)),
        points: sweep.batches.iter().map(point).collect(),
        notes: plateau
            .notes
            .iter()
            .map(ToString::to_string)
            .chain(sweep.notes())
            .collect(),
    }
}

/// The whole pipeline as a report.
pub fn e2e_report(profile: &ProfileReading, plateau: Option<&PlateauReport>) -> E2eReport {
    let rate = |outcome: &Outcome| match outcome {
        Outcome::Ran { windows } => mean(windows),
        Outcome::Failed { .. } => None,
    };
    let fps = rate(&profile.clean);
    let profiled = profile.profiled.as_ref().and_then(rate);
    let load = profile.load.as_ref();
    E2eReport {
        fps: fps.map(|fps| round(fps.get(), 2)),
        windows: match &profile.clean {
            Outcome::Ran { windows } => windows.len(),
            Outcome::Failed { .. } => 0,
        },
        streams: profile.streams.map(|streams| streams.get()),
        status: match &profile.clean {
            Outcome::Ran { .. } => profile.clean_status.to_string(),
            Outcome::Failed { why, detail } => format!("{why}: {detail}"),
        },
        percent_of_plateau: of(fps, plateau.and_then(|p| Fps::new(p.fps_at_final_batch?)))
            .map(|share| round(share * 100.0, 1)),
        fps_profiled: profiled.map(|fps| round(fps.get(), 2)),
        overhead_percent: of(profiled, fps).map(|share| round((1.0 - share) * 100.0, 1)),
        sm_percent: load.ok().and_then(|load| percent(load.sm)),
        decoder_percent: load.ok().and_then(|load| percent(load.decoder)),
        memory_percent: load.ok().and_then(|load| percent(load.memory)),
        no_utilisation: load.err().cloned(),
        command: profile.command.clone(),
    }
}

fn of(part: Option<Fps>, whole: Option<Fps>) -> Option<f64> {
    part?.ratio_to(whole?)
}

/// The trace as a report.
pub fn trace_report(trace: &TraceReading) -> TraceReport {
    let named = |times: &[NamedTime]| {
        times
            .iter()
            .map(|time| named_time(time, trace.active_span))
            .collect()
    };
    TraceReport {
        written_by: trace.written_by.clone(),
        active_span_ms: trace.active_span.map(millis),
        busy_percent: percent(trace.busy_share()),
        busy_is_upper_figure: trace.devices.iter().any(|device| device.is_upper_figure),
        kernels: named(&trace.kernels),
        kernel_names: trace.kernel_names,
        copies: named(&trace.copies),
        plugins: trace
            .plugins
            .iter()
            .map(|plugin| plugin_report(plugin, trace.active_span))
            .collect(),
        steps: trace.steps.as_ref().map(|steps| StepReport {
            method: steps.method.clone(),
            count: steps.count,
            median_ms: round(millis(steps.median), 3),
            busy_percent: percent(steps.busy),
        }),
        matrix_percent: percent(trace.matrix_share),
        sm_active_percent: percent(trace.sm_active),
        dram_percent: percent(trace.dram),
        diagnostics: trace.diagnostics.clone(),
    }
}

fn plugin_report(plugin: &PluginReading, span: Option<Nanos>) -> PluginReport {
    PluginReport {
        name: plugin.name.clone(),
        // Ranges that reach beyond the GPU's work cover all of it, not more.
        percent_of_span: span.and_then(|span| percent_of(plugin.covered.min(span), span)),
        self_ms: round(millis(plugin.self_time), 3),
        gpu_ms: round(millis(plugin.gpu_time), 3),
        ranges: plugin
            .ranges
            .iter()
            .map(|range| named_time(range, span))
            .collect(),
    }
}

fn percent_of(part: Nanos, whole: Nanos) -> Option<f64> {
    let share = millis(part) / millis(whole) * 100.0;
    share.is_finite().then(|| round(share, 1))
}

fn named_time(time: &NamedTime, span: Option<Nanos>) -> NamedTimeReport {
    NamedTimeReport {
        name: time.name.clone(),
        count: time.count,
        total_ms: round(millis(time.total), 3),
        percent_of_span: span.and_then(|span| percent_of(time.total, span)),
    }
}

/// The verdict as a report.
pub fn bound_report(bound: &Bound) -> BoundReport {
    BoundReport {
        kind: bound.kind.to_string(),
        confidence: bound.certainty.to_string(),
        evidence: bound.evidence.iter().map(ToString::to_string).collect(),
        contradictions: bound
            .contradictions
            .iter()
            .map(|contradiction| {
                let evidence: Vec<String> = contradiction
                    .evidence
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                format!("{}: {}", contradiction.kind, evidence.join("; "))
            })
            .collect(),
        action: bound.kind.action().to_owned(),
    }
}

/// Every entry of a plan as a row, with where it goes.
pub fn knob_reports(plan: &Plan, edits: &PlannedEdits) -> Vec<KnobReport> {
    let row = |entry: &Entry| {
        let base = KnobReport {
            rule: entry.rule().to_string(),
            target: entry.target().to_string(),
            knob: entry.knob().name().to_owned(),
            state: String::new(),
            old: None,
            new: None,
            formula: None,
            because: String::new(),
            confidence: None,
            place: None,
            by_hand: None,
        };
        match entry {
            Entry::Derived(derived) => {
                let edit = edits.edits.iter().find(|edit| edit.derivation == *derived);
                KnobReport {
                    state: match derived.disposition {
                        Disposition::Unchanged => "unchanged",
                        Disposition::Write if derived.variant == Variant::Benchmark => {
                            "benchmark only"
                        }
                        Disposition::Write => "write",
                        Disposition::Propose => "propose",
                    }
                    .to_owned(),
                    old: text_of(&derived.old),
                    new: Some(derived.new.to_string()),
                    formula: Some(derived.formula.clone()),
                    because: derived.because.clone(),
                    confidence: Some(derived.confidence.to_string()),
                    place: edit
                        .and_then(|edit| edit.place.as_ref().ok().cloned())
                        .or_else(|| derived.old.place().map(ToString::to_string)),
                    by_hand: edit.and_then(|edit| edit.place.as_ref().err().cloned()),
                    ..base
                }
            }
            Entry::Withheld(withheld) => KnobReport {
                state: "withheld".to_owned(),
                old: text_of(&withheld.present),
                because: withheld.reason.clone(),
                place: withheld.present.place().map(ToString::to_string),
                ..base
            },
            Entry::NotDerivable(missing) => KnobReport {
                state: "not derivable".to_owned(),
                because: missing.missing.clone(),
                ..base
            },
        }
    };
    plan.entries.iter().map(row).collect()
}

fn text_of(present: &Present) -> Option<String> {
    match present {
        Present::Absent => None,
        Present::Value { value, .. } => Some(value.to_string()),
        Present::Computed { text, .. } => Some(text.clone()),
    }
}

/// What the plan expects, in words.
pub fn expected(plan: &Plan) -> String {
    let expectation = &plan.expectation;
    match (expectation.fps, expectation.limited_by) {
        (Some(fps), Some(pace)) => {
            let words = expectation.qualifier.to_string();
            let words = if words.is_empty() {
                words
            } else {
                format!("{words} ")
            };
            format!(
                "{words}{:.0} frames/s, limited by {pace}: {}",
                fps.get(),
                expectation.formula
            )
        }
        _ => format!("unknown: {}", expectation.formula),
    }
}

/// The capacity as a report.
pub fn capacity_report(capacity: &Capacity) -> CapacityReport {
    CapacityReport {
        text: capacity.to_string(),
        streams: capacity.streams.map(|streams| streams.get()),
        dominating: capacity.dominating.map(|resource| resource.to_string()),
        advice: capacity
            .dominating
            .map(|resource| resource.advice().to_owned()),
        limits: capacity
            .limits
            .iter()
            .map(|limit| LimitReport {
                resource: limit.resource.to_string(),
                fps: limit.fps.map(|fps| round(fps.get(), 1)),
                streams: limit.streams.map(|streams| streams.get()),
                formula: limit.formula.clone(),
            })
            .collect(),
        delivered: capacity.delivered.map(|streams| streams.get()),
    }
}

fn percent(share: Option<Fraction>) -> Option<f64> {
    share.map(|share| round(share.percent(), 1))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "milliseconds need no more than 53 bits"
)]
fn millis(time: Nanos) -> f64 {
    time.get() as f64 / 1e6
}

/// Rounds for print, so that equal runs give equal text.
pub(super) fn round(value: f64, places: i32) -> f64 {
    let scale = 10_f64.powi(places);
    (value * scale).round() / scale
}
