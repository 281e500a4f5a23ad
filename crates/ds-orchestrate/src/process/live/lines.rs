//! Output line by line, from programs that write whole blocks to a pipe.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::process::{Buffering, CommandSpec};

/// Programs that are started through coreutils' `stdbuf`, which has the C library end its blocks at the end of a line.
/// What GStreamer prints by `g_print` is flushed anyway; what plugins print by `printf` is not. A script is among them
/// because the shell hands the setting on to what it starts. Others stay as they are: `stdbuf` does nothing for programs
/// that do not write through the C library.
const C_PROGRAMS: [&str; 5] = [
    "gst-launch-1.0",
    "deepstream-app",
    "deepstream-test5-app",
    "sh",
    "bash",
];

/// The variable by which Python is told not to keep its output back. It is harmless to everything else.
pub(super) const PYTHON: (&str, &str) = ("PYTHONUNBUFFERED", "1");

/// What to put before the argv of `spec`; empty where nothing is wanted or there is no `stdbuf`.
pub(super) fn before(spec: &CommandSpec) -> Vec<String> {
    let name = Path::new(&spec.program).file_name();
    let is_c = name.is_some_and(|name| C_PROGRAMS.iter().any(|program| name == *program));
    // A program that is missing is to be told as missing, and not as a failure of `stdbuf`.
    if spec.buffering != Buffering::Lines || !is_c || find(&spec.program, spec).is_none() {
        return Vec::new();
    }
    match find("stdbuf", spec) {
        Some(_) => ["stdbuf", "-oL", "-eL"].map(str::to_owned).to_vec(),
        None => Vec::new(),
    }
}

/// The file that the system would run for `program`.
pub(super) fn find(program: &str, spec: &CommandSpec) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(PathBuf::from(program)).filter(|path| path.is_file());
    }
    let own = spec.env.iter().rev().find(|(name, _)| name == "PATH");
    let path = own.map(|(_, value)| value.into()).or_else(inherited_path)?;
    env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a program is looked for where the system looks for it"
)]
fn inherited_path() -> Option<OsString> {
    env::var_os("PATH")
}
