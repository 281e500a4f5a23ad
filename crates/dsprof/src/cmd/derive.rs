//! `dsprof derive`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use ds_ceilings::{Ceilings, GpuIdentity, GpuTable};
use ds_derive::{Consequence, Plan, Plateau, Variant, plateau};
use ds_orchestrate::bundle::StageName;
use ds_orchestrate::report::{
    Block, Document, KnobReport, RetentionReport, expected, knob_reports, plan_document,
    retention_document, retention_report,
};
use ds_orchestrate::transaction::{self, Recovery};
use ds_orchestrate::{
    DiskFiles, Error, PlannedEdits, TuneRequest, fit_to_installed, plan_edits, plan_without_sweep,
    read_hw, run_sweep,
};
use serde_json::json;

use super::hw::planned;
use crate::args::LoadArgs;
use crate::cli::DeriveArgs;
use crate::exit::Status;
use crate::load::recorded;
use crate::run::Opened;
use crate::{output, page, tracks};

pub(crate) fn run(args: &DeriveArgs) -> Result<Status> {
    let opened = Opened::new(&args.bundle)?;
    let named = args.pipeline.as_ref();
    // An interrupted change is brought to its end before the files are read.
    let entry = opened.pipeline_path(named)?;
    let journal = journal_root(args, &entry);
    recover(&journal)?;
    let (path, pipeline) = opened.pipeline(named)?;
    let merged = opened.merged(recorded(
        &args.wishes,
        &LoadArgs::default(),
        args.gpu_args.gpu_index,
    ));
    let mut wishes = merged.wishes(pipeline.streams())?;
    wishes.retention = tracks::measured(&opened, &args.wishes.tracks, &merged, &pipeline, &wishes)?;
    let request = merged.request(wishes, None)?;

    let plan = if opened.is_replay() {
        opened.with_session(
            "derive",
            Some((&path, &pipeline)),
            &merged,
            None,
            |session| {
                let (identity, ceilings, found) = measured(session, &pipeline, &request)?;
                let gpu = Some((&identity, &ceilings));
                let (plan, _) = plan_without_sweep(&pipeline, &request.wishes, gpu, Some(found))?;
                Ok(fit_to_installed(session, &pipeline, plan)?)
            },
        )?
    } else {
        let ceilings = args.gpu.as_deref().map(planned).transpose()?;
        let identity = args.gpu.as_deref().map(GpuIdentity::named);
        let gpu = identity.as_ref().zip(ceilings.as_ref());
        let (plan, _) = plan_without_sweep(&pipeline, &request.wishes, gpu, None)?;
        Opened::on_machine(&merged, |session| {
            Ok(fit_to_installed(session, &pipeline, plan)?)
        })?
    };
    let edits = plan_edits(&pipeline, &plan, Variant::Every)?;

    let tracks: Vec<RetentionReport> = request
        .wishes
        .retention
        .iter()
        .map(retention_report)
        .collect();
    show(args, &plan, &edits, &tracks)?;
    if let Some(stop) = plan
        .stops()
        .find(|withheld| withheld.consequence == Consequence::Stop)
    {
        let what = format!(
            "nothing can be written: {} of {}: {}",
            stop.knob.name(),
            stop.target,
            stop.reason
        );
        return Err(Error::Unfit { what }.into());
    }
    if args.check {
        return Ok(if edits.files.is_empty() {
            Status::Fine
        } else {
            Status::ChangesPending
        });
    }
    if args.apply && !edits.files.is_empty() {
        let directory = next_journal(&journal);
        transaction::apply(&edits.files, &directory).map_err(Error::from)?;
        let names: Vec<String> = edits
            .files
            .iter()
            .map(|file| file.path.display().to_string())
            .collect();
        output::message(&format!(
            "wrote {}; old and new contents are in {}",
            names.join(", "),
            directory.display()
        ));
    }
    Ok(Status::Fine)
}

/// Identity and plateau out of a recording.
fn measured(
    session: &mut ds_orchestrate::Session<'_>,
    pipeline: &ds_config::Pipeline,
    request: &TuneRequest,
) -> Result<(GpuIdentity, Ceilings, Plateau)> {
    let reading = session.stage(StageName::Hw, |session| read_hw(session))?;
    let identity = reading.gpu(session.gpu_index)?.clone();
    let ceilings = Ceilings::new(&identity, GpuTable::built_in());
    let facts = ds_orchestrate::facts_of(pipeline, &request.wishes, Some(&ceilings), &DiskFiles);
    let swept = session.stage(StageName::Sweep, |session| {
        run_sweep(session, pipeline, request, &facts)
    })?;
    let found = plateau(&swept.points(), request.wishes.streams);
    Ok((identity, ceilings, found))
}

/// Where old and new contents are kept: in the bundle, else beside the pipeline.
fn journal_root(args: &DeriveArgs, entry: &str) -> PathBuf {
    match &args.bundle.bundle {
        Some(bundle) => bundle.join("edits"),
        None => PathBuf::from(format!("{entry}.dsprof")).join("edits"),
    }
}

/// Completes what a run before this one began and did not end.
fn recover(root: &Path) -> Result<()> {
    for directory in journals(root) {
        match transaction::recover(&directory).map_err(Error::from)? {
            Recovery::Completed(files) => {
                let names: Vec<String> = files
                    .iter()
                    .map(|file| file.display().to_string())
                    .collect();
                output::message(&format!(
                    "completed an interrupted change of {}",
                    names.join(", ")
                ));
            }
            Recovery::Nothing | Recovery::Dropped => {}
        }
    }
    Ok(())
}

fn journals(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(root)
        .map(|entries| {
            entries
                .filter_map(|entry| Some(entry.ok()?.path()))
                .filter(|path| path.is_dir())
                .collect()
        })
        .unwrap_or_default();
    found.sort();
    found
}

fn next_journal(root: &Path) -> PathBuf {
    root.join(format!("{:04}", journals(root).len() + 1))
}

fn show(
    args: &DeriveArgs,
    plan: &Plan,
    edits: &PlannedEdits,
    tracks: &[RetentionReport],
) -> Result<()> {
    let knobs = knob_reports(plan, edits);
    let expected = expected(plan);
    let diff = edits.unified_diff();
    page::show(
        &args.page,
        |_| {
            let plan = plan_document(&knobs, &expected).then(retention_document(tracks));
            let change = Some(diff.clone()).filter(|diff| !diff.is_empty());
            plan.then(change.into_iter().map(Block::Diff).collect::<Document>())
        },
        || super::json(&as_json(&knobs, &expected, plan, &diff, tracks)),
    )
}

fn as_json(
    knobs: &[KnobReport],
    expected: &str,
    plan: &Plan,
    diff: &str,
    tracks: &[RetentionReport],
) -> serde_json::Value {
    json!({
        "schema": "dsprof.plan/1",
        "final_batch": plan.final_batch.map(|batch| batch.get()),
        "knobs": knobs,
        "expected": expected,
        "capacity": plan.capacity.to_string(),
        "notes": plan.notes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "tracks": tracks,
        "diff": diff,
    })
}
