//! Says how many streams the GPU can carry, which ceiling decides, and what to buy or change for more.
//!
//! | Ceiling | Streams | Counts when |
//! |---|---|---|
//! | compute | floor(plateau rate / fps) | always |
//! | decode | floor(decode ceiling / fps) | the pipeline decodes |
//! | bandwidth | floor(E2E rate / DRAM share / fps) | the pipeline was found bound by it |
//!
//! The capacity is the smallest. It reads "at least" when the sweep did not reach its plateau and that decides, "at
//! most" when a ceiling is unknown, and "by what is known" when both hold. A decode ceiling of zero, as on a MIG slice
//! without a decoder, carries no stream whatever the others say.
//!
//! Sources: the sweep, the GPU table with NVIDIA's decoder figures, and the profiled run.

use std::fmt;

use ds_ceilings::{Fps, Fraction, StreamCount};

use crate::bound::BoundKind;
use crate::facts::{DecodeCeiling, Facts};
use crate::minimum::{Qualifier, Term, minimum};
use crate::plateau::PlateauBatch;

/// What can run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// The GPU's arithmetic, as the sweep met it.
    Compute,
    /// The video decoders.
    Decode,
    /// The GPU's memory.
    Bandwidth,
}

impl Resource {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Decode => "decode",
            Self::Bandwidth => "bandwidth",
        }
    }

    /// What to buy or change for more streams, when this is what decides.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::Compute => {
                "a lower precision, a smaller model or skipped inferences behind a tracker; else a GPU with more arithmetic"
            }
            Self::Decode => {
                "a codec that this GPU decodes faster, smaller or fewer frames; else a GPU with more decoders"
            }
            Self::Bandwidth => {
                "a lower precision or a smaller input; else a GPU with faster memory"
            }
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The rate that inference alone reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ComputeRate {
    /// Not known.
    #[default]
    Unknown,
    /// The rate of the plateau.
    Plateau(Fps),
    /// The rate of the largest batch that ran; the plateau was not reached.
    AtLeast(Fps),
}

/// What a pipeline that is bound by memory used of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BandwidthUse {
    /// The rate of the whole pipeline.
    pub e2e: Fps,
    /// The share of the memory bandwidth at that rate.
    pub share: Fraction,
}

/// What [`capacity`] needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapacityInputs {
    /// The frame rate of each stream.
    pub fps: Fps,
    /// The rate that inference alone reaches.
    pub compute: ComputeRate,
    /// What bounds decoding.
    pub decode: DecodeCeiling,
    /// Set only if the pipeline was found bound by its memory.
    pub bandwidth: Option<BandwidthUse>,
    /// The rate of the whole pipeline as it was measured.
    pub e2e: Option<Fps>,
}

impl CapacityInputs {
    /// Takes them from the facts of a pipeline.
    #[must_use]
    pub fn of(facts: &Facts) -> Self {
        let bandwidth = match (facts.bound, facts.e2e, facts.dram) {
            (Some(BoundKind::Bandwidth), Some(e2e), Some(share)) => {
                Some(BandwidthUse { e2e, share })
            }
            _ => None,
        };
        Self {
            fps: facts.fps,
            compute: compute_rate(facts),
            decode: facts.decode,
            bandwidth,
            e2e: facts.e2e,
        }
    }
}

fn compute_rate(facts: &Facts) -> ComputeRate {
    let Some(plateau) = &facts.plateau else {
        return ComputeRate::Unknown;
    };
    match (plateau.found, plateau.fps()) {
        (_, None) => ComputeRate::Unknown,
        (PlateauBatch::Reached(_), Some(fps)) => ComputeRate::Plateau(fps),
        (_, Some(fps)) => ComputeRate::AtLeast(fps),
    }
}

/// One ceiling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What runs out.
    pub resource: Resource,
    /// At which rate, summed over the streams; `None` if it is not known.
    pub fps: Option<Fps>,
    /// With how many streams; `None` if it is not known.
    pub streams: Option<StreamCount>,
    /// How the number relates to the truth; `None` if it is not known.
    pub qualifier: Option<Qualifier>,
    /// The formula with its numbers, or what is missing.
    pub formula: String,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            resource, formula, ..
        } = self;
        match self.qualifier {
            Some(qualifier) => write!(f, "{resource}: {qualifier}{formula}"),
            None => write!(f, "{resource}: {formula}"),
        }
    }
}

/// How many streams the GPU can carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// The number; `None` if no ceiling is known or the frame rate is zero.
    pub streams: Option<StreamCount>,
    /// How it relates to the truth.
    pub qualifier: Qualifier,
    /// What decides.
    pub dominating: Option<Resource>,
    /// The ceilings that count, in the order of [`Resource`].
    pub limits: Vec<Limit>,
    /// What decides next, once the first is lifted.
    pub next: Option<Resource>,
    /// How many streams the pipeline carries as it was measured.
    pub delivered: Option<StreamCount>,
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.streams {
            Some(streams) => write!(f, "{}{streams}", self.qualifier),
            None => f.write_str("unknown"),
        }
    }
}

/// The smallest of the ceilings, in streams.
///
/// ```
/// use ds_ceilings::{Fps, StreamCount};
/// use ds_derive::{Qualifier, CapacityInputs, ComputeRate, DecodeCeiling, Resource, capacity};
///
/// let fps = |value| Fps::new(value).expect("finite and not negative");
/// let capacity = capacity(&CapacityInputs {
///     fps: fps(30.0),
///     compute: ComputeRate::AtLeast(fps(1739.0)),
///     decode: DecodeCeiling::Known(fps(7652.0)),
///     bandwidth: None,
///     e2e: None,
/// });
/// assert_eq!(capacity.to_string(), "at least 57 streams");
/// assert_eq!(capacity.dominating, Some(Resource::Compute));
/// ```
#[must_use]
pub fn capacity(inputs: &CapacityInputs) -> Capacity {
    let terms = terms(inputs);
    let streams = |rate: Fps| streams_at(rate, inputs.fps);
    let smallest = minimum(&terms);
    let found = smallest.and_then(|smallest| Some((smallest, streams(smallest.fps)?)));
    let next = smallest.and_then(|smallest| {
        let others: Vec<(Resource, Term)> = terms
            .iter()
            .copied()
            .filter(|(resource, _)| *resource != smallest.key)
            .collect();
        minimum(&others).map(|next| next.key)
    });
    Capacity {
        streams: found.map(|(_, streams)| streams),
        qualifier: found.map_or(Qualifier::Open, |(smallest, _)| smallest.qualifier),
        dominating: found.map(|(smallest, _)| smallest.key),
        limits: terms
            .iter()
            .filter(|(_, term)| *term != Term::Absent)
            .map(|(resource, term)| limit(inputs, *resource, *term))
            .collect(),
        next: found.and(next),
        delivered: inputs.e2e.and_then(streams),
    }
}

fn terms(inputs: &CapacityInputs) -> [(Resource, Term); 3] {
    let compute = match inputs.compute {
        ComputeRate::Unknown => Term::Unknown,
        ComputeRate::Plateau(fps) => Term::Known(fps),
        ComputeRate::AtLeast(fps) => Term::AtLeast(fps),
    };
    let bandwidth = match inputs.bandwidth {
        None => Term::Absent,
        Some(used) => saturated(used).map_or(Term::Unknown, Term::Known),
    };
    [
        (Resource::Compute, compute),
        (Resource::Decode, decode_term(inputs.decode)),
        (Resource::Bandwidth, bandwidth),
    ]
}

/// The decode ceiling as a term of a minimum.
pub(crate) fn decode_term(decode: DecodeCeiling) -> Term {
    match decode {
        DecodeCeiling::Unknown => Term::Unknown,
        DecodeCeiling::NotUsed => Term::Absent,
        DecodeCeiling::Known(fps) => Term::Known(fps),
    }
}

/// The rate at which the memory would be used in full.
fn saturated(used: BandwidthUse) -> Option<Fps> {
    used.e2e.scaled(used.share.get().recip())
}

/// Whole streams; `None` at a frame rate of zero.
fn streams_at(rate: Fps, fps: Fps) -> Option<StreamCount> {
    // A quotient such as 20 must not become 19 because a mean is off in its last bit.
    const ROUNDING: f64 = 1e-9;
    let whole = (rate.ratio_to(fps)? + ROUNDING)
        .floor()
        .min(f64::from(u32::MAX));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number between 0 and u32::MAX"
    )]
    Some(StreamCount::new(whole as u32))
}

fn limit(inputs: &CapacityInputs, resource: Resource, term: Term) -> Limit {
    let streams = term.fps().and_then(|rate| streams_at(rate, inputs.fps));
    let rate = match (resource, inputs.bandwidth, term.fps()) {
        (Resource::Bandwidth, Some(used), Some(_)) => {
            Some(format!("{} / {}", used.e2e, used.share))
        }
        (_, _, Some(rate)) => Some(rate.to_string()),
        (_, _, None) => None,
    };
    Limit {
        resource,
        fps: term.fps(),
        streams,
        qualifier: match term {
            Term::Known(_) => Some(Qualifier::Exactly),
            Term::AtLeast(_) => Some(Qualifier::AtLeast),
            Term::Unknown | Term::Absent => None,
        },
        formula: match (rate, streams) {
            (Some(rate), Some(streams)) => {
                format!("floor({rate} / {}) = {}", inputs.fps, streams.get())
            }
            (Some(_), None) => "the frame rate of a stream is zero".to_owned(),
            (None, _) => format!("the {resource} ceiling is not known"),
        },
    }
}
