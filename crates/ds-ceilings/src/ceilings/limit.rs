//! A ceiling with everything a reader needs to believe it, or the reason why there is none.

use std::fmt;

/// How far a ceiling can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// An inference from something similar, or from an unverified value.
    Low,
    /// A formula whose result NVIDIA does not print, or a figure that was quoted.
    Medium,
    /// Reproduces what NVIDIA prints, or comes from this machine.
    High,
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        })
    }
}

/// The most that something can be; for the published rates of tensor cores and decoders, the most
/// that NVIDIA prints.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ceiling<Q> {
    /// The figure; its type is its unit.
    pub value: Q,
    /// How it was computed, with the numbers filled in.
    pub formula: String,
    /// Where the numbers come from.
    pub source: String,
    /// How far it can be trusted.
    pub confidence: Confidence,
    /// What a reader must know before using it.
    pub caveat: Option<String>,
}

impl<Q> Ceiling<Q> {
    /// A ceiling without a caveat.
    #[must_use]
    pub fn new(
        value: Q,
        formula: impl Into<String>,
        source: impl Into<String>,
        confidence: Confidence,
    ) -> Self {
        let (formula, source) = (formula.into(), source.into());
        Self {
            value,
            formula,
            source,
            confidence,
            caveat: None,
        }
    }
}

/// A ceiling, or the reason why there is none. An unknown ceiling is not infinite: a minimum over
/// ceilings with an unknown one among them holds "at most".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Limit<Q> {
    /// It is known.
    Known(Ceiling<Q>),
    /// It is not.
    Unknown {
        /// Why, and what would make it known.
        reason: String,
    },
}

impl<Q: Copy> Limit<Q> {
    /// The ceiling, if it is known.
    #[must_use]
    pub fn known(&self) -> Option<&Ceiling<Q>> {
        match self {
            Self::Known(ceiling) => Some(ceiling),
            Self::Unknown { .. } => None,
        }
    }

    /// The figure, if it is known.
    #[must_use]
    pub fn value(&self) -> Option<Q> {
        self.known().map(|ceiling| ceiling.value)
    }

    /// Why it is unknown.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Unknown { reason } => Some(reason),
        }
    }

    /// A ceiling that is not known, and why.
    #[must_use]
    pub fn unknown(reason: impl Into<String>) -> Self {
        Self::Unknown {
            reason: reason.into(),
        }
    }
}
