//! Every check in order; the first failure ends the run.

use anyhow::Result;

use crate::codegen;
use crate::step::Step;
use crate::tidy;

/// Runs the checks.
pub(crate) fn run() -> Result<()> {
    Step::cargo().args(["fmt", "--all", "--check"]).run()?;
    Step::cargo()
        .args([
            "clippy",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ])
        .run()?;
    Step::cargo().args(["test", "--workspace"]).run()?;
    Step::cargo()
        .args([
            "doc",
            "--workspace",
            "--no-deps",
            "--document-private-items",
        ])
        .env("RUSTDOCFLAGS", "-Dwarnings")
        .run()?;
    println!("$ cargo xtask codegen --check");
    codegen::run(codegen::Mode::Check)?;
    println!("$ cargo xtask tidy");
    tidy::run()?;
    deny()
}

/// The bans, licences and sources of deny.toml, where cargo-deny is installed. Advisories need the network and are
/// left to a run by hand.
fn deny() -> Result<()> {
    if Step::cargo().args(["deny", "--version"]).capture().is_err() {
        println!("cargo-deny is not installed: bans, licences and sources were not checked");
        return Ok(());
    }
    Step::cargo()
        .args(["deny", "check", "bans", "licenses", "sources"])
        .run()
}
