//! A machine of shell scripts, and dsprof on it.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use crate::ran::{Ran, Running};

/// Everything that a fault needs, in a folder of its own. `say` below is what a script does when it is asked: it notes
/// its id and that it was here, and where a file `block-NAME` lies it waits until somebody ends it.
const SAY: &str = r#"
say() {
    echo "$$" > "$DSPROF_MACHINE/at-$1.new"
    mv "$DSPROF_MACHINE/at-$1.new" "$DSPROF_MACHINE/at-$1"
    while [ -e "$DSPROF_MACHINE/block-$1" ]; do sleep 0.05; done
}
"#;

/// Answers as the H200 did that the shipped recording is of.
const NVIDIA_SMI: &str = r##"
case "$*" in
*--loop*) say memory; while :; do echo "0, 2048"; sleep 0.2; done ;;
*--query-gpu*) say query; cat "$DSPROF_RECORDING/commands/0001-nvidia-smi.stdout" ;;
'-q -x') say report; cat "$DSPROF_RECORDING/commands/0002-nvidia-smi.stdout" ;;
dmon*)
    say dmon
    echo "# gpu     sm    mem    enc    dec    jpg    ofa "
    echo "# Idx      %      %      %      %      %      % "
    while :; do echo "    0     90     40      0     20      0      0 "; sleep 0.2; done ;;
*) echo "Unknown option" >&2; exit 2 ;;
esac
"##;

/// Prints what deepstream-app does with so many sources: a first window that is partial, then steady ones.
const LOAD: &str = r#"
say "load-$1"
[ -e "$DSPROF_MACHINE/shout" ] && . "$DSPROF_MACHINE/shout"
echo "**PERF:  3.00 (3.00)	"
i=0
while [ $i -lt 12 ]; do
    i=$((i + 1))
    echo "**PERF:  $((100 * $1 + i % 3)).00 (99.00)	"
    sleep 0.02
done
"#;

/// Does what the real one does where dsprof can see it: a session of its own for its agent and for what it profiles, a
/// report, an export.
const NSYS: &str = r#"
output=
for word in "$@"; do
    [ "$last" = --output ] && output=$word
    case $word in --output=*) output=${word#--output=} ;; esac
    last=$word
done
case $1 in
--version) say version; echo "NVIDIA Nsight Systems version ${DSPROF_NSYS_VERSION:-2023.4.4.54-234433681190v0}" ;;
profile)
    setsid sh -c 'echo $$ > "$DSPROF_MACHINE/agent"; trap "" TERM; while :; do sleep 1; done' &
    say capture
    [ -e "$DSPROF_MACHINE/refuse" ] && { . "$DSPROF_MACHINE/refuse"; }
    while [ $# -gt 0 ] && [ "$1" != load ]; do shift; done
    if [ $# -gt 0 ]; then setsid --wait "$@"; fi
    kill -9 "$(cat "$DSPROF_MACHINE/agent")"
    [ -n "$output" ] && echo report > "$output.nsys-rep" ;;
export)
    say export
    [ -e "$last" ] || { echo "The file $last does not exist." >&2; exit 1; }
    gzip -dc "$DSPROF_TRACE" > "$output" ;;
*) exit 0 ;;
esac
"#;

/// A machine and its folder.
pub(crate) struct Machine {
    folder: TempDir,
    mark: String,
}

impl Machine {
    pub(crate) fn new() -> Self {
        static MACHINES: AtomicU32 = AtomicU32::new(0);
        let number = MACHINES.fetch_add(1, Ordering::Relaxed);
        let machine = Self {
            folder: tempfile::tempdir().expect("a folder"),
            mark: format!("{}-{number}", std::process::id()),
        };
        fs::create_dir(machine.path("bin")).expect("a folder");
        for (name, script) in [("nvidia-smi", NVIDIA_SMI), ("load", LOAD), ("nsys", NSYS)] {
            machine.install(name, &format!("#!/bin/sh\n{SAY}{script}"));
        }
        // A loader that finds this NVML looks no further, so that no GPU of the machine that runs the tests is seen.
        machine.put("libnvidia-ml.so.1", "");
        machine
    }

    /// A path in its folder.
    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The bundle of its runs.
    pub(crate) fn bundle(&self) -> PathBuf {
        self.path("bundle")
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        #[expect(clippy::disallowed_methods, reason = "the test plays the machine")]
        fs::write(self.path(name), text).expect("the folder is ours");
    }

    pub(crate) fn remove(&self, name: &str) {
        #[expect(clippy::disallowed_methods, reason = "the test plays the machine")]
        fs::remove_file(self.path(name)).expect("it is there");
    }

    /// Puts a program on the path.
    pub(crate) fn install(&self, name: &str, script: &str) {
        let name = format!("bin/{name}");
        self.put(&name, script);
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).expect("ours");
    }

    /// The value by which everything that this machine's runs start is told.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// A command with the environment of this machine.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        #[expect(
            clippy::disallowed_methods,
            reason = "the test starts and ends processes of its own"
        )]
        let mut command = Command::new(program);
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let bundles = root.join("testdata/bundles");
        command
            .current_dir(root)
            .env_clear()
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", self.path("bin").display()),
            )
            .env("LD_LIBRARY_PATH", self.folder.path())
            .env("DSPROF_MACHINE", self.folder.path())
            .env("DSPROF_RECORDING", bundles.join("h200-resnet152"))
            .env(
                "DSPROF_TRACE",
                bundles.join("h200-resnet152-graphs/trace/e2e.sqlite.gz"),
            )
            .env("DSPROF_FAULT", &self.mark)
            .stdin(Stdio::null());
        command
    }

    /// dsprof with these arguments.
    pub(crate) fn dsprof(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_dsprof"));
        command.args(args);
        command
    }

    /// The main job: all stages with the load of this machine, kept in its bundle.
    pub(crate) fn tune(&self) -> Command {
        let mut command = self.dsprof(&[
            "tune",
            PIPELINE,
            "--streams",
            "4",
            "--batches",
            "1,2",
            "--seconds",
            "2",
            "--trace-seconds",
            "1",
            "--launch",
            "load {batch} {seconds}",
            "--bundle",
        ]);
        command.arg(self.bundle());
        command
    }

    /// Runs to the end.
    pub(crate) fn run(&self, command: &mut Command) -> Ran {
        Running::start(self, command).end()
    }
}

/// A pipeline that is shipped.
pub(crate) const PIPELINE: &str = "testdata/pipelines/resnet152/deepstream-app/app.txt";
