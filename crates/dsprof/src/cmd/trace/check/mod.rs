//! `dsprof trace check`.

mod junit;
mod show;

use anyhow::Result;
use ds_nsys::{CheckOptions, ExpectedTpot, FracNanos, Outcome, Purpose};

use super::input;
use super::sources::Sources;
use crate::args::ReportFormat;
use crate::cli_trace::{CheckArgs, CheckFormat, PurposeArg};
use crate::cmd::json as json_text;
use crate::exit::Status;
use crate::output;

pub(super) fn run(args: &CheckArgs, sources: &Sources) -> Result<Status> {
    let trace = sources.open(&args.trace)?;
    let options = CheckOptions {
        window: input::window(args.window)?,
        taxonomy: input::taxonomy(&args.rules)?,
        expected_ranks: args.ranks,
        expected_tpot: args.tpot_ms.map(|millis| ExpectedTpot {
            per_token: FracNanos(millis * 1e6),
            tokens_per_step: args.tokens_per_step,
        }),
    };
    let verdict = input::reading(trace.path(), || {
        trace.check(args.purpose.map(purpose), &options)
    })?;
    let text = match args.format {
        CheckFormat::Text => show::as_page(&verdict, ReportFormat::Text),
        CheckFormat::Md => show::as_page(&verdict, ReportFormat::Md),
        CheckFormat::Json => json_text(&show::as_json(&verdict))?,
        CheckFormat::Junit => junit::render(&verdict, &args.trace),
    };
    output::data(&text)?;
    Ok(match (verdict.outcome, args.upstream_exit_codes) {
        (Outcome::Pass, _) => Status::Fine,
        (Outcome::Retry, false) => Status::Retry,
        (Outcome::Undecidable, false) => Status::Undecidable,
        (Outcome::Retry, true) => Status::UpstreamRetry,
        (Outcome::Undecidable, true) => Status::UpstreamUndecidable,
    })
}

fn purpose(purpose: PurposeArg) -> Purpose {
    match purpose {
        PurposeArg::Timing => Purpose::Timing,
        PurposeArg::Kernels => Purpose::Kernels,
        PurposeArg::Decode => Purpose::Decode,
        PurposeArg::Pipeline => Purpose::Pipeline,
    }
}

/// The outcome in the word that scripts look for.
fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Retry => "retry",
        Outcome::Undecidable => "undecidable",
    }
}
