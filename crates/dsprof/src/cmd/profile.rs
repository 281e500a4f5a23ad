//! `dsprof profile`.

use anyhow::Result;
use ds_derive::plateau;
use ds_orchestrate::bundle::StageName;
use ds_orchestrate::report::{
    Block, Document, bound_report, e2e_report, profile_document, trace_report,
};
use ds_orchestrate::{
    CaptureState, DiskFiles, Error, ProfileRequest, e2e_launch, facts_of, judge, profile, run_sweep,
};
use serde_json::json;

use crate::cli::ProfileArgs;
use crate::exit::Status;
use crate::load::recorded;
use crate::page;
use crate::run::Opened;

pub(crate) fn run(args: &ProfileArgs) -> Result<Status> {
    let opened = Opened::new(&args.run.bundle)?;
    let (path, pipeline) = opened.pipeline(args.run.pipeline.as_ref())?;
    let merged = opened.merged(recorded(
        &args.run.wishes,
        &args.run.load,
        args.run.gpu.gpu_index,
    ));
    let wishes = merged.wishes(pipeline.streams())?;
    let provenance = opened.provenance(args.run.load.provenance.clone());
    let request = merged.request(wishes, provenance.clone())?;
    let own = || e2e_launch(&pipeline);
    let launch = request
        .e2e_launch
        .clone()
        .or_else(|| request.launch.clone())
        .or_else(own)
        .ok_or_else(|| Error::Input {
            what: format!(
                "a {} is no program by itself: give one with --e2e-launch",
                pipeline.form
            ),
        })?;
    let mut facts = facts_of(&pipeline, &request.wishes, None, &DiskFiles);
    let profiled = opened.with_session(
        "profile",
        Some((&path, &pipeline)),
        &merged,
        provenance.as_deref(),
        |session| {
            // A recorded sweep tells the batch and the rate to compare with.
            if opened.is_replay() {
                let swept = session.stage(StageName::Sweep, |session| {
                    run_sweep(session, &pipeline, &request, &facts)
                })?;
                facts.plateau = Some(plateau(&swept.points(), request.wishes.streams));
            }
            let measured = facts
                .plateau
                .as_ref()
                .and_then(|found| found.final_batch)
                .map(|batch| batch.get());
            let batch = args
                .batch
                .or(measured)
                .unwrap_or(request.wishes.streams.get());
            let load = ProfileRequest {
                launch,
                batch,
                streams: request.wishes.streams.get(),
                seconds: request.seconds,
                trace_seconds: request.trace_seconds,
            };
            Ok(session.stage(StageName::Profile, |session| profile(session, &load))?)
        },
    )?;
    let bound = bound_report(&judge(&pipeline, &request, &facts, &profiled));
    let e2e = e2e_report(&profiled, None);
    let (trace, missing) = match &profiled.capture {
        CaptureState::Captured(trace) => (Some(trace_report(trace)), None),
        CaptureState::NotCaptured(reason) => (None, Some(reason.clone())),
    };
    page::show(
        &args.run.page,
        |_| {
            let said: Document = provenance.iter().cloned().map(Block::Quote).collect();
            said.then(profile_document(
                &e2e,
                &bound,
                trace.as_ref(),
                missing.as_deref(),
            ))
        },
        || {
            super::json(&json!({
                "schema": "dsprof.profile/1",
                "provenance": provenance,
                "e2e": e2e,
                "bound": bound,
                "trace": trace,
                "no_trace": missing,
            }))
        },
    )?;
    Ok(Status::Fine)
}
