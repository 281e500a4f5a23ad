//! The main job: all stages, one report.

use std::time::Duration;

use ds_ceilings::{Batch, Ceilings, GpuIdentity, GpuTable};
use ds_config::{LintContext, Pipeline, Severity, lint};
use ds_derive::{
    Bound, BoundKind, Capacity, CapacityInputs, DecodeCeiling, Facts, Outcome, Plan, Plateau,
    PrecisionWish, Variant, bound, capacity, derive, plateau,
};

use crate::bundle::StageName;
use crate::coverage::coverage_in;
use crate::error::Error;
use crate::installed::fit_to_installed;
use crate::pipeline::{
    DiskFiles, PlannedEdits, Wishes, facts_of, inference_only_launch, plan_edits,
};
use crate::preflight::GateId;
use crate::progress::Event;
use crate::report::{Report, ReportInputs, build_report};
use crate::signals::{mean, signals_of};
use crate::stages::{
    Counted, GpuMetrics, Launch, Patience, ProfileReading, Session, SweepReading, SweepRequest,
    SweptBatch, batches_to_try, read_hw, sweep,
};
use crate::whole::{Whole, WholeRequest, profile_whole};

/// What to tune and how.
#[derive(Debug, Clone)]
pub struct TuneRequest {
    /// What the user asked for.
    pub wishes: Wishes,
    /// The largest batch to sweep; the number of streams where it is not given.
    pub max_batch: Option<u32>,
    /// The batches to sweep, in place of powers of two.
    pub batches: Vec<Batch>,
    /// The load of the sweep in place of the inference-only pipeline.
    pub launch: Option<Launch>,
    /// The whole pipeline in place of its own command.
    pub e2e_launch: Option<Launch>,
    /// Whether the whole pipeline is run and traced.
    pub scope: Scope,
    /// How long each load is measured at most.
    pub seconds: u32,
    /// How often each batch of the sweep is run.
    pub repeat: u32,
    /// How long the traced run is.
    pub trace_seconds: u32,
    /// Whether metrics of the GPU are sampled beside the trace.
    pub gpu_metrics: GpuMetrics,
    /// How long nsys may take beyond the traced time.
    pub nsys_patience: Duration,
    /// Gates of the profile that need not hold.
    pub waived: Vec<GateId>,
    /// Which program measured what.
    pub provenance: Option<String>,
}

/// How far the run goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All stages.
    Whole,
    /// All but the profile.
    WithoutProfile,
}

/// What the run found.
#[derive(Debug, Clone)]
pub struct Tuned {
    /// The report.
    pub report: Report,
    /// Where the values of the plan go.
    pub edits: PlannedEdits,
    /// The plan.
    pub plan: Plan,
    /// How many streams fit.
    pub capacity: Capacity,
    /// What that was computed from.
    pub capacity_inputs: CapacityInputs,
    /// What bounds the GPU that was measured.
    pub ceilings: Ceilings,
}

/// Runs every stage on a pipeline.
///
/// # Errors
///
/// When a stage that the others need has no result.
pub fn tune(
    session: &mut Session<'_>,
    pipeline: &Pipeline,
    request: &TuneRequest,
) -> Result<Tuned, Error> {
    let mut notes = Vec::new();
    session.stage(StageName::Inspect, |_| {
        notes.extend(findings_of(pipeline, &request.wishes));
        Ok(())
    })?;

    let (gpu, ceilings) = session.stage(StageName::Hw, |session| {
        let reading = read_hw(session)?;
        notes.extend(reading.gaps.iter().chain(&reading.findings).cloned());
        let gpu = reading.gpu(session.gpu_index)?.clone();
        let ceilings = Ceilings::new(&gpu, GpuTable::built_in());
        Ok((gpu, ceilings))
    })?;
    let mut facts = facts_of(pipeline, &request.wishes, Some(&ceilings), &DiskFiles);

    let swept = session.stage(StageName::Sweep, |session| {
        run_sweep(session, pipeline, request, &facts)
    })?;
    let found = plateau(&swept.points(), request.wishes.streams);
    facts.plateau = Some(found.clone());

    let (plan, edits) = session.stage(StageName::Derive, |session| {
        let plan = fit_to_installed(session, pipeline, derive(&facts))?;
        let edits = plan_edits(pipeline, &plan, Variant::Every)?;
        Ok((plan, edits))
    })?;

    let whole = session.stage(StageName::Profile, |session| {
        run_profile(session, pipeline, request, &found, &plan)
    })?;
    let profiled = whole.reading;
    notes.extend(whole.notes);
    let verdict = profiled
        .as_ref()
        .map(|profiled| judge(pipeline, request, &facts, profiled));
    note_profile(&mut notes, pipeline, request, profiled.as_ref());
    let capacity_inputs = capacity_inputs(&mut facts, verdict.as_ref(), profiled.as_ref());
    let capacity = capacity(&capacity_inputs);

    let report = build_report(&ReportInputs {
        pipeline,
        wishes: &request.wishes,
        hardware: Some((&gpu, &ceilings)),
        sweep: Some((&swept, &found)),
        plan: &plan,
        edits: &edits,
        applied: false,
        profile: profiled.as_ref(),
        gates: &whole.gates,
        bound: verdict.as_ref(),
        capacity: &capacity,
        provenance: request.provenance.clone(),
        notes,
    });
    Ok(Tuned {
        report,
        edits,
        plan,
        capacity,
        capacity_inputs,
        ceilings,
    })
}

/// What the lint rules find that the derivation rules do not mend: a fault of R1 to R7 shows in the plan already.
fn findings_of(pipeline: &Pipeline, wishes: &Wishes) -> Vec<String> {
    let context = LintContext {
        precision: match wishes.precision {
            PrecisionWish::Fp32 => ds_config::PrecisionWish::Fp32,
            PrecisionWish::ByRule => ds_config::PrecisionWish::Unstated,
        },
        files: Some(&DiskFiles),
        ..LintContext::default()
    };
    lint(pipeline, &context)
        .into_iter()
        .filter(|finding| finding.severity != Severity::Note && finding.fixed_by.is_none())
        .map(|finding| finding.to_string())
        .collect()
}

/// Sweeps with the user's load, else with the inference-only pipeline made of the user's configuration.
///
/// # Errors
///
/// When neither can be had, or a load cannot be run.
pub fn run_sweep(
    session: &mut Session<'_>,
    pipeline: &Pipeline,
    request: &TuneRequest,
    facts: &Facts,
) -> Result<SweepReading, Error> {
    let limit = request.max_batch.unwrap_or(request.wishes.streams.get());
    let batches = if request.batches.is_empty() {
        batches_to_try(limit)
    } else {
        request.batches.clone()
    };
    session.tell(&Event::Planned(batches.clone()));
    if let Some(launch) = &request.launch {
        if !launch.takes_batch() {
            return Err(Error::Input {
                what: "the launch command has no `{batch}` in it".to_owned(),
            });
        }
        let request = SweepRequest {
            launch: launch.clone(),
            batches,
            seconds: request.seconds,
            repeat: request.repeat,
            patience: Patience::new(request.seconds),
            counted: Counted::ByEmitter,
        };
        return sweep(session, &request);
    }
    // One command a batch: each has as many sources as frames in a batch.
    let model = facts
        .infers
        .first()
        .and_then(|infer| infer.model_dims)
        .map(|dims| dims.size());
    let mut readings: Vec<SweptBatch> = Vec::new();
    for batch in batches {
        let launch = inference_only_launch(pipeline, model, batch.get())
            .map_err(|what| Error::Input { what })?;
        let request = SweepRequest {
            launch,
            batches: vec![batch],
            seconds: request.seconds,
            repeat: request.repeat,
            patience: Patience::new(request.seconds),
            counted: Counted::Batches,
        };
        readings.extend(sweep(session, &request)?.batches);
    }
    Ok(SweepReading { batches: readings })
}

/// Profiles the whole pipeline at the final batch; nothing where no batch ran in the sweep, or nobody wants it.
fn run_profile(
    session: &mut Session<'_>,
    pipeline: &Pipeline,
    request: &TuneRequest,
    found: &Plateau,
    plan: &Plan,
) -> Result<Whole, Error> {
    if request.scope == Scope::WithoutProfile {
        return Ok(Whole::default());
    }
    let Some(batch) = found.final_batch else {
        return Ok(Whole::default());
    };
    let wanted = WholeRequest {
        pipeline,
        request,
        plan: Some(plan),
        batch,
    };
    profile_whole(session, &wanted)
}

/// Reads the table of bounds.
pub fn judge(
    pipeline: &Pipeline,
    request: &TuneRequest,
    facts: &Facts,
    profiled: &ProfileReading,
) -> Bound {
    let decode = match facts.decode {
        DecodeCeiling::Known(fps) => Some(fps),
        DecodeCeiling::Unknown | DecodeCeiling::NotUsed => None,
    };
    bound(&signals_of(
        pipeline,
        request.wishes.fps,
        facts.plateau.as_ref(),
        decode,
        profiled,
    ))
}

fn capacity_inputs(
    facts: &mut Facts,
    verdict: Option<&Bound>,
    profiled: Option<&ProfileReading>,
) -> CapacityInputs {
    facts.bound = verdict
        .map(|verdict| verdict.kind)
        .filter(|kind| *kind != BoundKind::Unknown);
    facts.e2e = profiled.and_then(|profiled| match &profiled.clean {
        Outcome::Ran { windows } => mean(windows),
        Outcome::Failed { .. } => None,
    });
    CapacityInputs::of(facts)
}

fn note_profile(
    notes: &mut Vec<String>,
    pipeline: &Pipeline,
    request: &TuneRequest,
    profiled: Option<&ProfileReading>,
) {
    let Some(profiled) = profiled else {
        notes.push("the whole pipeline was not measured".to_owned());
        return;
    };
    if profiled.subject.is_the_pipeline() {
        notes.push(format!("as the whole pipeline ran {}", profiled.subject));
        let trace = profiled.capture.trace();
        notes.extend(trace.and_then(|trace| coverage_in(pipeline, trace).broken));
    }
    if let Some(streams) = profiled
        .streams
        .filter(|streams| *streams != request.wishes.streams)
    {
        let asked = request.wishes.streams;
        notes.push(format!(
            "the whole pipeline ran with {streams}, not with the {asked} asked for"
        ));
    }
    if let Err(reason) = &profiled.load {
        notes.push(format!(
            "no GPU utilisation beside the whole pipeline: {reason}"
        ));
    }
}

/// A plan from a pipeline alone: for `derive` without a recording.
pub fn plan_without_sweep(
    pipeline: &Pipeline,
    wishes: &Wishes,
    gpu: Option<(&GpuIdentity, &Ceilings)>,
    found: Option<Plateau>,
) -> Result<(Plan, PlannedEdits), Error> {
    let mut facts = facts_of(
        pipeline,
        wishes,
        gpu.map(|(_, ceilings)| ceilings),
        &DiskFiles,
    );
    facts.plateau = found;
    let plan = derive(&facts);
    let edits = plan_edits(pipeline, &plan, Variant::Every)?;
    Ok((plan, edits))
}
