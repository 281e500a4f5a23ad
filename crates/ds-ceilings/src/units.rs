//! Units as types, so that a clock is never added to a frame rate.
//!
//! The real-valued ones are finite and never negative: their constructor returns `None` for
//! anything else, and their arithmetic stays inside that range. That is what lets them be ordered
//! and compared without a thought for NaN.

use std::cmp::Ordering;
use std::fmt;
use std::iter::Sum;
use std::num::NonZeroU32;
use std::ops::Add;
use std::str::FromStr;

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
    /// A duration that was computed, in seconds; durations read from a trace are [`Nanos`].
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

/// A share between nothing and all, both included. Shown in percent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fraction(f64);

impl Fraction {
    /// None of it.
    pub const ZERO: Self = Self(0.0);
    /// All of it.
    pub const ONE: Self = Self(1.0);

    /// Takes a share in 0..=1; `None` for anything else.
    #[must_use]
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value + 0.0))
    }

    /// Takes a share in percent, 0..=100; `None` for anything else.
    #[must_use]
    pub fn from_percent(value: f64) -> Option<Self> {
        Self::new(value / 100.0)
    }

    /// The share that `part` is of `whole`; `None` if `whole` is not positive or `part` is outside
    /// it.
    #[must_use]
    pub fn of(part: f64, whole: f64) -> Option<Self> {
        (whole > 0.0).then(|| Self::new(part / whole)).flatten()
    }

    /// The share as a number in 0..=1.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// The share in percent.
    #[must_use]
    pub fn percent(self) -> f64 {
        self.0 * 100.0
    }

    /// What is left of the whole.
    #[must_use]
    pub fn complement(self) -> Self {
        Self(1.0 - self.0)
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl fmt::Display for Fraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(1);
        write!(f, "{:.digits$} %", self.percent())
    }
}

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
        Seconds(self.0 as f64 / 1e9)
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

/// How many frames one inference or one muxed buffer carries; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Batch(NonZeroU32);

impl Batch {
    /// A single frame.
    pub const ONE: Self = Self(NonZeroU32::MIN);

    /// Takes a batch size; `None` for zero.
    #[must_use]
    pub fn new(value: u32) -> Option<Self> {
        NonZeroU32::new(value).map(Self)
    }

    /// The number of frames.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0.get()
    }
}

impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Width and height of a frame in pixels; neither is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Resolution {
    width: NonZeroU32,
    height: NonZeroU32,
}

impl Resolution {
    /// 1280 × 720.
    pub const HD: Self = Self::of(1280, 720);
    /// 1920 × 1080, the resolution of NVIDIA's decoder figures.
    pub const FULL_HD: Self = Self::of(1920, 1080);
    /// 3840 × 2160.
    pub const UHD_4K: Self = Self::of(3840, 2160);

    /// For the constants above only: a zero would stop the compiler.
    const fn of(width: u32, height: u32) -> Self {
        match (NonZeroU32::new(width), NonZeroU32::new(height)) {
            (Some(width), Some(height)) => Self { width, height },
            _ => panic!("a resolution has no zero side"),
        }
    }

    /// Takes both sides; `None` if one is zero.
    #[must_use]
    pub fn new(width: u32, height: u32) -> Option<Self> {
        Some(Self {
            width: NonZeroU32::new(width)?,
            height: NonZeroU32::new(height)?,
        })
    }

    /// The width in pixels.
    #[must_use]
    pub fn width(self) -> u32 {
        self.width.get()
    }

    /// The height in pixels.
    #[must_use]
    pub fn height(self) -> u32 {
        self.height.get()
    }

    /// The pixels of one frame.
    #[must_use]
    pub fn pixels(self) -> Pixels {
        // Two factors below 2³² cannot overflow 64 bits.
        Pixels(u64::from(self.width.get()) * u64::from(self.height.get()))
    }
}

impl fmt::Display for Resolution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// The text is no `WIDTHxHEIGHT` with two positive numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no resolution such as `1920x1080`")]
pub struct ParseResolutionError {
    /// What was given.
    text: String,
}

impl FromStr for Resolution {
    type Err = ParseResolutionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (width, height) = text.trim().split_once(['x', 'X', '×'])?;
            Self::new(width.trim().parse().ok()?, height.trim().parse().ok()?)
        };
        parse().ok_or_else(|| ParseResolutionError {
            text: text.to_owned(),
        })
    }
}
