//! The plan: every rule run once, in order, and what the result is expected to do.

use std::fmt;

use ds_ceilings::{Batch, Fps, StreamCount};

use crate::derivation::{
    Consequence, Derivation, Disposition, Entry, NotDerivable, Variant, Withheld,
};
use crate::facts::{Facts, OutputWish};
use crate::minimum::{Qualifier, Term, minimum};
use crate::plateau::{Plateau, PlateauBatch};
use crate::rules::{
    Capacity, CapacityInputs, RULES, batches_per_tick, capacity, decode_term, final_batch,
};

/// What the rules say about a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The batch to configure; `None` if a sweep was made and nothing ran.
    pub final_batch: Option<Batch>,
    /// Every knob that a rule has something to say about, in the order of the rules.
    pub entries: Vec<Entry>,
    /// Which variants of the pipeline are to be written.
    pub variants: Variants,
    /// What the pipeline should then reach.
    pub expectation: Expectation,
    /// How many streams the GPU can carry.
    pub capacity: Capacity,
    /// What else the user should know.
    pub notes: Vec<PlanNote>,
}

/// Which variants of the pipeline are to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variants {
    /// The user's own, which is also measured (with [`Variant::Benchmark`] values while that is done).
    One,
    /// The user's own with its output, and one without it that is measured.
    WithAndWithoutOutput,
}

/// What limits the expected rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pace {
    /// The sources deliver no more.
    Sources,
    /// Inference at the final batch.
    Inference,
    /// The decoders.
    Decode,
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sources => "sources",
            Self::Inference => "inference",
            Self::Decode => "decode",
        })
    }
}

/// What the pipeline should reach, summed over its streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The rate; `None` if nothing that bounds it is known.
    pub fps: Option<Fps>,
    /// How it relates to the truth.
    pub qualifier: Qualifier,
    /// What limits it.
    pub limited_by: Option<Pace>,
    /// The formula with its numbers.
    pub formula: String,
}

/// What else the user should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlanNote {
    /// The streams of a tick do not fit into one batch.
    StreamsAboveBatch {
        /// The streams.
        streams: StreamCount,
        /// The final batch.
        batch: Batch,
        /// How many batches a tick takes.
        batches_per_tick: u32,
    },
    /// The sources of the configuration do not add up to the streams that were asked for.
    SourcesDiffer {
        /// What the configuration has.
        configured: StreamCount,
        /// What was asked for.
        asked: StreamCount,
    },
    /// No sweep was made: the batch is a preset.
    PresetBatch {
        /// The batch.
        batch: Batch,
    },
}

impl fmt::Display for PlanNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StreamsAboveBatch {
                streams,
                batch,
                batches_per_tick,
            } => write!(
                f,
                "{streams} are served in {batches_per_tick} batches of up to {batch} per tick"
            ),
            Self::SourcesDiffer { configured, asked } => write!(
                f,
                "the configuration has {configured} and {asked} were asked for: the plan is for the latter"
            ),
            Self::PresetBatch { batch } => {
                write!(f, "batch {batch} is a preset: a sweep has not been made")
            }
        }
    }
}

impl Plan {
    /// Every derived value, changed or not.
    pub fn derivations(&self) -> impl Iterator<Item = &Derivation> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Derived(derivation) => Some(derivation),
            Entry::Withheld(_) | Entry::NotDerivable(_) => None,
        })
    }

    /// The values to write into one variant: those of every variant, and for the benchmark variant also its own.
    pub fn changes(&self, variant: Variant) -> impl Iterator<Item = &Derivation> {
        self.derivations().filter(move |derivation| {
            derivation.disposition == Disposition::Write
                && (derivation.variant == Variant::Every || derivation.variant == variant)
        })
    }

    /// The knobs that are left alone, and why.
    pub fn withheld(&self) -> impl Iterator<Item = &Withheld> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Withheld(withheld) => Some(withheld),
            Entry::Derived(_) | Entry::NotDerivable(_) => None,
        })
    }

    /// The knobs for which a fact is missing.
    pub fn not_derivable(&self) -> impl Iterator<Item = &NotDerivable> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::NotDerivable(missing) => Some(missing),
            Entry::Derived(_) | Entry::Withheld(_) => None,
        })
    }

    /// The reasons for which nothing may be written; empty for a plan that can be applied.
    pub fn stops(&self) -> impl Iterator<Item = &Withheld> {
        self.withheld()
            .filter(|withheld| withheld.consequence == Consequence::Stop)
    }
}

/// Runs every rule once, in order. The same facts give the same plan to the byte.
#[must_use]
pub fn derive(facts: &Facts) -> Plan {
    let batch = final_batch(facts).map(|chosen| chosen.batch);
    Plan {
        final_batch: batch,
        entries: RULES.iter().flat_map(|rule| (rule.derive)(facts)).collect(),
        variants: match facts.options.output {
            OutputWish::None => Variants::One,
            OutputWish::Visible | OutputWish::Recorded => Variants::WithAndWithoutOutput,
        },
        expectation: expectation(facts, batch),
        capacity: capacity(&CapacityInputs::of(facts)),
        notes: notes(facts, batch),
    }
}

fn notes(facts: &Facts, batch: Option<Batch>) -> Vec<PlanNote> {
    let mut notes = Vec::new();
    let (configured, asked) = (facts.configured_streams(), facts.streams);
    if !facts.sources.is_empty() && configured != asked {
        notes.push(PlanNote::SourcesDiffer { configured, asked });
    }
    let Some(batch) = batch else {
        return notes;
    };
    if facts.plateau.is_none() {
        notes.push(PlanNote::PresetBatch { batch });
    }
    let batches_per_tick = batches_per_tick(facts.streams, batch);
    if batches_per_tick > 1 {
        notes.push(PlanNote::StreamsAboveBatch {
            streams: facts.streams,
            batch,
            batches_per_tick,
        });
    }
    notes
}

/// min(streams × fps where the sources are live, rate of the sweep at the final batch, decode ceiling).
fn expectation(facts: &Facts, batch: Option<Batch>) -> Expectation {
    let sources = source_rate(facts).map_or(Term::Absent, Term::Known);
    let inference = match (&facts.plateau, batch) {
        (Some(plateau), Some(batch)) => inference_rate(plateau, batch),
        _ => Term::Unknown,
    };
    let terms = [
        (Pace::Sources, sources),
        (Pace::Inference, inference),
        (Pace::Decode, decode_term(facts.decode)),
    ];
    let smallest = minimum(&terms);
    Expectation {
        fps: smallest.map(|smallest| smallest.fps),
        qualifier: smallest.map_or(Qualifier::Open, |smallest| smallest.qualifier),
        limited_by: smallest.map(|smallest| smallest.key),
        formula: formula(&terms, facts),
    }
}

fn formula(terms: &[(Pace, Term)], facts: &Facts) -> String {
    let parts = terms.iter().filter_map(|(pace, term)| {
        let rate = match term {
            Term::Absent => return None,
            Term::Unknown => "unknown".to_owned(),
            Term::Known(fps) if *pace == Pace::Sources => {
                format!("{} x {} = {fps}", facts.streams.get(), facts.fps)
            }
            Term::Known(fps) => fps.to_string(),
            Term::AtLeast(fps) => format!("at least {fps}"),
        };
        Some(format!("{pace} {rate}"))
    });
    format!("min({})", parts.collect::<Vec<_>>().join(", "))
}

/// What the sources deliver, if all of them deliver at their own pace.
fn source_rate(facts: &Facts) -> Option<Fps> {
    let live =
        !facts.sources.is_empty() && facts.sources.iter().all(|source| source.kind.is_live());
    live.then(|| facts.fps.scaled(f64::from(facts.streams.get())))
        .flatten()
}

/// The rate of the sweep at a batch. A batch that the sweep left out is at least as fast as the next smaller one, and a
/// plateau that was not reached, or a paced sweep, gives a lower bound for its largest batch.
fn inference_rate(plateau: &Plateau, batch: Batch) -> Term {
    let below = plateau
        .points
        .iter()
        .rev()
        .find(|point| point.batch <= batch);
    let Some(point) = below else {
        return Term::Unknown;
    };
    let paced = matches!(plateau.found, PlateauBatch::Paced { .. });
    let open = match plateau.found {
        PlateauBatch::NotReached { largest } => largest == point.batch,
        _ => paced,
    };
    if open || point.batch < batch {
        Term::AtLeast(point.fps)
    } else {
        Term::Known(point.fps)
    }
}
