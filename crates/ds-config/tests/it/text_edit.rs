//! The edit primitive.

use ds_config::{ErrorKind, Span, TextEdit};
use proptest::prelude::*;

#[track_caller]
fn check(text: &str, edits: &[TextEdit], expected: &str) {
    let edit = edits.iter().cloned().fold(TextEdit::empty(), |all, one| {
        all.union(one).expect("the edits of this case are disjoint")
    });
    let out = edit.apply(text.as_bytes()).expect("the edits fit the text");
    assert_eq!(String::from_utf8_lossy(&out), expected);
}

#[test]
fn edits_apply_in_any_order_of_arrival() {
    let later = TextEdit::replace(Span::new(4, 5), "Z");
    let earlier = TextEdit::replace(Span::new(0, 1), "long");
    check("abcdefg", &[later.clone(), earlier.clone()], "longbcdZfg");
    check("abcdefg", &[earlier, later], "longbcdZfg");
}

#[test]
fn insertions_at_one_offset_keep_their_order() {
    let edits = [
        TextEdit::insert(2, "1"),
        TextEdit::replace(Span::new(2, 3), "C"),
        TextEdit::insert(2, "2"),
    ];
    check("abcd", &edits, "ab12Cd");
}

#[test]
fn the_same_edit_twice_is_kept_once() {
    let edit = TextEdit::insert(1, "x");
    check("ab", &[edit.clone(), edit], "axb");
    let cut = TextEdit::delete(Span::new(0, 1));
    check("ab", &[cut.clone(), cut], "b");
}

#[test]
fn overlapping_edits_conflict() {
    for (a, b) in [
        (
            TextEdit::replace(Span::new(1, 3), "x"),
            TextEdit::replace(Span::new(2, 4), "y"),
        ),
        (
            TextEdit::replace(Span::new(1, 3), "x"),
            TextEdit::replace(Span::new(1, 3), "y"),
        ),
        (
            TextEdit::replace(Span::new(1, 3), "x"),
            TextEdit::insert(2, "y"),
        ),
    ] {
        let error = a.union(b).expect_err("these edits overlap");
        assert_eq!(error.kind(), ErrorKind::Conflict);
    }
}

#[test]
fn an_edit_past_the_end_is_refused() {
    let error = TextEdit::insert(3, "x")
        .apply(b"ab")
        .expect_err("offset 3 is past the end");
    assert_eq!(error.kind(), ErrorKind::OutOfBounds);
    assert_eq!(
        error.to_string(),
        "an edit of bytes 3..3 does not fit a text of 2 bytes"
    );
}

proptest! {
    #[test]
    fn bytes_outside_the_edit_stay(
        text in proptest::collection::vec(any::<u8>(), 0..200),
        start in 0usize..200,
        len in 0usize..50,
        insert in "\\PC{0,8}",
    ) {
        let span = Span::new(start, start + len);
        match TextEdit::replace(span, insert.as_str()).apply(&text) {
            Ok(out) => {
                prop_assert_eq!(&out[..start], &text[..start]);
                prop_assert_eq!(&out[start..start + insert.len()], insert.as_bytes());
                prop_assert_eq!(&out[start + insert.len()..], &text[start + len..]);
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::OutOfBounds);
                prop_assert!(start + len > text.len());
            }
        }
    }

    #[test]
    fn union_sorts_or_refuses(spans in proptest::collection::vec((0usize..40, 0usize..6), 0..10)) {
        let mut all = TextEdit::empty();
        for (start, len) in spans {
            let new = Span::new(start, start + len);
            let overlaps = |held: Span| {
                held != new && held.start() < new.end() && new.start() < held.end()
            };
            let clashes = all.indels().iter().any(|held| overlaps(held.delete));
            let union = all.clone().union(TextEdit::replace(new, "v"));
            prop_assert_eq!(union.is_err(), clashes);
            all = union.unwrap_or(all);
        }
        for pair in all.indels().windows(2) {
            prop_assert!(pair[0].delete.end() <= pair[1].delete.start());
        }
        prop_assert!(all.apply(&[b'x'; 64]).is_ok());
    }
}
