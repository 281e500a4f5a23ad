//! A run of dsprof, and what has to hold when it has ended.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use ds_orchestrate::bundle::{RecordedBundle, StageName};
use rustix::process::{Pid, Signal, kill_process};

use crate::machine::Machine;
use crate::now;

/// How long a run of the main job may take. It takes about three seconds on an idle machine; the limit is there to end the
/// suite, not to measure the machine.
const LIMIT: Duration = Duration::from_secs(900);
/// How long what a killed run started may outlive it: the guard asks, waits a second, and insists.
const AFTER: Duration = Duration::from_secs(120);

/// A run that goes on.
pub(crate) struct Running<'m> {
    machine: &'m Machine,
    child: Child,
    stdout: Option<JoinHandle<String>>,
    stderr: Option<JoinHandle<String>>,
    limit: Instant,
}

/// A run that has ended.
pub(crate) struct Ran {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    /// The most memory that dsprof had at once, in kB, as far as it was looked at.
    pub(crate) peak_kb: u64,
}

impl<'m> Running<'m> {
    pub(crate) fn start(machine: &'m Machine, command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        fn read(pipe: Option<impl std::io::Read + Send + 'static>) -> Option<JoinHandle<String>> {
            let mut pipe = pipe?;
            Some(thread::spawn(move || {
                let mut bytes = Vec::new();
                // What was printed until it was killed.
                let _ = pipe.read_to_end(&mut bytes);
                String::from_utf8_lossy(&bytes).into_owned()
            }))
        }
        Self {
            machine,
            stdout: read(child.stdout.take()),
            stderr: read(child.stderr.take()),
            child,
            limit: now() + LIMIT,
        }
    }

    /// A run that may take longer.
    pub(crate) fn within(mut self, limit: Duration) -> Self {
        self.limit = now() + limit;
        self
    }

    /// Waits until a script of the machine is there, and gives its id.
    pub(crate) fn wait_for(&mut self, name: &str) -> Pid {
        let file = self.machine.path(format!("at-{name}"));
        self.wait_until(&format!("no `{name}`"), || fs::read_to_string(&file).ok())
            .trim()
            .parse()
            .ok()
            .and_then(Pid::from_raw)
            .expect("a script writes its id")
    }

    /// Waits for something that has to come while the run goes on.
    pub(crate) fn wait_until<T>(&mut self, otherwise: &str, look: impl Fn() -> Option<T>) -> T {
        loop {
            if let Some(found) = look() {
                return found;
            }
            if let Some(status) = self.child.try_wait().expect("a child") {
                // What came at the very end counts.
                return look().unwrap_or_else(|| {
                    let stderr = self.stderr.take().map(JoinHandle::join);
                    panic!("{otherwise}: dsprof had ended ({status}): {stderr:?}")
                });
            }
            assert!(now() < self.limit, "{otherwise} in time");
            pause(2);
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        // It may have ended by now.
        let _ = kill_process(id.expect("a process has an id"), signal);
    }

    /// Waits for the end, which has to come in time, and for everything that the run started.
    pub(crate) fn end(mut self) -> Ran {
        let mut peak_kb = 0;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            peak_kb = peak_kb.max(peak_of(self.child.id()).unwrap_or(0));
            if now() >= self.limit {
                self.signal(Signal::KILL);
                let stderr = self.stderr.take().map(JoinHandle::join);
                panic!("it did not end in time: {stderr:?}");
            }
            pause(5);
        };
        let limit = now() + AFTER;
        loop {
            let left = processes_with(self.machine.mark());
            if left.is_empty() {
                break;
            }
            assert!(now() < limit, "left behind: {left:?}");
            pause(20);
        }
        let text = |reader: Option<JoinHandle<String>>| {
            reader.map_or_else(String::new, |reader| reader.join().expect("it reads"))
        };
        Ran {
            status,
            stdout: text(self.stdout.take()),
            stderr: text(self.stderr.take()),
            peak_kb,
        }
    }
}

impl Ran {
    /// Ended by itself with this status.
    #[track_caller]
    pub(crate) fn check(self, status: i32) -> Self {
        assert_eq!(
            self.status.code(),
            Some(status),
            "{}{}",
            self.stdout,
            self.stderr
        );
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Ended by this signal.
    #[track_caller]
    pub(crate) fn check_signal(self, signal: Signal) -> Self {
        let expected = Some(signal.as_raw());
        assert_eq!(
            self.status.signal(),
            expected,
            "{}{}",
            self.stdout,
            self.stderr
        );
        self
    }

    /// Said this, in its report or in a message.
    #[track_caller]
    pub(crate) fn says(self, text: &str) -> Self {
        let all = format!("{}{}", self.stdout, self.stderr);
        assert!(all.contains(text), "no `{text}` in:\n{all}");
        self
    }
}

/// The most memory that a process had at once.
fn peak_of(id: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The command lines of processes that have the mark of a machine in their environment.
fn processes_with(mark: &str) -> Vec<String> {
    let item = format!("DSPROF_FAULT={mark}");
    fs::read_dir("/proc")
        .expect("the tests run on Linux")
        .filter_map(|entry| {
            let folder = entry.ok()?.path();
            let environment = fs::read(folder.join("environ")).ok()?;
            let is_marked = environment
                .split(|byte| *byte == 0)
                .any(|it| it == item.as_bytes());
            let command = || fs::read_to_string(folder.join("cmdline")).unwrap_or_default();
            is_marked.then(command)
        })
        .collect()
}

pub(crate) fn pause(milliseconds: u64) {
    #[expect(clippy::disallowed_methods, reason = "the test waits for processes")]
    thread::sleep(Duration::from_millis(milliseconds));
}

/// A bundle can be read: its manifest, every file that it names, every command. Gives the stages that it says are finished.
#[track_caller]
pub(crate) fn check_readable(bundle: &Path) -> Vec<StageName> {
    let recorded = RecordedBundle::open(bundle).expect("a bundle");
    for file in recorded.manifest().files.keys() {
        recorded.verify(file).expect("it is whole");
    }
    recorded.commands().expect("commands");
    recorded.manifest().finished()
}

/// The files of the commands of these stages, with their contents.
pub(crate) fn files_of(bundle: &Path, stages: &[StageName]) -> BTreeMap<String, Vec<u8>> {
    let recorded = RecordedBundle::open(bundle).expect("a bundle");
    let is_of = |purpose: &str| {
        let stage = purpose.split('/').next().unwrap_or_default();
        stages.iter().any(|name| name.to_string() == stage)
    };
    let mut files = BTreeMap::new();
    for command in recorded.commands().expect("commands") {
        if is_of(&command.purpose) {
            let json = command.stdout.replace(".stdout", ".json");
            let own = [json, command.stdout, command.stderr];
            for file in own.into_iter().chain(command.files) {
                let bytes = recorded.read(&file).expect("it is whole");
                files.insert(file, bytes);
            }
        }
    }
    files
}

/// Runs the main job again on the bundle: finished stages stay as they are to the byte, the others run, and two replays
/// print the same.
#[track_caller]
pub(crate) fn check_resumes(machine: &Machine) {
    let bundle = machine.bundle();
    let finished = if bundle.join("bundle.json").exists() {
        check_readable(&bundle)
    } else {
        Vec::new()
    };
    let before = if finished.is_empty() {
        BTreeMap::new()
    } else {
        files_of(&bundle, &finished)
    };
    let resumed = machine.run(&mut machine.tune()).check(0);
    assert_eq!(
        files_of(&bundle, &finished),
        before,
        "finished stages stay as they are"
    );
    let now_finished = check_readable(&bundle);
    assert!(
        now_finished.contains(&StageName::Profile),
        "{now_finished:?}"
    );
    let replay = || {
        let mut command = machine.dsprof(&["tune", "--replay"]);
        machine.run(command.arg(&bundle)).check(0).stdout
    };
    let (first, second) = (replay(), replay());
    assert_eq!(first, second);
    assert_eq!(first, resumed.stdout, "a replay says what the run said");
    let left = names_below(&bundle, &|name| name.starts_with(".tmp"));
    assert!(left.is_empty(), "temporary files: {left:?}");
}

/// The names of files below a folder for which something holds.
fn names_below(folder: &Path, holds: &dyn Fn(&str) -> bool) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            names.extend(names_below(&entry.path(), holds));
        } else if holds(&name) {
            names.push(name);
        }
    }
    names
}
