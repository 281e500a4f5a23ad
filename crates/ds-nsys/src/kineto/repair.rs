//! Makes JSON of what profilers write in its place.
//!
//! Kineto prints the bandwidth of a copy that took no time as `inf` or `NaN`, copies names with bytes that are no UTF-8,
//! and some releases do not escape what stands in a path. Readers in Python take part of this, readers in C++ all of it.

/// A copy of an event in which bare words are `null`, escapes are known ones and all bytes are UTF-8.
///
/// Only used where the event could not be read as it stands.
pub(super) fn repaired(event: &[u8]) -> String {
    let text = String::from_utf8_lossy(event);
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.as_ref();
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '"' => string(rest, &mut out),
            '-' | '+' | '.' | '_' => number_or_word(rest, &mut out),
            c if c.is_alphanumeric() => number_or_word(rest, &mut out),
            other => {
                out.push(other);
                other.len_utf8()
            }
        };
        rest = &rest[len..];
    }
    out
}

/// Copies a number, `true`, `false` or `null`; every other word becomes `null`. Returns how long it was.
fn number_or_word(text: &str, out: &mut String) -> usize {
    let len = text
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '+' | '.' | '_' | '#')))
        .unwrap_or(text.len());
    let word = &text[..len];
    let is_number = serde_json::from_str::<serde_json::Number>(word).is_ok();
    if is_number || matches!(word, "true" | "false" | "null") {
        out.push_str(word);
    } else {
        out.push_str("null");
    }
    len
}

/// Copies a string with its quotes. Returns how long it was.
fn string(text: &str, out: &mut String) -> usize {
    out.push('"');
    let mut at = 1;
    while let Some(next) = text[at..].chars().next() {
        at += next.len_utf8();
        match next {
            '"' => break,
            '\\' => at += escape(&text[at..], out),
            '\u{0}'..='\u{1f}' => out.push(' '),
            other => out.push(other),
        }
    }
    out.push('"');
    at
}

/// Copies what follows a backslash, with the backslash doubled where it begins no escape. Returns how long it was.
fn escape(text: &str, out: &mut String) -> usize {
    let unit = |text: &str| {
        let digits = text.strip_prefix('u')?.get(..4)?;
        digits
            .bytes()
            .all(|b| b.is_ascii_hexdigit())
            .then_some(())?;
        u16::from_str_radix(digits, 16).ok()
    };
    match text.as_bytes().first() {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
            out.push('\\');
            out.push_str(&text[..1]);
            1
        }
        Some(b'u') if let Some(first) = unit(text) => {
            let second = text[5..].strip_prefix('\\').and_then(unit);
            let is_pair = (0xD800..0xDC00).contains(&first)
                && second.is_some_and(|second| (0xDC00..0xE000).contains(&second));
            if is_pair {
                out.push('\\');
                out.push_str(&text[..11]);
                11
            } else if (0xD800..0xE000).contains(&first) {
                // Half a pair stands for nothing.
                out.push('\u{fffd}');
                5
            } else {
                out.push('\\');
                out.push_str(&text[..5]);
                5
            }
        }
        _ => {
            out.push_str("\\\\");
            0
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::repaired;

    #[track_caller]
    fn check(text: &[u8], expected: &Value) {
        let repaired = repaired(text);
        let value: Value =
            serde_json::from_str(&repaired).unwrap_or_else(|error| panic!("{error}: {repaired}"));
        assert_eq!(&value, expected);
    }

    #[test]
    fn words_that_json_lacks_are_null() {
        check(
            br#"{"a":NaN,"b":[Infinity,-Infinity,inf,-nan],"c":-1.5e3,"d":true,"e":"NaN","f":1.#INF}"#,
            &json!({"a": null, "b": [null, null, null, null], "c": -1500.0, "d": true, "e": "NaN", "f": null}),
        );
    }

    #[test]
    fn paths_halves_of_pairs_and_other_bytes() {
        check(
            b"{\"a\":\"C:\\work\\x\\new\",\"b\":\"\\ud83d\\ude00 \\ud83d!\",\"c\":\"\xff\",\"d\":\"a\tb\",\"e\":\"\\u00e9\\\"\"}",
            &json!({"a": "C:\\work\\x\new", "b": "😀 \u{fffd}!", "c": "\u{fffd}", "d": "a b", "e": "é\""}),
        );
    }

    proptest! {
        #[test]
        fn sound_json_keeps_its_value(text in "[ -~é😀\\n]{0,20}", number in any::<i64>()) {
            let value = json!({"text": text, "number": number, "list": [null, true, 0.5]});
            check(value.to_string().as_bytes(), &value);
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = repaired(&bytes);
        }
    }
}
