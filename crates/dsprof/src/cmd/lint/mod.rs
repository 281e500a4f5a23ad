//! `dsprof lint`.

mod page;
mod sarif;

use anyhow::Result;
use ds_config::{
    FileSource as _, Finding, Form, GpuKind, LintContext, Pipeline, PrecisionWish, Purpose,
    Severity, detect, lint, lint_bytes,
};
use ds_orchestrate::{DiskFiles, Error};
use serde_json::{Value, json};

use super::json as json_text;
use crate::cli_lint::{GpuPlace, Level, LintArgs, LintFormat, LintPurpose};
use crate::exit::{Status, Unusable};
use crate::junit::{Case, Outcome, suite};
use crate::output;

pub(crate) fn run(args: &LintArgs) -> Result<Status> {
    let context = LintContext {
        fps: args.fps,
        purpose: match args.purpose {
            None => Purpose::Unstated,
            Some(LintPurpose::Benchmark) => Purpose::Benchmark,
            Some(LintPurpose::Live) => Purpose::Live,
        },
        precision: if args.fp32 {
            PrecisionWish::Fp32
        } else {
            PrecisionWish::Unstated
        },
        version: args.deepstream,
        gpu: args.gpu.map(|gpu| match gpu {
            GpuPlace::Discrete => GpuKind::Discrete,
            GpuPlace::Integrated => GpuKind::Integrated,
        }),
        files: Some(&DiskFiles),
    };
    let mut findings = Vec::new();
    for path in &args.paths {
        findings.append(&mut check(path, &context)?);
    }
    // Two pipelines that share a file find the same in it.
    findings.sort_by(|a, b| (&a.place, a.rule.id).cmp(&(&b.place, b.rule.id)));
    findings.dedup();
    let text = match args.format {
        LintFormat::Text => page::text(&findings),
        LintFormat::Md => page::markdown(&findings),
        LintFormat::Json => json_text(&as_json(&findings))?,
        LintFormat::Sarif => json_text(&sarif::document(&findings))?,
        LintFormat::Junit => as_junit(&findings, args),
    };
    output::data(&text)?;
    let limit = args.fail_on.map(severity);
    let is_over = |limit| findings.iter().any(|finding| finding.severity >= limit);
    Ok(if limit.is_some_and(is_over) {
        Status::LimitExceeded
    } else {
        Status::Fine
    })
}

/// The findings of a pipeline with all of its files, or of one file by itself.
fn check(path: &str, context: &LintContext<'_>) -> Result<Vec<Finding>> {
    let bytes = DiskFiles.read(path).map_err(|source| Error::Read {
        path: path.into(),
        source,
    })?;
    if let Ok(pipeline) = Pipeline::resolve(path, &DiskFiles) {
        return Ok(lint(&pipeline, context));
    }
    let findings = lint_bytes(path, &bytes, context);
    if !findings.is_empty() {
        return Ok(findings);
    }
    let detection = detect(&bytes);
    match detection.form {
        Form::Declined(carrier) => Err(Unusable(format!(
            "`{path}` cannot be checked: {}; {}",
            detection.because,
            carrier.advice()
        ))
        .into()),
        Form::Unknown => {
            Err(Unusable(format!("`{path}` cannot be checked: {}", detection.because)).into())
        }
        _ => Ok(findings),
    }
}

fn severity(level: Level) -> Severity {
    match level {
        Level::Error => Severity::Error,
        Level::Warning => Severity::Warning,
        Level::Note => Severity::Note,
    }
}

fn as_json(findings: &[Finding]) -> Value {
    let of_finding = |finding: &Finding| {
        json!({
            "rule": finding.rule.id,
            "severity": finding.severity.to_string(),
            "path": finding.place.as_ref().map(|place| &place.path),
            "line": finding.place.as_ref().map(|place| place.place.line),
            "column": finding.place.as_ref().map(|place| place.place.column),
            "message": finding.message,
            "reason": finding.rule.reason,
            "remedy": finding.remedy,
            "fixed_by": finding.fixed_by,
        })
    };
    json!({
        "schema": "dsprof.lint/1",
        "findings": findings.iter().map(of_finding).collect::<Vec<_>>(),
    })
}

/// A finding that is as grave as `--fail-on` says, or a warning where it says nothing, is a failure.
fn as_junit(findings: &[Finding], args: &LintArgs) -> String {
    let limit = args.fail_on.map_or(Severity::Warning, severity);
    let mut cases: Vec<Case> = findings
        .iter()
        .map(|finding| {
            let text = format!("{finding}; {}", finding.remedy);
            Case {
                class: finding.rule.id.to_owned(),
                name: finding
                    .place
                    .as_ref()
                    .map_or_else(|| finding.rule.title.to_owned(), ToString::to_string),
                outcome: if finding.severity >= limit {
                    Outcome::Failed(text)
                } else {
                    Outcome::Skipped(text)
                },
            }
        })
        .collect();
    // A suite without a case reads as one that did not run.
    if cases.is_empty() {
        cases.push(Case {
            class: "lint".to_owned(),
            name: args.paths.join(" "),
            outcome: Outcome::Passed,
        });
    }
    suite("dsprof lint", &cases)
}
