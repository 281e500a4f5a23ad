//! `dsprof tune`.

use anyhow::Result;
use ds_orchestrate::report::markdown;
use ds_orchestrate::tune;

use super::{json, rendered};
use crate::cli::RunArgs;
use crate::exit::Status;
use crate::load::recorded;
use crate::output;
use crate::run::Opened;

pub(crate) fn run(args: &RunArgs) -> Result<Status> {
    let opened = Opened::new(&args.bundle)?;
    let (path, pipeline) = opened.pipeline(args.pipeline.as_ref())?;
    let merged = opened.merged(recorded(&args.wishes, &args.load, args.gpu.gpu_index));
    let wishes = merged.wishes(pipeline.streams())?;
    let provenance = opened.provenance(args.load.provenance.clone());
    let request = merged.request(wishes, provenance.clone())?;
    let tuned = opened.with_session(
        "tune",
        Some((&path, &pipeline)),
        &merged,
        provenance.as_deref(),
        |session| {
            let mut tuned = tune(session, &pipeline, &request)?;
            tuned.report.notes.extend(opened.changed_files(&pipeline));
            if let Some(bundle) = &session.bundle {
                let mut bundle = bundle.borrow_mut();
                bundle.write("report.md", markdown(&tuned.report).as_bytes())?;
                bundle.write("report.json", json(&tuned.report)?.as_bytes())?;
                bundle.save()?;
            }
            Ok(tuned)
        },
    )?;
    output::data(&rendered(&tuned.report, args.format)?)?;
    Ok(Status::Fine)
}
