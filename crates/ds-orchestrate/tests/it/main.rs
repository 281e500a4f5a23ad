//! The integration tests of ds-orchestrate, as one binary.

mod fps;
