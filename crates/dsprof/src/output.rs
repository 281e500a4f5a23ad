//! The one place that prints: data to standard output, everything else to standard error.

use std::io::{self, BufWriter, Write};

use anyhow::Result;

/// Writes data.
pub(crate) fn data(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Lets `write` send data as it comes, a buffer at a time.
pub(crate) fn stream(write: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut stdout = BufWriter::new(io::stdout().lock());
    write(&mut stdout)?;
    Ok(stdout.flush()?)
}

/// Writes a message for the user.
pub(crate) fn message(text: &str) {
    // Nobody is left to tell when standard error is gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes an error.
pub(crate) fn error(text: &str) {
    message(&format!("error: {text}"));
}

/// Writes what to do about an error.
pub(crate) fn hint(text: &str) {
    message(&format!("hint: {text}"));
}
