//! An opened export.

mod capture;
mod open;
mod target;

pub use capture::{CaptureSettings, GraphTracing, Trigger};
pub use open::Integrity;
pub use target::{Diagnostic, DiagnosticSource, Gpu, Process, Severity};

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::file_kind::NsysVersion;
use crate::kineto::{CutOff, Kineto};
use crate::schema::{Schema, SchemaVersion};
use crate::strings::Strings;
use crate::units::Nanos;

/// An export of Nsight Systems, or a trace of PyTorch's profiler, opened for reading.
///
/// Opening reads the schema and the small tables; the event tables are scanned when a summary asks for them.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    conn: Connection,
    /// The database file, for passes that read its pages themselves.
    file: File,
    /// The cookie of the schema that was read.
    schema_cookie: u32,
    /// Where further connections come from: the file itself, or its decompressed copy.
    location: open::Location,
    schema: Schema,
    strings: Strings,
    version: ExportVersion,
    capture: CaptureSettings,
    integrity: Integrity,
    warnings: Vec<Warning>,
    /// What the file says about itself, where PyTorch's profiler wrote it.
    kineto: Option<Kineto>,
}

/// Which release wrote an export, as far as the export says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportVersion {
    /// The release that exported; exports of 2020 and 2021 do not say.
    pub product: Option<NsysVersion>,
    /// The version of the table layout; likewise.
    pub schema: Option<SchemaVersion>,
}

/// Something about the whole export that a reader of its numbers should know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// The layout is newer than the newest one that was ever examined; columns are found by name nevertheless.
    NewerSchema {
        /// The layout of this file.
        found: SchemaVersion,
        /// The newest layout examined.
        newest_known: SchemaVersion,
    },
    /// No table says which release wrote the file: older than 2022, or the export was interrupted.
    NoExportMeta,
    /// The file is too large for a check of every page at opening; only its length was compared.
    PagesNotChecked,
    /// PyTorch's profiler wrote the file, and slowed the program that it watched.
    Distorted {
        /// By what, and what can be used all the same.
        how: String,
    },
    /// The file ends early.
    CutOff(CutOff),
    /// Events could not be used.
    EventsLeftOut {
        /// Events that could not be understood, or lack what their kind needs.
        unreadable: u64,
        /// Events without a usable time.
        untimed: u64,
    },
    /// Several processes made CUDA calls, although one such file holds one: somebody merged them.
    SeveralProcesses {
        /// How many.
        processes: usize,
    },
    /// The name says that a front end wrote the file; its workers launch the GPU work.
    OfFrontEnd,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NewerSchema {
                found,
                newest_known,
            } => write!(
                f,
                "export schema {found} is newer than {newest_known}, the newest one examined; columns are read by name"
            ),
            Self::NoExportMeta => f.write_str(
                "the export does not say which release wrote it: from before 2022, or interrupted",
            ),
            Self::PagesNotChecked => {
                f.write_str("the file is large: its length was checked at opening, not every page")
            }
            Self::Distorted { how } => f.write_str(how),
            Self::CutOff(cut) => write!(
                f,
                "the file ends early, after {} of JSON: {}; every figure is of what comes before",
                cut.after, cut.reason
            ),
            Self::EventsLeftOut {
                unreadable,
                untimed,
            } => write!(
                f,
                "left out: {unreadable} events that cannot be understood, {untimed} without a time"
            ),
            Self::SeveralProcesses { processes } => write!(
                f,
                "{processes} processes made CUDA calls in one file: merged traces share ids, and work may be joined to the \
                 wrong call; give the files of the ranks instead"
            ),
            Self::OfFrontEnd => f.write_str(
                "the name says that a front end wrote this file: the GPU work is in the files of its workers",
            ),
        }
    }
}

impl Trace {
    /// The file that was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which release wrote the export.
    #[must_use]
    pub fn version(&self) -> &ExportVersion {
        &self.version
    }

    /// How the capture was set up, as far as the export says so.
    #[must_use]
    pub fn capture(&self) -> &CaptureSettings {
        &self.capture
    }

    /// How thoroughly the file was checked when it was opened.
    #[must_use]
    pub fn integrity(&self) -> Integrity {
        self.integrity
    }

    /// What a reader of the numbers should know about the export as a whole.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// What the file says about itself, where PyTorch's profiler wrote it; `None` for an export of Nsight Systems.
    #[must_use]
    pub fn kineto(&self) -> Option<&Kineto> {
        self.kineto.as_ref()
    }

    /// Whether the export has the table, under exactly this name.
    ///
    /// A missing table says that nothing of the kind was exported, and not why.
    #[must_use]
    pub fn has_table(&self, table: &str) -> bool {
        self.schema.has_table(table)
    }

    /// The length of the session; `None` where the export does not record it.
    ///
    /// # Errors
    ///
    /// Fails when the table that holds it cannot be read.
    pub fn session_duration(&self) -> Result<Option<Nanos>> {
        crate::rows::records! {
            struct Details: "ANALYSIS_DETAILS" { duration: i64 = "duration" }
        }
        let mut longest = None;
        self.for_each_record(|row: Details| longest = longest.max(Some(row.duration)))?;
        Ok(longest.map(Nanos))
    }

    pub(crate) fn conn(&self) -> &Connection {
        &self.conn
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn schema_cookie(&self) -> u32 {
        self.schema_cookie
    }

    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    pub(crate) fn strings(&self) -> &Strings {
        &self.strings
    }

    /// A further connection to the same file, for a second thread.
    pub(crate) fn another_connection(&self) -> Result<open::Borrowed<'_>> {
        self.location
            .another_connection()
            .map_err(|source| Error::query(&self.path, "sqlite_master", source))
    }

    pub(crate) fn query_error(&self, table: &str, source: rusqlite::Error) -> Error {
        Error::query(&self.path, table, source)
    }
}
