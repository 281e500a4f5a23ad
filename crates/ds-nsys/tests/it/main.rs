//! Integration tests of ds-nsys: over recorded traces, over small databases built from SQL, over damaged files.

mod analysis;
mod busy;
mod captures;
mod compressed;
mod damage;
mod damage_everywhere;
mod faults;
mod kineto;
mod live;
mod plugins;
mod questions;
mod recordings;
mod reference_2023;
mod resources;
mod stats_text;
mod support;
mod versions;
