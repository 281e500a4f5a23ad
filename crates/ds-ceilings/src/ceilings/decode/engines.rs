//! Decoder engines of a generation: one engine's rate, scaled by clock, count and pixels.

use super::{LIGHTER_STREAMS, decode_rate};
use crate::ceilings::limit::{Ceiling, Confidence, Limit};
use crate::codec::VideoProfile;
use crate::gpu::{ComputeCap, DecoderEngine, GpuSpec};
use crate::units::{Fps, Megahertz, Resolution, StreamCount};

/// What a missing figure below the printed frame size means.
const BELOW_1080P: &str =
    "no figure exists below 1920x1080: work per frame makes this an upper bound only";

/// Jetson AGX Orin 64GB decodes 1369 Mpix/s of HEVC at 1080p30 and 1742 at 4K30 (NVIDIA Jetson
/// module comparison).
const ABOVE_1080P: &str = "per pixel, 4K was seen to be up to 27 % faster: this may be too low";

/// The engines of one GPU.
#[derive(Clone, Debug)]
pub(super) struct Engines {
    pub(super) generation: DecoderEngine,
    pub(super) compute_cap: ComputeCap,
    pub(super) count: Result<u32, String>,
    pub(super) count_source: Option<String>,
    pub(super) clock: Result<VideoClock, String>,
}

/// The video clock, and how it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct VideoClock {
    pub(super) value: Megahertz,
    confidence: Confidence,
    caveat: Option<&'static str>,
}

impl VideoClock {
    /// The machine's clock, else one seen on another board, else the clock at which NVIDIA measured
    /// this very product.
    pub(super) fn new(
        machine: Option<Megahertz>,
        spec: Option<&GpuSpec>,
        generation: &DecoderEngine,
    ) -> Result<Self, String> {
        if let Some(value) = machine {
            return Ok(Self {
                value,
                confidence: Confidence::High,
                caveat: None,
            });
        }
        if let Some(value) = spec.and_then(GpuSpec::seen_video_clock) {
            return Ok(Self {
                value,
                confidence: Confidence::Medium,
                caveat: Some("the highest video clock seen on another board"),
            });
        }
        let is_own_row = generation.architecture == "Jetson Thor";
        let value = generation.reference_clock.filter(|_| is_own_row);
        let value = value.ok_or_else(|| {
            "the maximum video clock is not known: `nvidia-smi -q -x` on the machine tells it"
                .to_owned()
        })?;
        Ok(Self {
            value,
            confidence: Confidence::Low,
            caveat: Some("at the clock of NVIDIA's measurement; the maximum is not published"),
        })
    }
}

/// The rate of one engine, from which that of all follows.
struct EngineRate<'e> {
    fps_1080p: Fps,
    /// The rate as it stands in the source.
    shown: String,
    /// The video clock of the rate.
    clock: Megahertz,
    source: &'e str,
    confidence: Confidence,
    caveats: Vec<&'e str>,
}

impl Engines {
    /// The rate that follows from NVIDIA's figure of one engine.
    pub(super) fn published(
        &self,
        profile: VideoProfile,
        resolution: Resolution,
        sessions: Option<StreamCount>,
    ) -> Limit<Fps> {
        if let Some(nothing) = self.nothing(profile) {
            return nothing;
        }
        let generation = &self.generation;
        let Some((fps_1080p, clock)) = generation
            .fps_1080p(profile)
            .zip(generation.reference_clock)
        else {
            return Limit::unknown(format!(
                "NVIDIA prints no speed of {} decoders for {profile}",
                generation.architecture
            ));
        };
        let rate = EngineRate {
            fps_1080p,
            shown: format!("{fps_1080p:.0}"),
            clock,
            source: &generation.source,
            confidence: Confidence::High,
            caveats: vec![LIGHTER_STREAMS],
        };
        self.scaled(rate, resolution, sessions)
    }

    /// The rate that follows from the best measurement of one engine.
    pub(super) fn limit(
        &self,
        profile: VideoProfile,
        resolution: Resolution,
        sessions: Option<StreamCount>,
    ) -> Limit<Fps> {
        if let Some(nothing) = self.nothing(profile) {
            return nothing;
        }
        let generation = &self.generation;
        let measured = generation.measured.as_ref();
        let Some((engine, fps_1080p)) =
            measured.and_then(|engine| Some((engine, engine.fps_1080p(profile)?)))
        else {
            return Limit::unknown(format!(
                "no {} decoder was measured for {profile}",
                generation.architecture
            ));
        };
        if resolution.pixels() > Resolution::FULL_HD.pixels() {
            return Limit::unknown(
                "decoding was measured at 1920x1080 only, and per pixel 4K was seen to be up to 27 % faster",
            );
        }
        let mut caveats = vec!["the fastest stream measured: one lighter still may be faster"];
        // NVIDIA's application note puts Turing, GA100 and Hopper in one row; that their engines
        // are equally fast with lighter streams too is an inference.
        let confidence = if engine.compute_cap == self.compute_cap {
            Confidence::Medium
        } else {
            caveats.push("measured on another GPU with an engine of the same generation");
            Confidence::Low
        };
        let rate = EngineRate {
            fps_1080p,
            shown: format!("{fps_1080p:.1}"),
            clock: engine.clock,
            source: &engine.source,
            confidence,
            caveats,
        };
        self.scaled(rate, resolution, sessions)
    }

    /// One engine's rate at this GPU's clock, for the engines that the sessions use.
    fn scaled(
        &self,
        rate: EngineRate<'_>,
        resolution: Resolution,
        sessions: Option<StreamCount>,
    ) -> Limit<Fps> {
        let (count, clock) = match (&self.count, &self.clock) {
            (Ok(count), Ok(clock)) => (*count, *clock),
            (Err(reason), _) | (_, Err(reason)) => return Limit::unknown(reason.clone()),
        };
        let used = sessions.map_or(count, |sessions| count.min(sessions.get()));
        let Some(value) = decode_rate(rate.fps_1080p, clock.value, rate.clock, used, resolution)
        else {
            return Limit::unknown(format!("the speed for {resolution} cannot be computed"));
        };
        let (own, full_hd) = (resolution.pixels(), Resolution::FULL_HD.pixels());
        let scale = if own == full_hd {
            String::new()
        } else {
            format!(" × {}/{}", full_hd.get(), own.get())
        };
        let (figure, clock_mhz, reference_mhz) = (rate.shown, clock.value.get(), rate.clock.get());
        let confidence = rate.confidence.min(clock.confidence);
        let size_caveat = size_caveat(resolution);
        let mut caveats = rate.caveats;
        caveats.extend(clock.caveat.into_iter().chain(size_caveat));
        Limit::Known(Ceiling {
            value,
            formula: format!(
                "{figure} × {clock_mhz}/{reference_mhz} MHz × {used} NVDEC{scale} = {value}"
            ),
            source: self.with_count_source(rate.source),
            confidence: if size_caveat.is_some() {
                confidence.min(Confidence::Medium)
            } else {
                confidence
            },
            caveat: Some(caveats.join("; ")),
        })
    }

    /// A rate of zero, which is knowledge and not a gap, where nothing decodes the profile.
    fn nothing(&self, profile: VideoProfile) -> Option<Limit<Fps>> {
        let generation = &self.generation;
        let why = if self.count == Ok(0) {
            "0 decoders".to_owned()
        } else if !generation.decodes(profile) {
            format!(
                "{} decoders do not decode {profile}",
                generation.architecture
            )
        } else {
            return None;
        };
        let source = self.with_count_source(&generation.source);
        Some(Limit::Known(Ceiling::new(
            Fps::ZERO,
            why,
            source,
            Confidence::High,
        )))
    }

    fn with_count_source(&self, source: &str) -> String {
        match &self.count_source {
            Some(count_source) => format!("{source}; {count_source}"),
            None => source.to_owned(),
        }
    }
}

fn size_caveat(resolution: Resolution) -> Option<&'static str> {
    let (own, printed) = (resolution.pixels(), Resolution::FULL_HD.pixels());
    match own.cmp(&printed) {
        std::cmp::Ordering::Less => Some(BELOW_1080P),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(ABOVE_1080P),
    }
}
