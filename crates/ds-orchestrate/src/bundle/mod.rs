//! The directory that one run leaves behind.
//!
//! ```text
//! bundle.json                      schema, dsprof version, inputs, stage states, SHA-256 of every file
//! commands/0007-nvidia-smi.json    one command: purpose, argv, exit, duration; .stdout and .stderr beside it
//! hw/  sweep/b8/  trace/           raw outputs by stage
//! edits/                           before and after of every file touched, and the journal
//! report.md  report.json
//! ```
//!
//! Everything is written as it happens, so that a crash loses nothing that was measured. `bundle.json` is rewritten
//! whole after every command and every stage, by rename.

mod command;
mod manifest;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

pub use command::{CommandRecord, RecordedExit};
pub use manifest::{Inputs, Manifest, SCHEMA, StageName, StageRecord, StageState};

use crate::atomic;

/// What can go wrong with a bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The directory holds no `bundle.json`.
    #[error("`{}` is no bundle: it holds no bundle.json", path.display())]
    NotABundle {
        /// The directory.
        path: PathBuf,
    },
    /// A file of the bundle could not be read or written.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// A JSON document of the bundle does not have the expected shape.
    #[error("`{}` is not what dsprof writes: {reason}", path.display())]
    Malformed {
        /// The document.
        path: PathBuf,
        /// Line, column and reason.
        reason: String,
    },
    /// The bundle was written in a format that this dsprof does not know.
    #[error("`{}` has bundle schema {found}, this dsprof reads {SCHEMA}", path.display())]
    Schema {
        /// The bundle.
        path: PathBuf,
        /// Its schema.
        found: String,
    },
    /// A file is not the one that was recorded.
    #[error("`{}` is not the file that was recorded: its SHA-256 differs from bundle.json", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// Another run uses the bundle.
    #[error("`{}` is in use by another run", path.display())]
    Locked {
        /// The bundle.
        path: PathBuf,
    },
    /// The directory belongs to a run with other inputs.
    #[error("`{}` belongs to another run: {item} was `{recorded}`, now it is `{now}`", path.display())]
    OtherInputs {
        /// The bundle.
        path: PathBuf,
        /// The item that differs.
        item: String,
        /// Its value in the bundle.
        recorded: String,
        /// Its value in this run.
        now: String,
    },
}

impl BundleError {
    /// An I/O error with the file it concerns.
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.into(),
            source,
        }
    }
}

/// A bundle that is being written.
#[derive(Debug)]
pub struct Bundle {
    root: PathBuf,
    manifest: Manifest,
    /// Held for the life of the bundle so that a second run on the same directory is refused.
    _lock: Lock,
}

impl Bundle {
    /// Opens `root` for writing: a new bundle where the directory is absent or empty, else the one that is there,
    /// which must have the same inputs and dsprof version.
    ///
    /// # Errors
    ///
    /// When the directory cannot be written, is in use, holds something else, or belongs to a run with other inputs.
    pub fn open(root: &Path, inputs: Inputs) -> Result<Self, BundleError> {
        fs::create_dir_all(root).map_err(|e| BundleError::io("create", root, e))?;
        refuse_foreign(root)?;
        let lock = lock(root)?;
        let file = root.join("bundle.json");
        let manifest = if file.exists() {
            let present = Manifest::read(root)?;
            if let Some((item, recorded, now)) = present.difference(&inputs) {
                return Err(BundleError::OtherInputs {
                    path: root.to_owned(),
                    item,
                    recorded,
                    now,
                });
            }
            present
        } else {
            Manifest::new(inputs)
        };
        let mut bundle = Self {
            root: root.to_owned(),
            manifest,
            _lock: lock,
        };
        bundle.drop_unfinished()?;
        bundle.drop_torn()?;
        bundle.save()?;
        Ok(bundle)
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What `bundle.json` says.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Writes `bytes` to `relative` and notes its hash.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write(&mut self, relative: &str, bytes: &[u8]) -> Result<(), BundleError> {
        let path = self.root.join(relative);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(|e| BundleError::io("create", parent, e))?;
        }
        atomic::write(&path, bytes).map_err(|e| BundleError::io("write", &path, e))?;
        self.manifest
            .files
            .insert(relative.to_owned(), hex_sha256(bytes));
        Ok(())
    }

    /// Notes the hash of a file that a program wrote.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn adopt(&mut self, relative: &str) -> Result<(), BundleError> {
        let path = self.root.join(relative);
        let hash = hash_file(&path).map_err(|e| BundleError::io("read", &path, e))?;
        self.manifest.files.insert(relative.to_owned(), hash);
        Ok(())
    }

    /// Forgets the commands of stages that did not finish: a second run does them again. What they left behind goes too,
    /// so that nothing of a broken run passes for a result.
    fn drop_unfinished(&mut self) -> Result<(), BundleError> {
        let finished: Vec<String> = self
            .manifest
            .finished()
            .iter()
            .map(ToString::to_string)
            .collect();
        let recorded = RecordedBundle {
            root: self.root.clone(),
            manifest: self.manifest.clone(),
        };
        let mut dropped = Vec::new();
        for command in recorded.commands()? {
            let stage = command.purpose.split('/').next().unwrap_or_default();
            if finished.iter().any(|name| name == stage) {
                continue;
            }
            let stem = command.stdout.trim_end_matches(".stdout");
            dropped.push(format!("{stem}.json"));
            dropped.extend([command.stdout, command.stderr]);
            dropped.extend(command.files);
        }
        // Only what the manifest names is the bundle's own.
        dropped.retain(|file| self.manifest.files.remove(file).is_some());
        if dropped.is_empty() {
            return Ok(());
        }
        // First forgotten, then removed: a run that dies in between leaves files that nobody asks for, and no bundle that
        // asks for files which are gone.
        self.save()?;
        for file in dropped {
            let path = self.root.join(file);
            atomic::remove(&path).map_err(|e| BundleError::io("remove", path, e))?;
        }
        Ok(())
    }

    /// Removes what a run that was killed was writing: temporary files, and the output of a command that did not end. Both
    /// lie in folders that are the bundle's own.
    fn drop_torn(&self) -> Result<(), BundleError> {
        let folders = self
            .manifest
            .files
            .keys()
            .filter_map(|file| Path::new(file).parent())
            .chain([Path::new(""), Path::new("commands")])
            .collect::<BTreeSet<_>>();
        for folder in folders {
            let Ok(entries) = fs::read_dir(self.root.join(folder)) else {
                continue;
            };
            for entry in entries.flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let relative = folder.join(&name).display().to_string();
                let is_output =
                    folder == Path::new("commands") && !self.manifest.files.contains_key(&relative);
                let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
                if is_file && (is_output || name.starts_with(".tmp")) {
                    let path = entry.path();
                    atomic::remove(&path).map_err(|e| BundleError::io("remove", path, e))?;
                }
            }
        }
        Ok(())
    }

    /// Sets the state of a stage and saves. A stage that is finished stays so while a later run reads it again.
    ///
    /// # Errors
    ///
    /// When `bundle.json` cannot be written.
    pub fn set_stage(&mut self, stage: StageName, state: StageState) -> Result<(), BundleError> {
        if state == StageState::Started && self.manifest.stage(stage) == Some(&StageState::Finished)
        {
            return Ok(());
        }
        self.manifest.set_stage(stage, state);
        self.save()
    }

    /// The number of the next command.
    pub(crate) fn next_command(&self) -> usize {
        let number = |file: &String| -> Option<usize> {
            file.strip_prefix("commands/")?
                .split('-')
                .next()?
                .parse()
                .ok()
        };
        self.manifest
            .files
            .keys()
            .filter_map(number)
            .max()
            .unwrap_or(0)
            + 1
    }

    /// Writes `bundle.json`.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn save(&self) -> Result<(), BundleError> {
        let path = self.root.join("bundle.json");
        let mut text =
            serde_json::to_string_pretty(&self.manifest).map_err(|e| BundleError::Malformed {
                path: path.clone(),
                reason: e.to_string(),
            })?;
        text.push('\n');
        atomic::write(&path, text.as_bytes()).map_err(|e| BundleError::io("write", &path, e))
    }
}

/// A finished bundle, opened for reading; files are checked against their recorded hashes when they are read.
#[derive(Debug, Clone)]
pub struct RecordedBundle {
    root: PathBuf,
    manifest: Manifest,
}

impl RecordedBundle {
    /// Opens the bundle in `root`.
    ///
    /// # Errors
    ///
    /// When there is none or its `bundle.json` cannot be understood.
    pub fn open(root: &Path) -> Result<Self, BundleError> {
        Ok(Self {
            root: root.to_owned(),
            manifest: Manifest::read(root)?,
        })
    }

    /// The directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What `bundle.json` says.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Reads a file and checks its hash.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is not the one that was recorded.
    pub fn read(&self, relative: &str) -> Result<Vec<u8>, BundleError> {
        let path = self.root.join(relative);
        let bytes = fs::read(&path).map_err(|e| BundleError::io("read", &path, e))?;
        match self.manifest.files.get(relative) {
            Some(hash) if *hash == hex_sha256(&bytes) => Ok(bytes),
            _ => Err(BundleError::Changed { path }),
        }
    }

    /// Checks a file's hash without keeping its content.
    ///
    /// # Errors
    ///
    /// As [`RecordedBundle::read`].
    pub fn verify(&self, relative: &str) -> Result<(), BundleError> {
        let path = self.root.join(relative);
        let hash = hash_file(&path).map_err(|e| BundleError::io("read", &path, e))?;
        if self.manifest.files.get(relative) == Some(&hash) {
            Ok(())
        } else {
            Err(BundleError::Changed { path })
        }
    }

    /// All recorded commands in the order in which they ran.
    ///
    /// # Errors
    ///
    /// When one cannot be read.
    pub fn commands(&self) -> Result<Vec<CommandRecord>, BundleError> {
        let is_command = |f: &&String| f.starts_with("commands/") && f.ends_with(".json");
        self.manifest
            .files
            .keys()
            .filter(is_command)
            .map(|file| {
                let bytes = self.read(file)?;
                serde_json::from_slice(&bytes).map_err(|e| BundleError::Malformed {
                    path: self.root.join(file),
                    reason: e.to_string(),
                })
            })
            .collect()
    }
}

/// SHA-256 of `bytes` in lower-case hexadecimal.
pub fn hex_sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 of a file in lower-case hexadecimal.
///
/// # Errors
///
/// When the file cannot be read.
pub fn hash_file(path: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    io::copy(&mut File::open(path)?, &mut HashWriter(&mut hasher))?;
    Ok(hex(&hasher.finalize()))
}

struct HashWriter<'a>(&'a mut Sha256);

impl io::Write for HashWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Hashes of the files that a run read, by the path under which it read them.
pub type InputHashes = BTreeMap<String, String>;

/// Refuses a directory with files that are not of a bundle: a mistyped path must not fill somebody's folder. What dsprof
/// itself leaves before there is a `bundle.json` is no obstacle: the lock, a temporary file of a run that was killed, and
/// the journals of edits.
fn refuse_foreign(root: &Path) -> Result<(), BundleError> {
    let unreadable = |e| BundleError::io("read", root, e);
    let mut names = Vec::new();
    for entry in fs::read_dir(root).map_err(unreadable)? {
        names.push(
            entry
                .map_err(unreadable)?
                .file_name()
                .to_string_lossy()
                .into_owned(),
        );
    }
    let own = |name: &String| name == ".lock" || name == "edits" || name.starts_with(".tmp");
    if names.iter().all(own) || names.iter().any(|name| name == "bundle.json") {
        Ok(())
    } else {
        Err(BundleError::NotABundle {
            path: root.to_owned(),
        })
    }
}

/// A lock on the directory, until it is dropped.
#[derive(Debug)]
struct Lock(File);

impl Drop for Lock {
    fn drop(&mut self) {
        // Closing the file would do, but for a program that is being started at this moment: until it has taken the place
        // of the process that was split off for it, that one holds the file too. Unlocking lets go for both.
        let _ = self.0.unlock();
    }
}

fn lock(root: &Path) -> Result<Lock, BundleError> {
    let path = root.join(".lock");
    let file = atomic::open_lock(&path).map_err(|e| BundleError::io("create", &path, e))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock(file)),
        Err(TryLockError::WouldBlock) => Err(BundleError::Locked {
            path: root.to_owned(),
        }),
        Err(TryLockError::Error(e)) => Err(BundleError::io("lock", &path, e)),
    }
}
