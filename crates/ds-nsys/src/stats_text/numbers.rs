//! Numbers as locales print them.

/// How a table writes numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NumberFormat {
    /// The character before the fraction.
    pub(super) decimal: char,
}

impl NumberFormat {
    /// A point before the fraction, as in CSV and in most locales.
    pub(super) const POINT: Self = Self { decimal: '.' };

    /// Learns the decimal character from values that all have the same count of decimals; `None` without one.
    ///
    /// Such a value gives it away by position: `3.392.209,0` and `3,392,209.0` have one decimal each.
    pub(super) fn from_fractions<'a>(
        values: impl IntoIterator<Item = &'a str>,
        places: usize,
    ) -> Option<Self> {
        let mut found = None;
        for value in values {
            let decimal = value
                .chars()
                .rev()
                .nth(places)
                .filter(|c| matches!(c, '.' | ','))?;
            if *found.get_or_insert(decimal) != decimal {
                return None;
            }
        }
        found.map(|decimal| Self { decimal })
    }

    /// Reads a number, with separators between thousands only where thousands end.
    pub(super) fn read(self, text: &str) -> Option<f64> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text),
        };
        let (whole, fraction) = match digits.split_once(self.decimal) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (digits, None),
        };
        let whole = without_thousands(whole, self.decimal)?;
        let fraction = fraction.unwrap_or("0");
        if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        format!("{sign}{whole}.{fraction}").parse().ok()
    }
}

/// The digits of a whole number; `None` where something else than separated groups of three stands between them.
fn without_thousands(text: &str, decimal: char) -> Option<String> {
    let separator = text.chars().find(|c| !c.is_ascii_digit());
    let Some(separator) = separator else {
        return (!text.is_empty()).then(|| text.to_owned());
    };
    // A point, a comma, an apostrophe, or one of the blanks that locales use (French: U+202F).
    let is_known = matches!(separator, '.' | ',' | '\'' | ' ' | '\u{A0}' | '\u{202F}');
    if !is_known || separator == decimal {
        return None;
    }
    let mut groups = text.split(separator);
    let first = groups.next()?;
    let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    if first.is_empty() || first.len() > 3 || !is_digits(first) {
        return None;
    }
    let mut digits = first.to_owned();
    for group in groups {
        if group.len() != 3 || !is_digits(group) {
            return None;
        }
        digits.push_str(group);
    }
    Some(digits)
}

#[cfg(test)]
mod tests {
    use super::NumberFormat;

    #[track_caller]
    fn check(decimal: char, text: &str, expected: Option<&str>) {
        let read = NumberFormat { decimal }
            .read(text)
            .map(|value| value.to_string());
        assert_eq!(read.as_deref(), expected, "{text} with `{decimal}`");
    }

    #[test]
    fn separators_stand_only_between_thousands() {
        check('.', "39,754,166,488", Some("39754166488"));
        check('.', "1,060,111.1", Some("1060111.1"));
        check(',', "3.392.209,0", Some("3392209"));
        check(',', "33\u{202F}202\u{202F}424", Some("33202424"));
        check(',', "10064,712", Some("10064.712"));
        check('.', "-5.5", Some("-5.5"));
        check('.', "12,34", None);
        check('.', "1234,567", None);
        check('.', "1.", None);
        check('.', "", None);
        check('.', "1e5", None);
        check('.', "--1", None);
    }

    #[test]
    fn the_place_of_the_fraction_tells_the_decimal_character() {
        let learned = |values: &[&str], places| {
            NumberFormat::from_fractions(values.iter().copied(), places)
                .map(|format| format.decimal)
        };
        assert_eq!(learned(&["100.0", "0.0"], 1), Some('.'));
        assert_eq!(learned(&["100,0", "3.392.209,0"], 1), Some(','));
        assert_eq!(learned(&["39,595,542.188", "0.039"], 3), Some('.'));
        assert_eq!(learned(&["100,0", "99.9"], 1), None);
        assert_eq!(learned(&["100"], 1), None);
        assert_eq!(learned(&[], 1), None);
    }
}
