//! What several modules need: folders, processes, and a runner with answers of its own.

use std::cell::RefCell;
use std::fs;
use std::io::Error as IoError;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::thread;
use std::time::Duration;

use ds_orchestrate::process::{
    CommandSpec, Exit, Flow, Heard, Outcome, OutputSink, OutputStream, RunError, Runner, Together,
    Watch,
};
use tempfile::TempDir;

/// The variable by which a test that runs itself again tells its child what to do.
const CHILD: &str = "DSPROF_TEST_CHILD";

pub(crate) fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata")
        .join(path)
}

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// Writes a file as its user would, not as the code under test does.
pub(crate) fn put(path: &Path, bytes: impl AsRef<[u8]>) {
    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    fs::write(path, bytes).expect("the folder is writable");
}

pub(crate) fn mode(path: &Path) -> u32 {
    let metadata = fs::metadata(path).expect("the file is there");
    metadata.permissions().mode() & 0o7777
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("the file is ours");
}

pub(crate) fn sleep(time: Duration) {
    #[expect(clippy::disallowed_methods, reason = "a slow reader is the case")]
    thread::sleep(time);
}

/// Every file below `root` by its relative path, sorted.
pub(crate) fn files_below(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let relative = path.strip_prefix(root).expect("it lies below");
                found.push(relative.display().to_string());
            }
        }
    }
    found.sort();
    found
}

/// What this process is to do as the child of a test, if it is one.
pub(crate) fn child_task() -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is how a child gets its task"
    )]
    std::env::var(CHILD).ok()
}

/// Runs `test` of this binary once more, in a process of its own that finds `task`.
pub(crate) fn run_again(test: &str, task: &str) -> ExitStatus {
    run_again_after(":", test, task)
}

/// The same on a disk that is full: no file of the process can grow over 64 KiB.
pub(crate) fn run_again_on_a_full_disk(test: &str, task: &str) -> ExitStatus {
    // Signal 25 is SIGXFSZ; once it is ignored, writing fails as it does where no space is left. Shells count in blocks
    // of 512 bytes or of 1024.
    run_again_after("trap '' 25; ulimit -f 64", test, task)
}

/// Runs a shell command, and in the same process `test` of this binary.
fn run_again_after(before: &str, test: &str, task: &str) -> ExitStatus {
    let binary = std::env::current_exe().expect("the test binary");
    #[expect(clippy::disallowed_methods, reason = "a crash needs a process to die")]
    let mut command = std::process::Command::new("sh");
    let output = command
        .args(["-c", &format!("{before}; exec \"$0\" \"$@\"")])
        .arg(binary)
        .args([test, "--exact", "--nocapture"])
        .env(CHILD, task)
        .output()
        .expect("the test binary runs");
    output.status
}

/// The processes of a group that still run; zombies have ended.
fn running_in_group(group: i32) -> Vec<i32> {
    let stat = |pid: i32| fs::read_to_string(format!("/proc/{pid}/stat")).ok();
    let runs = |pid: &i32| {
        let stat = stat(*pid).unwrap_or_default();
        // The name in parentheses may hold anything; state, parent and group follow it.
        let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        let fields: Vec<&str> = rest.split(' ').collect();
        let in_group = fields.get(2).and_then(|id| id.parse().ok()) == Some(group);
        in_group && !matches!(fields[0], "Z" | "X")
    };
    fs::read_dir("/proc")
        .expect("the tests run on Linux")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(runs)
        .collect()
}

/// Checks that nothing of the group whose leader wrote its id to `pidfile` runs any more.
#[track_caller]
pub(crate) fn assert_nothing_left(pidfile: &Path) {
    let text = fs::read_to_string(pidfile).expect("the leader wrote its id");
    let group: i32 = text.trim().parse().expect("an id");
    let running = || running_in_group(group);
    wait_until(
        || running().is_empty(),
        || format!("still running: {:?}", running()),
    );
}

/// How many processes run that have `mark` as a value in their environment, which all they start inherits.
fn n_marked(mark: &str) -> usize {
    let is_marked = |environment: &Vec<u8>| {
        let mut items = environment.split(|byte| *byte == 0);
        items.any(|item| item.ends_with(format!("={mark}").as_bytes()))
    };
    fs::read_dir("/proc")
        .expect("the tests run on Linux")
        // A process that has ended, and one of somebody else, has no environment to read.
        .filter_map(|entry| fs::read(entry.ok()?.path().join("environ")).ok())
        .filter(is_marked)
        .count()
}

/// Whether a process runs that has `mark` as a value in its environment.
pub(crate) fn is_marked(mark: &str) -> bool {
    n_marked(mark) > 0
}

/// Checks that no process runs any more that has `mark` as a value in its environment.
#[track_caller]
pub(crate) fn assert_no_mark(mark: &str) {
    wait_until(
        || !is_marked(mark),
        || format!("{} processes still run", n_marked(mark)),
    );
}

/// Waits for what takes a moment, a killed process to go, and fails where it does not come.
#[track_caller]
fn wait_until(holds: impl Fn() -> bool, otherwise: impl Fn() -> String) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("{}", otherwise());
}

/// A shell command.
pub(crate) fn sh(purpose: &str, script: &str) -> CommandSpec {
    CommandSpec::new(purpose, "sh", ["-c", script]).timeout(Duration::from_secs(300))
}

/// A shell command that leaves its id, which is its group's id, in `pidfile`.
pub(crate) fn sh_with_id(pidfile: &Path, script: &str) -> CommandSpec {
    sh(
        "test",
        &format!("echo $$ > '{}'\n{script}", pidfile.display()),
    )
}

pub(crate) fn outcome(
    exit: Exit,
    stdout: impl Into<Vec<u8>>,
    stderr: impl Into<Vec<u8>>,
) -> Outcome {
    Outcome {
        exit,
        stdout: stdout.into(),
        stderr: stderr.into(),
        dropped: 0,
        duration: Some(Duration::from_millis(1500)),
        through: Vec::new(),
    }
}

pub(crate) fn not_found(spec: &CommandSpec) -> RunError {
    RunError::NotFound {
        program: spec.program.clone(),
    }
}

/// The same error once more; errors of the system cannot be cloned.
pub(crate) fn same_error(error: &RunError) -> RunError {
    match error {
        RunError::NotFound { program } => RunError::NotFound {
            program: program.clone(),
        },
        RunError::Io { program, source } => RunError::Io {
            program: program.clone(),
            source: IoError::other(source.to_string()),
        },
        RunError::Interrupted { program } => RunError::Interrupted {
            program: program.clone(),
        },
        other => panic!("no runner answers {other}"),
    }
}

/// What a [`Fake`] says to a command.
type Answer<'a> = dyn Fn(&CommandSpec) -> Result<Outcome, RunError> + 'a;

/// A runner that starts nothing: a function answers, and what was asked is kept.
pub(crate) struct Fake<'a> {
    answer: Box<Answer<'a>>,
    asked: RefCell<Vec<CommandSpec>>,
}

impl<'a> Fake<'a> {
    pub(crate) fn new(answer: impl Fn(&CommandSpec) -> Result<Outcome, RunError> + 'a) -> Self {
        Self {
            answer: Box::new(answer),
            asked: RefCell::new(Vec::new()),
        }
    }

    /// The purposes of the commands in the order in which they were asked for.
    pub(crate) fn purposes(&self) -> Vec<String> {
        self.asked
            .borrow()
            .iter()
            .map(|spec| spec.purpose.clone())
            .collect()
    }

    /// The commands that were asked for.
    pub(crate) fn asked(&self) -> Vec<CommandSpec> {
        self.asked.borrow().clone()
    }
}

impl Runner for Fake<'_> {
    fn run(&self, spec: &CommandSpec, sink: &mut OutputSink<'_>) -> Result<Outcome, RunError> {
        self.asked.borrow_mut().push(spec.clone());
        let mut outcome = (self.answer)(spec)?;
        for (stream, bytes) in [
            (OutputStream::Stdout, outcome.stdout.clone()),
            (OutputStream::Stderr, outcome.stderr.clone()),
        ] {
            if !bytes.is_empty() && sink(stream, &bytes) == Flow::Stop {
                outcome.exit = Exit::Stopped;
                break;
            }
        }
        Ok(outcome)
    }

    fn run_beside(
        &self,
        main: &CommandSpec,
        sides: &[CommandSpec],
        watch: &mut Watch<'_>,
    ) -> Result<Together, RunError> {
        let sample = |side| self.run(side, &mut |_, _| Flow::Continue);
        let sampled = sides.iter().map(sample).collect();
        let outcome = self.run(main, &mut |stream, chunk| watch(Heard::Main(stream, chunk)))?;
        Ok((outcome, sampled))
    }
}
