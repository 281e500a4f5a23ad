//! CUDA compute capabilities.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

/// A CUDA compute capability, such as 9.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ComputeCap {
    major: u8,
    minor: u8,
}

impl ComputeCap {
    /// Takes both numbers.
    #[must_use]
    pub const fn new(major: u8, minor: u8) -> Self {
        Self { major, minor }
    }

    /// The number before the point.
    #[must_use]
    pub const fn major(self) -> u8 {
        self.major
    }

    /// The number behind the point.
    #[must_use]
    pub const fn minor(self) -> u8 {
        self.minor
    }

    /// FP32 lanes per SM, by which NVML's core count is divided to get SMs; `None` for capabilities
    /// not listed.
    ///
    /// Source: CUDA C++ Programming Guide, "Compute Capabilities", arithmetic throughput of 32-bit
    /// floating point.
    #[must_use]
    pub const fn cores_per_sm(self) -> Option<u32> {
        match (self.major, self.minor) {
            (6, 0) | (7, 0 | 2 | 5) | (8, 0) => Some(64),
            (6, 1) | (8, 6 | 7 | 9) | (9, 0) | (10 | 12, _) | (11, 0) => Some(128),
            _ => None,
        }
    }
}

impl fmt::Display for ComputeCap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// The text is no compute capability.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no compute capability such as `9.0`")]
pub struct ParseComputeCapError {
    /// What was given.
    text: String,
}

impl FromStr for ComputeCap {
    type Err = ParseComputeCapError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (major, minor) = text.trim().split_once('.')?;
            Some(Self {
                major: major.parse().ok()?,
                minor: minor.parse().ok()?,
            })
        };
        parse().ok_or_else(|| ParseComputeCapError {
            text: text.to_owned(),
        })
    }
}

impl<'de> Deserialize<'de> for ComputeCap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}
