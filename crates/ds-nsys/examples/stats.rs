//! Prints a report of an export as CSV: `stats TRACE REPORT [2023]`.

use std::io;
use std::process::ExitCode;

use ds_nsys::{Error, Report, ReportOptions, SeparatedWriter, Style, Trace};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (path, report, style) = match arguments.as_slice() {
        [path, report] => (path, report, Style::V2025),
        [path, report, style] if style == "2023" => (path, report, Style::V2023),
        _ => return ExitCode::from(2),
    };
    match print(path, report, style) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use io::Write as _;
            // Nothing is left to be done when even the message cannot be written.
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn print(path: &str, report: &str, style: Style) -> Result<(), Error> {
    let report: Report = report.parse()?;
    let trace = Trace::open(path)?;
    let mut output = SeparatedWriter::csv(io::stdout().lock(), style);
    trace.report_into(
        report,
        ReportOptions {
            style,
            ..ReportOptions::default()
        },
        &mut output,
    )?;
    output.finish().map_err(Error::Write)
}
