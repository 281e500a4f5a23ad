//! What another GPU would carry, projected from what was measured on one.
//!
//! | Ceiling | On the other GPU |
//! |---|---|
//! | compute | measured rate × ratio of the published tensor rates |
//! | decode | the other GPU's own decode ceiling |
//! | bandwidth | measured rate × ratio of the memory bandwidths, for a pipeline that memory bounds |
//!
//! A projection is no measurement. It takes the model to keep the share of the tensor cores that it reached where it was
//! measured, which a model bound by memory does not: the second figure of a projection scales by the smaller of both
//! ratios. What no table knows stays unknown.

use std::fmt;

use ds_ceilings::{BytesPerSec, Fps, Fraction, OpsPerSec};

use crate::derivation::Confidence;
use crate::facts::DecodeCeiling;
use crate::rules::{BandwidthUse, Capacity, CapacityInputs, ComputeRate, capacity};

/// What a projection has to know about a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GpuRates {
    /// The published tensor rate in the model's number format.
    pub tensor: Option<OpsPerSec>,
    /// The bandwidth of the memory.
    pub memory: Option<BytesPerSec>,
    /// What bounds decoding.
    pub decode: DecodeCeiling,
}

/// How much faster one GPU is than another in one respect.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Speedup(f64);

impl Speedup {
    /// The factor: 2 for twice as fast.
    #[must_use]
    pub fn factor(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Speedup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "×{:.2}", self.0)
    }
}

/// What another GPU would carry.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// Ratio of the published tensor rates; `None` if one is not known.
    pub compute: Option<Speedup>,
    /// Ratio of the memory bandwidths; `None` if one is not known.
    pub memory: Option<Speedup>,
    /// How many streams fit if the model's rate follows the tensor rate.
    pub capacity: Capacity,
    /// How many fit if it follows the smaller of both ratios; with an unknown ratio its rate is unknown.
    pub capped: Capacity,
    /// How far to rely on it: never more than low.
    pub confidence: Confidence,
}

/// Projects a measurement on one GPU (`from`) onto another (`to`). The rate of the whole pipeline does not travel: what
/// the host adds is not a matter of the GPU.
///
/// ```
/// use ds_ceilings::{BytesPerSec, Fps, OpsPerSec};
/// use ds_derive::{CapacityInputs, ComputeRate, DecodeCeiling, GpuRates, project};
///
/// let fps = |value| Fps::new(value).expect("finite and not negative");
/// let rates = |tera, giga, decode| GpuRates {
///     tensor: OpsPerSec::from_tera(tera),
///     memory: BytesPerSec::from_giga(giga),
///     decode: DecodeCeiling::Known(fps(decode)),
/// };
/// let measured = CapacityInputs {
///     fps: fps(30.0),
///     compute: ComputeRate::Plateau(fps(1200.0)),
///     decode: DecodeCeiling::Known(fps(4000.0)),
///     bandwidth: None,
///     e2e: None,
/// };
/// // Half the tensor rate, a quarter of the bandwidth: 1200 / 2 / 30 = 20 streams, 1200 / 4 / 30 = 10 at worst.
/// let projection = project(&measured, &rates(400.0, 800.0, 4000.0), &rates(200.0, 200.0, 2000.0));
/// assert_eq!(projection.capacity.to_string(), "20 streams");
/// assert_eq!(projection.capped.to_string(), "10 streams");
/// ```
#[must_use]
pub fn project(measured: &CapacityInputs, from: &GpuRates, to: &GpuRates) -> Projection {
    let compute = ratio(to.tensor.zip(from.tensor), OpsPerSec::ratio_to);
    let memory = ratio(to.memory.zip(from.memory), BytesPerSec::ratio_to);
    let smaller = compute
        .zip(memory)
        .map(|(compute, memory)| if memory < compute { memory } else { compute });
    let with = |speedup| {
        capacity(&CapacityInputs {
            fps: measured.fps,
            compute: scaled(measured.compute, speedup),
            decode: match measured.decode {
                DecodeCeiling::NotUsed => DecodeCeiling::NotUsed,
                DecodeCeiling::Known(_) | DecodeCeiling::Unknown => to.decode,
            },
            bandwidth: measured.bandwidth.map(|used| travelled(used, memory)),
            e2e: None,
        })
    };
    Projection {
        compute,
        memory,
        capacity: with(compute),
        capped: with(smaller),
        confidence: Confidence::Low,
    }
}

fn ratio<T>(pair: Option<(T, T)>, divide: fn(T, T) -> Option<f64>) -> Option<Speedup> {
    pair.and_then(|(to, from)| divide(to, from)).map(Speedup)
}

fn times(rate: Fps, speedup: Option<Speedup>) -> Option<Fps> {
    rate.scaled(speedup?.0)
}

fn scaled(rate: ComputeRate, speedup: Option<Speedup>) -> ComputeRate {
    match rate {
        ComputeRate::Unknown => ComputeRate::Unknown,
        ComputeRate::Plateau(fps) => {
            times(fps, speedup).map_or(ComputeRate::Unknown, ComputeRate::Plateau)
        }
        ComputeRate::AtLeast(fps) => {
            times(fps, speedup).map_or(ComputeRate::Unknown, ComputeRate::AtLeast)
        }
    }
}

/// The same use of a memory of another speed. A use of nothing is how an unknown ceiling is said to rule R7: no rate
/// fills a memory that is not used.
fn travelled(used: BandwidthUse, memory: Option<Speedup>) -> BandwidthUse {
    match times(used.e2e, memory) {
        Some(e2e) => BandwidthUse { e2e, ..used },
        None => BandwidthUse {
            share: Fraction::ZERO,
            ..used
        },
    }
}
