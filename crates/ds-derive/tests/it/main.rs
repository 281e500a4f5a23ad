//! The tests of the crate, one module a rule or answer. Values are checked against arithmetic done by hand in a
//! comment; snapshots show whole pages of entries as a reader would see them.

#![expect(
    clippy::unwrap_used,
    reason = "helpers outside of a test function: finding nothing fails the test that called them"
)]

mod bound;
mod docs;
mod plan;
mod plateau;
mod projection;
mod properties;
mod r1;
mod r2;
mod r3;
mod r4;
mod r4a;
mod r5;
mod r6;
mod r7;
mod recordings;
mod strategies;
mod support;
mod values;
