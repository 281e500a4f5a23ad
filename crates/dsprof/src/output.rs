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
    let mut pipe = Pipe {
        stdout: io::stdout().lock(),
        is_closed: false,
    };
    let mut buffered = BufWriter::new(&mut pipe);
    let result = write(&mut buffered).and_then(|()| Ok(buffered.flush()?));
    drop(buffered);
    if pipe.is_closed {
        Err(io::Error::from(io::ErrorKind::BrokenPipe).into())
    } else {
        result
    }
}

/// Standard output that remembers whether its reader has gone: layers above may wrap the error and hide its kind.
struct Pipe<'s> {
    stdout: io::StdoutLock<'s>,
    is_closed: bool,
}

impl Pipe<'_> {
    fn noted<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        self.is_closed |= result
            .as_ref()
            .is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe);
        result
    }
}

impl Write for Pipe<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.stdout.write(bytes);
        self.noted(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.stdout.flush();
        self.noted(result)
    }
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
