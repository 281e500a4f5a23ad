//! `dsprof profile`.

use anyhow::Result;
use ds_ceilings::Batch;
use ds_derive::plateau;
use ds_orchestrate::bundle::StageName;
use ds_orchestrate::report::{
    Block, Document, bound_report, capture_document, capture_report, e2e_report, gate_reports,
    profile_document, trace_report,
};
use ds_orchestrate::{
    DiskFiles, Error, WholeRequest, coverage_in, facts_of, judge, profile_whole, run_sweep,
};
use serde_json::json;

use crate::cli::ProfileArgs;
use crate::exit::{Status, Usage};
use crate::load::recorded;
use crate::page;
use crate::run::Opened;

pub(crate) fn run(args: &ProfileArgs) -> Result<Status> {
    let opened = Opened::new(&args.run.bundle)?;
    if let Some(session) = opened.attached(args.attach.as_ref()) {
        return super::attach::run(args, &opened, &session);
    }
    let (path, pipeline) = opened.pipeline(args.run.pipeline.as_ref())?;
    let merged = opened.merged(recorded(
        &args.run.wishes,
        &args.run.load,
        args.run.gpu.gpu_index,
    ));
    let wishes = merged.wishes(pipeline.streams())?;
    let provenance = opened.provenance(args.run.load.provenance.clone());
    let request = merged.request(wishes, provenance.clone())?;
    let mut facts = facts_of(&pipeline, &request.wishes, None, &DiskFiles);
    let whole = opened.with_session(
        "profile",
        Some((&path, &pipeline)),
        &merged,
        provenance.as_deref(),
        |session| {
            // A recorded sweep tells the batch and the rate to compare with.
            if opened.is_replay() && opened.holds_a_sweep() {
                let swept = session.stage(StageName::Sweep, |session| {
                    run_sweep(session, &pipeline, &request, &facts)
                })?;
                facts.plateau = Some(plateau(&swept.points(), request.wishes.streams));
            }
            let measured = facts.plateau.as_ref().and_then(|found| found.final_batch);
            let streams = request.wishes.streams.get();
            let batch = match args.batch {
                Some(batch) => Batch::new(batch),
                None => measured.or_else(|| Batch::new(streams)),
            };
            let wanted = WholeRequest {
                pipeline: &pipeline,
                request: &request,
                plan: None,
                batch: batch.ok_or_else(|| {
                    Usage("a batch of 0 holds no frame; give at least 1".to_owned())
                })?,
            };
            Ok(session.stage(StageName::Profile, |session| {
                profile_whole(session, &wanted)
            })?)
        },
    )?;
    let Some(profiled) = &whole.reading else {
        let what = whole.notes.join("; ");
        return Err(Error::Unfit { what }.into());
    };
    let bound = bound_report(&judge(&pipeline, &request, &facts, profiled));
    let e2e = e2e_report(profiled, None);
    let gates = gate_reports(&whole.gates);
    let capture = capture_report(profiled);
    let traced = profiled.capture.trace();
    let coverage = traced
        .filter(|_| profiled.subject.is_the_pipeline())
        .map(|trace| coverage_in(&pipeline, trace));
    let trace = traced.map(trace_report);
    let missing = profiled.capture.missing();
    page::show(
        &args.run.page,
        |_| {
            let said: Document = provenance.iter().cloned().map(Block::Quote).collect();
            let broken = coverage
                .iter()
                .filter_map(|coverage| coverage.broken.as_ref())
                .map(|broken| Block::Paragraph(format!("{broken}.")));
            said.then(profile_document(&e2e, &bound, trace.as_ref(), missing))
                .then(capture_document(&gates, Some(&capture)))
                .then(broken.collect())
        },
        || {
            super::json(&json!({
                "schema": "dsprof.profile/1",
                "provenance": provenance,
                "preflight": gates,
                "e2e": e2e,
                "capture": capture,
                "bound": bound,
                "trace": trace,
                "no_trace": missing,
                "covered": coverage.as_ref().map(|coverage| &coverage.covered),
                "uninstrumented": coverage.as_ref().map(|coverage| &coverage.uninstrumented),
                "nvtx_broken": coverage.as_ref().and_then(|coverage| coverage.broken.as_ref()),
            }))
        },
    )?;
    Ok(Status::Fine)
}
