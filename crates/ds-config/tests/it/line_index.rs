//! Lines and columns.

use ds_config::{LineIndex, Place};

#[track_caller]
fn check(text: &[u8], offset: usize, line: usize, column: usize) {
    let index = LineIndex::new(text);
    assert_eq!(index.place(text, offset), Place { line, column });
}

#[test]
fn offsets_become_lines_and_columns() {
    check(b"", 0, 1, 1);
    check(b"ab\ncd", 0, 1, 1);
    check(b"ab\ncd", 2, 1, 3);
    check(b"ab\ncd", 3, 2, 1);
    check(b"ab\ncd\n", 6, 3, 1);
}

#[test]
fn a_lone_carriage_return_ends_no_line() {
    check(b"a\rb\r\nc", 2, 1, 3);
    check(b"a\rb\r\nc", 5, 2, 1);
}

#[test]
fn columns_count_characters() {
    check("caf\u{e9}=1".as_bytes(), 5, 1, 5);
    check(b"caf\xe9=1", 4, 1, 5);
    check(b"\xff\xfe\xff=1", 3, 1, 4);
}

#[test]
fn an_offset_past_the_end_is_the_end() {
    check(b"ab\nc", 99, 2, 2);
}

#[test]
fn lines_begin_where_they_begin() {
    let index = LineIndex::new(b"ab\ncd");
    assert_eq!(index.start_of_line(0), None);
    assert_eq!(index.start_of_line(2), Some(3));
    assert_eq!(index.start_of_line(3), None);
}
