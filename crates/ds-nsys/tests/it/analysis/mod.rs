//! What a trace means: gaps, steps, verdicts, comparisons.

mod categories;
mod check;
mod damage;
mod diff;
mod gaps;
mod join;
mod ranks;
mod steps;
pub(crate) mod synthetic;
