//! What the tests of several forms share.

use std::path::{Path, PathBuf};

use ds_config::{Error, TextEdit};

/// The inverse of [`crate::table::unescape`], for values that are compared with a table.
pub(crate) fn escape(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| match byte {
            b'\n' => "\\n".to_owned(),
            b'\r' => "\\r".to_owned(),
            b'\t' => "\\t".to_owned(),
            b'\\' => "\\\\".to_owned(),
            b' '..=b'~' => char::from(*byte).to_string(),
            other => format!("\\x{other:02x}"),
        })
        .collect()
}

/// The files of some corpus folders, sorted; `None`, with a line that says so, where there is no
/// corpus. Prints the line by which a run counts the tests that had it.
#[expect(clippy::print_stdout, reason = "a run counts these lines")]
pub(crate) fn corpus(test: &str, folders: &[&str]) -> Option<Vec<(PathBuf, Vec<u8>)>> {
    let shared = manifest().join("../../../shared");
    if !shared.is_dir() {
        println!("skipped: ../shared is not there");
        return None;
    }
    println!("shared-test: {test}");
    let mut files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| {
            std::fs::read_dir(shared.join("corpus").join(folder)).expect("a folder of the corpus")
        })
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no files in {folders:?}");
    Some(
        files
            .into_iter()
            .map(|path| {
                let bytes = std::fs::read(&path).expect("a readable file");
                (path, bytes)
            })
            .collect(),
    )
}

/// A file name for messages.
pub(crate) fn name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// The text after an edit.
#[track_caller]
pub(crate) fn applied(text: &[u8], edit: Result<TextEdit, Error>) -> Vec<u8> {
    edit.and_then(|edit| edit.apply(text))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn manifest() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}
