//! The only place that writes files: whole, or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Replaces the content of `path`, or creates it, so that after a crash at any moment the file holds either the old
/// content or the new one. The mode of an existing file is kept, and a symbolic link stays one: its target is replaced.
///
/// # Errors
///
/// When the directory cannot be written or the rename fails; the old content is then untouched.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let target = resolve(path)?;
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = NamedTempFile::new_in(directory)?;
    let permissions = match fs::metadata(&target) {
        Ok(present) => present.permissions(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => default_permissions(),
        Err(error) => return Err(error),
    };
    file.write_all(bytes)?;
    // The temporary file is created private; the mode has to be right before it takes the place of the old one.
    file.as_file().set_permissions(permissions)?;
    file.as_file().sync_all()?;
    file.persist(&target).map_err(|error| error.error)?;
    File::open(directory)?.sync_all()
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

/// Opens `path` for appending what a running program prints.
pub(crate) fn open_append(path: &Path) -> io::Result<File> {
    #[expect(
        clippy::disallowed_methods,
        reason = "output is kept as it arrives; a torn tail is what was measured"
    )]
    OpenOptions::new().create(true).append(true).open(path)
}

/// The file that a chain of symbolic links ends at; a path that does not exist stands for itself.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(target) => Ok(target),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_owned()),
        Err(error) => Err(error),
    }
}

fn default_permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt as _;
    // Readable by all, writable by the owner: what a plain create gives under the usual umask of 022.
    fs::Permissions::from_mode(0o644)
}
