//! [`Live`]: starts the program.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::{
    BUNDLE_PLACEHOLDER, CommandSpec, Exit, Flow, Outcome, OutputSink, OutputStream, RunError,
    Runner,
};

/// How often a running program is looked at between two pieces of output.
const POLL: Duration = Duration::from_millis(20);
/// How long a program may take to end after SIGTERM before SIGKILL follows.
const GRACE: Duration = Duration::from_secs(3);
/// How long the pipes of an ended program are waited for; a descendant that left the group and keeps them open does not
/// hold us longer.
const DRAIN: Duration = Duration::from_millis(500);
/// Pieces of output that wait for the sink at most. A program that prints faster than it is read waits too, as it would
/// at any pipe, so that neither memory nor what is left to read after its end grows with its output.
const BACKLOG: usize = 64;
/// Pieces that are still taken once [`DRAIN`] is over: a full backlog, and for each of the two pipes the piece in its
/// thread's hands and what the pipe itself holds.
const LEFT_OVER: usize = BACKLOG + 2 * 2;

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

/// Runs programs for real: each in a process group of its own, with a timeout, ended together with all it started.
#[derive(Debug, Clone, Default)]
pub struct Live {
    interrupt: Interrupt,
    bundle_root: Option<PathBuf>,
}

impl Live {
    /// A runner that ends its programs when `interrupt` is raised.
    pub fn new(interrupt: Interrupt) -> Self {
        Self {
            interrupt,
            bundle_root: None,
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
    /// Runs `spec` to its end and looks after `beside` meanwhile.
    fn drive(
        &self,
        spec: &CommandSpec,
        mut beside: Option<&mut Running>,
        sink: &mut OutputSink<'_>,
    ) -> Result<Outcome, RunError> {
        let mut running = Running::start(spec, self.arguments(spec))?;
        while !running.step(sink) {
            if let Some(side) = beside.as_deref_mut() {
                side.look_after();
            }
            if self.interrupt.is_raised() {
                running.finish(Exit::Stopped, sink);
                return Err(interrupted(spec));
            }
        }
        Ok(running.into_outcome(sink))
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
        self.drive(spec, None, sink)
    }

    fn run_beside(
        &self,
        main: &CommandSpec,
        side: &CommandSpec,
        sink: &mut OutputSink<'_>,
    ) -> Result<(Outcome, Result<Outcome, RunError>), RunError> {
        self.refuse_if_interrupted(main)?;
        let mut sampler = Running::start(side, self.arguments(side));
        let outcome = self.drive(main, sampler.as_mut().ok(), sink);
        let sampled = sampler.map(|mut sampler| {
            sampler.finish(Exit::Stopped, &mut unheard);
            sampler.into_outcome(&mut unheard)
        });
        Ok((outcome?, sampled))
    }
}

/// A started program, its pipes read by two threads. Dropping it ends the whole group.
struct Running {
    child: Child,
    started: Instant,
    ended_at: Option<Instant>,
    deadline: Instant,
    cap: usize,
    chunks: Receiver<(OutputStream, Vec<u8>)>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    dropped: u64,
    exit: Option<Exit>,
}

impl Running {
    fn start(spec: &CommandSpec, arguments: Vec<String>) -> Result<Self, RunError> {
        let spawn_error = |source: io::Error| {
            let program = spec.program.clone();
            if is_missing(spec, &source) {
                RunError::NotFound { program }
            } else {
                RunError::Io { program, source }
            }
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the one place that starts programs"
        )]
        let mut command = Command::new(&spec.program);
        command
            .args(arguments)
            .envs(spec.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = command.spawn().map_err(spawn_error)?;
        let (sender, chunks) = sync_channel(BACKLOG);
        if let Some(pipe) = child.stdout.take() {
            pump(OutputStream::Stdout, pipe, sender.clone());
        }
        if let Some(pipe) = child.stderr.take() {
            pump(OutputStream::Stderr, pipe, sender);
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "the seam measures the wall time of programs"
        )]
        let started = Instant::now();
        Ok(Self {
            child,
            started,
            ended_at: None,
            deadline: started + spec.timeout,
            cap: spec.output_cap,
            chunks,
            stdout: Vec::new(),
            stderr: Vec::new(),
            dropped: 0,
            exit: None,
        })
    }

    /// Waits for a piece of output or a moment; true once the program has ended or was ended.
    fn step(&mut self, sink: &mut OutputSink<'_>) -> bool {
        if let Some((stream, chunk)) = self.next_chunk()
            && sink(stream, &chunk) == Flow::Stop
        {
            self.finish(Exit::Stopped, sink);
            return true;
        }
        if self.ended() {
            return true;
        }
        if now() >= self.deadline {
            self.finish(Exit::TimedOut, sink);
            return true;
        }
        false
    }

    /// Keeps the next piece of output and hands it on; `None` after a moment in which there was none.
    fn next_chunk(&mut self) -> Option<(OutputStream, Vec<u8>)> {
        match self.chunks.recv_timeout(POLL) {
            Ok((stream, chunk)) => {
                self.keep(stream, &chunk);
                Some((stream, chunk))
            }
            Err(RecvTimeoutError::Disconnected) => {
                // Both pipes are closed; the program itself may still run.
                #[expect(clippy::disallowed_methods, reason = "the seam waits for programs")]
                thread::sleep(POLL);
                None
            }
            Err(RecvTimeoutError::Timeout) => None,
        }
    }

    /// Keeps what has arrived, notices its end and ends it when its time is up, without waiting for any of it.
    fn look_after(&mut self) {
        // One backlog a look: a program that prints without end must not hold up the one beside which it runs.
        for (stream, chunk) in self.chunks.try_iter().take(BACKLOG).collect::<Vec<_>>() {
            self.keep(stream, &chunk);
        }
        if !self.ended() && now() >= self.deadline {
            self.finish(Exit::TimedOut, &mut unheard);
        }
    }

    fn ended(&mut self) -> bool {
        if self.exit.is_none() && self.leader_has_exited() {
            self.reap();
        }
        self.exit.is_some()
    }

    /// Looks without reaping: as long as the leader is not reaped its id, which is the group's id, cannot be reused.
    fn leader_has_exited(&self) -> bool {
        let Some(leader) = self.group() else {
            return true;
        };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(leader), options), Ok(None))
    }

    /// Ends what the leader left running in its group, then collects the leader's status.
    fn reap(&mut self) {
        self.signal(Signal::KILL);
        self.exit = Some(self.child.wait().map_or(Exit::Stopped, exit_of));
        self.ended_at = Some(now());
    }

    /// Ends the group: SIGTERM, and SIGKILL for what is left after the grace period.
    fn finish(&mut self, how: Exit, sink: &mut OutputSink<'_>) {
        if self.ended() {
            return;
        }
        self.signal(Signal::TERM);
        let limit = now() + GRACE;
        while now() < limit && !self.ended() {
            if let Some((stream, chunk)) = self.next_chunk() {
                // It is being ended already, so what the sink answers makes no difference.
                let _ = sink(stream, &chunk);
            }
        }
        if self.exit.is_none() {
            self.reap();
        }
        self.exit = Some(how);
    }

    fn group(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group() {
            // The group may be gone already, which is what was asked for.
            let _ = kill_process_group(group, signal);
        }
    }

    fn keep(&mut self, stream: OutputStream, chunk: &[u8]) {
        let kept = match stream {
            OutputStream::Stdout => &mut self.stdout,
            OutputStream::Stderr => &mut self.stderr,
        };
        let room = self.cap.saturating_sub(kept.len()).min(chunk.len());
        kept.extend_from_slice(&chunk[..room]);
        self.dropped += (chunk.len() - room) as u64;
    }

    fn into_outcome(mut self, sink: &mut OutputSink<'_>) -> Outcome {
        let ended_at = self.ended_at.unwrap_or_else(now);
        let limit = ended_at + DRAIN;
        let mut left_over = LEFT_OVER;
        while left_over > 0 {
            let patience = limit.saturating_duration_since(now());
            if patience.is_zero() {
                left_over -= 1;
            }
            let Ok((stream, chunk)) = self.chunks.recv_timeout(patience.max(POLL)) else {
                break;
            };
            self.keep(stream, &chunk);
            // It has ended, so what the sink answers makes no difference.
            let _ = sink(stream, &chunk);
        }
        Outcome {
            exit: self.exit.unwrap_or(Exit::Stopped),
            stdout: std::mem::take(&mut self.stdout),
            stderr: std::mem::take(&mut self.stderr),
            dropped: self.dropped,
            duration: Some(ended_at - self.started),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.exit.is_none() {
            self.reap();
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the seam measures the wall time of programs"
)]
fn now() -> Instant {
    Instant::now()
}

/// Whether a program does not exist, by what starting it answered. A search that finds nothing, and that came upon a
/// folder which it may not enter, ends in "permission denied" (execvp(3)); what is missing is then told apart by looking.
fn is_missing(spec: &CommandSpec, error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::NotFound => true,
        io::ErrorKind::PermissionDenied if !spec.program.contains('/') => {
            let own = spec.env.iter().rev().find(|(name, _)| name == "PATH");
            let path = own.map(|(_, value)| value.into()).or_else(inherited_path);
            !path.is_some_and(|path: OsString| {
                env::split_paths(&path).any(|folder| folder.join(&spec.program).is_file())
            })
        }
        _ => false,
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program is looked for where the system looks for it"
)]
fn inherited_path() -> Option<OsString> {
    env::var_os("PATH")
}

fn interrupted(spec: &CommandSpec) -> RunError {
    RunError::Interrupted {
        program: spec.program.clone(),
    }
}

/// The sink of a program to whose output nobody listens while it runs.
fn unheard(_: OutputStream, _: &[u8]) -> Flow {
    Flow::Continue
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Stopped,
    }
}

/// Reads `pipe` to its end on a thread of its own.
fn pump(
    stream: OutputStream,
    mut pipe: impl Read + Send + 'static,
    sender: SyncSender<(OutputStream, Vec<u8>)>,
) {
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        loop {
            match pipe.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => {
                    if sender.send((stream, buffer[..n].to_vec())).is_err() {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
    });
}
