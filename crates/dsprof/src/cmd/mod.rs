//! One module a command.

mod attach;
mod capacity;
mod derive;
mod hw;
mod inspect;
mod lint;
mod new;
mod profile;
mod sweep;
pub(crate) mod trace;
mod tune;
mod what_if;

use anyhow::Result;

use crate::cli::{Cli, Command};
use crate::exit::Status;

/// Runs the command that was asked for.
pub(crate) fn dispatch(cli: &Cli) -> Result<Status> {
    match &cli.command {
        Command::Tune(args) => tune::run(args),
        Command::New(args) => new::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Hw(args) => hw::run(args),
        Command::Sweep(args) => sweep::run(args),
        Command::Derive(args) => derive::run(args),
        Command::Profile(args) => profile::run(args),
        Command::Capacity(args) => capacity::run(args),
        Command::Lint(args) => lint::run(args),
        Command::Trace(args) => trace::run(args),
    }
}

fn json(value: &impl serde::Serialize) -> Result<String> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
