//! What GLib's getters make of a value.
//!
//! The getters differ in what they tolerate after the value: a blank and anything for integers,
//! blanks for booleans, nothing for doubles, while a string keeps everything.

use super::line::{is_space, trim_end};
use crate::error::{Error, ErrorKind};
use crate::line_index::Place;
use crate::text_edit::Span;

/// The value of a key: the raw text, its place, and the readings of GLib's getters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IniValue<'a> {
    pub(super) raw: &'a [u8],
    pub(super) span: Span,
    pub(super) place: Place,
}

impl<'a> IniValue<'a> {
    /// The bytes of the value, trailing blanks and comments included, escapes unresolved.
    #[must_use]
    pub fn raw(self) -> &'a [u8] {
        self.raw
    }

    /// Where the raw value stands.
    #[must_use]
    pub fn span(self) -> Span {
        self.span
    }

    /// The line and column at which the value begins.
    #[must_use]
    pub fn place(self) -> Place {
        self.place
    }

    /// The reading of `g_key_file_get_string`.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Encoding`] for bytes that are not UTF-8, [`ErrorKind::InvalidValue`] for a
    /// backslash that begins no known escape.
    pub fn string(self) -> Result<String, Error> {
        let mut pieces = self.unescape(None)?;
        Ok(pieces.pop().unwrap_or_default())
    }

    /// The reading of `g_key_file_get_string_list` with the separator `;`.
    ///
    /// # Errors
    ///
    /// As for [`IniValue::string`].
    pub fn string_list(self) -> Result<Vec<String>, Error> {
        self.unescape(Some(';'))
    }

    /// The reading of `g_key_file_get_integer`: 32 bits, decimal, and whatever follows a blank is
    /// ignored.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`] for everything else.
    pub fn integer(self) -> Result<i32, Error> {
        integer(self.raw).ok_or_else(|| self.invalid("a 32-bit decimal integer"))
    }

    /// The reading of `g_key_file_get_integer_list` with the separator `;`.
    ///
    /// # Errors
    ///
    /// As for [`IniValue::string`], and [`ErrorKind::InvalidValue`] for an item that is no integer.
    pub fn integer_list(self) -> Result<Vec<i32>, Error> {
        self.string_list()?
            .iter()
            .map(|item| integer(item.as_bytes()))
            .collect::<Option<_>>()
            .ok_or_else(|| self.invalid("a list of integers with `;` between"))
    }

    /// The reading of `g_key_file_get_boolean`: `true`, `false`, `1` or `0`, and trailing blanks.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`] for everything else.
    pub fn boolean(self) -> Result<bool, Error> {
        match trim_end(self.raw) {
            b"true" | b"1" => Ok(true),
            b"false" | b"0" => Ok(false),
            _ => Err(self.invalid("`true`, `false`, `1` or `0`")),
        }
    }

    /// The reading of `g_key_file_get_double`: what `strtod` takes in the C locale, and nothing
    /// after it.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidValue`] for everything else.
    pub fn double(self) -> Result<f64, Error> {
        double(self.raw).ok_or_else(|| self.invalid("a number with nothing after it"))
    }

    /// Resolves escapes, and splits at the separator where one is given.
    fn unescape(self, separator: Option<char>) -> Result<Vec<String>, Error> {
        let text = std::str::from_utf8(self.raw).map_err(|_| {
            Error::new(ErrorKind::Encoding, "the value is not UTF-8").at(self.place)
        })?;
        let mut pieces = Vec::new();
        let mut piece = String::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if Some(c) == separator {
                pieces.push(std::mem::take(&mut piece));
                continue;
            }
            if c != '\\' {
                piece.push(c);
                continue;
            }
            let escaped = chars.next();
            piece.push(match escaped {
                Some('s') => ' ',
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('\\') => '\\',
                Some(c) if escaped == separator => c,
                _ => return Err(self.invalid("text without an unknown backslash escape")),
            });
        }
        // A separator at the end opens no further item.
        if separator.is_none() || !piece.is_empty() {
            pieces.push(piece);
        }
        Ok(pieces)
    }

    /// The error of a getter.
    fn invalid(self, wanted: &str) -> Error {
        let raw = String::from_utf8_lossy(self.raw);
        Error::new(ErrorKind::InvalidValue, format!("`{raw}` is not {wanted}")).at(self.place)
    }
}

/// What C's `isspace` skips before a number.
fn skip_c_space(bytes: &[u8]) -> &[u8] {
    let blanks = bytes
        .iter()
        .take_while(|byte| is_space(**byte) || **byte == 0x0b)
        .count();
    &bytes[blanks..]
}

/// `strtol` in base 10, then GLib's check of what follows.
fn integer(raw: &[u8]) -> Option<i32> {
    let body = skip_c_space(raw);
    let sign_len = usize::from(matches!(body.first(), Some(b'+' | b'-')));
    let digits = body[sign_len..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    if digits == 0 {
        // `strtol` converts nothing and points back to the start: GLib then looks at the first
        // byte, and takes a blank for a good end. Such an item of a list is read as 0.
        return raw.first().is_some_and(|byte| is_space(*byte)).then_some(0);
    }
    let end = sign_len + digits;
    if body.get(end).is_some_and(|byte| !is_space(*byte)) {
        return None;
    }
    std::str::from_utf8(&body[..end]).ok()?.parse().ok()
}

/// `strtod` in the C locale, with nothing left over.
fn double(raw: &[u8]) -> Option<f64> {
    let body = std::str::from_utf8(skip_c_space(raw)).ok()?;
    let (sign, magnitude) = match body.as_bytes().first()? {
        b'-' => (-1.0, &body[1..]),
        b'+' => (1.0, &body[1..]),
        _ => (1.0, body),
    };
    if let Some(hex) = magnitude
        .strip_prefix("0x")
        .or_else(|| magnitude.strip_prefix("0X"))
    {
        return Some(sign * hex_float(hex)?);
    }
    let number = magnitude.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let word = ["inf", "infinity", "nan"]
        .iter()
        .any(|word| magnitude.eq_ignore_ascii_case(word));
    (number || word)
        .then(|| magnitude.parse::<f64>().ok())
        .flatten()
        .map(|value| sign * value)
}

/// The digits of a hexadecimal float, after `0x`.
fn hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.split_once(['p', 'P']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for digit in whole.chars() {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let mut weight = 1.0;
    for digit in fraction.chars() {
        weight /= 16.0;
        value += weight * f64::from(digit.to_digit(16)?);
    }
    Some(value * 2.0_f64.powi(exponent))
}
