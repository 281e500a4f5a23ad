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
mod stats;
mod steps;

use anyhow::Result;

pub(crate) use input::hint;

use crate::cli_trace::TraceCommand;
use crate::exit::Status;

/// Answers the question that was asked.
pub(super) fn run(command: &TraceCommand) -> Result<Status> {
    match command {
        TraceCommand::Stats(args) => stats::run(args),
        TraceCommand::Busy(args) => busy::run(args),
        TraceCommand::Gaps(args) => gaps::run(args),
        TraceCommand::Steps(args) => steps::run(args),
        TraceCommand::Check(args) => check::run(args),
        TraceCommand::Diff(args) => diff::run(args),
        TraceCommand::Categories(args) => categories::run(args),
        TraceCommand::Join(args) => join::run(args),
        TraceCommand::Ranks(args) => ranks::run(args),
        TraceCommand::Plugins(args) => plugins::run(args),
        TraceCommand::Metrics(args) => metrics::run(args),
        TraceCommand::Memory(args) => memory::run(args),
    }
}
