//! What the text of the tree must not hold.

use super::Finding;
use crate::workspace::Tree;

/// A source file longer than this is split.
const LINE_CAP: usize = 800;

/// A source file longer than this is looked at.
const LINE_WARNING: usize = 480;

/// Rust files of ours that are not tests.
fn sources(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.texts().filter(|(path, _)| {
        path.ends_with(".rs") && !path.contains("/tests/") && !path.ends_with("/tests.rs")
    })
}

/// Files over the cap.
pub(super) fn over_cap(tree: &Tree) -> Vec<Finding> {
    longer_than(tree, LINE_CAP + 1..usize::MAX)
}

/// Files on the way there.
pub(super) fn long_files(tree: &Tree) -> Vec<Finding> {
    longer_than(tree, LINE_WARNING + 1..LINE_CAP + 1)
}

fn longer_than(tree: &Tree, range: std::ops::Range<usize>) -> Vec<Finding> {
    sources(tree)
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, lines)| range.contains(lines))
        .map(|(path, lines)| Finding::of_file(path, format!("{lines} lines")))
        .collect()
}

/// Macros that print, in a library.
pub(super) fn printing(tree: &Tree) -> Vec<Finding> {
    const PRINTING: [&str; 5] = ["println!", "eprintln!", "print!", "eprint!", "dbg!"];
    let mut findings = Vec::new();
    let libraries = sources(tree).filter(|(path, _)| {
        path.starts_with("crates/") && path.contains("/src/") && !path.starts_with("crates/dsprof/")
    });
    for (path, text) in libraries {
        for (number, line) in text.lines().enumerate() {
            // An example in a doc comment may print.
            if line.trim_start().starts_with("//") {
                continue;
            }
            if let Some(name) = PRINTING.into_iter().find(|name| calls(line, name)) {
                findings.push(Finding::of_line(
                    path,
                    number,
                    format!("`{name}` in a library"),
                ));
            }
        }
    }
    findings
}

/// Whether a line calls a macro of exactly this name.
fn calls(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
    })
}

/// Marks of unfinished work in what we wrote ourselves.
pub(super) fn left_for_later(tree: &Tree) -> Vec<Finding> {
    // In two parts, so that this file does not find itself.
    let marks = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X:"),
    ];
    let written_here = tree.texts().filter(|(path, _)| {
        // Test data quotes others.
        !path.starts_with("testdata/") || path.ends_with("SOURCES.md")
    });
    find_any(written_here, |line| {
        marks
            .into_iter()
            .find(|mark| line.contains(mark))
            .map(|mark| format!("`{mark}`: finish it, or file an issue"))
    })
}

/// Absolute paths that exist only where somebody works.
pub(super) fn machine_paths(tree: &Tree) -> Vec<Finding> {
    let tops = ["work", "root", "farm"].map(|top| format!("/{top}/"));
    // The lock file is written by cargo.
    let texts = tree.texts().filter(|(path, _)| *path != "Cargo.lock");
    find_any(texts, |line| {
        tops.iter()
            .find(|top| is_absolute(line, top))
            .map(|top| format!("a path below `{}`", top.trim_end_matches('/')))
    })
}

/// Whether a path begins with `top` somewhere in the line; behind another path's component it does not.
fn is_absolute(line: &str, top: &str) -> bool {
    line.match_indices(top).any(|(at, _)| {
        !line[..at]
            .ends_with(|before: char| before.is_ascii_alphanumeric() || "_.-})>".contains(before))
    })
}

fn find_any<'t>(
    texts: impl Iterator<Item = (&'t str, &'t str)>,
    fault: impl Fn(&str) -> Option<String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in texts {
        for (number, line) in text.lines().enumerate() {
            if let Some(what) = fault(line) {
                findings.push(Finding::of_line(path, number, what));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn a_file_of_801_lines_is_over_the_cap() {
        let (cap, over) = ("\n".repeat(800), "\n".repeat(801));
        check(
            over_cap,
            [
                ("crates/ds-nsys/src/a.rs", &over),
                ("crates/ds-nsys/src/b.rs", &cap),
                ("crates/ds-nsys/tests/it/a.rs", &over),
            ],
            &["crates/ds-nsys/src/a.rs: 801 lines"],
        );
        check(
            long_files,
            [("xtask/src/a.rs", &over), ("xtask/src/b.rs", &cap)],
            &["xtask/src/b.rs: 800 lines"],
        );
    }

    #[test]
    fn a_library_that_prints_is_found() {
        check(
            printing,
            [
                (
                    "crates/ds-nsys/src/a.rs",
                    "//! println!(\"in an example\");\n    eprintln!(\"x\");\n    pretty_print!(x);\n",
                ),
                ("crates/ds-nsys/tests/it/a.rs", "println!(\"x\");\n"),
                ("crates/dsprof/src/main.rs", "println!(\"x\");\n"),
            ],
            &["crates/ds-nsys/src/a.rs:2: `eprintln!` in a library"],
        );
    }

    #[test]
    fn marks_of_unfinished_work_are_found_outside_test_data() {
        let mark = format!("fn f() {{}} // {}\n", concat!("TO", "DO"));
        check(
            left_for_later,
            [
                ("crates/a/src/a.rs", &mark),
                ("testdata/ini/real.txt", &mark),
            ],
            &[&format!(
                "crates/a/src/a.rs:1: `{0}`: finish it, or file an issue",
                concat!("TO", "DO")
            )],
        );
    }

    #[test]
    fn paths_of_one_machine_are_found_anywhere() {
        let text = format!(
            "see {0}x\nsee ..{0}x\nsee a{0}x\n",
            ["", "work", ""].join("/")
        );
        check(
            machine_paths,
            [("testdata/log.txt", &text), ("Cargo.lock", &text)],
            &["testdata/log.txt:1: a path below `/work`"],
        );
    }
}
