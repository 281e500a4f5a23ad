//! What a trace means: gaps, steps, verdicts, comparisons.

mod steps;
mod synthetic;
