//! Chores of this workspace: checks, generated pages, recordings, benchmarks.
//!
//! One module a command. Run `cargo xtask help` for the list.

#![expect(
    clippy::disallowed_methods,
    reason = "the process and file seams are rules for the product; a chore starts cargo and writes files by itself"
)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what a chore finds is read on a terminal or in a CI log"
)]

mod bench;
mod ci;
mod codegen;
mod corpus;
mod export;
mod gzip;
mod recordings;
mod reference;
mod step;
mod tidy;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::export::Window;

/// The command line.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// One command a module.
#[derive(Subcommand)]
enum Command {
    /// Runs every check in order and stops at the first that fails.
    Ci,
    /// Checks what the compiler cannot: layers, file sizes, origins of test data, completeness of the rules.
    Tidy,
    /// Writes the generated pages of docs/.
    Codegen {
        /// Write nothing; fail where a page differs from what would be written.
        #[arg(long)]
        check: bool,
    },
    /// Cuts an Nsight Systems export to a part of its session and removes what is private.
    TrimTrace {
        /// The export, plain or gzip'd.
        input: PathBuf,
        /// Where the result goes; a name that ends in .gz is compressed.
        output: PathBuf,
        /// Where the part begins, in milliseconds of the session.
        #[arg(long, value_name = "MS")]
        from_ms: u32,
        /// Where the part ends.
        #[arg(long, value_name = "MS")]
        to_ms: u32,
    },
    /// Removes what is private from an Nsight Systems export and keeps all of its session.
    Scrub {
        /// The export, plain or gzip'd.
        input: PathBuf,
        /// Where the result goes; a name that ends in .gz is compressed.
        output: PathBuf,
    },
    /// Makes a bundle that dsprof recorded small enough to ship: its trace is cut, scrubbed and compressed.
    PackBundle {
        /// The bundle.
        input: PathBuf,
        /// Where the result goes.
        output: PathBuf,
        /// Where the kept part of the trace begins, in milliseconds of the session; a bundle without a trace needs none.
        #[arg(long, value_name = "MS", requires = "to_ms")]
        from_ms: Option<u32>,
        /// Where it ends.
        #[arg(long, value_name = "MS", requires = "from_ms")]
        to_ms: Option<u32>,
    },
    /// Makes the bundles of the runs that were recorded by hand as console logs.
    ImportRecordings {
        /// The folder with `recordings` and `captures`.
        shared: PathBuf,
        /// A bundle whose GPU identity is taken.
        hardware: PathBuf,
        /// Where the bundles go.
        out: PathBuf,
    },
    /// Writes what a real `nsys stats` prints for an export, one CSV a report.
    Reference {
        /// The export, plain or gzip'd.
        trace: PathBuf,
        /// Where the CSV files go.
        outdir: PathBuf,
        /// The nsys to ask.
        #[arg(long, default_value = "nsys", value_name = "PATH")]
        nsys: PathBuf,
    },
    /// Times `dsprof trace stats` on a large trace against SQLite's own scan and against nsys.
    Bench(bench::Options),
    /// Reads every file below a folder as a pipeline configuration and prints a table by form.
    Corpus {
        /// The folder.
        dir: PathBuf,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<()> {
    match command {
        Command::Ci => ci::run(),
        Command::Tidy => tidy::run(),
        Command::Codegen { check } => codegen::run(if check {
            codegen::Mode::Check
        } else {
            codegen::Mode::Write
        }),
        Command::TrimTrace {
            input,
            output,
            from_ms,
            to_ms,
        } => export::trim(&input, &output, Window::from_millis(from_ms, to_ms)?),
        Command::PackBundle {
            input,
            output,
            from_ms,
            to_ms,
        } => {
            let ends = from_ms.zip(to_ms);
            let window = ends.map(|(from, to)| Window::from_millis(from, to));
            recordings::pack(&input, &output, window.transpose()?)
        }
        Command::ImportRecordings {
            shared,
            hardware,
            out,
        } => recordings::import(&shared, &hardware, &out),
        Command::Scrub { input, output } => export::scrub(&input, &output),
        Command::Reference {
            trace,
            outdir,
            nsys,
        } => reference::run(&trace, &outdir, &nsys),
        Command::Bench(options) => bench::run(&options),
        Command::Corpus { dir } => corpus::run(&dir),
    }
}
