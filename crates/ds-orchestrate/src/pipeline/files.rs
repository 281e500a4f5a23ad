//! Configuration files on disk.

use std::io;
use std::path::Path;

use ds_config::{FileSource, Pipeline};

use crate::bundle::{InputHashes, hex_sha256};
use crate::error::Error;

/// Gives ds-config the files that it asks for, relative to the current directory.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiskFiles;

impl FileSource for DiskFiles {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }

    fn exists(&self, path: &str) -> bool {
        Path::new(path).exists()
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn io::Read>> {
        Ok(Box::new(std::fs::File::open(path)?))
    }
}

/// Reads the pipeline in `path`, and what it refers to.
///
/// # Errors
///
/// When the file cannot be read or is no pipeline.
pub fn read_pipeline(path: &str) -> Result<Pipeline, Error> {
    // Told apart here so that the message names the system's own reason.
    std::fs::metadata(path).map_err(|source| Error::Read {
        path: path.into(),
        source,
    })?;
    Ok(Pipeline::resolve(path, &DiskFiles)?)
}

/// SHA-256 of every file of a pipeline by the path under which it was read.
pub fn pipeline_hashes(pipeline: &Pipeline) -> InputHashes {
    pipeline
        .files
        .iter()
        .map(|file| (file.path().to_owned(), hex_sha256(file.bytes())))
        .collect()
}
