//! Everything that a run starts, and what that starts in turn.

use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::guard::Guard;
use super::{GRACE, POLL, now, pause};

/// Processes are told by their group, and those that left it (nsys's agent and what nsys profiles have sessions of their
/// own) by a variable in their environment, which all that is started inherits. Its name is that of the run, its value the
/// number of the command.
#[derive(Debug)]
pub(super) struct Family {
    name: String,
    n_commands: AtomicU32,
    guarded: Mutex<Guarded>,
}

/// What the guard knows.
#[derive(Debug, Default)]
struct Guarded {
    guard: Option<Guard>,
    groups: Vec<Pid>,
}

/// The mark of one command.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    pub(super) name: String,
    pub(super) value: String,
}

impl Default for Family {
    fn default() -> Self {
        // The id of the process and a count within it are not used twice as long as anything of the run is there.
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        Self {
            name: format!("DSPROF_RUN_{}_{run}", std::process::id()),
            n_commands: AtomicU32::new(0),
            guarded: Mutex::default(),
        }
    }
}

impl Family {
    /// The mark of the next command. The first one posts the guard, before there is anything to be guarded.
    pub(super) fn next(&self) -> Mark {
        let number = self.n_commands.fetch_add(1, Ordering::Relaxed);
        if number == 0 {
            self.guarded().guard = Guard::post(&self.name);
        }
        Mark {
            name: self.name.clone(),
            value: number.to_string(),
        }
    }

    /// A group runs.
    pub(super) fn join(&self, group: Pid) {
        let mut guarded = self.guarded();
        guarded.groups.push(group);
        guarded.tell();
    }

    /// A group has ended; from here on its id may be another's.
    pub(super) fn leave(&self, group: Pid) {
        let mut guarded = self.guarded();
        guarded.groups.retain(|one| *one != group);
        guarded.tell();
    }

    fn guarded(&self) -> MutexGuard<'_, Guarded> {
        self.guarded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Guarded {
    fn tell(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.tell(&self.groups);
        }
    }
}

impl Drop for Family {
    /// What still runs at the end of a run that ended in order: daemons that a program left behind on purpose.
    fn drop(&mut self) {
        if self.n_commands.load(Ordering::Relaxed) > 0 {
            let prefix = format!("{}=", self.name);
            end_marked(&|item| item.starts_with(prefix.as_bytes()), GRACE);
        }
    }
}

impl Mark {
    /// Ends what has this mark and left the group of its command.
    pub(super) fn end_stragglers(&self) {
        let whole = format!("{}={}", self.name, self.value);
        end_marked(&|item| item == whole.as_bytes(), Duration::ZERO);
    }
}

/// Ends every process that has such an item in its environment: SIGTERM, and SIGKILL for what is left after `grace`.
fn end_marked(is_mark: &dyn Fn(&[u8]) -> bool, grace: Duration) {
    let mut ids = marked(is_mark);
    if ids.is_empty() {
        return;
    }
    if !grace.is_zero() {
        signal(&ids, Signal::TERM);
        let limit = now() + grace;
        while !ids.is_empty() && now() < limit {
            pause(POLL);
            ids = marked(is_mark);
        }
    }
    // One that is about to start another may do so between the look and the signal.
    for _ in 0..5 {
        signal(&ids, Signal::KILL);
        ids = marked(is_mark);
        if ids.is_empty() {
            break;
        }
        pause(POLL);
    }
}

fn signal(ids: &[Pid], signal: Signal) {
    for id in ids {
        // It may have ended by itself.
        let _ = kill_process(*id, signal);
    }
}

/// The processes that have such an item in their environment. One that has ended, and one of somebody else, has none that
/// can be read.
fn marked(is_mark: &dyn Fn(&[u8]) -> bool) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own = std::process::id().to_string();
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            let id = Pid::from_raw(name.parse().ok()?)?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            let is_marked = environment.split(|byte| *byte == 0).any(is_mark);
            (is_marked && name != own).then_some(id)
        })
        .collect()
}
