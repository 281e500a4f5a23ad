//! `dsprof trace`: one module a question.

mod busy;
mod categories;
mod check;
mod diff;
mod figures;
mod gaps;
mod input;
mod join;
mod kineto;
mod memory;
mod metrics;
mod page;
mod plugins;
mod ranks;
mod sources;
mod stats;
mod steps;

use std::path::PathBuf;

use anyhow::Result;

pub(crate) use input::hint;

use crate::cli_trace::{TraceArgs, TraceCommand};
use crate::exit::Status;
use sources::Sources;

/// Answers the question that was asked.
pub(super) fn run(args: &TraceArgs) -> Result<Status> {
    let sources = Sources::prepare(&args.export, &traces(&args.command)?)?;
    match &args.command {
        TraceCommand::Stats(args) => stats::run(args, &sources),
        TraceCommand::Busy(args) => busy::run(args, &sources),
        TraceCommand::Gaps(args) => gaps::run(args, &sources),
        TraceCommand::Steps(args) => steps::run(args, &sources),
        TraceCommand::Check(args) => check::run(args, &sources),
        TraceCommand::Diff(args) => diff::run(args, &sources),
        TraceCommand::Categories(args) => categories::run(args, &sources),
        TraceCommand::Join(args) => join::run(args, &sources),
        TraceCommand::Ranks(args) => ranks::run(args, &sources),
        TraceCommand::Plugins(args) => plugins::run(args, &sources),
        TraceCommand::Metrics(args) => metrics::run(args, &sources),
        TraceCommand::Memory(args) => memory::run(args, &sources),
    }
}

/// The traces that a question names, in the order in which it opens them.
fn traces(command: &TraceCommand) -> Result<Vec<PathBuf>> {
    Ok(match command {
        TraceCommand::Stats(args) => args.trace.iter().cloned().collect(),
        TraceCommand::Busy(args) | TraceCommand::Plugins(args) => vec![args.trace.clone()],
        TraceCommand::Gaps(args) => vec![args.part.trace.clone()],
        TraceCommand::Steps(args) | TraceCommand::Categories(args) => vec![args.part.trace.clone()],
        TraceCommand::Check(args) => vec![args.trace.clone()],
        TraceCommand::Diff(args) => vec![args.first.clone(), args.second.clone()],
        TraceCommand::Join(args) => vec![args.ruled.part.trace.clone()],
        TraceCommand::Ranks(args) => input::exports(&args.traces)?,
        TraceCommand::Metrics(args) => vec![args.part.trace.clone()],
        TraceCommand::Memory(args) => vec![args.trace.clone()],
    })
}
