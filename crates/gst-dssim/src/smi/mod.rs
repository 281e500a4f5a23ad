//! What the stand-in `nvidia-smi` prints: one Tesla T4, busy as the ledgers of the simulated machine say.
//!
//! The forms follow recorded output: queries as CSV, `-q -x`, `-L`, and `dmon` with the groups p, u, c and m.

mod dmon;
mod gpu;
mod query;
mod report;

use std::io::{self, Write};
use std::path::Path;

pub use gpu::{Activity, Gpu, Utilisation};

use crate::ledger::Totals;
use crate::model::Model;

/// The exit status of nvidia-smi for arguments that make no sense.
const BAD_ARGUMENTS: u8 = 1;
/// The exit status for a query field that does not exist (recorded from driver 580.159.04).
const BAD_FIELD: u8 = 2;

/// Answers a command line; the number is the exit status. Errors go to standard output, as the real program's do.
///
/// # Errors
///
/// When the output cannot be written or the ledgers cannot be read.
pub fn answer(args: &[String], model: &Model, out: &mut dyn Write) -> io::Result<u8> {
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let activity = Activity::of(model);
    match words[..] {
        ["-L" | "--list-gpus"] => {
            let Gpu { name, uuid, .. } = Gpu::T4;
            writeln!(out, "GPU 0: {name} (UUID: {uuid})")?;
            Ok(0)
        }
        ["-q", "-x"] | ["-x", "-q"] => {
            out.write_all(
                report::xml(&Gpu::T4, activity.memory_mib()?, activity.over_a_moment()?).as_bytes(),
            )?;
            Ok(0)
        }
        ["dmon", ref options @ ..] => match dmon::Options::parse(options) {
            Some(options) => dmon::run(&options, &Gpu::T4, &activity, out).map(|()| 0),
            None => bad_arguments(out),
        },
        [query, ref options @ ..] if query.starts_with("--query-gpu=") => {
            let fields = query.trim_start_matches("--query-gpu=").split(',');
            let fields: Vec<&str> = fields.map(str::trim).collect();
            match query::Format::parse(options) {
                Some(format) => query::run(&fields, format, &Gpu::T4, &activity, out),
                None => bad_arguments(out),
            }
        }
        _ => bad_arguments(out),
    }
}

fn bad_arguments(out: &mut dyn Write) -> io::Result<u8> {
    writeln!(
        out,
        "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n"
    )?;
    Ok(BAD_ARGUMENTS)
}

fn totals(folder: Option<&Path>) -> io::Result<Totals> {
    folder.map_or_else(|| Ok(Totals::default()), Totals::read)
}
