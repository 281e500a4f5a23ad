//! A started program.

use std::io::{self, Read};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::family::{Family, Mark};
use super::kept::Kept;
use super::{GRACE, POLL, lines, now, pause};
use crate::process::{Buffering, CommandSpec, Exit, Outcome, OutputSink, OutputStream, RunError};

/// How long the pipes of an ended program are waited for; a descendant that left the group and keeps them open does not
/// hold us longer.
const DRAIN: Duration = Duration::from_millis(500);
/// Pieces of output that wait for the sink at most. A program that prints faster than it is read waits too, as it would
/// at any pipe, so that neither memory nor what is left to read after its end grows with its output.
const BACKLOG: usize = 64;
/// Pieces that are still taken once [`DRAIN`] is over: a full backlog, and for each of the two pipes the piece in its
/// thread's hands and what the pipe itself holds.
const LEFT_OVER: usize = BACKLOG + 2 * 2;

/// A started program, its pipes read by two threads. Dropping it ends the whole group.
pub(super) struct Running {
    child: Child,
    started: Instant,
    ended_at: Option<Instant>,
    deadline: Instant,
    chunks: Receiver<(OutputStream, Vec<u8>)>,
    stdout: Kept,
    stderr: Kept,
    /// Whether enough was seen, and what is still printed is read only so that the program does not wait at its pipe.
    is_cut: bool,
    /// Bytes that were printed after that.
    dropped: u64,
    exit: Option<Exit>,
    /// Whether it was asked to end.
    is_asked: bool,
    through: Vec<String>,
    family: Arc<Family>,
    mark: Mark,
}

impl Running {
    pub(super) fn start(
        spec: &CommandSpec,
        arguments: Vec<String>,
        family: &Arc<Family>,
    ) -> Result<Self, RunError> {
        let spawn_error = |source: io::Error| {
            let program = spec.program.clone();
            if is_missing(spec, &source) {
                RunError::NotFound { program }
            } else {
                RunError::Io { program, source }
            }
        };
        let mark = family.next();
        let mut through = lines::before(spec);
        let words: Vec<&String> = through
            .iter()
            .chain([&spec.program])
            .chain(&arguments)
            .collect();
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the one place that starts programs"
        )]
        let mut command = Command::new(words[0]);
        command
            .args(&words[1..])
            .env(&mark.name, &mark.value)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if spec.buffering == Buffering::Lines {
            let (name, value) = lines::PYTHON;
            command.env(name, value);
            through.insert(0, format!("{name}={value}"));
        }
        command.envs(spec.env.iter().map(|(name, value)| (name, value)));
        let mut child = command.spawn().map_err(spawn_error)?;
        let (sender, chunks) = sync_channel(BACKLOG);
        if let Some(pipe) = child.stdout.take() {
            pump(OutputStream::Stdout, pipe, sender.clone());
        }
        if let Some(pipe) = child.stderr.take() {
            pump(OutputStream::Stderr, pipe, sender);
        }
        let started = now();
        let running = Self {
            child,
            started,
            ended_at: None,
            deadline: started + spec.timeout,
            chunks,
            stdout: Kept::new(spec.output_cap),
            stderr: Kept::new(spec.output_cap),
            is_cut: false,
            dropped: 0,
            exit: None,
            is_asked: false,
            through,
            family: Arc::clone(family),
            mark,
        };
        if let Some(group) = running.group() {
            family.join(group);
        }
        Ok(running)
    }

    /// Keeps the next piece of output and hands it on; `None` after a moment in which there was none.
    pub(super) fn next_chunk(&mut self) -> Option<(OutputStream, Vec<u8>)> {
        match self.chunks.recv_timeout(POLL) {
            Ok((stream, chunk)) => {
                self.keep(stream, &chunk);
                Some((stream, chunk))
            }
            Err(RecvTimeoutError::Disconnected) => {
                // Both pipes are closed; the program itself may still run.
                pause(POLL);
                None
            }
            Err(RecvTimeoutError::Timeout) => None,
        }
    }

    /// Keeps what has arrived and hands it on, notices its end and ends it when its time is up, without waiting for any of
    /// it.
    pub(super) fn look_after(&mut self, sink: &mut OutputSink<'_>) {
        // One backlog a look: a program that prints without end must not hold up the one beside which it runs.
        for (stream, chunk) in self.chunks.try_iter().take(BACKLOG).collect::<Vec<_>>() {
            self.keep(stream, &chunk);
            let _ = sink(stream, &chunk);
        }
        if !self.ended() && self.is_late() {
            self.finish(Exit::TimedOut, sink);
        }
    }

    pub(super) fn is_late(&self) -> bool {
        now() >= self.deadline
    }

    pub(super) fn ended(&mut self) -> bool {
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

    /// Ends what the leader left running in its group, then collects the leader's status. What left the group is ended too,
    /// unless the leader ended well: then it stays until the run ends, as a session of nsys does that one command starts
    /// and another one stops.
    fn reap(&mut self) {
        self.signal(Signal::KILL);
        let exit = self.child.wait().map_or(Exit::Stopped, exit_of);
        self.exit = Some(exit);
        self.ended_at = Some(now());
        if let Some(group) = self.group() {
            self.family.leave(group);
        }
        if !exit.is_success() {
            self.mark.end_stragglers();
        }
    }

    /// Asks the group to end, unless it has ended by itself.
    pub(super) fn ask_to_end(&mut self) {
        if !self.is_asked && !self.ended() {
            self.signal(Signal::TERM);
            self.is_asked = true;
        }
    }

    /// Ends the group: SIGTERM, and SIGKILL for what is left after the grace period.
    pub(super) fn finish(&mut self, how: Exit, sink: &mut OutputSink<'_>) {
        if self.exit.is_some() {
            return;
        }
        self.ask_to_end();
        if !self.is_asked {
            return;
        }
        let limit = now() + GRACE;
        while now() < limit && !self.ended() {
            if let Some((stream, chunk)) = self.next_chunk()
                && !self.is_cut
            {
                // It is being ended already, so what the sink answers makes no difference.
                let _ = sink(stream, &chunk);
            }
        }
        if self.exit.is_none() {
            self.reap();
        }
        self.mark.end_stragglers();
        self.exit = Some(how);
    }

    /// Ends the group, and keeps nothing of what it prints from here on.
    pub(super) fn cut(&mut self, how: Exit) {
        self.is_cut = true;
        self.finish(how, &mut |_, _| crate::process::Flow::Continue);
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
        match stream {
            _ if self.is_cut => self.dropped += chunk.len() as u64,
            OutputStream::Stdout => self.stdout.push(chunk),
            OutputStream::Stderr => self.stderr.push(chunk),
        }
    }

    pub(super) fn into_outcome(mut self, sink: &mut OutputSink<'_>) -> Outcome {
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
            if !self.is_cut {
                // It has ended, so what the sink answers makes no difference.
                let _ = sink(stream, &chunk);
            }
        }
        let none = || Kept::new(0);
        let (stdout, over_stdout) = std::mem::replace(&mut self.stdout, none()).finish();
        let (stderr, over_stderr) = std::mem::replace(&mut self.stderr, none()).finish();
        Outcome {
            exit: self.exit.unwrap_or(Exit::Stopped),
            stdout,
            stderr,
            dropped: self.dropped + over_stdout + over_stderr,
            duration: Some(ended_at - self.started),
            through: std::mem::take(&mut self.through),
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

/// Whether a program does not exist, by what starting it answered. A search that finds nothing, and that came upon a
/// folder which it may not enter, ends in "permission denied" (execvp(3)); what is missing is then told apart by looking.
fn is_missing(spec: &CommandSpec, error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::NotFound => true,
        io::ErrorKind::PermissionDenied if !spec.program.contains('/') => {
            lines::find(&spec.program, spec).is_none()
        }
        _ => false,
    }
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
