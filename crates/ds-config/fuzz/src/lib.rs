//! What the fuzz targets of ds-config share: the values that they write, and the promises that every
//! edit keeps.

use ds_config::{Error, TextEdit};

/// Values to write: a plain number, the empty text, and texts with what is special in one syntax or
/// another.
const VALUES: [&str; 5] = ["4", "", "a b", "x;y#z: 'q' \"r\" \\ $v", "\u{e9}"];

/// The value that an input writes: all of them in turn, as its bytes change, and one an input so
/// that an execution stays fast.
pub fn value_for(text: &[u8]) -> &'static str {
    let sum: usize = text.iter().copied().map(usize::from).sum();
    VALUES[sum % VALUES.len()]
}

/// Applies an edit that may have been refused, and holds it to its bounds.
///
/// `None` for a refusal: whether one is right, the tests say and not the fuzzer.
pub fn applied(text: &[u8], edit: Result<TextEdit, Error>) -> Option<Vec<u8>> {
    let edit = edit.ok()?;
    for pair in edit.indels().windows(2) {
        assert!(
            pair[0].delete.end() <= pair[1].delete.start(),
            "the indels overlap: {edit:?}"
        );
    }
    Some(
        edit.apply(text)
            .expect("an edit fits the text that it was made for"),
    )
}

/// Holds a second edit of the same value to changing nothing.
pub fn assert_settled(edit: Result<TextEdit, Error>) {
    let edit = edit.expect("what was written once can be written again");
    assert!(
        edit.is_empty(),
        "the second edit changes something: {edit:?}"
    );
}
