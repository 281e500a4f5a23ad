//! Where the traces lie, and how small ones are built.

use std::path::{Path, PathBuf};

use ds_nsys::{Report, ReportOptions, Trace};
use flate2::read::GzDecoder;
use rusqlite::Connection;
use tempfile::{NamedTempFile, TempPath};

/// A file or folder of the repository's test data.
pub(crate) fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/nsys")
        .join(path)
}

/// The folder of large recordings beside the repository; `None`, with a line about it, where it is absent.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if !shared.is_dir() {
        println!("skipped: ../shared is not there");
        return None;
    }
    Some(shared.join(path))
}

/// Opens a trace that must be readable.
#[track_caller]
pub(crate) fn open(path: &Path) -> Trace {
    Trace::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A copy of a recording that can be changed, or read by a program that knows no gzip.
#[track_caller]
pub(crate) fn unpacked(path: &Path) -> TempPath {
    let mut packed = GzDecoder::new(std::fs::File::open(path).expect("a recording"));
    let mut copy = NamedTempFile::with_suffix(".sqlite").expect("a temporary file");
    std::io::copy(&mut packed, &mut copy).expect("a gzip file");
    copy.into_temp_path()
}

/// A report as CSV.
#[track_caller]
pub(crate) fn csv(trace: &Trace, report: &str, options: ReportOptions) -> String {
    let report: Report = report.parse().expect("a known report");
    trace
        .report(report, options)
        .unwrap_or_else(|error| panic!("{report}: {error}"))
        .to_csv()
}

/// A small trace built from SQL; the file lives as long as the value.
pub(crate) struct SmallTrace {
    file: NamedTempFile,
}

impl SmallTrace {
    /// Runs the statements on a new database.
    #[track_caller]
    pub(crate) fn new(sql: &str) -> Self {
        let file = NamedTempFile::with_suffix(".sqlite").expect("a temporary file");
        let conn = Connection::open(file.path()).expect("a new database");
        conn.execute_batch(sql)
            .unwrap_or_else(|error| panic!("{error} in\n{sql}"));
        Self { file }
    }

    /// A trace built from a file of the test data.
    #[track_caller]
    pub(crate) fn from_file(name: &str) -> Self {
        let path = testdata(name);
        Self::new(
            &std::fs::read_to_string(&path)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display())),
        )
    }

    /// The fully populated export with every edge in every table of events.
    #[track_caller]
    pub(crate) fn with_every_edge() -> Self {
        let edges = std::fs::read_to_string(testdata("edges.sql")).expect("test data");
        Self::from_file("full.sql").and(&edges)
    }

    /// The same trace after some more statements.
    #[track_caller]
    pub(crate) fn and(self, sql: &str) -> Self {
        let conn = Connection::open(self.file.path()).expect("the database");
        conn.execute_batch(sql)
            .unwrap_or_else(|error| panic!("{error} in\n{sql}"));
        self
    }

    /// Opens it.
    #[track_caller]
    pub(crate) fn open(&self) -> Trace {
        open(self.file.path())
    }

    /// Where it lies.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }
}
