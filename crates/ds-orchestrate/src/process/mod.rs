//! The seam through which every external program runs.
//!
//! A stage hands a [`CommandSpec`] to a [`Runner`] and gets an [`Outcome`]. [`Live`] starts the program, [`Record`]
//! does the same and writes what happened into a bundle as it happens, [`Replay`] answers from such a bundle and fails
//! on a command that the bundle does not hold. Nothing else in the workspace starts a process.

mod live;
mod record;
mod replay;
mod resume;

use std::fmt;
use std::time::Duration;

pub use live::{Interrupt, Live};
pub use record::Record;
pub use replay::Replay;
pub use resume::Resume;

/// Stands for the bundle's directory in the arguments of a command. Commands are written and recorded with it, so that
/// a bundle can be moved; only [`Live`] puts the real path in its place.
pub const BUNDLE_PLACEHOLDER: &str = "[BUNDLE]";

/// What to run, and within which limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// Why the command runs, as `stage/detail`, for example `sweep/b8/load`; unique within one run. A replay looks
    /// a command up by this and by its argv, so that two runs of the same argv are never mixed up.
    pub purpose: String,
    /// Program name or path.
    pub program: String,
    /// Arguments, without the program.
    pub args: Vec<String>,
    /// Variables set on top of the inherited environment.
    pub env: Vec<(String, String)>,
    /// The program and everything it started is ended after this long.
    pub timeout: Duration,
    /// Bytes of stdout, and of stderr, that are kept: of a longer output the first half and the last half of so many. The
    /// rest is read, handed to the sink and dropped.
    pub output_cap: usize,
    /// When its output arrives.
    pub buffering: Buffering,
    /// Files that the program is to leave behind, relative to the bundle; a recording holds them, a replay checks them.
    pub produces: Vec<String>,
}

impl CommandSpec {
    /// A command with a timeout of one minute and 64 MiB of kept output.
    pub fn new<A: Into<String>>(
        purpose: impl Into<String>,
        program: impl Into<String>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        Self {
            purpose: purpose.into(),
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            env: Vec::new(),
            timeout: Duration::from_secs(60),
            output_cap: 64 << 20,
            buffering: Buffering::AsItLikes,
            produces: Vec::new(),
        }
    }

    /// The same command with another timeout.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// The same command, whose output arrives line by line as far as that can be had from outside.
    #[must_use]
    pub fn line_buffered(mut self) -> Self {
        self.buffering = Buffering::Lines;
        self
    }

    /// The same command, which leaves `file` (relative to the bundle) behind.
    #[must_use]
    pub fn produces(mut self, file: impl Into<String>) -> Self {
        self.produces.push(file.into());
        self
    }

    /// Program and arguments in one list.
    pub fn argv(&self) -> Vec<String> {
        let mut argv = vec![self.program.clone()];
        argv.extend(self.args.iter().cloned());
        argv
    }
}

impl fmt::Display for CommandSpec {
    /// The command as one could type it into a shell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, value) in &self.env {
            write!(f, "{name}={} ", shell_quote(value))?;
        }
        f.write_str(&shell_quote(&self.program))?;
        for arg in &self.args {
            write!(f, " {}", shell_quote(arg))?;
        }
        Ok(())
    }
}

/// Quotes `word` for a POSIX shell where it needs it.
pub fn shell_quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+./:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// When the output of a program arrives at a pipe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Buffering {
    /// As the program has it: C programs and Python fill a block of some kB before they write it to a pipe.
    #[default]
    AsItLikes,
    /// At the end of each line. It changes neither the argv of the command nor its environment as they are recorded; an
    /// outcome says through what the program was started.
    Lines,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself with this status.
    Code(i32),
    /// A signal that was not ours ended it.
    Signal(i32),
    /// It was ended because its time was up.
    TimedOut,
    /// dsprof ended it: it had shown enough, or the command beside which it ran had ended.
    Stopped,
    /// dsprof ended it: it ran and showed nothing any more.
    GivenUp,
}

impl Exit {
    /// Whether the program ended by itself with status 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("timed out"),
            Self::Stopped => f.write_str("stopped"),
            Self::GivenUp => f.write_str("given up"),
        }
    }
}

/// What a program did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub exit: Exit,
    /// The kept part of its standard output.
    pub stdout: Vec<u8>,
    /// The kept part of its standard error.
    pub stderr: Vec<u8>,
    /// Bytes that were read and not kept: those over the cap, and what was printed after the sink had seen enough.
    pub dropped: u64,
    /// Wall time; unknown for recordings that were not made by dsprof.
    pub duration: Option<Duration>,
    /// What was put before the argv, or set in the environment, to have its output line by line; empty for nothing.
    pub through: Vec<String>,
}

impl Outcome {
    /// Standard output as text; bytes that are not UTF-8 become U+FFFD.
    pub fn stdout_text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Standard error as text; bytes that are not UTF-8 become U+FFFD.
    pub fn stderr_text(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// Which of the two output streams a chunk came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Whether a program whose output was just seen should go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// It goes on.
    Continue,
    /// It has shown what was to be seen and is ended; its outcome is [`Exit::Stopped`]. What it still prints while it is
    /// ended is dropped: the measurement was over by then.
    Stop,
    /// It shows nothing any more and is ended; its outcome is [`Exit::GivenUp`].
    GiveUp,
}

/// Receives output while a program runs, in the chunks in which it arrives, and says whether it goes on.
pub type OutputSink<'a> = dyn FnMut(OutputStream, &[u8]) -> Flow + 'a;

/// What is heard of a program that runs with others beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard<'a> {
    /// The program itself printed something.
    Main(OutputStream, &'a [u8]),
    /// The one with this number beside it did.
    Side(usize, OutputStream, &'a [u8]),
    /// A moment passed in which nobody said anything; so that one who waits for a sign can stop waiting.
    Nothing,
}

/// Receives what is heard of a program and of those beside it, and says whether the program goes on.
pub type Watch<'a> = dyn FnMut(Heard<'_>) -> Flow + 'a;

/// What a program did, and what each one beside it did.
pub type Together = (Outcome, Vec<Result<Outcome, RunError>>);

/// Why there is no [`Outcome`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// No such program.
    #[error("`{program}` was not found")]
    NotFound {
        /// The program that was asked for.
        program: String,
    },
    /// The program exists and could not be started, or its output could not be read.
    #[error("could not run `{program}`")]
    Io {
        /// The program that was asked for.
        program: String,
        /// What the operating system said.
        #[source]
        source: std::io::Error,
    },
    /// The user ended the run.
    #[error("interrupted while `{program}` ran; it was ended")]
    Interrupted {
        /// The program that ran.
        program: String,
    },
    /// A replay was asked for a command that the recording does not hold.
    #[error(
        "the recording `{recording}` holds no command for {purpose}\n  asked for: {asked}\n  recorded:  {recorded}"
    )]
    NotRecorded {
        /// Directory of the recording.
        recording: String,
        /// Purpose of the command.
        purpose: String,
        /// The command that was asked for.
        asked: String,
        /// What the recording holds for that purpose, or a word that it holds nothing.
        recorded: String,
    },
    /// The recording could not be read or written.
    #[error(transparent)]
    Bundle(#[from] crate::bundle::BundleError),
}

/// What a recording holds for a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// No recording answers: the command is run.
    Live,
    /// The command itself.
    Same,
    /// Another command for the same purpose.
    Other,
    /// No command for the purpose: an earlier dsprof did not run one.
    Nothing,
}

/// Runs programs: the one seam between dsprof and the machine.
pub trait Runner {
    /// Runs `spec` to its end and hands its output to `sink` while it runs.
    ///
    /// # Errors
    ///
    /// When the program could not be run at all. A program that ran and failed is an [`Outcome`].
    fn run(&self, spec: &CommandSpec, sink: &mut OutputSink<'_>) -> Result<Outcome, RunError>;

    /// Runs `main` to its end with `sides` (samplers) beside it. They start first and are stopped when `main` ends; one that
    /// cannot run, or that a recording does not hold, is its own result and never spoils the main one.
    ///
    /// # Errors
    ///
    /// When `main` could not be run.
    fn run_beside(
        &self,
        main: &CommandSpec,
        sides: &[CommandSpec],
        watch: &mut Watch<'_>,
    ) -> Result<Together, RunError>;

    /// What a recording that answers in place of the machine holds for `spec`.
    fn recorded(&self, _spec: &CommandSpec) -> Recorded {
        Recorded::Live
    }

    /// The argv that a recording which answers in place of the machine holds for `purpose`: what was settled by the clock
    /// when it was made.
    fn recorded_argv(&self, _purpose: &str) -> Option<Vec<String>> {
        None
    }

    /// Runs `spec` without looking at its output before it ends.
    ///
    /// # Errors
    ///
    /// As [`Runner::run`].
    fn run_quietly(&self, spec: &CommandSpec) -> Result<Outcome, RunError> {
        self.run(spec, &mut |_, _| Flow::Continue)
    }
}
