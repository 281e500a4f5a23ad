//! What a trace means: gaps, steps, verdicts, comparisons.

mod check;
mod gaps;
mod steps;
mod synthetic;
