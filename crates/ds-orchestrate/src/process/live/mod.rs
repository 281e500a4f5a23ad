//! [`Live`]: starts the program.

mod family;
mod guard;
mod kept;
mod lines;
mod running;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use self::family::Family;
use self::running::Running;
use super::{
    BUNDLE_PLACEHOLDER, CommandSpec, Exit, Flow, Heard, Outcome, OutputSink, RunError, Runner,
    Together, Watch,
};

/// How often a running program is looked at between two pieces of output.
const POLL: Duration = Duration::from_millis(20);
/// How long a program may take to end after SIGTERM before SIGKILL follows.
const GRACE: Duration = Duration::from_secs(3);

/// A flag that a signal handler raises; every running program is then ended and the run returns.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// The flag itself, for a signal handler.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Whether it was raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs programs for real: each in a process group of its own, with a timeout, ended together with all it started. What
/// was started is ended as well when this process is killed, and what left its group to stay when the last clone is
/// dropped.
#[derive(Debug, Clone, Default)]
pub struct Live {
    interrupt: Interrupt,
    bundle_root: Option<PathBuf>,
    family: Arc<Family>,
}

impl Live {
    /// A runner that ends its programs when `interrupt` is raised.
    pub fn new(interrupt: Interrupt) -> Self {
        Self {
            interrupt,
            ..Self::default()
        }
    }

    /// Puts `root` in the place of [`BUNDLE_PLACEHOLDER`] in arguments.
    #[must_use]
    pub fn with_bundle_root(mut self, root: &Path) -> Self {
        self.bundle_root = Some(root.to_owned());
        self
    }

    /// The arguments as the program gets them.
    fn arguments(&self, spec: &CommandSpec) -> Vec<String> {
        let root = self
            .bundle_root
            .as_ref()
            .map(|root| root.display().to_string());
        let expand = |arg: &String| match &root {
            Some(root) => arg.replace(BUNDLE_PLACEHOLDER, root),
            None => arg.clone(),
        };
        spec.args.iter().map(expand).collect()
    }
}

impl Live {
    fn start(&self, spec: &CommandSpec) -> Result<Running, RunError> {
        Running::start(spec, self.arguments(spec), &self.family)
    }

    /// Runs `spec` to its end and looks after `sides` meanwhile.
    fn drive(
        &self,
        spec: &CommandSpec,
        sides: &mut [Result<Running, RunError>],
        watch: &mut Watch<'_>,
    ) -> Result<Outcome, RunError> {
        let mut running = self.start(spec)?;
        loop {
            let mut flow = match running.next_chunk() {
                Some((stream, chunk)) => watch(Heard::Main(stream, &chunk)),
                None => watch(Heard::Nothing),
            };
            for (index, side) in sides.iter_mut().enumerate() {
                if let Ok(side) = side {
                    side.look_after(&mut |stream, chunk| {
                        flow = flow.or(watch(Heard::Side(index, stream, chunk)));
                        Flow::Continue
                    });
                }
            }
            let sink: &mut OutputSink<'_> = &mut |stream, chunk| watch(Heard::Main(stream, chunk));
            if self.interrupt.is_raised() {
                running.finish(Exit::Stopped, sink);
                return Err(interrupted(spec));
            }
            match flow {
                Flow::Continue if running.ended() => return Ok(running.into_outcome(sink)),
                Flow::Continue if running.is_late() => running.finish(Exit::TimedOut, sink),
                Flow::Continue => continue,
                Flow::Stop => running.cut(Exit::Stopped),
                Flow::GiveUp => running.cut(Exit::GivenUp),
            }
            return Ok(running.into_outcome(sink));
        }
    }

    /// Starts nothing once the user has ended the run.
    fn refuse_if_interrupted(&self, spec: &CommandSpec) -> Result<(), RunError> {
        if self.interrupt.is_raised() {
            return Err(interrupted(spec));
        }
        Ok(())
    }
}

impl Runner for Live {
    fn run(&self, spec: &CommandSpec, sink: &mut OutputSink<'_>) -> Result<Outcome, RunError> {
        self.refuse_if_interrupted(spec)?;
        self.drive(spec, &mut [], &mut |heard| match heard {
            Heard::Main(stream, chunk) => sink(stream, chunk),
            Heard::Side(..) | Heard::Nothing => Flow::Continue,
        })
    }

    fn run_beside(
        &self,
        main: &CommandSpec,
        sides: &[CommandSpec],
        watch: &mut Watch<'_>,
    ) -> Result<Together, RunError> {
        self.refuse_if_interrupted(main)?;
        let mut started: Vec<_> = sides.iter().map(|side| self.start(side)).collect();
        let outcome = self.drive(main, &mut started, watch);
        // All are asked to end before the first is waited for.
        for side in started.iter_mut().flatten() {
            side.ask_to_end();
        }
        let end = |(index, side): (usize, Result<Running, RunError>)| {
            side.map(|mut side| {
                let sink: &mut OutputSink<'_> = &mut |stream, chunk| {
                    // The program has ended, so what the watch answers makes no difference.
                    let _ = watch(Heard::Side(index, stream, chunk));
                    Flow::Continue
                };
                side.finish(Exit::Stopped, sink);
                side.into_outcome(sink)
            })
        };
        let sampled = started.into_iter().enumerate().map(end).collect();
        Ok((outcome?, sampled))
    }
}

impl Flow {
    /// This answer, or the `other` one where this is to go on.
    fn or(self, other: Self) -> Self {
        if self == Self::Continue { other } else { self }
    }
}

fn interrupted(spec: &CommandSpec) -> RunError {
    RunError::Interrupted {
        program: spec.program.clone(),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the seam measures the wall time of programs"
)]
fn now() -> Instant {
    Instant::now()
}

#[expect(clippy::disallowed_methods, reason = "the seam waits for programs")]
fn pause(time: Duration) {
    thread::sleep(time);
}
