//! One call of another program.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::workspace;

/// A program with its arguments, run from the root of the workspace.
pub(crate) struct Step {
    program: OsString,
    args: Vec<OsString>,
    env: Vec<(&'static str, &'static str)>,
}

/// What a captured program printed.
pub(crate) struct Captured {
    /// Its standard output.
    pub(crate) stdout: String,
    /// Its standard error.
    pub(crate) stderr: String,
}

impl Step {
    /// A program without arguments, by its name or by a path from where xtask was started.
    pub(crate) fn new(program: impl AsRef<Path>) -> Self {
        let program = program.as_ref();
        let is_name = program.components().count() == 1;
        let found = (!is_name)
            .then(|| std::path::absolute(program).ok())
            .flatten();
        Self {
            program: found.unwrap_or_else(|| program.to_owned()).into_os_string(),
            args: Vec::new(),
            env: Vec::new(),
        }
    }

    /// The cargo that runs xtask.
    pub(crate) fn cargo() -> Self {
        Self::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
    }

    /// Adds arguments.
    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a variable of the program's environment.
    pub(crate) fn env(mut self, name: &'static str, value: &'static str) -> Self {
        self.env.push((name, value));
        self
    }

    /// The command line as a person would type it.
    pub(crate) fn shown(&self) -> String {
        let program = Path::new(&self.program)
            .file_name()
            .unwrap_or(&self.program);
        let variables = self
            .env
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let words = std::iter::once(program)
            .chain(self.args.iter().map(OsString::as_os_str))
            .map(|word| word.to_string_lossy().into_owned());
        variables.chain(words).collect::<Vec<_>>().join(" ")
    }

    /// The program as the standard library starts it.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .envs(self.env.iter().copied())
            .current_dir(workspace::root());
        command
    }

    /// Runs the program on this terminal, after its command line.
    pub(crate) fn run(&self) -> Result<()> {
        println!("$ {}", self.shown());
        let status = self
            .command()
            .status()
            .with_context(|| format!("starting `{}`", self.shown()))?;
        if !status.success() {
            bail!("`{}` ended with {status}", self.shown());
        }
        Ok(())
    }

    /// Runs the program and keeps what it prints; none of its streams is a terminal.
    pub(crate) fn capture(&self) -> Result<Captured> {
        let output = self
            .command()
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("starting `{}`", self.shown()))?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let captured = Captured {
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        };
        if !output.status.success() {
            bail!(
                "`{}` ended with {}\n{}",
                self.shown(),
                output.status,
                captured.stderr.trim_end()
            );
        }
        Ok(captured)
    }
}
