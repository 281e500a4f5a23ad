//! Frames: how large, and how many at once.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use super::whole::Pixels;

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
        Pixels::new(u64::from(self.width.get()) * u64::from(self.height.get()))
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
