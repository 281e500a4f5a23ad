//! What can go wrong, and how a caller tells the cases apart.

use std::io;
use std::path::{Path, PathBuf};

use crate::file_kind::FileKind;

/// An error of this crate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read at all.
    #[error("`{}` cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },

    /// A profiler's own file that has to be exported to SQLite first.
    #[error("`{}` is {kind}, which `nsys export --type sqlite` turns into a readable export", path.display())]
    NeedsExport {
        /// The file.
        path: PathBuf,
        /// What its first bytes say, with the writer's version where they hold one.
        kind: FileKind,
    },

    /// A file of some other kind, or a database that no Nsight Systems wrote.
    #[error("`{}` is not an Nsight Systems export: {found}", path.display())]
    NotAnExport {
        /// The file.
        path: PathBuf,
        /// What was found instead.
        found: String,
    },

    /// The database is cut off or inconsistent: no number from it can be trusted.
    #[error("`{}` is damaged: {detail}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What shows the damage.
        detail: String,
    },

    /// SQLite refused a query.
    #[error("`{}`: table `{table}` cannot be read", path.display())]
    Query {
        /// The file.
        path: PathBuf,
        /// The table or pragma asked.
        table: String,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },

    /// A trace of PyTorch's profiler could not be written into a temporary database.
    #[error("`{}`: its temporary database cannot be written", path.display())]
    Import {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },

    /// A table lacks a column without which its rows mean nothing.
    #[error("`{}`: table `{table}` has no column `{column}`", path.display())]
    MissingColumn {
        /// The file.
        path: PathBuf,
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
    },

    /// A cell holds a value of another type than the schema says.
    #[error("`{}`: table `{table}`, column `{column}`: {found} where {wanted} is due", path.display())]
    BadCell {
        /// The file.
        path: PathBuf,
        /// The table.
        table: &'static str,
        /// The column.
        column: &'static str,
        /// The type found.
        found: String,
        /// The type that the schema gives.
        wanted: &'static str,
    },

    /// A report name that no release of `nsys stats` has, or that is not supported here.
    #[error("unknown report `{name}`")]
    UnknownReport {
        /// The name as given.
        name: String,
    },

    /// An option that the report does not take.
    #[error("report `{report}` takes no option `{option}`")]
    UnknownOption {
        /// The report's canonical name.
        report: &'static str,
        /// The option as given, without its colon.
        option: String,
    },

    /// The receiver of a report's rows failed.
    #[error("the report cannot be written")]
    Write(#[source] io::Error),

    /// Text that was to be the output of `nsys stats` and cannot be read without guessing.
    #[error("line {line}: {problem}")]
    StatsText {
        /// The line, counted from 1.
        line: usize,
        /// Why it cannot be read.
        problem: String,
    },

    /// A text that the caller gave beside the trace, such as rules of a taxonomy or a sampled profile.
    #[error("{what}, line {line}: {problem}")]
    Input {
        /// What the text was to be.
        what: &'static str,
        /// The line, counted from 1.
        line: usize,
        /// Why it cannot be read.
        problem: String,
    },
}

/// The cases that a caller tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system refused to read or write.
    Io,
    /// The input is no export: another file, or one that has to be exported first.
    NotAnExport,
    /// The input is an export, but damaged or of a shape that cannot be read.
    Damaged,
    /// The caller asked for something that does not exist.
    Usage,
}

impl Error {
    /// The case that this error belongs to.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Read { .. } | Self::Import { .. } | Self::Write(_) => ErrorKind::Io,
            Self::NeedsExport { .. } | Self::NotAnExport { .. } => ErrorKind::NotAnExport,
            Self::Damaged { .. }
            | Self::Query { .. }
            | Self::MissingColumn { .. }
            | Self::BadCell { .. }
            | Self::StatsText { .. } => ErrorKind::Damaged,
            Self::UnknownReport { .. } | Self::UnknownOption { .. } | Self::Input { .. } => {
                ErrorKind::Usage
            }
        }
    }

    /// Names a failed query, telling damage of the file from any other refusal.
    pub(crate) fn query(path: &Path, table: &str, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, SystemIoFailure};
        match source.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase | SystemIoFailure) => Self::Damaged {
                path: path.to_owned(),
                detail: format!("table `{table}`: {source}"),
            },
            _ => Self::Query {
                path: path.to_owned(),
                table: table.to_owned(),
                source,
            },
        }
    }
}

/// The result of this crate's functions.
pub type Result<T, E = Error> = std::result::Result<T, E>;
