//! `dsprof tune`.

use anyhow::Result;
use ds_orchestrate::report::{Extent, markdown, report_document};
use ds_orchestrate::tune;

use super::json;
use crate::cli::RunArgs;
use crate::exit::Status;
use crate::load::recorded;
use crate::run::Opened;
use crate::{page, tracks};

pub(crate) fn run(args: &RunArgs) -> Result<Status> {
    let opened = Opened::new(&args.bundle)?;
    let (path, pipeline) = opened.pipeline(args.pipeline.as_ref())?;
    let merged = opened.merged(recorded(&args.wishes, &args.load, args.gpu.gpu_index));
    let mut wishes = merged.wishes(pipeline.streams())?;
    wishes.retention = tracks::measured(&opened, &args.wishes.tracks, &merged, &pipeline, &wishes)?;
    let provenance = opened.provenance(args.load.provenance.clone());
    let request = merged.request(wishes, provenance.clone())?;
    let tuned = opened.with_session(
        "tune",
        Some((&path, &pipeline)),
        &merged,
        provenance.as_deref(),
        |session| {
            tracks::keep(session, &request.wishes.retention)?;
            let mut tuned = tune(session, &pipeline, &request)?;
            tuned.report.notes.extend(opened.changed_files(&pipeline));
            if let Some(bundle) = &session.bundle {
                let mut bundle = bundle.borrow_mut();
                let page = markdown(&report_document(&tuned.report, Extent::Short));
                bundle.write("report.md", page.as_bytes())?;
                bundle.write("report.json", json(&tuned.report)?.as_bytes())?;
                bundle.save()?;
            }
            Ok(tuned)
        },
    )?;
    page::show(
        &args.page,
        |extent| report_document(&tuned.report, extent),
        || json(&tuned.report),
    )?;
    Ok(Status::Fine)
}
