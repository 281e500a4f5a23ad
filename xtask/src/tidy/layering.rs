//! What the manifests say about who knows whom.

use toml_edit::{DocumentMut, Item, TableLike};

use super::Finding;
use crate::workspace::Tree;

/// What a program may know.
const ALL_LIBRARIES: &[&str] = &[
    "ds-config",
    "ds-ceilings",
    "ds-nsys",
    "ds-derive",
    "ds-orchestrate",
];

/// Every member with the crates of ours that it may depend on, dev-dependencies included.
const LAYERS: [(&str, &[&str]); 8] = [
    ("ds-config", &[]),
    ("ds-ceilings", &[]),
    ("ds-nsys", &[]),
    ("ds-derive", &["ds-ceilings"]),
    (
        "ds-orchestrate",
        &["ds-config", "ds-ceilings", "ds-nsys", "ds-derive"],
    ),
    ("dsprof", ALL_LIBRARIES),
    // A stand-in must not answer with the code that it is held against; its tests read its output with this one.
    ("gst-dssim", &["ds-ceilings"]),
    ("xtask", ALL_LIBRARIES),
];

/// Packages that only some members may use, and why.
const CONFINED: [(&str, &[&str], &str); 3] = [
    (
        "clap",
        &["dsprof", "xtask"],
        "only a program has a command line",
    ),
    (
        "anyhow",
        &["dsprof", "xtask"],
        "a library has an error type that callers match on",
    ),
    (
        "xshell",
        &["xtask"],
        "the product starts programs through its own seam",
    ),
];

/// The tables of a manifest that name dependencies.
const DEPENDENCY_TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// A member's manifest.
struct Manifest<'t> {
    path: &'t str,
    name: String,
    document: DocumentMut,
}

impl Manifest<'_> {
    /// The packages that it depends on, under the names that the code uses.
    fn dependencies(&self) -> Vec<&str> {
        let root = self.document.as_table();
        let mut names = names_in(root);
        // [target.'cfg(unix)'.dependencies]
        for (_, platform) in root
            .get("target")
            .and_then(Item::as_table_like)
            .into_iter()
            .flat_map(TableLike::iter)
        {
            names.extend(platform.as_table_like().into_iter().flat_map(names_in));
        }
        names
    }
}

fn names_in(table: &dyn TableLike) -> Vec<&str> {
    DEPENDENCY_TABLES
        .iter()
        .filter_map(|kind| table.get(kind)?.as_table_like())
        .flat_map(TableLike::iter)
        .map(|(name, _)| name)
        .collect()
}

/// The manifests of all members; one that cannot be read is a finding.
fn manifests(tree: &Tree) -> (Vec<Manifest<'_>>, Vec<Finding>) {
    let mut manifests = Vec::new();
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        let is_member = path == "xtask/Cargo.toml"
            || path
                .strip_prefix("crates/")
                .and_then(|rest| rest.strip_suffix("/Cargo.toml"))
                .is_some_and(|folder| !folder.contains('/'));
        if !is_member {
            continue;
        }
        match text.parse::<DocumentMut>() {
            Ok(document) => {
                let name = document
                    .get("package")
                    .and_then(|package| package.get("name")?.as_str())
                    .unwrap_or_default()
                    .to_owned();
                manifests.push(Manifest {
                    path,
                    name,
                    document,
                });
            }
            Err(error) => findings.push(Finding::of_file(path, error.to_string().trim_end())),
        }
    }
    (manifests, findings)
}

/// Dependencies among our crates that point sideways or up.
pub(super) fn edges(tree: &Tree) -> Vec<Finding> {
    let (manifests, mut findings) = manifests(tree);
    for manifest in &manifests {
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == manifest.name) else {
            findings.push(Finding::of_file(
                manifest.path,
                format!("`{}` has no row in the table of layers", manifest.name),
            ));
            continue;
        };
        for dependency in manifest.dependencies() {
            let ours = LAYERS.iter().any(|(name, _)| *name == dependency);
            if ours && !allowed.contains(&dependency) {
                findings.push(Finding::of_file(
                    manifest.path,
                    format!("`{}` must not know `{dependency}`", manifest.name),
                ));
            }
        }
    }
    findings
}

/// Packages outside the members that may use them.
pub(super) fn confined_packages(tree: &Tree) -> Vec<Finding> {
    let (manifests, mut findings) = manifests(tree);
    for manifest in &manifests {
        for dependency in manifest.dependencies() {
            let row = CONFINED.iter().find(|(package, ..)| *package == dependency);
            if let Some((package, members, why)) = row
                && !members.contains(&manifest.name.as_str())
            {
                findings.push(Finding::of_file(
                    manifest.path,
                    format!("`{package}` in `{}`: {why}", manifest.name),
                ));
            }
        }
    }
    findings
}

/// Members with lint levels of their own.
pub(super) fn inherited_lints(tree: &Tree) -> Vec<Finding> {
    let (manifests, mut findings) = manifests(tree);
    for manifest in &manifests {
        let inherits = manifest
            .document
            .get("lints")
            .and_then(|lints| lints.get("workspace")?.as_bool());
        if inherits != Some(true) {
            findings.push(Finding::of_file(
                manifest.path,
                "lacks `[lints] workspace = true`",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn a_lower_crate_must_not_know_a_higher_one() {
        check(
            edges,
            [
                (
                    "crates/ds-nsys/Cargo.toml",
                    "[package]\nname = 'ds-nsys'\n[dependencies]\nds-derive.workspace = true\ncsv = '1'\n",
                ),
                (
                    "crates/ds-derive/Cargo.toml",
                    "[package]\nname = 'ds-derive'\n[dependencies]\nds-ceilings.workspace = true\n",
                ),
            ],
            &["crates/ds-nsys/Cargo.toml: `ds-nsys` must not know `ds-derive`"],
        );
    }

    #[test]
    fn dev_and_platform_dependencies_count() {
        check(
            edges,
            [(
                "crates/ds-config/Cargo.toml",
                "[package]\nname = 'ds-config'\n[dev-dependencies]\nds-nsys.workspace = true\n[target.'cfg(unix)'.dependencies]\ndsprof = '0'\n",
            )],
            &[
                "crates/ds-config/Cargo.toml: `ds-config` must not know `ds-nsys`",
                "crates/ds-config/Cargo.toml: `ds-config` must not know `dsprof`",
            ],
        );
    }

    #[test]
    fn a_new_member_needs_a_row() {
        check(
            edges,
            [(
                "crates/ds-utils/Cargo.toml",
                "[package]\nname = 'ds-utils'\n",
            )],
            &["crates/ds-utils/Cargo.toml: `ds-utils` has no row in the table of layers"],
        );
    }

    #[test]
    fn an_unreadable_manifest_is_a_finding() {
        let tree = Tree::made_up([("xtask/Cargo.toml", "[package\n")]);
        let (_, findings) = manifests(&tree);
        assert_eq!(findings.len(), 1);
    }

    #[test]
    fn a_library_must_not_use_anyhow_or_clap() {
        check(
            confined_packages,
            [
                (
                    "crates/ds-nsys/Cargo.toml",
                    "[package]\nname = 'ds-nsys'\n[dependencies]\nanyhow = '1'\nclap = '4'\n",
                ),
                (
                    "crates/dsprof/Cargo.toml",
                    "[package]\nname = 'dsprof'\n[dependencies]\nanyhow = '1'\nclap = '4'\n",
                ),
            ],
            &[
                "crates/ds-nsys/Cargo.toml: `anyhow` in `ds-nsys`: a library has an error type that callers match on",
                "crates/ds-nsys/Cargo.toml: `clap` in `ds-nsys`: only a program has a command line",
            ],
        );
    }

    #[test]
    fn lints_must_be_inherited() {
        check(
            inherited_lints,
            [
                (
                    "crates/ds-nsys/Cargo.toml",
                    "[package]\nname = 'ds-nsys'\n[lints.clippy]\ntodo = 'allow'\n",
                ),
                (
                    "xtask/Cargo.toml",
                    "[package]\nname = 'xtask'\n[lints]\nworkspace = true\n",
                ),
            ],
            &["crates/ds-nsys/Cargo.toml: lacks `[lints] workspace = true`"],
        );
    }
}
