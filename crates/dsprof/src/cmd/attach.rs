//! `dsprof profile --attach`.

use anyhow::Result;
use ds_orchestrate::attach;
use ds_orchestrate::bundle::StageName;
use ds_orchestrate::report::{account_markdown, account_report, trace_markdown, trace_report};
use ds_orchestrate::{AttachReading, AttachRequest};
use serde_json::json;

use crate::args::ReportFormat;
use crate::cli::ProfileArgs;
use crate::exit::Status;
use crate::load::recorded;
use crate::output;
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
    output::data(&rendered(args.run.format, &request, &reading)?)?;
    Ok(Status::Fine)
}

fn rendered(
    format: ReportFormat,
    request: &AttachRequest,
    reading: &AttachReading,
) -> Result<String> {
    let subject = format!("what runs in the session `{}`", request.session);
    let capture = account_report(subject, &reading.account);
    let trace = reading.capture.trace().map(trace_report);
    let missing = reading.capture.missing();
    Ok(match format {
        ReportFormat::Json => super::json(&json!({
            "schema": "dsprof.profile/1",
            "e2e": null,
            "capture": capture,
            "trace": trace,
            "no_trace": missing,
        }))?,
        ReportFormat::Text | ReportFormat::Md => {
            let mut text = format!(
                "- **E2E measured** not measured: dsprof did not start {}\n\n",
                capture.subject
            );
            text.push_str(&trace_markdown(trace.as_ref(), missing));
            let section = account_markdown(&capture);
            if !section.is_empty() {
                text.push('\n');
                text.push_str(&section);
            }
            text
        }
    })
}
