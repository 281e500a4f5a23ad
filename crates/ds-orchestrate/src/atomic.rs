//! The only place that writes files: whole, or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek as _, Write};
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Replaces the content of `path`, or creates it, so that after a crash at any moment the file holds either the old
/// content or the new one. The mode of an existing file is kept, its owner as far as the system allows it, and a symbolic
/// link stays one: its target is replaced.
///
/// # Errors
///
/// When the directory cannot be written or the rename fails; the old content is then untouched.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, |file| file.write_all(bytes))
}

/// As [`write()`], with what `make` writes, which then never has to be in memory as a whole. While it is made it has no name,
/// so that nothing is left behind when the program is ended.
///
/// # Errors
///
/// As [`write()`], and when `make` fails; the old content is then untouched.
pub fn write_with(
    path: &Path,
    make: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut made = tempfile::tempfile_in(directory_of(&resolve(path)?))?;
    let mut buffered = BufWriter::new(&mut made);
    make(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    made.rewind()?;
    replace(path, |file| io::copy(&mut made, file).map(drop))
}

fn directory_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Puts what `fill` writes in the place of the file's content.
fn replace(path: &Path, fill: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let target = resolve(path)?;
    let directory = directory_of(&target);
    let mut file = NamedTempFile::new_in(directory)?;
    let permissions = match fs::metadata(&target) {
        Ok(present) => {
            // Only root may give a file away; for everybody else the file is theirs already, or stays writable by mode.
            let _ = fchown(file.as_file(), Some(present.uid()), Some(present.gid()));
            present.permissions()
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => default_permissions(),
        Err(error) => return Err(error),
    };
    fill(file.as_file_mut())?;
    // The temporary file is created private; the mode has to be right before it takes the place of the old one.
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    File::open(directory)?.sync_all()
}

/// Makes a folder and those above it; one that is there is made already.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    fs::create_dir_all(path)
}

/// Opens, or creates, a lock file. It is never written.
pub(crate) fn open_lock(path: &Path) -> io::Result<File> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a lock file has no content that a crash could tear"
    )]
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
}

/// Opens `path`, empty, for what a running program prints.
pub(crate) fn open_output(path: &Path) -> io::Result<File> {
    #[expect(
        clippy::disallowed_methods,
        reason = "output is kept as it arrives; a torn tail is what was measured"
    )]
    OpenOptions::new()
        .create(true)
        .truncate(true)
        .write(true)
        .open(path)
}

/// Gives a finished file another name in the same file system.
pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the module that names files"
    )]
    fs::rename(from, to)
}

/// Removes a file; one that is not there is removed already.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the module that removes files"
    )]
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes a folder with all that is in it, if it is there. Symbolic links go, and what they lead to stays.
///
/// # Errors
///
/// When something in it cannot be removed.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the module that removes files"
    )]
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The file that a chain of symbolic links ends at, also where it does not exist yet; any other path that does not exist
/// stands for itself.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    loop {
        match fs::canonicalize(&path) {
            // A circle of links is an error of its own, so that following one that leads nowhere comes to an end.
            Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(&path) {
                Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
                Err(_) => return Ok(path),
            },
            found => return found,
        }
    }
}

fn default_permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    // Readable by all, writable by the owner: what a plain create gives under the usual umask of 022.
    fs::Permissions::from_mode(0o644)
}
