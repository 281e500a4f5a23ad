//! Finds faults in a pipeline before it is run.
//!
//! A rule is a pure function of the resolved pipeline and of what the caller knows; the table
//! [`RULES`] holds all of them with their ids, reasons and guards, and is the documentation too.

mod allow;
mod context;
mod engine_name;
mod finding;
mod look;
mod markdown;
mod rule;
mod rules;
mod written;

use std::collections::BTreeMap;

use self::finding::Report;
use self::look::Look;
use crate::error::{Error, ErrorKind};
use crate::model::Pipeline;
use crate::resolve;

pub use self::context::{DeepStreamVersion, GpuKind, LintContext, PrecisionWish, Purpose};
pub use self::finding::Finding;
pub use self::markdown::lint_markdown;
pub use self::rule::{Rule, Severity};
pub use self::rules::RULES;

/// Checks a pipeline and all of its files.
///
/// The findings are sorted by place, then by rule; what a comment `# dsprof: allow DS001` allows is
/// not among them.
///
/// ```
/// use std::collections::BTreeMap;
/// use ds_config::{LintContext, Pipeline, lint};
///
/// let app = "[source0]\nenable=1\ntype=3\nnum-sources=4\nuri=file:///cam%d.mp4\n[streammux]\nbatch-size=1\n";
/// let files = BTreeMap::from([("app.txt".to_owned(), app.as_bytes().to_vec())]);
/// let pipeline = Pipeline::resolve("app.txt", &files)?;
/// let findings = lint(&pipeline, &LintContext::default());
/// assert_eq!(
///     findings.last().map(ToString::to_string).as_deref(),
///     Some("app.txt:7:12: warning[DS001]: the mux batch is 1, and there are 4 sources")
/// );
/// # Ok::<(), ds_config::Error>(())
/// ```
#[must_use]
pub fn lint(pipeline: &Pipeline, context: &LintContext<'_>) -> Vec<Finding> {
    let look = Look::new(pipeline, context);
    let mut findings = Vec::new();
    for rule in &RULES {
        (rule.check)(
            &look,
            &mut Report {
                rule,
                findings: &mut findings,
            },
        );
    }
    settled(pipeline, findings)
}

/// Checks one file by itself: a part of a pipeline, such as the configuration of nvinfer, or a file
/// that is none because its reader refuses it.
///
/// What other files would tell is not asked for. A file that is of no known form has no findings.
#[must_use]
pub fn lint_bytes(path: &str, bytes: &[u8], context: &LintContext<'_>) -> Vec<Finding> {
    let files = BTreeMap::from([(path.to_owned(), bytes.to_vec())]);
    match Pipeline::resolve(path, &files) {
        Ok(pipeline) => lint(&pipeline, context),
        Err(error) => match resolve::alone(path, &files) {
            // The syntax can be checked although the file is no pipeline.
            Ok(mut pipeline) => {
                if is_refusal(&error) {
                    pipeline.faults.push(error);
                }
                lint(&pipeline, context)
            }
            Err(error) => refused(path, &error),
        },
    }
}

/// The finding of a file that could not even be read.
fn refused(path: &str, error: &Error) -> Vec<Finding> {
    let mut findings = Vec::new();
    let rule = RULES.iter().find(|rule| rule.code == "G1");
    if let Some(rule) = rule {
        let mut report = Report {
            rule,
            findings: &mut findings,
        };
        rules::add_refusal(&mut report, error, path);
    }
    findings
}

fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Refused | ErrorKind::Encoding)
}

/// Takes out what is allowed and what is said twice, and sorts the rest.
fn settled(pipeline: &Pipeline, findings: Vec<Finding>) -> Vec<Finding> {
    let mut findings = allow::filtered(&pipeline.files, findings);
    findings.sort_by(|a, b| a.place.cmp(&b.place).then_with(|| a.rule.id.cmp(b.rule.id)));
    findings.dedup_by(|a, b| a.place == b.place && a.rule == b.rule);
    findings
}
