//! Runs dsprof with a scrubbed environment from the root of the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;

use assert_cmd::Command;

/// The root of the repository: bundles name their pipelines relative to it.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the repository is there")
}

/// A bundle that is shipped.
pub(crate) fn bundle(name: &str) -> String {
    format!("testdata/bundles/{name}")
}

/// dsprof with nothing of the environment but an empty `PATH`, so that no program is found, and a library path on which
/// NVML is an empty file, so that a GPU of the machine that runs the tests is not seen.
pub(crate) fn dsprof(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("dsprof").expect("the binary is built");
    command
        .current_dir(root())
        .env_clear()
        .env("PATH", "")
        .env("LD_LIBRARY_PATH", without_nvml())
        .args(args);
    command
}

/// A folder in which the loader finds an NVML that it cannot load, and looks no further.
fn without_nvml() -> PathBuf {
    static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("without-nvml");
        fs::create_dir_all(&folder).expect("a folder");
        #[expect(clippy::disallowed_methods, reason = "the test plays the machine")]
        fs::write(folder.join("libnvidia-ml.so.1"), "").expect("an empty file");
        folder
    });
    FOLDER.clone()
}

/// What one run did.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs to the end.
pub(crate) fn run(args: &[&str]) -> Ran {
    let Output {
        status,
        stdout,
        stderr,
    } = dsprof(args).output().expect("dsprof runs");
    Ran {
        status: status.code().expect("dsprof ends by itself"),
        stdout: String::from_utf8(stdout).expect("output is UTF-8"),
        stderr: String::from_utf8(stderr).expect("messages are UTF-8"),
    }
}

/// Runs and expects status 0.
#[track_caller]
pub(crate) fn output_of(args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!(ran.status, 0, "{args:?}\n{}", ran.stderr);
    ran.stdout
}

/// Writes a file as its user would.
pub(crate) fn put(path: impl AsRef<Path>, text: &str) {
    #[expect(clippy::disallowed_methods, reason = "the test plays the user")]
    fs::write(path, text).expect("a file");
}

/// A program that runs beside the test.
pub(crate) fn program(name: impl AsRef<std::ffi::OsStr>) -> std::process::Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "the test starts and signals processes of its own"
    )]
    std::process::Command::new(name)
}
