//! Shares of a whole.

use std::cmp::Ordering;
use std::fmt;

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
