//! How many frames the video decoders deliver.
//!
//! Two figures, never mixed. The *published* one is NVIDIA's, for streams that NVIDIA chose: the
//! reference for planning, which lighter streams exceed. The *limit* is the best rate that was
//! measured of one engine: the bound, known only where an engine was measured.

mod engines;
mod module;

use super::context::Context;
use super::limit::Limit;
use crate::codec::VideoProfile;
use crate::gpu::JetsonModule;
use crate::units::{Fps, Megahertz, Resolution, StreamCount};
use engines::{Engines, VideoClock};

/// Why a published rate is no bound. Testsrc2 in HEVC at 1080p and 4 Mbit/s was decoded at 1363.0
/// fps on one H200, driver 580.159.04, where NVIDIA's figure gives 1093.1 fps: 24.7 % more.
const LIGHTER_STREAMS: &str =
    "for NVIDIA's own streams: lighter ones were measured up to 25 % faster on an H200";

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
    Engines(Box<Engines>),
    /// A Jetson module whose rates NVIDIA prints as a whole.
    Module(JetsonModule),
    /// Nothing may be said, whatever the format.
    Unknown(String),
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

    /// What NVIDIA publishes for all engines together: the rate to plan with. It is no bound, since
    /// streams that are lighter than NVIDIA's decode faster; [`Decoder::limit`] is.
    #[must_use]
    pub fn fps(&self, profile: VideoProfile, resolution: Resolution) -> Limit<Fps> {
        match &self.basis {
            Basis::Engines(engines) => engines.published(profile, resolution, None),
            Basis::Module(module) => module::published(module, profile, resolution),
            Basis::Unknown(reason) => Limit::unknown(reason.clone()),
        }
    }

    /// The published rate of a number of sessions: one session never uses more than one engine, so
    /// fewer sessions than engines leave engines idle.
    #[must_use]
    pub fn fps_of_sessions(
        &self,
        profile: VideoProfile,
        resolution: Resolution,
        sessions: StreamCount,
    ) -> Limit<Fps> {
        match &self.basis {
            Basis::Engines(engines) => engines.published(profile, resolution, Some(sessions)),
            Basis::Module(_) | Basis::Unknown(_) => self.fps(profile, resolution),
        }
    }

    /// What no measurement of all engines together exceeds: the best rate that was measured of one
    /// engine of this generation, at this machine's clock and number of engines. Unknown where no
    /// such engine was measured, and for frames above 1920 × 1080.
    #[must_use]
    pub fn limit(&self, profile: VideoProfile, resolution: Resolution) -> Limit<Fps> {
        self.limit_of(profile, resolution, None)
    }

    /// The limit of a number of sessions, each on one engine at most.
    #[must_use]
    pub fn limit_of_sessions(
        &self,
        profile: VideoProfile,
        resolution: Resolution,
        sessions: StreamCount,
    ) -> Limit<Fps> {
        self.limit_of(profile, resolution, Some(sessions))
    }

    fn limit_of(
        &self,
        profile: VideoProfile,
        resolution: Resolution,
        sessions: Option<StreamCount>,
    ) -> Limit<Fps> {
        match &self.basis {
            Basis::Engines(engines) => engines.limit(profile, resolution, sessions),
            Basis::Module(module) => {
                Limit::unknown(format!("the decoders of {} were not measured", module.name))
            }
            Basis::Unknown(reason) => Limit::unknown(reason.clone()),
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
    let (count, count_source) = match &identity.instance {
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
    Ok(Basis::Engines(Box::new(Engines {
        generation: generation.clone(),
        compute_cap,
        count,
        count_source,
        clock: VideoClock::new(identity.max_clocks.video, spec, generation),
    })))
}
