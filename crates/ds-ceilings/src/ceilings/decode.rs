//! How many frames the video decoders deliver.

use super::context::Context;
use super::limit::{Ceiling, Confidence, Limit};
use crate::codec::VideoProfile;
use crate::gpu::{DecoderEngine, GpuSpec, JetsonModule};
use crate::units::{Fps, Megahertz, Resolution, StreamCount};

/// What a missing figure below or above the printed frame size means for the bound.
const BELOW_1080P: &str =
    "no figure exists below 1920x1080: work per frame makes this an upper bound only";

/// Jetson AGX Orin 64GB decodes 1369 Mpix/s of HEVC at 1080p30 and 1742 at 4K30 (NVIDIA Jetson
/// module comparison).
const ABOVE_1080P: &str = "per pixel, 4K was seen to be up to 27 % faster: this may be too low";

/// Frames per second of `engines` engines: the printed figure of one, scaled by clock and pixels.
///
/// `None` where the reference clock is zero or the product is not finite.
#[must_use]
pub fn decode_rate(
    per_engine_1080p: Fps,
    clock: Megahertz,
    reference_clock: Megahertz,
    engines: u32,
    resolution: Resolution,
) -> Option<Fps> {
    let clocks = f64::from(clock.get()) / f64::from(reference_clock.get());
    let pixels = Resolution::FULL_HD.pixels().get() as f64 / resolution.pixels().get() as f64;
    per_engine_1080p.scaled(clocks * f64::from(engines) * pixels)
}

/// The video decoders of one GPU, from which the rate of any format follows.
#[derive(Clone, Debug)]
pub struct Decoder {
    basis: Basis,
}

/// What is known about the decoders.
#[derive(Clone, Debug)]
enum Basis {
    /// Engines of a generation with a row in NVIDIA's table.
    Engines(Engines),
    /// A Jetson module whose rates NVIDIA prints as a whole.
    Module(JetsonModule),
    /// Nothing may be said, whatever the format.
    Unknown(String),
}

#[derive(Clone, Debug)]
struct Engines {
    generation: DecoderEngine,
    count: Result<u32, String>,
    clock: Result<Clock, String>,
    source: String,
}

#[derive(Clone, Copy, Debug)]
struct Clock {
    value: Megahertz,
    confidence: Confidence,
    caveat: Option<&'static str>,
}

impl Decoder {
    pub(super) fn new(context: &Context<'_>) -> Self {
        Self {
            basis: basis(context).unwrap_or_else(Basis::Unknown),
        }
    }

    /// The number of engines, where it is known.
    #[must_use]
    pub fn engines(&self) -> Option<u32> {
        match &self.basis {
            Basis::Engines(engines) => engines.count.as_ref().ok().copied(),
            Basis::Module(_) | Basis::Unknown(_) => None,
        }
    }

    /// The video clock at which the rates are given, where it is known.
    #[must_use]
    pub fn clock(&self) -> Option<Megahertz> {
        match &self.basis {
            Basis::Engines(engines) => engines.clock.as_ref().ok().map(|clock| clock.value),
            Basis::Module(_) | Basis::Unknown(_) => None,
        }
    }

    /// Frames per second of all engines together.
    #[must_use]
    pub fn fps(&self, profile: VideoProfile, resolution: Resolution) -> Limit<Fps> {
        match &self.basis {
            Basis::Engines(engines) => engines.fps(profile, resolution, None),
            Basis::Module(module) => module_fps(module, profile, resolution),
            Basis::Unknown(reason) => Limit::unknown(reason.clone()),
        }
    }

    /// Frames per second of a number of sessions: one session never uses more than one engine, so
    /// fewer sessions than engines leave engines idle.
    #[must_use]
    pub fn fps_of_sessions(
        &self,
        profile: VideoProfile,
        resolution: Resolution,
        sessions: StreamCount,
    ) -> Limit<Fps> {
        match &self.basis {
            Basis::Engines(engines) => engines.fps(profile, resolution, Some(sessions)),
            Basis::Module(_) | Basis::Unknown(_) => self.fps(profile, resolution),
        }
    }
}

fn basis(context: &Context<'_>) -> Result<Basis, String> {
    if let Some(reason) = context.withheld() {
        return Err(reason);
    }
    let (identity, spec) = (context.identity, context.spec());
    let compute_cap = context
        .compute_cap()
        .ok_or_else(|| context.not_recognised())?;
    let generation = context.table.engine(compute_cap);
    let module = spec.and_then(|spec| context.table.module(spec.label()));
    // A module's printed rates stand in where the performance table has no row for its engine.
    let Some(generation) =
        generation.filter(|engine| engine.reference_clock.is_some() || module.is_none())
    else {
        return module.cloned().map(Basis::Module).ok_or_else(|| {
            format!("NVIDIA prints no decoder speed for compute capability {compute_cap}")
        });
    };
    let (count, source) = match &identity.instance {
        Some(instance) => (
            instance.decoders,
            Some("decoder count of the MIG device".to_owned()),
        ),
        None => (
            spec.and_then(|spec| spec.nvdec.count),
            spec.and_then(|spec| spec.nvdec.source.clone()),
        ),
    };
    let count = count.ok_or_else(|| match spec {
        Some(spec) => format!("the number of decoders of {} is not known", spec.label()),
        None => context.not_recognised(),
    });
    let source = match source {
        Some(source) => format!("{}; {source}", generation.source),
        None => generation.source.clone(),
    };
    let clock = video_clock(identity.max_clocks.video, spec, generation).ok_or_else(|| {
        "the maximum video clock is not known: `nvidia-smi -q -x` on the machine tells it"
            .to_owned()
    });
    Ok(Basis::Engines(Engines {
        generation: generation.clone(),
        count,
        clock,
        source,
    }))
}

/// The machine's clock, else one seen on another board, else the clock at which NVIDIA measured
/// this very product.
fn video_clock(
    machine: Option<Megahertz>,
    spec: Option<&GpuSpec>,
    generation: &DecoderEngine,
) -> Option<Clock> {
    if let Some(value) = machine {
        return Some(Clock {
            value,
            confidence: Confidence::High,
            caveat: None,
        });
    }
    if let Some(value) = spec.and_then(GpuSpec::seen_video_clock) {
        let caveat = Some("the highest video clock seen on another board");
        return Some(Clock {
            value,
            confidence: Confidence::Medium,
            caveat,
        });
    }
    let is_own_row = generation.architecture == "Jetson Thor";
    let caveat = Some("at the clock of NVIDIA's measurement; the maximum is not published");
    let value = generation.reference_clock.filter(|_| is_own_row)?;
    Some(Clock {
        value,
        confidence: Confidence::Low,
        caveat,
    })
}

impl Engines {
    fn fps(
        &self,
        profile: VideoProfile,
        resolution: Resolution,
        sessions: Option<StreamCount>,
    ) -> Limit<Fps> {
        let generation = &self.generation;
        if self.count == Ok(0) {
            return self.nothing("0 decoders".to_owned());
        }
        if !generation.decodes(profile) {
            return self.nothing(format!(
                "{} decoders do not decode {profile}",
                generation.architecture
            ));
        }
        let Some((figure, reference)) = generation
            .fps_1080p(profile)
            .zip(generation.reference_clock)
        else {
            return Limit::unknown(format!(
                "NVIDIA prints no speed of {} decoders for {profile}",
                generation.architecture
            ));
        };
        let (count, clock) = match (&self.count, &self.clock) {
            (Ok(count), Ok(clock)) => (*count, *clock),
            (Err(reason), _) | (_, Err(reason)) => return Limit::unknown(reason.clone()),
        };
        let used = sessions.map_or(count, |sessions| count.min(sessions.get()));
        let Some(value) = decode_rate(figure, clock.value, reference, used, resolution) else {
            return Limit::unknown(format!("the speed for {resolution} cannot be computed"));
        };
        let scale = if resolution.pixels() == Resolution::FULL_HD.pixels() {
            String::new()
        } else {
            format!(
                " × {}/{}",
                Resolution::FULL_HD.pixels().get(),
                resolution.pixels().get()
            )
        };
        let (clock_mhz, reference_mhz) = (clock.value.get(), reference.get());
        let caveats: Vec<&str> = clock
            .caveat
            .into_iter()
            .chain(size_caveat(resolution))
            .collect();
        Limit::Known(Ceiling {
            value,
            formula: format!(
                "{figure:.0} × {clock_mhz}/{reference_mhz} MHz × {used} NVDEC{scale} = {value}"
            ),
            source: self.source.clone(),
            confidence: if size_caveat(resolution).is_some() {
                clock.confidence.min(Confidence::Medium)
            } else {
                clock.confidence
            },
            caveat: (!caveats.is_empty()).then(|| caveats.join("; ")),
        })
    }

    /// A rate of zero, which is knowledge and not a gap.
    fn nothing(&self, why: String) -> Limit<Fps> {
        Limit::Known(Ceiling::new(
            Fps::ZERO,
            why,
            self.source.clone(),
            Confidence::High,
        ))
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

/// The rate of a module at any size: never more pixels per second than at its best printed size,
/// and never more frames than at a printed size that is not larger.
fn module_fps(module: &JetsonModule, profile: VideoProfile, resolution: Resolution) -> Limit<Fps> {
    if profile != module.codec {
        return Limit::unknown(format!(
            "of {} NVIDIA prints no other speed than that for {}",
            module.name, module.codec
        ));
    }
    let printed: Vec<(Resolution, Fps)> = module
        .rates()
        .iter()
        .filter_map(|rate| rate.resolution().zip(rate.fps()))
        .collect();
    let pixel_rate = |(size, fps): &(Resolution, Fps)| fps.get() * size.pixels().get() as f64;
    let best = printed
        .iter()
        .max_by(|a, b| pixel_rate(a).total_cmp(&pixel_rate(b)));
    let by_pixels = best.and_then(|best| {
        Some((
            *best,
            Fps::new(pixel_rate(best) / resolution.pixels().get() as f64)?,
        ))
    });
    let Some(((best_size, best_fps), by_pixels)) = by_pixels else {
        return Limit::unknown(format!("NVIDIA prints no speed of {}", module.name));
    };
    let smaller = printed
        .iter()
        .filter(|(size, _)| size.pixels() <= resolution.pixels())
        .min_by_key(|(_, fps)| *fps);
    let (value, formula) = match smaller {
        Some((size, fps)) if *fps <= by_pixels => {
            (*fps, format!("{fps:.0} at {size} as NVIDIA prints it"))
        }
        _ => {
            let pixels = (best_size.pixels().get(), resolution.pixels().get());
            (
                by_pixels,
                format!(
                    "{best_fps:.0} at {best_size} × {}/{} = {by_pixels}",
                    pixels.0, pixels.1
                ),
            )
        }
    };
    Limit::Known(Ceiling {
        value,
        formula,
        source: module.source.clone(),
        confidence: Confidence::Medium,
        caveat: Some("what NVIDIA promises for the module, all sessions together".to_owned()),
    })
}
