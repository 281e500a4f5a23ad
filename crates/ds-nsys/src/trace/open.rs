//! From a path to a checked, read-only database.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use rusqlite::{Connection, OpenFlags};
use tempfile::{NamedTempFile, TempPath};

use super::{CaptureSettings, ExportVersion, Trace, Warning};
use crate::error::{Error, Result};
use crate::file_kind::{FileKind, MAGIC_LEN};
use crate::kineto::{self, Imported};
use crate::schema::{NEWEST_EXAMINED, Schema};
use crate::strings::Strings;

/// Files up to this size have every page checked at opening.
///
/// `PRAGMA quick_check` reads the whole file; up to this size that stays well under a second on a warm cache. Above it,
/// [`Trace::check_pages`] does the same on demand.
const CHECKED_UP_TO: u64 = 64 << 20;

/// Each SQLite connection may keep this many KiB of pages: enough for the inner nodes of the largest table, and small
/// beside the memory budget of a summary. The operating system's cache holds the rest.
const CACHE_KIB: i64 = 4096;

/// How thoroughly a file was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integrity {
    /// SQLite checked the structure of every page.
    Pages,
    /// The length of the file fits its header; pages are checked as they are read.
    Length,
}

/// Where the database lies, and how it has to be opened.
#[derive(Debug, Clone)]
pub(super) struct Location {
    path: PathBuf,
    mode: Mode,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    ReadOnly,
    /// Read-only media with a journal mode that wants to write beside the file. SQLite then ignores a write-ahead log,
    /// so this mode is used only when there is none.
    Immutable,
}

impl Trace {
    /// Opens an export, or a trace of PyTorch's profiler; either may be compressed with gzip.
    ///
    /// The file is recognised by its content, opened read-only and never changed. What is not a database as it stands is
    /// turned into one in a temporary file.
    ///
    /// # Errors
    ///
    /// Fails when the file cannot be read, is a report that has to be exported first, is no Nsight Systems export, or is
    /// damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let read_error = |source| Error::Read {
            path: path.to_owned(),
            source,
        };
        let mut file = File::open(path).map_err(read_error)?;
        let head = read_head(&mut file).map_err(read_error)?;
        let (database, unpacked) = match FileKind::recognise(&head) {
            FileKind::Sqlite => (path.to_owned(), None),
            FileKind::Gzip => match unpack(path, &mut file)? {
                Unpacked::Database(database) => (database.to_path_buf(), Some(database)),
                Unpacked::Kineto(imported) => return Self::open_imported(path, *imported),
            },
            FileKind::JsonObject => {
                file.seek(SeekFrom::Start(0)).map_err(read_error)?;
                return Self::open_imported(path, kineto::import(path, file)?);
            }
            kind @ (FileKind::Report { .. } | FileKind::Stream { .. }) => {
                return Err(Error::NeedsExport {
                    path: path.to_owned(),
                    kind,
                });
            }
            kind @ (FileKind::Empty | FileKind::Other) => {
                return Err(Error::NotAnExport {
                    path: path.to_owned(),
                    found: kind.to_string(),
                });
            }
        };
        Self::open_database(path, &database, unpacked)
    }

    fn open_imported(path: &Path, imported: Imported) -> Result<Self> {
        let Imported { database, facts } = imported;
        let location = database.to_path_buf();
        let mut trace = Self::open_database(path, &location, Some(database))?;
        // Those of the export speak of a file that nobody gave.
        trace.warnings = facts.warnings();
        trace.kineto = Some(facts);
        Ok(trace)
    }

    fn open_database(path: &Path, database: &Path, unpacked: Option<TempPath>) -> Result<Self> {
        let read_error = |source| Error::Read {
            path: path.to_owned(),
            source,
        };
        let len = std::fs::metadata(database).map_err(read_error)?.len();
        // Kept open as long as the connections: closing any descriptor of a file gives up all locks that the process holds
        // on it.
        let mut file = File::open(database).map_err(read_error)?;
        let head = read_head(&mut file).map_err(read_error)?;
        check_length(path, &head, len)?;
        let query_error = |source| Error::query(path, "sqlite_master", source);
        let (conn, location) = connect_somehow(database).map_err(query_error)?;
        let integrity = if len <= CHECKED_UP_TO {
            check_pages(path, &conn)?;
            Integrity::Pages
        } else {
            Integrity::Length
        };
        let schema = Schema::read(&conn).map_err(query_error)?;
        let schema_cookie = conn
            .pragma_query_value(None, "schema_version", |row| row.get(0))
            .map_err(query_error)?;
        if !schema.looks_like_an_export() {
            let found = "a SQLite database without the tables of one".to_owned();
            return Err(Error::NotAnExport {
                path: path.to_owned(),
                found,
            });
        }
        let strings =
            Strings::new(&conn, &schema).map_err(|e| Error::query(path, "StringIds", e))?;
        let version = schema
            .export_version(&conn)
            .map_err(|e| Error::query(path, "META_DATA_EXPORT", e))?;
        let capture = CaptureSettings::read(&conn, &schema)
            .map_err(|e| Error::query(path, "META_DATA_CAPTURE", e))?;
        let warnings = warnings(&version, integrity);
        Ok(Self {
            path: path.to_owned(),
            conn,
            file,
            schema_cookie,
            location,
            schema,
            strings,
            version,
            capture,
            integrity,
            warnings,
            kineto: None,
            _unpacked: unpacked,
        })
    }

    /// Lets SQLite check the structure of every page, however large the file is.
    ///
    /// # Errors
    ///
    /// Fails when a page is damaged.
    pub fn check_pages(&self) -> Result<()> {
        check_pages(&self.path, &self.conn)
    }
}

fn warnings(version: &ExportVersion, integrity: Integrity) -> Vec<Warning> {
    let mut warnings = Vec::new();
    match version.schema {
        Some(found) if found.is_newer_than(NEWEST_EXAMINED) => {
            warnings.push(Warning::NewerSchema {
                found,
                newest_known: NEWEST_EXAMINED,
            });
        }
        Some(_) => {}
        None => warnings.push(Warning::NoExportMeta),
    }
    if integrity == Integrity::Length {
        warnings.push(Warning::PagesNotChecked);
    }
    warnings
}

fn read_head(file: &mut File) -> io::Result<Vec<u8>> {
    let mut head = Vec::with_capacity(MAGIC_LEN);
    file.take(MAGIC_LEN as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// What a gzip file held.
enum Unpacked {
    Database(TempPath),
    Kineto(Box<Imported>),
}

fn unpack(path: &Path, file: &mut File) -> Result<Unpacked> {
    let read_error = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    file.seek(SeekFrom::Start(0)).map_err(read_error)?;
    let mut decoder = MultiGzDecoder::new(file);
    let mut head = Vec::with_capacity(MAGIC_LEN);
    let damaged = |source: io::Error| Error::Damaged {
        path: path.to_owned(),
        detail: format!("the gzip data ends or breaks early: {source}"),
    };
    Read::by_ref(&mut decoder)
        .take(MAGIC_LEN as u64)
        .read_to_end(&mut head)
        .map_err(damaged)?;
    // Looked at before unpacking, so that no other archive fills the disk.
    let kind = FileKind::recognise(&head);
    if kind == FileKind::JsonObject {
        let imported = kineto::import(path, head.as_slice().chain(decoder))?;
        return Ok(Unpacked::Kineto(Box::new(imported)));
    }
    if kind != FileKind::Sqlite {
        let found = format!("a gzip file that holds {kind}");
        return Err(Error::NotAnExport {
            path: path.to_owned(),
            found,
        });
    }
    let mut unpacked = NamedTempFile::with_suffix(".sqlite").map_err(read_error)?;
    unpacked.write_all(&head).map_err(read_error)?;
    io::copy(&mut decoder, &mut unpacked).map_err(damaged)?;
    Ok(Unpacked::Database(unpacked.into_temp_path()))
}

/// Compares the file's length with the page size and count in its header.
///
/// Offsets are those of the SQLite file format documentation, section 1.3. The count is valid only when the change
/// counter at 24 equals the "version valid for" number at 92, which lies beyond the bytes read here; an export is
/// written once by a current SQLite, so a count of 0 (never written) is the only case left out.
fn check_length(path: &Path, head: &[u8], len: u64) -> Result<()> {
    let damaged = |detail| Error::Damaged {
        path: path.to_owned(),
        detail,
    };
    let (Some(&[size_hi, size_lo]), Some(&[a, b, c, d])) = (head.get(16..18), head.get(28..32))
    else {
        return Err(damaged("the database header is cut off".to_owned()));
    };
    let page_size = match u16::from_be_bytes([size_hi, size_lo]) {
        // The value 1 stands for 65,536, which 16 bits cannot hold.
        1 => 65_536,
        size => u64::from(size),
    };
    let expected = page_size * u64::from(u32::from_be_bytes([a, b, c, d]));
    if len < expected {
        return Err(damaged(format!(
            "it is {len} bytes long and its header promises {expected}"
        )));
    }
    Ok(())
}

fn check_pages(path: &Path, conn: &Connection) -> Result<()> {
    let verdict: String = conn
        .query_row("PRAGMA quick_check(1)", [], |row| row.get(0))
        .map_err(|source| Error::query(path, "quick_check", source))?;
    if verdict == "ok" {
        return Ok(());
    }
    let detail = verdict.lines().collect::<Vec<_>>().join("; ");
    Err(Error::Damaged {
        path: path.to_owned(),
        detail,
    })
}

fn connect_somehow(database: &Path) -> rusqlite::Result<(Connection, Location)> {
    let mut location = Location {
        path: database.to_owned(),
        mode: Mode::ReadOnly,
    };
    let error = match connect(&location) {
        Ok(conn) => return Ok((conn, location)),
        Err(error) => error,
    };
    let beside = |suffix: &str| {
        let mut name = database.as_os_str().to_owned();
        name.push(suffix);
        Path::new(&name).exists()
    };
    let cannot_open = error.sqlite_error_code() == Some(rusqlite::ErrorCode::CannotOpen);
    if !cannot_open || beside("-wal") || beside("-journal") {
        return Err(error);
    }
    location.mode = Mode::Immutable;
    Ok((connect(&location)?, location))
}

/// Opens one connection and proves that it can read.
pub(super) fn connect(location: &Location) -> rusqlite::Result<Connection> {
    // No mutex: a connection never leaves the thread that uses it while another one does.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let conn = match location.mode {
        Mode::ReadOnly => Connection::open_with_flags(&location.path, flags)?,
        Mode::Immutable => {
            let uri = format!("file:{}?immutable=1", percent_encoded(&location.path));
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)?
        }
    };
    conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
    conn.query_row("SELECT count(*) FROM sqlite_master", [], |row| {
        row.get::<_, i64>(0)
    })?;
    Ok(conn)
}

fn percent_encoded(path: &Path) -> String {
    use std::fmt::Write as _;

    let mut encoded = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte) {
            encoded.push(char::from(*byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("a String takes every write");
        }
    }
    encoded
}
