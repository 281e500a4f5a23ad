//! What changed between two traces of the same program.
//!
//! Two captures never last equally long, so totals are never compared: figures are per step where both traces have steps,
//! else per token where the caller knows how many there were, else shares of busy time.

mod refusal;
mod rows;

use std::fmt;

pub use refusal::{Refusal, Side};
pub use rows::{Amount, Change, OverallItem};

use super::check::{CheckOptions, Purpose};
use super::names::NameFolding;
use super::steps::Steps;
use super::taxonomy::Taxonomy;
use super::totals::WorkKind;
use crate::error::Result;
use crate::query::Window;
use crate::trace::Trace;

/// What makes two captures comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normalization {
    /// Mean time in a step that generates tokens only.
    PerStep,
    /// Time per token.
    PerToken,
    /// Share of busy time.
    ShareOfBusy,
}

impl fmt::Display for Normalization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PerStep => "per step",
            Self::PerToken => "per token",
            Self::ShareOfBusy => "share of busy time",
        })
    }
}

/// What happens when two captures are not comparable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RefusalPolicy {
    /// They are not compared.
    #[default]
    Obey,
    /// They are compared all the same; the result says so.
    Override,
}

/// How two traces are compared.
#[derive(Debug, Clone, Default)]
pub struct DiffOptions {
    /// The part of the first session.
    pub first_window: Window,
    /// The part of the second session.
    pub second_window: Window,
    /// The rules of categories.
    pub taxonomy: Taxonomy,
    /// How far kernel names are folded.
    pub folding: NameFolding,
    /// How many tokens the program generated in each capture; used where a trace has no steps.
    pub tokens: Option<(u64, u64)>,
    /// What happens when the captures are not comparable.
    pub policy: RefusalPolicy,
}

/// The comparison of two traces.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Diff {
    /// Which rules named the categories.
    pub taxonomy_version: String,
    /// Why the two are not comparable; belongs into every output, above all where it was overridden.
    pub refusals: Vec<Refusal>,
    /// The differences; `None` where the comparison was refused.
    pub differences: Option<Differences>,
}

/// The differences of two traces.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Differences {
    /// What the figures are normalised to.
    pub normalization: Normalization,
    /// Step, busy and idle time; empty unless normalised per step.
    pub overall: Vec<(OverallItem, Change)>,
    /// Work that both traces have, the largest difference first.
    pub changed: Vec<DiffRow>,
    /// Work that only the second trace has.
    pub appeared: Vec<DiffRow>,
    /// Work that only the first trace has.
    pub vanished: Vec<DiffRow>,
}

/// One kind of work in both traces.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DiffRow {
    /// What it is.
    pub kind: WorkKind,
    /// How many there are, per step, per token, or altogether where shares are compared.
    pub count: (f64, f64),
    /// Its time.
    pub change: Change,
}

impl Trace {
    /// Compares this trace, the first, with a second one.
    ///
    /// # Errors
    ///
    /// Fails when a table of either cannot be read.
    pub fn diff(&self, second: &Self, options: &DiffOptions) -> Result<Diff> {
        let check = |trace: &Self, window| {
            let options = CheckOptions {
                window,
                taxonomy: options.taxonomy.clone(),
                ..CheckOptions::default()
            };
            trace.check(Some(Purpose::Timing), &options)
        };
        let verdicts = (
            check(self, options.first_window)?,
            check(second, options.second_window)?,
        );
        let refusals = refusal::of((self, &verdicts.0), (second, &verdicts.1))?;
        let differences = if refusals.is_empty() || options.policy == RefusalPolicy::Override {
            let steps: (Steps, Steps) = (verdicts.0.steps, verdicts.1.steps);
            rows::compare((self, &steps.0), (second, &steps.1), options)?
        } else {
            None
        };
        Ok(Diff {
            taxonomy_version: options.taxonomy.version().to_owned(),
            refusals,
            differences,
        })
    }
}
