//! The integration tests of ds-orchestrate, as one binary.

mod atomic;
mod bundle;
mod coverage;
mod fps;
mod pipeline;
mod preflight;
mod process;
mod report;
mod retention;
mod scaffold;
mod signals;
mod stages;
mod support;
mod transaction;
mod whole;
