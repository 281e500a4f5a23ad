//! Rates and durations over `f64`.

use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::ops::Add;

/// Defines a finite, non-negative quantity over `f64`. `Display` divides by `$scale`, prints
/// `$digits` decimals unless the caller asks for another precision, and appends `$suffix`.
macro_rules! real_quantity {
    ($(#[$doc:meta])* $name:ident, $scale:expr, $digits:expr, $suffix:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name(f64);

        impl $name {
            /// Nothing of it.
            pub const ZERO: Self = Self(0.0);

            /// Takes a value in the base unit; `None` if it is negative, infinite or NaN.
            #[must_use]
            pub fn new(value: f64) -> Option<Self> {
                // Adding zero turns -0.0 into 0.0, so that equal quantities are also equal in their
                // total order.
                (value.is_finite() && value >= 0.0).then_some(Self(value + 0.0))
            }

            /// The value in the base unit.
            #[must_use]
            pub fn get(self) -> f64 {
                self.0
            }

            /// This quantity times `factor`; `None` if the product is no valid quantity.
            #[must_use]
            pub fn scaled(self, factor: f64) -> Option<Self> {
                Self::new(self.0 * factor)
            }

            /// This quantity over another of its kind; `None` if the other is zero or the quotient
            /// is not finite.
            #[must_use]
            pub fn ratio_to(self, whole: Self) -> Option<f64> {
                let ratio = self.0 / whole.0;
                ratio.is_finite().then_some(ratio)
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other) == Ordering::Equal
            }
        }

        impl Eq for $name {}

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl Ord for $name {
            fn cmp(&self, other: &Self) -> Ordering {
                self.0.total_cmp(&other.0)
            }
        }

        impl Add for $name {
            type Output = Self;

            /// Saturates at the largest finite value.
            fn add(self, other: Self) -> Self {
                Self((self.0 + other.0).min(f64::MAX))
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::ZERO, Self::add)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let digits = f.precision().unwrap_or($digits);
                write!(f, "{:.digits$} {}", self.0 / $scale, $suffix)
            }
        }
    };
}

real_quantity! {
    /// Frames per second.
    Fps, 1.0, 1, "fps"
}

real_quantity! {
    /// A duration that was computed, in seconds; durations read from a trace are [`Nanos`](super::Nanos).
    Seconds, 1.0, 3, "s"
}

real_quantity! {
    /// Bytes per second. Shown in GB/s of 10⁹, the unit of data sheets.
    BytesPerSec, 1e9, 1, "GB/s"
}

real_quantity! {
    /// Arithmetic operations per second; a multiply-add counts as two, as in NVIDIA's figures.
    /// Shown in 10¹².
    OpsPerSec, 1e12, 1, "TOP/s"
}

impl BytesPerSec {
    /// From GB/s of 10⁹ bytes.
    #[must_use]
    pub fn from_giga(value: f64) -> Option<Self> {
        Self::new(value * 1e9)
    }

    /// In GB/s of 10⁹ bytes.
    #[must_use]
    pub fn giga(self) -> f64 {
        self.0 / 1e9
    }
}

impl OpsPerSec {
    /// From 10¹² operations per second: TFLOP/s, or TOPS for integers.
    #[must_use]
    pub fn from_tera(value: f64) -> Option<Self> {
        Self::new(value * 1e12)
    }

    /// In 10¹² operations per second: TFLOP/s, or TOPS for integers.
    #[must_use]
    pub fn tera(self) -> f64 {
        self.0 / 1e12
    }
}
