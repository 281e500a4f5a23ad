//! Where the fixtures are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The fixtures of a fresh clone.
pub(crate) fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata/smi")
        .join(path)
}

/// A file of the shared material, or `None` with a line about it where the material is absent.
#[expect(
    clippy::print_stdout,
    reason = "the line that counts skipped tests looks for this text"
)]
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    if root.is_dir() {
        return Some(root.join(path));
    }
    println!("skipped: ../shared is not there");
    None
}

pub(crate) fn read(path: &Path) -> String {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The rows of a CSV file, each by column name.
pub(crate) fn csv_rows(path: &Path) -> Vec<BTreeMap<String, String>> {
    let text = read(path);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader
        .deserialize()
        .map(|row| row.expect("a fixture is valid CSV"))
        .collect()
}
