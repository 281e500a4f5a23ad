//! A rule of ds-derive is its file, its tests and its documentation.

use super::Finding;
use crate::workspace::Tree;

/// Where the rules lie, one file each.
const RULES: &str = "crates/ds-derive/src/rules/";

/// Where their tests lie, named as they are.
const TESTS: &str = "crates/ds-derive/tests/it/";

/// The generated page.
const PAGE: &str = "docs/rules.md";

/// The path of every rule's file, with its id in lower case: `r4a` of `r4a_interval.rs`.
fn rules(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    tree.paths().filter_map(|path| {
        let (id, _) = path
            .strip_prefix(RULES)?
            .strip_suffix(".rs")?
            .split_once('_')?;
        let is_rule = id.starts_with('r') && id[1..].starts_with(|c: char| c.is_ascii_digit());
        is_rule.then_some((path, id))
    })
}

/// Rules without a snapshot or without a property.
pub(super) fn tested(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, id) in rules(tree) {
        let snapshots = format!("{TESTS}snapshots/");
        let has_snapshot = tree
            .paths()
            .filter_map(|path| path.strip_prefix(&snapshots)?.strip_suffix(".snap"))
            .any(|name| name.split("__").any(|part| part == id));
        if !has_snapshot {
            findings.push(Finding::of_file(
                path,
                format!("no snapshot `{id}__….snap`"),
            ));
        }
        let tests = format!("{TESTS}{id}.rs");
        if !tree
            .text(&tests)
            .is_some_and(|text| text.contains("proptest!"))
        {
            findings.push(Finding::of_file(path, format!("no property in `{tests}`")));
        }
    }
    findings
}

/// Rules without a section in the documentation.
pub(super) fn documented(tree: &Tree) -> Vec<Finding> {
    let page = tree.text(PAGE).unwrap_or_default();
    rules(tree)
        .filter(|(_, id)| {
            // `r4a` is R4a: only the letter in front is capital.
            let heading = format!("## R{}:", &id[1..]);
            !page.lines().any(|line| line.starts_with(&heading))
        })
        .map(|(path, _)| Finding::of_file(path, format!("no section in {PAGE}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn a_rule_needs_a_snapshot_and_a_property() {
        check(
            tested,
            [
                ("crates/ds-derive/src/rules/mod.rs", ""),
                ("crates/ds-derive/src/rules/r1_mux.rs", ""),
                ("crates/ds-derive/src/rules/r4a_interval.rs", ""),
                ("crates/ds-derive/src/rules/line.rs", ""),
                ("crates/ds-derive/tests/it/r1.rs", "proptest! {}"),
                ("crates/ds-derive/tests/it/r4a.rs", ""),
                ("crates/ds-derive/tests/it/snapshots/r1__files.snap", ""),
                ("crates/ds-derive/tests/it/snapshots/r4__files.snap", ""),
            ],
            &[
                "crates/ds-derive/src/rules/r4a_interval.rs: no snapshot `r4a__….snap`",
                "crates/ds-derive/src/rules/r4a_interval.rs: no property in `crates/ds-derive/tests/it/r4a.rs`",
            ],
        );
    }

    #[test]
    fn a_rule_needs_a_section() {
        check(
            documented,
            [
                ("crates/ds-derive/src/rules/r1_mux.rs", ""),
                ("crates/ds-derive/src/rules/r4a_interval.rs", ""),
                (
                    "docs/rules.md",
                    "# Rules\n\n## R1: The mux\n\n## R4: The tracker\n",
                ),
            ],
            &["crates/ds-derive/src/rules/r4a_interval.rs: no section in docs/rules.md"],
        );
    }
}
