//! `dsprof sweep`.

use anyhow::Result;
use ds_derive::plateau;
use ds_orchestrate::bundle::StageName;
use ds_orchestrate::report::{Block, Document, plateau_report, sweep_document};
use ds_orchestrate::{DiskFiles, facts_of, run_sweep};

use super::json;
use crate::cli::RunArgs;
use crate::exit::Status;
use crate::load::recorded;
use crate::page;
use crate::run::Opened;

pub(crate) fn run(args: &RunArgs) -> Result<Status> {
    let opened = Opened::new(&args.bundle)?;
    let (path, pipeline) = opened.pipeline(args.pipeline.as_ref())?;
    let merged = opened.merged(recorded(&args.wishes, &args.load, args.gpu.gpu_index));
    let wishes = merged.wishes(pipeline.streams())?;
    let provenance = opened.provenance(args.load.provenance.clone());
    let request = merged.request(wishes, provenance.clone())?;
    let facts = facts_of(&pipeline, &request.wishes, None, &DiskFiles);
    let swept = opened.with_session(
        "sweep",
        Some((&path, &pipeline)),
        &merged,
        provenance.as_deref(),
        |session| {
            let swept = session.stage(StageName::Sweep, |session| {
                run_sweep(session, &pipeline, &request, &facts)
            })?;
            Ok(swept)
        },
    )?;
    let report = plateau_report(&swept, &plateau(&swept.points(), request.wishes.streams));
    page::show(
        &args.page,
        |_| {
            let said: Document = provenance.into_iter().map(Block::Quote).collect();
            said.then(sweep_document(&report))
        },
        || json(&report),
    )?;
    Ok(Status::Fine)
}
