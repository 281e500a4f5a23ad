//! Several files changed as one.

mod apply;
mod crash;
mod properties;

use std::fs;
use std::path::{Path, PathBuf};

use ds_orchestrate::transaction::FileChange;

use crate::support::put;

/// Three files with their old contents, and the change of all of them.
fn three_files(root: &Path) -> Vec<FileChange> {
    ["a.txt", "b.txt", "c.txt"]
        .map(|name| {
            let change = change(root, name);
            put(&change.path, &change.before);
            change
        })
        .to_vec()
}

fn change(root: &Path, name: &str) -> FileChange {
    FileChange {
        path: root.join(name),
        before: format!("old {name}\n").into_bytes(),
        after: format!("new {name}\n").into_bytes(),
    }
}

/// Where the journal of the test lies.
fn journal(root: &Path) -> PathBuf {
    root.join("edits/0001")
}

/// The contents of the three files, a word each: `old`, `new`, or what stands there.
fn contents(root: &Path) -> Vec<String> {
    ["a.txt", "b.txt", "c.txt"]
        .map(|name| {
            let text = fs::read_to_string(root.join(name)).unwrap_or_else(|_| "gone".to_owned());
            text.split(' ')
                .next()
                .unwrap_or_default()
                .trim_end()
                .to_owned()
        })
        .to_vec()
}
