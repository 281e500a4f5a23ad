//! [`Replay`]: answers from a bundle.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{
    CommandSpec, Exit, Heard, Outcome, OutputSink, OutputStream, Recorded, RunError, Runner,
    Together, Watch,
};
use crate::atomic;
use crate::bundle::{BundleError, CommandRecord, RecordedBundle, RecordedExit};

/// Answers every command from a recording. A command is found by its purpose and its full argv; one changed flag is
/// an error that shows both.
#[derive(Debug)]
pub struct Replay {
    bundle: RecordedBundle,
    commands: Vec<CommandRecord>,
    copy_to: Option<PathBuf>,
}

impl Replay {
    /// A replay of `bundle`.
    ///
    /// # Errors
    ///
    /// When a recorded command cannot be read.
    pub fn new(bundle: RecordedBundle) -> Result<Self, BundleError> {
        let commands = bundle.commands()?;
        Ok(Self {
            bundle,
            commands,
            copy_to: None,
        })
    }

    /// Also copies the files that a replayed command left behind below `root`, where a new bundle is written.
    #[must_use]
    pub fn copy_files_to(mut self, root: &Path) -> Self {
        self.copy_to = Some(root.to_owned());
        self
    }

    fn find(&self, spec: &CommandSpec) -> Result<&CommandRecord, RunError> {
        let argv = spec.argv();
        let same_purpose: Vec<_> = self
            .commands
            .iter()
            .filter(|c| c.purpose == spec.purpose)
            .collect();
        if let Some(record) = same_purpose
            .iter()
            .find(|c| c.argv == argv && c.env == spec.env)
        {
            return Ok(record);
        }
        Err(RunError::NotRecorded {
            recording: self.bundle.root().display().to_string(),
            purpose: spec.purpose.clone(),
            asked: spec.to_string(),
            recorded: same_purpose
                .first()
                .map_or_else(|| "nothing".to_owned(), |c| as_typed(c)),
        })
    }

    fn answer(&self, spec: &CommandSpec) -> Result<Outcome, RunError> {
        let record = self.find(spec)?;
        let exit = match &record.exit {
            RecordedExit::Code(code) => Exit::Code(*code),
            RecordedExit::Signal(signal) => Exit::Signal(*signal),
            RecordedExit::TimedOut => Exit::TimedOut,
            RecordedExit::Stopped => Exit::Stopped,
            RecordedExit::GivenUp => Exit::GivenUp,
            RecordedExit::NotFound => {
                return Err(RunError::NotFound {
                    program: spec.program.clone(),
                });
            }
            RecordedExit::Unstartable(text) => {
                let source = std::io::Error::other(text.clone());
                return Err(RunError::Io {
                    program: spec.program.clone(),
                    source,
                });
            }
        };
        for file in &record.files {
            self.bundle.verify(file)?;
            if let Some(root) = &self.copy_to {
                copy(&self.bundle.root().join(file), &root.join(file))?;
            }
        }
        Ok(Outcome {
            exit,
            stdout: self.bundle.read(&record.stdout)?,
            stderr: self.bundle.read(&record.stderr)?,
            dropped: record.dropped,
            duration: record
                .duration_s
                .and_then(|s| Duration::try_from_secs_f64(s).ok()),
            through: record.through.clone(),
        })
    }
}

impl Runner for Replay {
    fn recorded_argv(&self, purpose: &str) -> Option<Vec<String>> {
        let found = self.commands.iter().find(|c| c.purpose == purpose);
        found.map(|command| command.argv.clone())
    }

    fn recorded(&self, spec: &CommandSpec) -> Recorded {
        match self.find(spec) {
            Ok(_) => Recorded::Same,
            Err(_) if self.commands.iter().any(|c| c.purpose == spec.purpose) => Recorded::Other,
            Err(_) => Recorded::Nothing,
        }
    }

    fn run(&self, spec: &CommandSpec, sink: &mut OutputSink<'_>) -> Result<Outcome, RunError> {
        let outcome = self.answer(spec)?;
        // The recording ended where it ended: what the sink answers makes no difference.
        let _ = sink(OutputStream::Stdout, &outcome.stdout);
        let _ = sink(OutputStream::Stderr, &outcome.stderr);
        Ok(outcome)
    }

    fn run_beside(
        &self,
        main: &CommandSpec,
        sides: &[CommandSpec],
        watch: &mut Watch<'_>,
    ) -> Result<Together, RunError> {
        let outcome = self.run(main, &mut |stream, chunk| watch(Heard::Main(stream, chunk)))?;
        Ok((
            outcome,
            sides.iter().map(|side| self.answer(side)).collect(),
        ))
    }
}

fn as_typed(record: &CommandRecord) -> String {
    let spec = CommandSpec::new(
        "",
        record.argv.first().cloned().unwrap_or_default(),
        record.argv.iter().skip(1).cloned(),
    );
    CommandSpec {
        env: record.env.clone(),
        ..spec
    }
    .to_string()
}

fn copy(from: &Path, to: &Path) -> Result<(), BundleError> {
    if let Some(parent) = to.parent() {
        std::fs::create_dir_all(parent).map_err(|e| BundleError::io("create", parent, e))?;
    }
    let bytes = std::fs::read(from).map_err(|e| BundleError::io("read", from, e))?;
    atomic::write(to, &bytes).map_err(|e| BundleError::io("write", to, e))
}
