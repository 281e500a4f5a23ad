//! The one place that prints: data to standard output, everything else to standard error.

use std::io::{self, BufWriter, Write};
use std::sync::OnceLock;

use anyhow::{Context as _, Result};
use ds_orchestrate::report::Colour;

use crate::args::{ColorArg, TerminalArgs};

static ARGS: OnceLock<TerminalArgs> = OnceLock::new();

/// Keeps what the user asked for, before anything is printed.
pub(crate) fn set_up(args: &TerminalArgs) {
    // Called once, at the start; a second call could only say the same.
    let _ = ARGS.set(args.clone());
}

/// Whether nothing but errors is said.
pub(crate) fn is_quiet() -> bool {
    ARGS.get().is_some_and(|args| args.quiet)
}

/// Whether what goes to `stream` has colour.
pub(crate) fn colour_of(stream: &impl io::IsTerminal) -> Colour {
    let is_wanted = match ARGS.get().map_or(ColorArg::Auto, |args| args.color) {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto => {
            // https://no-color.org: any value that is not empty.
            let is_declined = environment("NO_COLOR").is_some_and(|value| !value.is_empty());
            let is_dumb = environment("TERM").is_none_or(|term| term == "dumb");
            stream.is_terminal() && !is_declined && !is_dumb
        }
    };
    if is_wanted {
        Colour::Ansi
    } else {
        Colour::Plain
    }
}

/// What the environment says about the terminal.
pub(crate) fn environment(name: &str) -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the binary reads the environment and passes it on"
    )]
    let value = std::env::var_os(name)?;
    Some(value.to_string_lossy().into_owned())
}

/// Writes data.
pub(crate) fn data(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .context("cannot write to standard output")
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

/// Writes a message for the user, unless only errors are wanted.
pub(crate) fn message(text: &str) {
    if !is_quiet() {
        reason(text);
    }
}

/// Writes why the exit status is not 0, where that is no error.
pub(crate) fn reason(text: &str) {
    // Nobody is left to tell when standard error is gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Writes an error.
pub(crate) fn error(text: &str) {
    reason(&format!("{} {text}", marked("error:", "31")));
}

/// Writes what to do about an error.
pub(crate) fn hint(text: &str) {
    reason(&format!("{} {text}", marked("hint:", "36")));
}

/// A word in bold and in one of the colours of ECMA-48.
fn marked(word: &str, colour: &str) -> String {
    match colour_of(&io::stderr()) {
        Colour::Plain => word.to_owned(),
        Colour::Ansi => format!("\x1b[1;{colour}m{word}\x1b[0m"),
    }
}
