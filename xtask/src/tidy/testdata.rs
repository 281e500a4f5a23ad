//! Test data says where it comes from.

use super::Finding;
use crate::workspace::Tree;

/// The file that names origin, licence and changes.
const SOURCES: &str = "SOURCES.md";

/// Folders with files and without word of their origin, in the folder or above it. What lies in testdata itself speaks
/// of its own files and not of the folders below.
pub(super) fn origins(tree: &Tree) -> Vec<Finding> {
    let mut folders: Vec<&str> = tree
        .paths()
        .filter(|path| path.starts_with("testdata/"))
        .filter_map(|path| Some(path.rsplit_once('/')?.0))
        .collect();
    folders.dedup();
    folders
        .into_iter()
        .filter(|folder| {
            let mut levels =
                std::iter::successors(Some(*folder), |level| Some(level.rsplit_once('/')?.0));
            !levels.any(|level| {
                (level != "testdata" || level == *folder) && tree.has(&format!("{level}/{SOURCES}"))
            })
        })
        .map(|folder| Finding::of_file(folder, format!("no {SOURCES} here or above")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::check;
    use super::*;

    #[test]
    fn a_folder_without_origin_is_found() {
        check(
            origins,
            [
                ("testdata/SOURCES.md", "of all.tsv"),
                ("testdata/all.tsv", ""),
                ("testdata/ini/SOURCES.md", ""),
                ("testdata/ini/deep/a.txt", ""),
                ("testdata/yaml/a.yml", ""),
                ("testdata/yaml/b.yml", ""),
            ],
            &["testdata/yaml: no SOURCES.md here or above"],
        );
    }
}
