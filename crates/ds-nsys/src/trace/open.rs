//! From a path to a checked, read-only database.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use flate2::read::MultiGzDecoder;
use rusqlite::{Connection, OpenFlags};
use tempfile::NamedTempFile;

use super::{CaptureSettings, ExportVersion, Trace, Warning};
use crate::error::{Error, Result};
use crate::file_kind::{FileKind, MAGIC_LEN};
use crate::kineto::{self, Imported};
use crate::rows::THREADS;
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

/// Where further connections to the database come from.
#[derive(Debug)]
pub(super) enum Location {
    /// A file that can be opened again.
    File {
        /// Where it lies.
        path: PathBuf,
        /// How it has to be opened.
        mode: Mode,
    },
    /// A file that has no name any more: the connections opened before it lost it are all there are.
    Nameless(Mutex<Vec<Connection>>),
}

/// A further connection; dropping it gives one to a nameless file back.
pub(crate) struct Borrowed<'t> {
    conn: Option<Connection>,
    home: Option<&'t Mutex<Vec<Connection>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    ReadOnly,
    /// Read-only media with a journal mode that wants to write beside the file. SQLite then ignores a write-ahead log,
    /// so this mode is used only when there is none.
    Immutable,
}

impl Trace {
    /// Opens an export, or a trace of PyTorch's profiler; either may be compressed with gzip.
    ///
    /// The file is recognised by its content, opened read-only and never changed. What is not a database as it stands is
    /// turned into one in a temporary file, which loses its name before it is read: nothing is left of it however the
    /// process ends.
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
        match FileKind::recognise(&head) {
            FileKind::Sqlite => Self::open_in_place(path, path),
            FileKind::Gzip => match unpack(path, &mut file)? {
                Unpacked::Database(database) => Self::open_nameless(path, database),
                Unpacked::Kineto(imported) => Self::open_imported(path, *imported),
            },
            FileKind::JsonObject => {
                file.seek(SeekFrom::Start(0)).map_err(read_error)?;
                Self::open_imported(path, kineto::import(path, file)?)
            }
            kind @ (FileKind::Report { .. } | FileKind::Stream { .. }) => Err(Error::NeedsExport {
                path: path.to_owned(),
                kind,
            }),
            kind @ (FileKind::Empty | FileKind::Other) => Err(Error::NotAnExport {
                path: path.to_owned(),
                found: kind.to_string(),
            }),
        }
    }

    fn open_imported(path: &Path, imported: Imported) -> Result<Self> {
        let Imported { database, facts } = imported;
        let mut trace = Self::open_in_place(path, &database)?;
        trace.connect_all_threads()?;
        database.close().map_err(|source| Error::Read {
            path: path.to_owned(),
            source,
        })?;
        // Those of the export speak of a file that nobody gave.
        trace.warnings = facts.warnings();
        trace.kineto = Some(facts);
        Ok(trace)
    }

    fn open_in_place(path: &Path, database: &Path) -> Result<Self> {
        let read_error = |source| Error::Read {
            path: path.to_owned(),
            source,
        };
        // Kept open as long as the connections: closing any descriptor of a file gives up all locks that the process holds
        // on it.
        let mut file = File::open(database).map_err(read_error)?;
        let len = file.metadata().map_err(read_error)?.len();
        let head = read_head(&mut file).map_err(read_error)?;
        check_length(path, &head, len)?;
        let (conn, location) = connect_somehow(database)
            .map_err(|source| Error::query(path, "sqlite_master", source))?;
        Self::open_database(path, conn, file, location, len)
    }

    fn open_nameless(path: &Path, database: Nameless) -> Result<Self> {
        let Nameless {
            mut connections,
            file,
            head,
            len,
        } = database;
        check_length(path, &head, len)?;
        let conn = connections
            .pop()
            .expect("a pass takes one thread at the least");
        set_up(&conn).map_err(|source| Error::query(path, "sqlite_master", source))?;
        let location = Location::Nameless(Mutex::new(connections));
        Self::open_database(path, conn, file, location, len)
    }

    fn open_database(
        path: &Path,
        conn: Connection,
        file: File,
        location: Location,
        len: u64,
    ) -> Result<Self> {
        let query_error = |source| Error::query(path, "sqlite_master", source);
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
        })
    }

    /// Opens as [`Trace::open`] does, in such a way that the file may be removed while it is read.
    ///
    /// # Errors
    ///
    /// As [`Trace::open`].
    pub fn open_removable(path: impl AsRef<Path>) -> Result<Self> {
        let mut trace = Self::open(path)?;
        trace.connect_all_threads()?;
        Ok(trace)
    }

    /// Opens all connections that a pass takes, so that the file's name is needed no more.
    fn connect_all_threads(&mut self) -> Result<()> {
        if let Location::File { path, mode } = &self.location {
            let spare: Vec<Connection> = (1..THREADS)
                .map(|_| connect(path, *mode))
                .collect::<rusqlite::Result<_>>()
                .map_err(|source| Error::query(&self.path, "sqlite_master", source))?;
            self.location = Location::Nameless(Mutex::new(spare));
        }
        Ok(())
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
    Database(Nameless),
    Kineto(Box<Imported>),
}

/// A database in a file that has lost its name.
struct Nameless {
    /// As many as a pass has threads; SQLite has opened the file and not read it yet.
    connections: Vec<Connection>,
    /// The same file, for passes that read its pages themselves.
    file: File,
    head: Vec<u8>,
    len: u64,
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
    // SQLite opens files by name alone, and resolves links such as those of `/proc/self/fd`. So it opens the file while
    // that is empty, the name goes, and the content follows: a process that is killed leaves nothing behind.
    let named = NamedTempFile::with_suffix(".sqlite").map_err(read_error)?;
    let connections = (0..THREADS)
        .map(|_| Connection::open_with_flags(named.path(), READ_ONLY))
        .collect::<rusqlite::Result<Vec<_>>>()
        .map_err(|source| Error::query(path, "sqlite_master", source))?;
    let (mut unpacked, name) = named.into_parts();
    name.close().map_err(read_error)?;
    // A write-ahead log lies beside a database and never in a gzip file. Without this SQLite would look for one.
    if let Some(versions) = head.get_mut(JOURNAL_VERSIONS)
        && *versions == [2, 2]
    {
        versions.fill(1);
    }
    unpacked.write_all(&head).map_err(read_error)?;
    io::copy(&mut decoder, &mut unpacked).map_err(damaged)?;
    let len = unpacked.metadata().map_err(read_error)?.len();
    Ok(Unpacked::Database(Nameless {
        connections,
        file: unpacked,
        head,
        len,
    }))
}

/// Where a database header says whether it is written through a write-ahead log (2) or a rollback journal (1): the write
/// and the read version of the SQLite file format, section 1.3.
const JOURNAL_VERSIONS: std::ops::Range<usize> = 18..20;

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
    let location = |mode| Location::File {
        path: database.to_owned(),
        mode,
    };
    let error = match connect(database, Mode::ReadOnly) {
        Ok(conn) => return Ok((conn, location(Mode::ReadOnly))),
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
    let conn = connect(database, Mode::Immutable)?;
    Ok((conn, location(Mode::Immutable)))
}

// No mutex: a connection never leaves the thread that uses it while another one does.
const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

fn connect(path: &Path, mode: Mode) -> rusqlite::Result<Connection> {
    let conn = match mode {
        Mode::ReadOnly => Connection::open_with_flags(path, READ_ONLY)?,
        Mode::Immutable => {
            let uri = format!("file:{}?immutable=1", percent_encoded(path));
            Connection::open_with_flags(uri, READ_ONLY | OpenFlags::SQLITE_OPEN_URI)?
        }
    };
    set_up(&conn)?;
    Ok(conn)
}

/// Prepares a connection and proves that it can read.
fn set_up(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_update(None, "cache_size", -CACHE_KIB)?;
    conn.query_row("SELECT count(*) FROM sqlite_master", [], |row| {
        row.get::<_, i64>(0)
    })?;
    Ok(())
}

impl Location {
    /// A further connection, for a second thread.
    pub(super) fn another_connection(&self) -> rusqlite::Result<Borrowed<'_>> {
        match self {
            Self::File { path, mode } => Ok(Borrowed {
                conn: Some(connect(path, *mode)?),
                home: None,
            }),
            Self::Nameless(spare) => {
                let conn = lock(spare)
                    .pop()
                    .expect("one was opened for every thread of a pass");
                let borrowed = Borrowed {
                    conn: Some(conn),
                    home: Some(spare),
                };
                set_up(&borrowed)?;
                Ok(borrowed)
            }
        }
    }
}

impl Deref for Borrowed<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.conn.as_ref().expect("it is there until the drop")
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if let (Some(home), Some(conn)) = (self.home, self.conn.take()) {
            lock(home).push(conn);
        }
    }
}

/// A list of connections stays whole whichever thread panics.
fn lock(spare: &Mutex<Vec<Connection>>) -> std::sync::MutexGuard<'_, Vec<Connection>> {
    spare.lock().unwrap_or_else(PoisonError::into_inner)
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
