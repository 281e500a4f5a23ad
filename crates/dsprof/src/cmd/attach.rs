//! `dsprof profile --attach`.

use anyhow::Result;
use ds_orchestrate::AttachRequest;
use ds_orchestrate::attach;
use ds_orchestrate::bundle::StageName;
use ds_orchestrate::report::{
    Block, Document, account_report, capture_document, trace_document, trace_report,
};
use serde_json::json;

use crate::cli::ProfileArgs;
use crate::exit::Status;
use crate::load::recorded;
use crate::page;
use crate::run::Opened;

/// Traces what runs in a session of `nsys launch`.
pub(crate) fn run(args: &ProfileArgs, opened: &Opened, session: &str) -> Result<Status> {
    let mut now = recorded(&args.run.wishes, &args.run.load, args.run.gpu.gpu_index);
    now.insert("attach".to_owned(), session.to_owned());
    let merged = opened.merged(now);
    let request = AttachRequest {
        session: session.to_owned(),
        seconds: merged.get("trace-seconds")?.unwrap_or(5),
        gpu_metrics: merged.gpu_metrics(),
        patience: merged.nsys_patience()?,
    };
    let reading = opened.with_session("profile", None, &merged, None, |session| {
        Ok(session.stage(StageName::Profile, |session| attach(session, &request))?)
    })?;
    let subject = format!("what runs in the session `{}`", request.session);
    let capture = account_report(subject, &reading.account);
    let trace = reading.capture.trace().map(trace_report);
    let missing = reading.capture.missing();
    page::show(
        &args.run.page,
        |_| {
            let not_measured = format!("not measured: dsprof did not start {}", capture.subject);
            let facts = vec![("E2E measured".to_owned(), not_measured)];
            let head: Document = [Block::Facts(facts)].into_iter().collect();
            head.then(trace_document(trace.as_ref(), missing))
                .then(capture_document(&[], Some(&capture)))
        },
        || {
            super::json(&json!({
                "schema": "dsprof.profile/1",
                "e2e": null,
                "capture": capture,
                "trace": trace,
                "no_trace": missing,
            }))
        },
    )?;
    Ok(Status::Fine)
}
