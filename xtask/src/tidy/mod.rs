//! Checks that the compiler cannot make.
//!
//! A check is a function of a [`Tree`] to findings, so that its test can show it a tree that breaks the rule.

mod corpus;
mod layering;
mod rules;
mod sources;
mod testdata;

use std::fmt;

use anyhow::{Result, bail};

use crate::workspace::Tree;

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    path: String,
    /// Counted from one.
    line: Option<usize>,
    what: String,
}

impl Finding {
    fn of_file(path: &str, what: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: None,
            what: what.into(),
        }
    }

    /// `line` is counted from zero, as an iterator does.
    fn of_line(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self {
            line: Some(line + 1),
            ..Self::of_file(path, what)
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.what),
            None => write!(f, "{}: {}", self.path, self.what),
        }
    }
}

/// Whether a finding ends the run or is only said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Fails,
    Warns,
}

/// A row of the table of checks.
struct Check {
    /// What holds when it finds nothing.
    holds: &'static str,
    weight: Weight,
    find: fn(&Tree) -> Vec<Finding>,
}

const fn fails(holds: &'static str, find: fn(&Tree) -> Vec<Finding>) -> Check {
    Check {
        holds,
        weight: Weight::Fails,
        find,
    }
}

const fn warns(holds: &'static str, find: fn(&Tree) -> Vec<Finding>) -> Check {
    Check {
        holds,
        weight: Weight::Warns,
        find,
    }
}

/// Every check.
const CHECKS: [Check; 12] = [
    fails("crates know only the crates below them", layering::edges),
    fails(
        "packages stay where they belong",
        layering::confined_packages,
    ),
    fails(
        "crates inherit the lints of the workspace",
        layering::inherited_lints,
    ),
    fails("no source file is over its cap", sources::over_cap),
    warns("source files are of a readable length", sources::long_files),
    fails("only the program prints", sources::printing),
    fails("nothing is left for later", sources::left_for_later),
    fails(
        "no path of one machine is in the tree",
        sources::machine_paths,
    ),
    fails("test data names its origin", testdata::origins),
    fails(
        "no file of the configuration corpus is committed",
        corpus::committed_copies,
    ),
    fails("every rule has its tests", rules::tested),
    fails("every rule has its documentation", rules::documented),
];

/// Runs every check and fails when one of them does.
pub(crate) fn run() -> Result<()> {
    let tree = Tree::of_repository()?;
    let mut failed = 0;
    for check in &CHECKS {
        let found = (check.find)(&tree);
        let verdict = match (found.is_empty(), check.weight) {
            (true, _) => "ok",
            (false, Weight::Warns) => "warning",
            (false, Weight::Fails) => {
                failed += 1;
                "FAILED"
            }
        };
        println!("{verdict:7} {}", check.holds);
        for finding in found {
            println!("        {finding}");
        }
    }
    if failed > 0 {
        bail!("{failed} of {} checks failed", CHECKS.len());
    }
    Ok(())
}

/// Asserts what a check finds in a made-up tree, as the lines that it prints.
#[cfg(test)]
#[track_caller]
fn check<const N: usize>(
    find: fn(&Tree) -> Vec<Finding>,
    files: [(&str, &str); N],
    expected: &[&str],
) {
    let found: Vec<String> = find(&Tree::made_up(files))
        .iter()
        .map(Finding::to_string)
        .collect();
    assert_eq!(found, expected);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_tree_has_no_faults() {
        for row in &CHECKS {
            assert_eq!((row.find)(&Tree::default()), [], "{}", row.holds);
        }
    }

    #[test]
    fn a_finding_names_its_line_from_one() {
        let finding = Finding::of_line("a.rs", 0, "wrong");
        assert_eq!(finding.to_string(), "a.rs:1: wrong");
    }
}
