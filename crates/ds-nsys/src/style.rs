//! How numbers and names are printed: which release of `nsys stats` a reader compares with.

/// The release whose printing is reproduced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Style {
    /// As 2025.3.2: decimals rounded by the exact binary value, ranges of the default NVTX domain with a leading colon.
    #[default]
    V2025,
    /// As 2023.4.4: one decimal rounded by the shortest decimal form, ranges of the default domain without a colon.
    V2023,
}

/// The decimals that the queries of 2023.4.4 leave.
const ROUNDED_BY_QUERIES: u8 = 1;

impl Style {
    /// Writes a number with a fixed count of decimals, rounded as this release rounds.
    #[must_use]
    pub fn decimal(self, value: f64, places: u8) -> String {
        if !value.is_finite() {
            return value.to_string();
        }
        let magnitude = value.abs();
        let digits = match self {
            Self::V2025 => rounded_exactly(magnitude, places),
            // Its queries round to one decimal. What has more (sizes and rates, three) the program converts and rounds itself:
            // the exact value, ties to the even digit, as Rust does. 4,500 bytes print 0.004 and 62,500 bytes 0.062.
            Self::V2023 if places > ROUNDED_BY_QUERIES => {
                format!("{magnitude:.*}", usize::from(places))
            }
            Self::V2023 => rounded_shortest(magnitude, places),
        };
        // The sign stays on a negative number that rounds to zero, as in the original.
        if value < 0.0 {
            format!("-{digits}")
        } else {
            digits
        }
    }
}

/// Rounds the exact value of the double; only a tie that is exact in binary goes away from zero.
///
/// Measured against 2025.3.2: `26097 / 20` lies just below 1304.85 as a double and prints 1304.8, `92245 / 4` is exactly
/// 23061.25 and prints 23061.3. Rust's own formatting is exact too, but takes such ties to the even digit.
fn rounded_exactly(magnitude: f64, places: u8) -> String {
    const MANTISSA_BITS: u32 = 52;
    /// The exponent of the last mantissa bit of a normal double is the stored one less this.
    const BIAS: i32 = 1075;

    let bits = magnitude.to_bits();
    let stored_exponent = i32::try_from(bits >> MANTISSA_BITS)
        .expect("a positive double has 11 bits above the mantissa");
    let fraction = bits & ((1 << MANTISSA_BITS) - 1);
    let (mantissa, exponent) = match stored_exponent {
        0 => (fraction, 1 - BIAS),
        _ => (fraction | (1 << MANTISSA_BITS), stored_exponent - BIAS),
    };
    if exponent >= 0 {
        // A whole number: there is nothing to round.
        return format!("{magnitude:.*}", usize::from(places));
    }
    // 53 bits of mantissa times 10^4 fit into 67 of the 128 bits.
    let scaled = u128::from(mantissa) * 10_u128.pow(u32::from(places));
    let shift = exponent.unsigned_abs();
    let rounded = if shift > 126 {
        0
    } else {
        (scaled + (1 << (shift - 1))) >> shift
    };
    with_point(&rounded.to_string(), places)
}

/// Rounds the shortest decimal form that reads back as the same double, half up.
///
/// Measured against 2023.4.4 and 2022.4.2: `26097 / 20` has the short form 1304.85 and prints 1304.9.
fn rounded_shortest(magnitude: f64, places: u8) -> String {
    let short = magnitude.to_string();
    let (whole, decimals) = short.split_once('.').unwrap_or((&short, ""));
    let places_len = usize::from(places);
    let Some(dropped) = decimals.as_bytes().get(places_len) else {
        return format!("{magnitude:.places_len$}");
    };
    let kept = format!("{whole}{}", &decimals[..places_len]);
    let digits = if *dropped < b'5' {
        kept
    } else {
        plus_one(&kept)
    };
    with_point(&digits, places)
}

/// Adds one to a decimal number of any length.
fn plus_one(digits: &str) -> String {
    let mut digits = digits.as_bytes().to_vec();
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            return digits.into_iter().map(char::from).collect();
        }
        *digit = b'0';
    }
    std::iter::once('1')
        .chain(digits.into_iter().map(char::from))
        .collect()
}

/// Sets the decimal point into a number that counts units of the last decimal.
fn with_point(digits: &str, places: u8) -> String {
    let places = usize::from(places);
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, decimals) = digits.split_at(digits.len() - places);
    if places == 0 {
        whole.to_owned()
    } else {
        format!("{whole}.{decimals}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Style;

    proptest! {
        /// Both releases print a neighbour of the value, and the same one unless the value lies half-way.
        #[test]
        fn printed_numbers_are_the_nearest(total in 0_u32.., count in 1_u32..5000, places in 1_u8..5) {
            let value = f64::from(total) / f64::from(count);
            let (new, old) = (Style::V2025.decimal(value, places), Style::V2023.decimal(value, places));
            let half = 0.5 / 10_f64.powi(i32::from(places));
            let distance = |text: &str| (text.parse::<f64>().expect("a number") - value).abs();
            // The texts' own doubles round, by less than a billionth of the value.
            let slack = value * 1e-9 + 1e-12;
            prop_assert!(distance(&new) <= half + slack, "{value} as {new}");
            prop_assert!(distance(&old) <= half + slack, "{value} as {old}");
            if new != old {
                prop_assert!((distance(&new) - half).abs() <= slack, "{value}: {new} and {old}");
            }
            prop_assert_eq!(new.split_once('.').map(|(_, d)| d.len()), Some(usize::from(places)));
        }
    }

    #[track_caller]
    fn check(value: f64, places: u8, v2025: &str, v2023: &str) {
        assert_eq!(
            Style::V2025.decimal(value, places),
            v2025,
            "{value} as 2025"
        );
        assert_eq!(
            Style::V2023.decimal(value, places),
            v2023,
            "{value} as 2023"
        );
    }

    #[test]
    fn ties_that_are_exact_in_binary_go_away_from_zero() {
        check(92245.0 / 4.0, 1, "23061.3", "23061.3");
        check(2687.0 / 4.0, 1, "671.8", "671.8");
        check(-2687.0 / 4.0, 1, "-671.8", "-671.8");
    }

    #[test]
    fn ties_of_the_short_form_alone_differ_between_releases() {
        check(26097.0 / 20.0, 1, "1304.8", "1304.9");
        check(28587.0 / 20.0, 1, "1429.3", "1429.4");
        check(25421.0 / 20.0, 1, "1271.0", "1271.1");
        check(207_710.0 / 200.0, 1, "1038.5", "1038.6");
        check(36497.0 / 20.0, 1, "1824.8", "1824.9");
        check(6291.0 / 20.0, 1, "314.6", "314.6");
    }

    /// Sizes and rates of `edges.sql`, as 2023.4.4 printed them.
    #[test]
    fn what_the_old_release_converts_itself_is_rounded_exactly() {
        for (value, printed) in [
            (0.0045, "0.004"),
            (0.0025, "0.003"),
            (0.0625, "0.062"),
            (383.4355, "383.435"),
        ] {
            assert_eq!(Style::V2023.decimal(value, 3), printed);
        }
    }

    #[test]
    fn short_and_long_numbers_keep_their_decimals() {
        check(0.0, 3, "0.000", "0.000");
        check(0.000_4, 3, "0.000", "0.000");
        check(-0.000_4, 3, "-0.000", "-0.000");
        check(9.999_6, 3, "10.000", "10.000");
        check(7.0, 1, "7.0", "7.0");
        check(1e18, 1, "1000000000000000000.0", "1000000000000000000.0");
        check(1e-300, 3, "0.000", "0.000");
    }
}
