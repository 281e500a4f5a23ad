//! Tests of the public interface.

mod ceilings;
mod collected;
mod dmon;
mod documents;
mod failures;
mod identity;
mod measured;
mod printed_figures;
mod properties;
mod samples;
mod support;
mod table;
mod units;
