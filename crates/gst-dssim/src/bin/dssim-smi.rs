//! The stand-in for `nvidia-smi`: put on PATH under that name.

use std::io::{ErrorKind, Write as _, stderr, stdout};
use std::process::ExitCode;

use gstdssim::model::Model;
use gstdssim::smi;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let model = match Model::from_env() {
        Ok(model) => model,
        Err(error) => return failed(&error.to_string()),
    };
    match smi::answer(&args, &model, &mut stdout().lock()) {
        Ok(status) => ExitCode::from(status),
        // Whoever reads a series closes the pipe when it has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => failed(&error.to_string()),
    }
}

fn failed(what: &str) -> ExitCode {
    // Nothing is left to be told where even standard error is closed.
    let _ = writeln!(stderr(), "dssim-smi: {what}");
    ExitCode::FAILURE
}
