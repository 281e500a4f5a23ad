//! A tree that looks like the file system, with some files edited.
//!
//! Configuration files name others relative to themselves or to the working directory, and some of these names no crate of
//! ours reads: label files, parsers, libraries. So that every one of them leads where it led before, each folder above an
//! edited file, or above the working directory, is made anew and filled with links to what the real one holds; the
//! edited files alone are other files. A program that writes beside its configuration, as nvinfer does with an engine,
//! writes into the tree and not into the user's folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::variant::FOLDER;
use crate::atomic;
use crate::bundle::{Bundle, BundleError};
use crate::transaction::FileChange;

/// The tree within a bundle, as long as a program needs it. Dropping it takes the links away; the edited files stay.
pub(crate) struct Shadow {
    links: Vec<PathBuf>,
}

/// Links in all; a folder with more files than that is better not mirrored.
const MOST_LINKS: usize = 20_000;

impl Shadow {
    /// Makes the tree for these changes of files and for the working directory. `entry` is the pipeline's first file.
    ///
    /// # Errors
    ///
    /// When a folder cannot be read, there is too much in it, or the bundle cannot be written.
    pub(crate) fn build(
        bundle: &mut Bundle,
        files: &[FileChange],
        entry: &Path,
    ) -> Result<Self, BundleError> {
        let real = |path: &Path| {
            fs::canonicalize(path).map_err(|error| BundleError::io("read", path, error))
        };
        let mut edited: BTreeMap<PathBuf, &[u8]> = BTreeMap::new();
        for file in files {
            edited.insert(real(&file.path)?, &file.after);
        }
        let cwd = real(Path::new("."))?;
        let entry = real(entry)?;
        let home = entry.parent().unwrap_or(Path::new("/")).to_owned();
        // Every folder that is made anew.
        let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
        for path in edited.keys().filter_map(|path| path.parent()) {
            folders.extend(path.ancestors().map(Path::to_owned));
        }
        folders.extend(cwd.ancestors().map(Path::to_owned));
        folders.extend(home.ancestors().map(Path::to_owned));

        let root = real(bundle.root())?.join(FOLDER);
        let tree = root.join("tree");
        // What a run that was killed left: a link in the place of a folder would lead into the user's files.
        atomic::remove_tree(&root).map_err(|error| BundleError::io("remove", &root, error))?;
        let mut shadow = Self { links: Vec::new() };
        for folder in &folders {
            shadow.mirror(folder, &tree, &folders, &edited)?;
        }
        for (path, bytes) in &edited {
            let inside = below(Path::new(FOLDER).join("tree"), path);
            bundle.write(&inside.display().to_string(), bytes)?;
        }
        shadow.link(&below(tree.clone(), &cwd), &root.join("cwd"))?;
        shadow.link(&below(tree, &home), &root.join("entry"))?;
        Ok(shadow)
    }

    /// Makes one folder of the tree, with a link for each entry that is not made anew itself.
    fn mirror(
        &mut self,
        folder: &Path,
        tree: &Path,
        folders: &BTreeSet<PathBuf>,
        edited: &BTreeMap<PathBuf, &[u8]>,
    ) -> Result<(), BundleError> {
        let there = below(tree.to_owned(), folder);
        fs::create_dir_all(&there).map_err(|error| BundleError::io("create", &there, error))?;
        let unreadable = |error| BundleError::io("read", folder, error);
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            if folders.contains(&path) || edited.contains_key(&path) {
                continue;
            }
            if let Some(name) = path.file_name() {
                self.link(&path, &there.join(name))?;
            }
        }
        Ok(())
    }

    fn link(&mut self, to: &Path, at: &Path) -> Result<(), BundleError> {
        if self.links.len() == MOST_LINKS {
            let error = io::Error::other(format!("more than {MOST_LINKS} files beside it"));
            return Err(BundleError::io("mirror", to, error));
        }
        symlink(to, at).map_err(|error| BundleError::io("create", at, error))?;
        self.links.push(at.to_owned());
        Ok(())
    }
}

impl Drop for Shadow {
    fn drop(&mut self) {
        for link in &self.links {
            // A link that stays does no harm.
            let _ = atomic::remove(link);
        }
    }
}

/// An absolute path as a path below `root`.
fn below(root: PathBuf, path: &Path) -> PathBuf {
    let relative = path.strip_prefix("/").unwrap_or(path);
    root.join(relative)
}
