//! Who ends what a run started when the run itself is killed.
//!
//! SIGKILL cannot be caught, so somebody else has to be there. Asking the kernel (`PR_SET_PDEATHSIG`) does not serve: it is
//! set between fork and exec, which takes unsafe code, it is tied to the thread that forked, and it does not reach
//! grandchildren, such as the agent of nsys, which has a session of its own and init for a parent. So a shell waits at the
//! end of a pipe whose other end only dsprof holds. However dsprof ends, the pipe is closed, and the shell ends the groups
//! that it was told of and every process that has the mark of the run in its environment. No program of ours has to be
//! found again on disk, and a shell of a few hundred kB is there wherever nsys and GStreamer are.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::process::Pid;

/// `$1` is the name of the variable that marks what belongs to the run. Each line on standard input holds the groups that
/// run now. A process that is being started at the moment of the end has the mark only once it is what it is to be, hence
/// the second look.
const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM
groups=
while read -r line; do groups=$line; done
end() {
    for group in $groups; do kill -s "$1" -- "-$group"; done
    for file in $(grep -lF "$mark=" /proc/[0-9]*/environ); do
        id=${file#/proc/}
        kill -s "$1" "${id%/environ}"
    done
}
mark=$1
end TERM
sleep 1
end KILL
sleep 1
end KILL
"#;

/// The shell that waits.
#[derive(Debug)]
pub(super) struct Guard {
    shell: Child,
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Posts a guard. `None` where there is no shell: the run then goes on without.
    pub(super) fn post(mark: &str) -> Option<Self> {
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the module that starts programs"
        )]
        let mut command = Command::new("/bin/sh");
        let mut shell = command
            .args(["-c", SCRIPT, "dsprof-guard", mark])
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A key that ends dsprof, or somebody who ends its group, is not to end the guard as well.
            .process_group(0)
            .spawn()
            .ok()?;
        let pipe = shell.stdin.take();
        Some(Self { shell, pipe })
    }

    /// Tells the groups that run now, in place of those that ran before.
    pub(super) fn tell(&mut self, groups: &[Pid]) {
        let words: Vec<String> = groups
            .iter()
            .map(|group| group.as_raw_nonzero().to_string())
            .collect();
        if let Some(pipe) = &mut self.pipe {
            // A guard that somebody killed cannot be told anything, and the run needs none to go on.
            let _ = writeln!(pipe, "{}", words.join(" "));
        }
    }
}

impl Drop for Guard {
    /// Sends the guard home: what it would end has ended.
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}
