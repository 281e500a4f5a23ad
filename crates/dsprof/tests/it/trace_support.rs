//! Where the captures are.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{dsprof, root};

/// A capture that is shipped, relative to the root of the repository.
pub(crate) fn shipped(name: &str) -> String {
    format!("testdata/nsys/captures/{name}/trace.sqlite.gz")
}

/// A capture of the collection beside the repository; `None`, and a line that says so, where there is none.
#[expect(clippy::print_stdout, reason = "a skipped test says so")]
pub(crate) fn shared(name: &str) -> Option<String> {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    if !captures.is_dir() {
        println!("skipped: ../shared is not there");
        return None;
    }
    let trace = captures.join(name).join("trace.sqlite");
    Some(trace.to_str().expect("a UTF-8 path").to_owned())
}

/// The names of the shipped captures.
pub(crate) const SHIPPED: [&str; 5] = [
    "decode_graph",
    "decode_mixed",
    "decode_node",
    "idle",
    "nvtxonly",
];

/// What nsys printed for a shipped capture.
pub(crate) fn reference(name: &str, report: &str) -> String {
    let path = root().join(format!(
        "testdata/nsys/captures/{name}/nsys-stats/{report}.csv"
    ));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Writes a file as a user would, and gives its path.
#[expect(clippy::disallowed_methods, reason = "the test plays the user")]
pub(crate) fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("a file");
    path.to_str().expect("a UTF-8 path").to_owned()
}

/// Starts dsprof with pipes that the test reads.
#[expect(clippy::disallowed_methods, reason = "the test plays the shell")]
pub(crate) fn start(args: &[&str]) -> std::process::Child {
    Command::new(dsprof(&[]).get_program())
        .current_dir(root())
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("dsprof starts")
}
