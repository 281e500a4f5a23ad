//! Where the bytes of files come from, and how one file names another.

use std::collections::BTreeMap;
use std::io;

/// Gives the files of a pipeline. This crate itself touches no file system.
pub trait FileSource {
    /// The bytes of a file.
    ///
    /// # Errors
    ///
    /// As the file system reports them.
    fn read(&self, path: &str) -> io::Result<Vec<u8>>;

    /// The bytes of a file from its start, one after the other: a model is too large to be read as a
    /// whole. A source that has files on a disk gives a reader of that file in place of this default.
    ///
    /// # Errors
    ///
    /// As the file system reports them.
    fn open(&self, path: &str) -> io::Result<Box<dyn io::Read + '_>> {
        Ok(Box::new(io::Cursor::new(self.read(path)?)))
    }

    /// Whether a file exists; engines are asked for and never read.
    fn exists(&self, path: &str) -> bool;

    /// A variable of the environment that the pipeline will run in. None is set unless the caller
    /// says otherwise.
    fn environment(&self, name: &str) -> Option<String> {
        let _ = name;
        None
    }
}

/// Files in memory by their paths.
impl FileSource for BTreeMap<String, Vec<u8>> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        self.get(path)
            .cloned()
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn io::Read + '_>> {
        match self.get(path) {
            Some(bytes) => Ok(Box::new(bytes.as_slice())),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn exists(&self, path: &str) -> bool {
        self.contains_key(path)
    }
}

/// The path that `named` means in the file `referrer`: relative to the folder of that file, as
/// DeepStream's parsers resolve it.
pub(crate) fn join(referrer: &str, named: &str) -> String {
    let folder = referrer.rsplit_once('/').map_or("", |(folder, _)| folder);
    let joined = match (
        named.starts_with('/'),
        referrer.starts_with('/') && folder.is_empty(),
    ) {
        (true, _) => named.to_owned(),
        (false, true) => format!("/{named}"),
        (false, false) => format!("{folder}/{named}"),
    };
    let absolute = joined.starts_with('/') && (named.starts_with('/') || referrer.starts_with('/'));
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            ".." if absolute => {}
            _ => parts.push(part),
        }
    }
    let path = parts.join("/");
    if absolute { format!("/{path}") } else { path }
}
