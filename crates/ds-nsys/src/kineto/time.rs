//! Microseconds as decimal text, to whole nanoseconds.
//!
//! At the scale of a clock that counts from 1970 a double keeps a quarter of a microsecond, so the digits are read as they
//! stand and never pass through one.

/// Digits of a power of ten beyond which no time is meant: 10^18 µs are 30,000 years.
const LARGEST_EXPONENT: i32 = 40;

/// Reads a JSON number, or one in quotes, of microseconds; `None` where it is no number or no time.
///
/// Kineto writes three decimals. What lies behind the third is rounded, half away from zero.
pub(super) fn nanos(text: &str) -> Option<i64> {
    let text = text.trim().trim_matches('"');
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (digits, 0),
    };
    if exponent.abs() > LARGEST_EXPONENT {
        return None;
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value: i128 = 0;
    let mut scale = exponent.checked_add(3)?;
    for (behind_point, digits) in [(false, whole), (true, fraction)] {
        for digit in digits.bytes() {
            if !digit.is_ascii_digit() {
                return None;
            }
            value = value
                .checked_mul(10)?
                .checked_add(i128::from(digit - b'0'))?;
            scale -= i32::from(behind_point);
        }
    }
    let factor = 10_i128.checked_pow(scale.unsigned_abs())?;
    let value = if scale >= 0 {
        value.checked_mul(factor)?
    } else {
        (value + factor / 2) / factor
    };
    i64::try_from(if negative { -value } else { value }).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::nanos;

    #[test]
    fn digits_are_kept() {
        for (text, expected) in [
            ("5203268603121.647", Some(5_203_268_603_121_647)),
            // The same through a double and times 1000 gives …647.021.
            ("1790857026123456.789", Some(1_790_857_026_123_456_789)),
            ("0", Some(0)),
            ("1", Some(1000)),
            ("12.5", Some(12_500)),
            ("-3.001", Some(-3_001)),
            ("0.0004", Some(0)),
            ("0.0005", Some(1)),
            ("\"7.25\"", Some(7_250)),
            ("1.5e3", Some(1_500_000)),
            ("15E-1", Some(1_500)),
            ("NaN", None),
            ("", None),
            (".", None),
            ("-", None),
            ("1e400", None),
            ("1.2.3", None),
            ("99999999999999999999", None),
            ("null", None),
        ] {
            assert_eq!(nanos(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn three_decimals_are_nanoseconds(time in 0..i64::MAX) {
            let text = format!("{}.{:03}", time / 1000, time % 1000);
            prop_assert_eq!(nanos(&text), Some(time));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = nanos(&text);
        }
    }
}
