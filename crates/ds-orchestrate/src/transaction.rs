//! Several files changed as one: all of them, or none.
//!
//! The new contents are first written to the journal directory, together with the old ones, then a journal says what
//! is about to happen, then each file is replaced by rename, then the journal says that it is done. A run that dies in
//! between leaves a journal that says `applying`; [`recover`] finds it and goes on from there. A file that cannot be
//! replaced, on a full disk for example, takes back those before it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::atomic;
use crate::bundle::hex_sha256;

/// One file of a transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The file.
    pub path: PathBuf,
    /// Its content when the change was computed.
    pub before: Vec<u8>,
    /// Its content afterwards.
    pub after: Vec<u8>,
}

/// Why a transaction did not take place, or could not be brought to an end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TransactionError {
    /// A file is not what it was when the change was computed; nothing was written.
    #[error("`{}` changed since it was read; nothing was written", path.display())]
    ChangedMeanwhile {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be replaced; nothing was written.
    #[error("`{}` is read-only; nothing was written", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// Two names of one file; nothing was written.
    #[error("`{}` is to be changed under two names; nothing was written", path.display())]
    Twice {
        /// The file.
        path: PathBuf,
    },
    /// An interrupted transaction cannot be completed, because somebody changed a file of it since.
    #[error("an interrupted change of `{}` cannot be completed: the file is neither the old one nor the new one; both are kept in `{}`", path.display(), journal.display())]
    Stuck {
        /// The file.
        path: PathBuf,
        /// Directory with the old and the new content.
        journal: PathBuf,
    },
    /// The journal is not what dsprof writes.
    #[error("the journal `{}` cannot be understood: {reason}", path.display())]
    Journal {
        /// The journal.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
}

/// Where a transaction stands; given to the observer of [`apply_observed`] after each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Old and new contents are in the journal directory.
    Staged,
    /// The journal says `applying`.
    Announced,
    /// This many files have their new content.
    Replaced(usize),
    /// The journal says `applied`.
    Done,
}

/// What [`recover`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// No transaction was interrupted.
    Nothing,
    /// An interrupted one was completed; these files have their new content now.
    Completed(Vec<PathBuf>),
    /// One was interrupted before any file was touched; it was dropped.
    Dropped,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Journal {
    state: State,
    files: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Applying,
    Applied,
    /// A file could not be replaced, and those before it got their old content back.
    Undone,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: PathBuf,
    before_sha256: String,
    after_sha256: String,
}

/// Replaces all files, with old and new contents and the journal kept in `journal_dir`.
///
/// # Errors
///
/// When a file changed since it was read, is read-only, or cannot be written. Every file then has its old content; where
/// even that could not be written back, the journal is left for [`recover`].
pub fn apply(changes: &[FileChange], journal_dir: &Path) -> Result<(), TransactionError> {
    apply_observed(changes, journal_dir, &mut |_| {})
}

/// As [`apply`]; `observer` is called after each step.
///
/// # Errors
///
/// As [`apply`].
pub fn apply_observed(
    changes: &[FileChange],
    journal_dir: &Path,
    observer: &mut dyn FnMut(Step),
) -> Result<(), TransactionError> {
    let changes: Vec<&FileChange> = changes.iter().filter(|c| c.before != c.after).collect();
    if changes.is_empty() {
        return Ok(());
    }
    let entries = changes
        .iter()
        .map(|change| checked(change))
        .collect::<Result<Vec<_>, _>>()?;
    for (index, entry) in entries.iter().enumerate() {
        if entries[..index]
            .iter()
            .any(|other| other.path == entry.path)
        {
            return Err(TransactionError::Twice {
                path: entry.path.clone(),
            });
        }
    }
    fs::create_dir_all(journal_dir).map_err(io_error("create", journal_dir))?;
    for (index, (change, entry)) in changes.iter().zip(&entries).enumerate() {
        put(
            &before_copy(journal_dir, index, &entry.path),
            &change.before,
        )?;
        put(&after_copy(journal_dir, index, &entry.path), &change.after)?;
    }
    observer(Step::Staged);
    let mut journal = Journal {
        state: State::Applying,
        files: entries,
    };
    save(journal_dir, &journal)?;
    observer(Step::Announced);
    for (index, (change, entry)) in changes.iter().zip(&journal.files).enumerate() {
        if let Err(error) = put(&entry.path, &change.after) {
            take_back(changes.iter().copied().zip(&journal.files).take(index + 1))?;
            journal.state = State::Undone;
            save(journal_dir, &journal)?;
            return Err(error);
        }
        observer(Step::Replaced(index + 1));
    }
    journal.state = State::Applied;
    save(journal_dir, &journal)?;
    observer(Step::Done);
    Ok(())
}

/// Gives files their old content. The last of them may have it still, or may have been replaced by a write that failed only
/// afterwards.
fn take_back<'a>(
    replaced: impl Iterator<Item = (&'a FileChange, &'a Entry)>,
) -> Result<(), TransactionError> {
    for (change, entry) in replaced {
        if fs::read(&entry.path).is_ok_and(|present| present == change.after) {
            put(&entry.path, &change.before)?;
        }
    }
    Ok(())
}

/// The file of a change, if it is still what it was and may be replaced.
fn checked(change: &FileChange) -> Result<Entry, TransactionError> {
    let unreadable = || io_error("read", &change.path);
    if fs::read(&change.path).map_err(unreadable())? != change.before {
        return Err(TransactionError::ChangedMeanwhile {
            path: change.path.clone(),
        });
    }
    // A rename would replace a read-only file all the same; its mode says that its owner does not want that.
    let metadata = fs::metadata(&change.path).map_err(unreadable())?;
    if metadata.permissions().readonly() {
        return Err(TransactionError::ReadOnly {
            path: change.path.clone(),
        });
    }
    Ok(Entry {
        path: fs::canonicalize(&change.path).map_err(unreadable())?,
        before_sha256: hex_sha256(&change.before),
        after_sha256: hex_sha256(&change.after),
    })
}

/// Looks for a transaction that was interrupted and completes it: each of its files holds the old content or the new
/// one, and gets the new one.
///
/// # Errors
///
/// When a file is neither; every file is then left as it is. When one cannot be written; the next call goes on from there.
pub fn recover(journal_dir: &Path) -> Result<Recovery, TransactionError> {
    let path = journal_file(journal_dir);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Contents without a journal: it died before it touched a file.
            return drop_staged(journal_dir);
        }
        Err(error) => return Err(io_error("read", &path)(error)),
    };
    let mut journal: Journal =
        serde_json::from_slice(&bytes).map_err(|e| TransactionError::Journal {
            path: path.clone(),
            reason: e.to_string(),
        })?;
    if journal.state != State::Applying {
        return Ok(Recovery::Nothing);
    }
    let mut pending = Vec::new();
    for (index, entry) in journal.files.iter().enumerate() {
        let hash = hex_sha256(&fs::read(&entry.path).map_err(io_error("read", &entry.path))?);
        if hash == entry.before_sha256 {
            let copy = after_copy(journal_dir, index, &entry.path);
            let after = fs::read(&copy).map_err(io_error("read", &copy))?;
            if hex_sha256(&after) != entry.after_sha256 {
                return Err(TransactionError::Journal {
                    path,
                    reason: format!("`{}` was changed", copy.display()),
                });
            }
            pending.push((entry.path.clone(), after));
        } else if hash != entry.after_sha256 {
            return Err(TransactionError::Stuck {
                path: entry.path.clone(),
                journal: journal_dir.to_owned(),
            });
        }
    }
    for (path, after) in &pending {
        put(path, after)?;
    }
    journal.state = State::Applied;
    save(journal_dir, &journal)?;
    Ok(Recovery::Completed(
        journal.files.into_iter().map(|e| e.path).collect(),
    ))
}

/// Removes the contents that a transaction laid down before it announced anything.
fn drop_staged(journal_dir: &Path) -> Result<Recovery, TransactionError> {
    let names = match fs::read_dir(journal_dir) {
        Ok(names) => names,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Recovery::Nothing),
        Err(error) => return Err(io_error("read", journal_dir)(error)),
    };
    let mut recovery = Recovery::Nothing;
    for entry in names {
        let path = entry.map_err(io_error("read", journal_dir))?.path();
        if is_staged(&name(&path)) {
            #[expect(
                clippy::disallowed_methods,
                reason = "the copy was made by a change that did not take place"
            )]
            fs::remove_file(&path).map_err(io_error("remove", &path))?;
            recovery = Recovery::Dropped;
        }
    }
    Ok(recovery)
}

/// Whether a file is named as [`before_copy`] and [`after_copy`] name theirs.
fn is_staged(name: &str) -> bool {
    let rest = name.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < name.len() && (rest.starts_with("-before-") || rest.starts_with("-after-"))
}

fn save(journal_dir: &Path, journal: &Journal) -> Result<(), TransactionError> {
    let path = journal_file(journal_dir);
    let mut text =
        serde_json::to_string_pretty(journal).map_err(|e| TransactionError::Journal {
            path: path.clone(),
            reason: e.to_string(),
        })?;
    text.push('\n');
    put(&path, text.as_bytes())
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), TransactionError> {
    atomic::write(path, bytes).map_err(io_error("write", path))
}

fn journal_file(journal_dir: &Path) -> PathBuf {
    journal_dir.join("journal.json")
}

fn before_copy(journal_dir: &Path, index: usize, path: &Path) -> PathBuf {
    journal_dir.join(format!("{index:02}-before-{}", name(path)))
}

fn after_copy(journal_dir: &Path, index: usize, path: &Path) -> PathBuf {
    journal_dir.join(format!("{index:02}-after-{}", name(path)))
}

fn name(path: &Path) -> String {
    path.file_name()
        .map_or_else(|| "file".to_owned(), |n| n.to_string_lossy().into_owned())
}

fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> TransactionError {
    let path = path.to_owned();
    move |source| TransactionError::Io {
        action,
        path,
        source,
    }
}
