//! Why a dump of tracks tells nothing.

use std::io;
use std::path::PathBuf;

/// Why a dump of tracks cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TracksError {
    /// A file or directory cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// A line cannot be understood.
    #[error("{}:{line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it and what to do.
        reason: String,
    },
    /// The whole does not serve.
    #[error("`{}`: {reason}", path.display())]
    Unfit {
        /// The file or directory.
        path: PathBuf,
        /// What is wrong with it and what to do.
        reason: String,
    },
}
