//! Plain and gzip'd files under one pair of functions.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "gz")
}

/// Copies a file and decompresses it where its name ends in `.gz`.
pub(crate) fn unpack(from: &Path, to: &Path) -> Result<()> {
    let input = File::open(from).with_context(|| format!("opening `{}`", from.display()))?;
    let mut output = File::create(to).with_context(|| format!("creating `{}`", to.display()))?;
    let copied = if is_compressed(from) {
        io::copy(&mut GzDecoder::new(BufReader::new(input)), &mut output)
    } else {
        io::copy(&mut BufReader::new(input), &mut output)
    };
    copied.with_context(|| format!("reading `{}`", from.display()))?;
    Ok(())
}

/// Copies a file and compresses it where the new name ends in `.gz`; the same content gives the same bytes.
pub(crate) fn pack(from: &Path, to: &Path) -> Result<()> {
    if !is_compressed(to) {
        fs::copy(from, to).with_context(|| format!("writing `{}`", to.display()))?;
        return Ok(());
    }
    let mut input = File::open(from).with_context(|| format!("opening `{}`", from.display()))?;
    let output = File::create(to).with_context(|| format!("creating `{}`", to.display()))?;
    let mut encoder = GzEncoder::new(BufWriter::new(output), Compression::best());
    io::copy(&mut input, &mut encoder)
        .and_then(|_| encoder.finish())
        .and_then(|mut writer| writer.flush())
        .with_context(|| format!("writing `{}`", to.display()))
}
