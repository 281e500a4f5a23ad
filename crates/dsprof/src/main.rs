//! The command line of dsprof: arguments in, text out, exit status. Everything else is in the crates below.

mod args;
mod cli;
mod cli_lint;
mod cli_new;
mod cli_trace;
mod cmd;
mod exit;
mod junit;
mod load;
mod output;
mod page;
mod progress;
mod run;
mod table;
mod tracks;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = cli::Cli::parse();
    output::set_up(&cli.terminal);
    match cmd::dispatch(&cli) {
        Ok(status) => status.into(),
        Err(error) => exit::report(&error),
    }
}
