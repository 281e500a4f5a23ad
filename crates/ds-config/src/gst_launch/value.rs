//! How GStreamer reads a value for a property of a basic type.
//!
//! After `gst_value_deserialize` of GStreamer 1.22, and checked against `gst-launch-1.0` runs.

use super::graph::GstProperty;

impl GstProperty {
    /// The value as an integer: decimal, hexadecimal after `0x`, octal after `0`, with a sign.
    ///
    /// The range is that of a 64-bit property, signed or unsigned. GStreamer takes a negative
    /// number for an unsigned property too, and wraps it.
    #[must_use]
    pub fn integer(&self) -> Option<i128> {
        integer(&self.value)
    }

    /// The value as a boolean: `0 1 t f true false yes no`, in any case.
    #[must_use]
    pub fn boolean(&self) -> Option<bool> {
        let is = |words: [&str; 4]| {
            words
                .iter()
                .any(|word| self.value.eq_ignore_ascii_case(word))
        };
        if is(["1", "t", "true", "yes"]) {
            Some(true)
        } else if is(["0", "f", "false", "no"]) {
            Some(false)
        } else {
            None
        }
    }
}

/// `strtoll` and `strtoull` with base 0, and nothing left over.
fn integer(text: &str) -> Option<i128> {
    let (negative, magnitude) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (digits, radix) = match magnitude.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&magnitude[2..], 16),
        [b'0', _, ..] => (&magnitude[1..], 8),
        _ => (magnitude, 10),
    };
    if !digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let value = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let value = if negative { -value } else { value };
    (value >= i128::from(i64::MIN)).then_some(value)
}
