//! Where the traces lie, and how small ones are built.

use std::path::{Path, PathBuf};

use ds_nsys::{Report, ReportOptions, Trace};

/// A file or folder of the repository's test data.
pub fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/nsys")
        .join(path)
}

/// The folder of large recordings beside the repository; `None`, with a line about it, where it is absent.
pub fn shared(path: &str) -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if !shared.is_dir() {
        println!("skipped: ../shared is not there");
        return None;
    }
    Some(shared.join(path))
}

/// Opens a trace that must be readable.
#[track_caller]
pub fn open(path: &Path) -> Trace {
    Trace::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A report as CSV.
#[track_caller]
pub fn csv(trace: &Trace, report: &str, options: ReportOptions) -> String {
    let report: Report = report.parse().expect("a known report");
    trace
        .report(report, options)
        .unwrap_or_else(|error| panic!("{report}: {error}"))
        .to_csv()
}
