//! How yaml-cpp 0.7.0 turns the text of a scalar into a number or a flag.
//!
//! It streams the text into a C++ variable without a fixed base, so the prefixes of C count:
//! `0x10` is 16 and `010` is 8. The whole text must be consumed, blanks at its end excepted.

/// A number before its width is checked, as `std::istream` reads it with no base set.
fn integer(text: &str) -> Option<i128> {
    let text = text.trim_end_matches(is_space);
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    // `from_str_radix` takes a sign of its own; a second one is no number here.
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = i128::from_str_radix(digits, radix).ok()?;
    Some(if negative { -magnitude } else { magnitude })
}

/// A C `int`.
pub(super) fn int(text: &str) -> Option<i32> {
    i32::try_from(integer(text)?).ok()
}

/// A C `unsigned int`; yaml-cpp refuses any text that begins with a minus.
pub(super) fn uint(text: &str) -> Option<u32> {
    if text.starts_with('-') {
        return None;
    }
    u32::try_from(integer(text)?).ok()
}

/// A C++ `double`.
pub(super) fn double(text: &str) -> Option<f64> {
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Some(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Some(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Some(f64::NAN),
        _ => {}
    }
    let text = text.trim_end_matches(is_space);
    // Rust also reads `inf` and `nan` in words, which the stream does not.
    let numeric = |byte: u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    if !text.bytes().all(numeric) {
        return None;
    }
    // A number beyond the range of a double sets the failure bit of the stream.
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// A C++ `bool`: one of four pairs of words, all small, all capital, or with one capital in front.
///
/// `1` and `0` are none of them, and nvinfer, deepstream-app and the new nvstreammux read their
/// flags as integers.
pub(super) fn boolean(text: &str) -> Option<bool> {
    let small = text.to_ascii_lowercase();
    let mut capitalised = small.clone();
    if let Some(first) = capitalised.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    if text != small && text != capitalised && text != text.to_ascii_uppercase() {
        return None;
    }
    match small.as_str() {
        "y" | "yes" | "true" | "on" => Some(true),
        "n" | "no" | "false" | "off" => Some(false),
        _ => None,
    }
}

/// Whether a plain scalar without a tag means that there is no value.
pub(super) fn is_null(text: &[u8]) -> bool {
    matches!(text, b"" | b"~" | b"null" | b"Null" | b"NULL")
}

/// What `std::ws` skips in the C locale.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}
