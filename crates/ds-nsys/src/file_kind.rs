//! What a file is, from its first bytes alone.
//!
//! Extensions prove nothing: people rename `.qdrep` to `.nsys-rep` and back. Eighty bytes tell the kind, and in reports
//! since 2023.3.3 and in raw streams also which Nsight Systems wrote it.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::str::FromStr;

use crate::error::Error;

/// How many bytes [`FileKind::recognise`] wants to see.
pub const MAGIC_LEN: usize = 80;

/// The first bytes of every SQLite database, from the SQLite file format documentation.
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";
/// The first bytes of a gzip member, from RFC 1952.
const GZIP_MAGIC: &[u8] = &[0x1F, 0x8B];
/// The first bytes of `.qdrep` and `.nsys-rep`, read from reports of 2019.6 to 2026.2.
const REPORT_MAGIC: &[u8] = b"NVIDIA Tegra Profiler Report ";
/// What stands behind eight changing bytes in `.qdstrm`, read from streams of 2022.4.2 to 2023.4.4.
const STREAM_MAGIC: &[u8] = b"NVIDIA Nsight Systems Stream ";
const STREAM_OFFSET: usize = 8;
/// What some editors write before UTF-8.
const UTF_8_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// A release of Nsight Systems.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NsysVersion(Vec<u32>);

impl NsysVersion {
    /// Year, release and patch level; parts that were not given count as 0.
    #[must_use]
    pub fn release(&self) -> (u32, u32, u32) {
        let part = |i: usize| self.0.get(i).copied().unwrap_or(0);
        (part(0), part(1), part(2))
    }
}

impl FromStr for NsysVersion {
    type Err = NotAVersion;

    /// Reads `2025.3.2.0`, and `2024@6@2@225-…` as it stands in reports; anything behind the digits is ignored.
    fn from_str(text: &str) -> Result<Self, NotAVersion> {
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '@')
            .unwrap_or(text.len());
        let parts: Option<Vec<u32>> = text[..end]
            .trim_end_matches(['.', '@'])
            .split(['.', '@'])
            .map(|part| part.parse().ok())
            .collect();
        match parts {
            Some(parts) if parts.len() >= 2 => Ok(Self(parts)),
            _ => Err(NotAVersion),
        }
    }
}

impl fmt::Display for NsysVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            write!(f, "{dot}{part}")?;
        }
        Ok(())
    }
}

/// The text is no version number of at least two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a version number")]
pub struct NotAVersion;

/// The kinds of file that are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileKind {
    /// A SQLite database; whether Nsight Systems wrote it, its tables tell.
    Sqlite,
    /// A gzip file, which may hold a database or a trace of PyTorch's profiler.
    Gzip,
    /// A report, `.nsys-rep` or `.qdrep`.
    Report {
        /// The release that wrote it, where the first bytes say so (since 2023.3.3).
        writer: Option<NsysVersion>,
    },
    /// A raw stream, `.qdstrm`, that only the importer of the same release reads.
    Stream {
        /// The release that wrote it.
        writer: Option<NsysVersion>,
    },
    /// A JSON object, which may be a trace of PyTorch's profiler; whether it is, its members tell.
    JsonObject,
    /// No bytes at all.
    Empty,
    /// Anything else.
    Other,
}

impl FileKind {
    /// Recognises the file at a path.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read.
    pub fn of_file(path: impl AsRef<Path>) -> crate::error::Result<Self> {
        let path = path.as_ref();
        let read = || {
            let mut head = Vec::with_capacity(MAGIC_LEN);
            File::open(path)?
                .take(MAGIC_LEN as u64)
                .read_to_end(&mut head)?;
            Ok(Self::recognise(&head))
        };
        read().map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })
    }

    /// Recognises a file by its first [`MAGIC_LEN`] bytes; fewer are accepted and may leave the writer unknown.
    #[must_use]
    pub fn recognise(head: &[u8]) -> Self {
        if head.is_empty() {
            Self::Empty
        } else if head.starts_with(SQLITE_MAGIC) {
            Self::Sqlite
        } else if head.starts_with(GZIP_MAGIC) {
            Self::Gzip
        } else if let Some(rest) = head.strip_prefix(REPORT_MAGIC) {
            // Older reports go on with a bare format number (`1.`), which no release carries.
            Self::Report {
                writer: version_at(rest),
            }
        } else if let Some(rest) = head
            .get(STREAM_OFFSET..)
            .and_then(|tail| tail.strip_prefix(STREAM_MAGIC))
        {
            Self::Stream {
                writer: version_at(rest),
            }
        } else if begins_a_json_object(head) {
            Self::JsonObject
        } else {
            Self::Other
        }
    }
}

/// A brace with a name in quotes behind it, or with nothing, in any layout.
fn begins_a_json_object(head: &[u8]) -> bool {
    let head = head.strip_prefix(UTF_8_MARK).unwrap_or(head);
    match head.trim_ascii_start().split_first() {
        Some((b'{', rest)) => matches!(rest.trim_ascii_start().first(), None | Some(b'"' | b'}')),
        _ => false,
    }
}

fn version_at(bytes: &[u8]) -> Option<NsysVersion> {
    let len = bytes
        .iter()
        .take_while(|b| b.is_ascii_digit() || matches!(b, b'.' | b'@'))
        .count();
    std::str::from_utf8(&bytes[..len]).ok()?.parse().ok()
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, writer) = match self {
            Self::Sqlite => ("a SQLite database", None),
            Self::Gzip => ("a gzip file", None),
            Self::Report { writer } => ("an Nsight Systems report", writer.as_ref()),
            Self::Stream { writer } => ("a raw Nsight Systems stream", writer.as_ref()),
            Self::JsonObject => ("a JSON object", None),
            Self::Empty => ("an empty file", None),
            Self::Other => ("a file of another kind", None),
        };
        f.write_str(what)?;
        match writer {
            Some(version) => write!(f, " written by {version}"),
            None => Ok(()),
        }
    }
}
