//! The decoders of a Jetson module, for which NVIDIA prints rates of the whole.

use super::LIGHTER_STREAMS;
use crate::ceilings::limit::{Ceiling, Confidence, Limit};
use crate::codec::VideoProfile;
use crate::gpu::JetsonModule;
use crate::units::{Fps, Resolution};

/// The rate of a module at any size: never more pixels per second than at its best printed size,
/// and never more frames than at a printed size that is not larger.
pub(super) fn published(
    module: &JetsonModule,
    profile: VideoProfile,
    resolution: Resolution,
) -> Limit<Fps> {
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
        caveat: Some(format!(
            "what NVIDIA promises for the module, all sessions together; {LIGHTER_STREAMS}"
        )),
    })
}
