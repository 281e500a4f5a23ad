//! Where the workspace lies, and the files that belong to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::step::Step;

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies one folder below the root")
}

/// The folder of large recordings and corpora beside the workspace, where there is one.
pub(crate) fn shared() -> Option<PathBuf> {
    let shared = root().parent()?.join("shared");
    shared.is_dir().then_some(shared)
}

/// The folder of build outputs, with what xtask keeps between calls.
pub(crate) fn target() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    // Cargo runs from the root, wherever xtask was started.
    root().join(named.unwrap_or_else(|| "target".into()))
}

/// The files of the repository by their path from its root, with `/` on every system.
///
/// A value, so that each check can be shown a tree that breaks its rule.
#[derive(Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// What git tracks, and what it would track: a new file is checked before it is committed.
    pub(crate) fn of_repository() -> Result<Self> {
        let listed = Step::new("git")
            .args([
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ])
            .capture()?;
        let mut files = BTreeMap::new();
        for path in listed.stdout.split('\0').filter(|path| !path.is_empty()) {
            let file = root().join(path);
            // A file that was deleted and not yet committed is still listed.
            if file.is_file() {
                let content = fs::read(&file).with_context(|| format!("reading `{path}`"))?;
                files.insert(path.to_owned(), content);
            }
        }
        Ok(Self { files })
    }

    /// Every path, sorted.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Every file with its content.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files
            .iter()
            .map(|(path, content)| (path.as_str(), content.as_slice()))
    }

    /// Whether there is such a file.
    pub(crate) fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// A file's text; `None` where there is no such file or it is not text.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        let content = self.files.get(path)?;
        (!content.contains(&0)).then(|| std::str::from_utf8(content).ok())?
    }

    /// Every file that is text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.paths()
            .filter_map(|path| Some((path, self.text(path)?)))
    }

    /// A tree for a test.
    #[cfg(test)]
    pub(crate) fn made_up<const N: usize>(files: [(&str, &str); N]) -> Self {
        Self {
            files: files
                .into_iter()
                .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()))
                .collect(),
        }
    }
}
