//! Video formats, as far as a decoder's speed depends on them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, de};

/// A video codec that NVDEC knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Codec {
    /// H.264, AVC.
    H264,
    /// H.265, HEVC.
    Hevc,
    /// VP8.
    Vp8,
    /// VP9.
    Vp9,
    /// AV1.
    Av1,
    /// MPEG-2.
    Mpeg2,
    /// MPEG-4 part 2.
    Mpeg4,
    /// VC-1.
    Vc1,
}

impl Codec {
    /// Every codec, in the order in which reports list them.
    pub const ALL: [Self; 8] = [
        Self::H264,
        Self::Hevc,
        Self::Vp9,
        Self::Av1,
        Self::Vp8,
        Self::Mpeg2,
        Self::Mpeg4,
        Self::Vc1,
    ];

    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::H264 => "H.264",
            Self::Hevc => "HEVC",
            Self::Vp8 => "VP8",
            Self::Vp9 => "VP9",
            Self::Av1 => "AV1",
            Self::Mpeg2 => "MPEG-2",
            Self::Mpeg4 => "MPEG-4",
            Self::Vc1 => "VC-1",
        }
    }
}

impl fmt::Display for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text names no codec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is no video codec: `h264`, `hevc`, `vp8`, `vp9`, `av1`, `mpeg2`, `mpeg4` or `vc1`"
)]
pub struct ParseCodecError {
    /// What was given.
    text: String,
}

impl FromStr for Codec {
    type Err = ParseCodecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().to_lowercase().as_str() {
            "h264" | "h.264" | "avc" => Ok(Self::H264),
            "h265" | "h.265" | "hevc" => Ok(Self::Hevc),
            "vp8" => Ok(Self::Vp8),
            "vp9" => Ok(Self::Vp9),
            "av1" => Ok(Self::Av1),
            "mpeg2" => Ok(Self::Mpeg2),
            "mpeg4" => Ok(Self::Mpeg4),
            "vc1" => Ok(Self::Vc1),
            _ => Err(ParseCodecError {
                text: text.to_owned(),
            }),
        }
    }
}

/// Bits per colour sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BitDepth {
    /// 8 bits.
    #[default]
    Eight,
    /// 10 bits.
    Ten,
}

impl BitDepth {
    /// Every depth.
    pub const ALL: [Self; 2] = [Self::Eight, Self::Ten];

    /// The number of bits.
    #[must_use]
    pub const fn bits(self) -> u8 {
        match self {
            Self::Eight => 8,
            Self::Ten => 10,
        }
    }
}

/// A codec with its bit depth, 4:2:0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VideoProfile {
    /// The codec.
    pub codec: Codec,
    /// The bit depth.
    pub depth: BitDepth,
}

impl VideoProfile {
    /// 8-bit H.264.
    pub const H264: Self = Self::new(Codec::H264, BitDepth::Eight);
    /// 8-bit HEVC.
    pub const HEVC: Self = Self::new(Codec::Hevc, BitDepth::Eight);
    /// 10-bit HEVC, Main10.
    pub const HEVC_10: Self = Self::new(Codec::Hevc, BitDepth::Ten);
    /// 8-bit VP9.
    pub const VP9: Self = Self::new(Codec::Vp9, BitDepth::Eight);
    /// 10-bit VP9.
    pub const VP9_10: Self = Self::new(Codec::Vp9, BitDepth::Ten);
    /// 8-bit AV1.
    pub const AV1: Self = Self::new(Codec::Av1, BitDepth::Eight);

    /// The profiles for which NVIDIA prints decoder speeds, in the order in which reports list
    /// them.
    pub const PRINTED: [Self; 6] = [
        Self::H264,
        Self::HEVC,
        Self::HEVC_10,
        Self::VP9,
        Self::VP9_10,
        Self::AV1,
    ];

    /// Takes both.
    #[must_use]
    pub const fn new(codec: Codec, depth: BitDepth) -> Self {
        Self { codec, depth }
    }

    /// A short name for identifiers and data files, such as `hevc_10`.
    #[must_use]
    pub fn key(self) -> String {
        let codec = match self.codec {
            Codec::H264 => "h264",
            Codec::Hevc => "hevc",
            Codec::Vp8 => "vp8",
            Codec::Vp9 => "vp9",
            Codec::Av1 => "av1",
            Codec::Mpeg2 => "mpeg2",
            Codec::Mpeg4 => "mpeg4",
            Codec::Vc1 => "vc1",
        };
        match self.depth {
            BitDepth::Eight => codec.to_owned(),
            BitDepth::Ten => format!("{codec}_10"),
        }
    }
}

impl fmt::Display for VideoProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.depth {
            BitDepth::Eight => write!(f, "{}", self.codec),
            BitDepth::Ten => write!(f, "{} 10 bit", self.codec),
        }
    }
}

impl<'de> Deserialize<'de> for VideoProfile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        let (codec, depth) = match key.strip_suffix("_10") {
            Some(codec) => (codec, BitDepth::Ten),
            None => (key.as_str(), BitDepth::Eight),
        };
        Ok(Self::new(codec.parse().map_err(de::Error::custom)?, depth))
    }
}
