//! Quantities with their unit in the type.
//!
//! A whole number of nanoseconds or bytes is exact and stays an integer. Means, medians of an even count and deviations
//! fall between two integers and have types of their own, so that a rounded figure is never mistaken for a measured one.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub};

/// A time or a duration in whole nanoseconds, as the exporter stores it.
///
/// Points in time count from the start of the session; events from before it carry a negative time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub i64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// The value in seconds, for printing and for shares.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.as_f64() / 1e9
    }

    /// The value in milliseconds, for printing.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.as_f64() / 1e6
    }

    /// The share that this time has of `whole`; `None` when `whole` is not positive.
    #[must_use]
    pub fn share_of(self, whole: Self) -> Option<Share> {
        (whole.0 > 0).then(|| Share(self.as_f64() / whole.as_f64()))
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "2^53 ns are 104 days; no session is that long"
    )]
    fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

impl Add for Nanos {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Nanos {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Sum for Nanos {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ns", self.0)
    }
}

/// A derived duration that need not be a whole number of nanoseconds: a mean, a median, a deviation.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct FracNanos(pub f64);

/// A number of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub i64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}

/// A derived size that need not be a whole number of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct FracBytes(pub f64);

/// A share of a whole: 1 is all of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Share(pub f64);

impl Share {
    /// The share in per cent.
    #[must_use]
    pub fn percent(self) -> f64 {
        self.0 * 100.0
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} %", self.percent())
    }
}
