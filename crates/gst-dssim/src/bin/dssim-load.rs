//! The load of a sweep or of a whole pipeline: `dssim-load --batch {batch} --streams {streams} --seconds {seconds}`.

use std::io::{Write as _, stderr, stdout};
use std::process::ExitCode;

use gstdssim::load::{End, Options, run};
use gstdssim::model::Model;

/// The exit status for a command line or an environment that makes no sense.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let options = match Options::parse(&args) {
        Ok(options) => options,
        Err(error) => return failed(&error.to_string(), USAGE),
    };
    let model = match Model::from_env() {
        Ok(model) => model,
        Err(error) => return failed(&error.to_string(), USAGE),
    };
    match run(&options, &model, &mut stdout().lock(), &mut stderr().lock()) {
        Ok(End::Orderly) => ExitCode::SUCCESS,
        Ok(End::Failed) => ExitCode::FAILURE,
        Err(error) => failed(&error.to_string(), 1),
    }
}

fn failed(what: &str, status: u8) -> ExitCode {
    // Nothing is left to be told where even standard error is closed.
    let _ = writeln!(stderr(), "dssim-load: {what}");
    ExitCode::from(status)
}
