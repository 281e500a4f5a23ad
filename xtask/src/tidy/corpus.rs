//! The configuration corpus belongs to others: it is read beside the workspace and never copied into it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::Finding;
use crate::workspace::{self, Tree};

/// The names of the corpus files by the hash of their content.
type Corpus = BTreeMap<Vec<u8>, String>;

/// Files of the tree that are files of the corpus; nothing where there is no corpus beside the workspace.
pub(super) fn committed_copies(tree: &Tree) -> Vec<Finding> {
    workspace::shared().map_or_else(Vec::new, |shared| {
        copies(tree, &read(&shared.join("corpus")))
    })
}

fn copies(tree: &Tree, corpus: &Corpus) -> Vec<Finding> {
    tree.files()
        // Two empty files are nobody's copy.
        .filter(|(_, content)| !content.is_empty())
        .filter_map(|(path, content)| {
            let original = corpus.get(Sha256::digest(content).as_slice())?;
            Some(Finding::of_file(
                path,
                format!("is `{original}` of the corpus"),
            ))
        })
        .collect()
}

/// Hashes every file below a folder; what cannot be read cannot have been copied either.
fn read(folder: &Path) -> Corpus {
    let mut corpus = Corpus::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Ok(content) = fs::read(&path) {
                let name = entry.file_name().to_string_lossy().into_owned();
                corpus.insert(Sha256::digest(&content).to_vec(), name);
            }
        }
    }
    corpus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_found_under_any_name() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("txt")).expect("a folder below");
        fs::write(folder.path().join("txt/app.txt"), "[application]\n").expect("a file");
        fs::write(folder.path().join("empty.txt"), "").expect("a file");
        let tree = Tree::made_up([
            ("testdata/ini/mine.txt", "[application]\n"),
            ("testdata/ini/other.txt", "[application]\r\n"),
            ("testdata/ini/empty.txt", ""),
        ]);
        assert_eq!(
            copies(&tree, &read(folder.path())),
            [Finding::of_file(
                "testdata/ini/mine.txt",
                "is `app.txt` of the corpus"
            )]
        );
    }
}
