//! Reading of the case tables in `testdata`.

use std::path::{Path, PathBuf};

/// A path below the repository's `testdata`.
pub(crate) fn testdata(relative: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../testdata")
        .join(relative)
}

/// The rows of a tab-separated table, without its header line.
pub(crate) fn rows(relative: &str) -> Vec<Vec<String>> {
    let path = testdata(relative);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .skip(1)
        .map(|line| line.split('\t').map(str::to_owned).collect())
        .collect()
}

/// Resolves the escapes `\n \r \t \\ \xNN` of the tables.
pub(crate) fn unescape(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next().expect("an escape has a letter") {
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'x' => {
                let digits =
                    [bytes.next(), bytes.next()].map(|digit| digit.expect("two hex digits"));
                let digits = std::str::from_utf8(&digits).expect("hex digits are ASCII");
                out.push(u8::from_str_radix(digits, 16).expect("hex digits"));
            }
            other => out.push(other),
        }
    }
    out
}
