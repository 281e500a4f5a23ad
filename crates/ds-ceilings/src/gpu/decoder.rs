//! What is known about video decoders: engines by generation, and whole Jetson modules.

use serde::Deserialize;

use super::compute_cap::ComputeCap;
use super::spec::{megahertz, optional_megahertz};
use crate::codec::{BitDepth, Codec, VideoProfile};
use crate::units::{Fps, Megahertz, Resolution};

/// One generation of decoder engines.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DecoderEngine {
    /// The generation, named as in NVIDIA's performance table.
    pub architecture: String,
    compute_caps: Vec<ComputeCap>,
    /// The video clock at which the figures hold.
    #[serde(
        rename = "reference_clock_mhz",
        default,
        deserialize_with = "optional_megahertz"
    )]
    pub reference_clock: Option<Megahertz>,
    fps_1080p: EngineRates,
    decodes: Vec<VideoProfile>,
    /// Where the figures come from.
    pub source: String,
    /// The best that was measured of one such engine.
    pub measured: Option<MeasuredEngine>,
}

impl DecoderEngine {
    /// Whether GPUs of this compute capability carry the engine.
    pub(super) fn is_in(&self, compute_cap: ComputeCap) -> bool {
        self.compute_caps.contains(&compute_cap)
    }

    /// Frames per second of one engine at 1920 × 1080 and the reference clock, where NVIDIA prints
    /// it.
    #[must_use]
    pub fn fps_1080p(&self, profile: VideoProfile) -> Option<Fps> {
        self.fps_1080p.get(profile)
    }

    /// Whether the engine decodes 4:2:0 video of this profile at all.
    #[must_use]
    pub fn decodes(&self, profile: VideoProfile) -> bool {
        self.decodes.contains(&profile)
    }
}

/// The best rates that were measured of one engine.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MeasuredEngine {
    /// The compute capability of the GPU that was measured.
    pub compute_cap: ComputeCap,
    /// The video clock at which the rates were reached.
    #[serde(rename = "clock_mhz", deserialize_with = "megahertz")]
    pub clock: Megahertz,
    fps_1080p: EngineRates,
    /// What was measured, and with what.
    pub source: String,
}

impl MeasuredEngine {
    /// Frames per second of one engine at 1920 × 1080, where it was measured.
    #[must_use]
    pub fn fps_1080p(&self, profile: VideoProfile) -> Option<Fps> {
        self.fps_1080p.get(profile)
    }
}

/// The figures of one engine, with the keys of the data file.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EngineRates {
    h264: Option<f64>,
    hevc: Option<f64>,
    hevc_10: Option<f64>,
    vp9: Option<f64>,
    vp9_10: Option<f64>,
    av1: Option<f64>,
}

impl EngineRates {
    fn get(&self, profile: VideoProfile) -> Option<Fps> {
        let fps = match (profile.codec, profile.depth) {
            (Codec::H264, BitDepth::Eight) => self.h264,
            (Codec::Hevc, BitDepth::Eight) => self.hevc,
            (Codec::Hevc, BitDepth::Ten) => self.hevc_10,
            (Codec::Vp9, BitDepth::Eight) => self.vp9,
            (Codec::Vp9, BitDepth::Ten) => self.vp9_10,
            (Codec::Av1, BitDepth::Eight) => self.av1,
            _ => None,
        };
        fps.and_then(Fps::new)
    }
}

/// What NVIDIA prints for the decoders of a whole Jetson module.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct JetsonModule {
    /// The label of the product.
    pub name: String,
    /// The codec of the figures.
    pub codec: VideoProfile,
    sizes: Vec<ModuleRate>,
    /// Where the figures come from.
    pub source: String,
}

impl JetsonModule {
    /// The printed rates.
    #[must_use]
    pub fn rates(&self) -> &[ModuleRate] {
        &self.sizes
    }
}

/// A printed rate of a Jetson module at one frame size.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModuleRate {
    width: u32,
    height: u32,
    fps: u32,
}

impl ModuleRate {
    /// The frame size; `None` if the data names a zero side.
    #[must_use]
    pub fn resolution(self) -> Option<Resolution> {
        Resolution::new(self.width, self.height)
    }

    /// The rate of all streams together.
    #[must_use]
    pub fn fps(self) -> Option<Fps> {
        Fps::new(f64::from(self.fps))
    }
}
