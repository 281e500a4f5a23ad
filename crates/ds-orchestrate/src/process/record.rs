//! [`Record`]: runs through another runner and keeps what happened in a bundle.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::rc::Rc;

use super::{
    CommandSpec, Heard, Outcome, OutputSink, OutputStream, Recorded, RunError, Runner, Together,
    Watch,
};
use crate::atomic;
use crate::bundle::{Bundle, BundleError, CommandRecord, RecordedExit};

/// Wraps a runner; each command leaves `commands/NNNN-program.json` with `.stdout` and `.stderr` beside it. The two
/// output files grow while the program runs, so that a crash of dsprof loses nothing that was printed.
pub struct Record<R> {
    inner: R,
    bundle: Rc<RefCell<Bundle>>,
}

impl<R: Runner> Record<R> {
    /// Records into `bundle` what `inner` runs.
    pub fn new(inner: R, bundle: Rc<RefCell<Bundle>>) -> Self {
        Self { inner, bundle }
    }

    /// Writes the record of a command that ran, or that could not be started.
    fn store(
        &self,
        spec: &CommandSpec,
        slot: &Slot,
        result: Result<&Outcome, &RunError>,
    ) -> Result<(), BundleError> {
        let (exit, duration, dropped) = match result {
            Ok(outcome) => (outcome.exit.into(), outcome.duration, outcome.dropped),
            Err(RunError::NotFound { .. }) => (RecordedExit::NotFound, None, 0),
            Err(RunError::Io { source, .. }) => {
                (RecordedExit::Unstartable(source.to_string()), None, 0)
            }
            // A recording that answers here and holds no such sampler: nothing was run, so nothing is left behind.
            Err(RunError::NotRecorded { .. }) => {
                let root = self.bundle.borrow().root().to_owned();
                for file in [&slot.stdout, &slot.stderr] {
                    let path = root.join(file);
                    atomic::remove(&path).map_err(|e| BundleError::io("remove", path, e))?;
                }
                return Ok(());
            }
            // What was interrupted did not happen: a resumed run does it again.
            Err(_) => return Ok(()),
        };
        let mut bundle = self.bundle.borrow_mut();
        let (stdout, stderr) = result.map_or((&[][..], &[][..]), |o| (&o.stdout, &o.stderr));
        bundle.write(&slot.stdout, stdout)?;
        bundle.write(&slot.stderr, stderr)?;
        let mut files = Vec::new();
        for file in &spec.produces {
            if bundle.root().join(file).exists() {
                bundle.adopt(file)?;
                files.push(file.clone());
            }
        }
        let record = CommandRecord {
            seq: slot.seq,
            purpose: spec.purpose.clone(),
            argv: spec.argv(),
            env: spec.env.clone(),
            exit,
            duration_s: duration.map(|d| (d.as_secs_f64() * 1000.0).round() / 1000.0),
            stdout: slot.stdout.clone(),
            stderr: slot.stderr.clone(),
            dropped,
            through: result.map_or_else(|_| Vec::new(), |outcome| outcome.through.clone()),
            files,
        };
        let path = bundle.root().join(&slot.json);
        let mut text =
            serde_json::to_string_pretty(&record).map_err(|e| BundleError::Malformed {
                path,
                reason: e.to_string(),
            })?;
        text.push('\n');
        bundle.write(&slot.json, text.as_bytes())?;
        bundle.save()
    }

    fn slot(&self, spec: &CommandSpec, offset: usize) -> Result<Slot, BundleError> {
        let bundle = self.bundle.borrow();
        let slot = Slot::new(bundle.next_command() + offset, &spec.program);
        for directory in spec
            .produces
            .iter()
            .filter_map(|file| Path::new(file).parent())
            .chain([Path::new("commands")])
        {
            let path = bundle.root().join(directory);
            std::fs::create_dir_all(&path).map_err(|e| BundleError::io("create", path, e))?;
        }
        // The file that a run which was killed left here must not pass for the work of this command.
        for file in &spec.produces {
            if !bundle.manifest().files.contains_key(file) {
                let path = bundle.root().join(file);
                atomic::remove(&path).map_err(|e| BundleError::io("remove", path, e))?;
            }
        }
        Ok(slot)
    }
}

impl<R: Runner> Runner for Record<R> {
    fn recorded_argv(&self, purpose: &str) -> Option<Vec<String>> {
        self.inner.recorded_argv(purpose)
    }

    fn recorded(&self, spec: &CommandSpec) -> Recorded {
        self.inner.recorded(spec)
    }

    fn run(&self, spec: &CommandSpec, sink: &mut OutputSink<'_>) -> Result<Outcome, RunError> {
        let slot = self.slot(spec, 0)?;
        let mut tee = Tee::open(self.bundle.borrow().root(), &slot, spec.output_cap)?;
        let result = self.inner.run(spec, &mut |stream, chunk| {
            tee.push(stream, chunk);
            sink(stream, chunk)
        });
        self.store(spec, &slot, result.as_ref())?;
        result
    }

    fn run_beside(
        &self,
        main: &CommandSpec,
        sides: &[CommandSpec],
        watch: &mut Watch<'_>,
    ) -> Result<Together, RunError> {
        let root = self.bundle.borrow().root().to_owned();
        let slot = self.slot(main, 0)?;
        let mut tee = Tee::open(&root, &slot, main.output_cap)?;
        let mut side_slots = Vec::new();
        let mut side_tees = Vec::new();
        for (index, side) in sides.iter().enumerate() {
            let slot = self.slot(side, index + 1)?;
            side_tees.push(Tee::open(&root, &slot, side.output_cap)?);
            side_slots.push(slot);
        }
        let result = self.inner.run_beside(main, sides, &mut |heard| {
            match heard {
                Heard::Main(stream, chunk) => tee.push(stream, chunk),
                Heard::Side(index, stream, chunk) => {
                    if let Some(tee) = side_tees.get_mut(index) {
                        tee.push(stream, chunk);
                    }
                }
                Heard::Nothing => {}
            }
            watch(heard)
        });
        if let Err(error) = &result {
            self.store(main, &slot, Err(error))?;
        }
        let (outcome, sampled) = result?;
        self.store(main, &slot, Ok(&outcome))?;
        for ((side, slot), sampled) in sides.iter().zip(&side_slots).zip(&sampled) {
            self.store(side, slot, sampled.as_ref())?;
        }
        Ok((outcome, sampled))
    }
}

/// The names under which one command is kept.
struct Slot {
    seq: usize,
    json: String,
    stdout: String,
    stderr: String,
}

impl Slot {
    fn new(seq: usize, program: &str) -> Self {
        let name: String = Path::new(program)
            .file_name()
            .map_or_else(|| "command".into(), |name| name.to_string_lossy())
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                    c
                } else {
                    '_'
                }
            })
            .collect();
        let stem = format!("commands/{seq:04}-{name}");
        Self {
            seq,
            json: format!("{stem}.json"),
            stdout: format!("{stem}.stdout"),
            stderr: format!("{stem}.stderr"),
        }
    }
}

/// Writes output to the two files while it arrives, each up to the cap.
struct Tee {
    stdout: Growing,
    stderr: Growing,
}

/// A file that grows with what a program prints.
struct Growing {
    file: File,
    room: usize,
}

impl Tee {
    fn open(root: &Path, slot: &Slot, cap: usize) -> Result<Self, BundleError> {
        let open = |relative: &str| {
            let path = root.join(relative);
            match atomic::open_output(&path) {
                Ok(file) => Ok(Growing { file, room: cap }),
                Err(error) => Err(BundleError::io("create", path, error)),
            }
        };
        Ok(Self {
            stdout: open(&slot.stdout)?,
            stderr: open(&slot.stderr)?,
        })
    }

    fn push(&mut self, stream: OutputStream, chunk: &[u8]) {
        let growing = match stream {
            OutputStream::Stdout => &mut self.stdout,
            OutputStream::Stderr => &mut self.stderr,
        };
        let kept = &chunk[..chunk.len().min(growing.room)];
        growing.room -= kept.len();
        // A full disk shows when the finished output is stored; the running program must not suffer from it.
        let _ = growing.file.write_all(kept);
    }
}
