//! Whole-numbered quantities.

use std::fmt;
use std::iter::Sum;
use std::ops::Add;

use super::real::Seconds;

/// Defines a whole-numbered quantity.
macro_rules! whole_quantity {
    ($(#[$doc:meta])* $name:ident, $int:ty) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($int);

        impl $name {
            /// Nothing of it.
            pub const ZERO: Self = Self(0);

            /// Takes a value.
            #[must_use]
            pub const fn new(value: $int) -> Self {
                Self(value)
            }

            /// The value.
            #[must_use]
            pub const fn get(self) -> $int {
                self.0
            }
        }

        impl Add for $name {
            type Output = Self;

            /// Saturates at the largest value.
            fn add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
                iter.fold(Self::ZERO, Self::add)
            }
        }
    };
}

whole_quantity! {
    /// A duration or a point in time as traces store it.
    Nanos, u64
}

whole_quantity! {
    /// An amount of memory or of transferred data.
    Bytes, u64
}

whole_quantity! {
    /// A clock rate, whole as nvidia-smi prints it.
    Megahertz, u32
}

whole_quantity! {
    /// A number of pixels, usually of one frame.
    Pixels, u64
}

whole_quantity! {
    /// A number of video streams. Zero is a value: a MIG slice without a decoder carries none.
    StreamCount, u32
}

impl Nanos {
    /// The same duration in seconds.
    #[must_use]
    pub fn seconds(self) -> Seconds {
        Seconds::new(self.0 as f64 / 1e9).expect("a whole number of nanoseconds is a duration")
    }
}

impl Bytes {
    /// From MiB, the unit in which nvidia-smi prints memory; saturates.
    #[must_use]
    pub const fn from_mib(value: u64) -> Self {
        Self(value.saturating_mul(1 << 20))
    }

    /// From GiB, in which nvidia-smi prints the memory of MIG profiles; `None` if no amount.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the product is checked to lie within the range of the type"
    )]
    pub fn from_gib(value: f64) -> Option<Self> {
        let bytes = (value * f64::from(1 << 30)).round();
        (0.0..u64::MAX as f64)
            .contains(&bytes)
            .then_some(Self(bytes as u64))
    }

    /// In whole MiB, rounded down.
    #[must_use]
    pub const fn mib(self) -> u64 {
        self.0 >> 20
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

impl fmt::Display for Bytes {
    /// In the largest binary unit that leaves at least one whole.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u32); 4] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        match UNITS.iter().find(|(_, shift)| self.0 >> shift > 0) {
            Some((unit, shift)) => {
                let digits = f.precision().unwrap_or(1);
                write!(
                    f,
                    "{:.digits$} {unit}",
                    self.0 as f64 / (1_u64 << shift) as f64
                )
            }
            None => write!(f, "{} B", self.0),
        }
    }
}

impl fmt::Display for Megahertz {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MHz", self.0)
    }
}

impl fmt::Display for Pixels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} px", self.0)
    }
}

impl fmt::Display for StreamCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = if self.0 == 1 { "stream" } else { "streams" };
        write!(f, "{} {noun}", self.0)
    }
}
