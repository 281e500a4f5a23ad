//! The rules, and the table of all of them.
//!
//! A new rule gets the next free id, a file here, a row in [`RULES`], a case in which it fires and
//! one in which its guard holds it back.

mod a1_a3_mux_batch;
mod a4_a5_mux_timeout;
mod a6_a7_live_source;
mod a8_a9_memory;
mod b1_b6_output;
mod b7_b8_perf;
mod c1_c4_tracker;
mod e1_e5_infer_batch;
mod e2_n8_interval;
mod e3_e7_overrides;
mod e8_n6_engine_batch;
mod g1_refused;
mod g2_values;
mod g3_g4_repeated;
mod g5_yaml_values;
mod m1_m2_new_mux;
mod n15_removed_model_formats;
mod n1_n7_precision;
mod n5_n14_infer_file;
mod p1_second_detector;
mod s2_s5_sources;
mod u1_keys;

use self::a1_a3_mux_batch::{A1, A2, A3};
use self::a4_a5_mux_timeout::{A4, A5, A5B, A5C};
use self::a6_a7_live_source::{A6, A7};
use self::a8_a9_memory::{A8, A9};
use self::b1_b6_output::{B1, B2, B3, B4, B5, B6};
use self::b7_b8_perf::{B7, B8};
use self::c1_c4_tracker::{C1, C2, C3, C4};
use self::e1_e5_infer_batch::{E1, E4, E5, N9};
use self::e2_n8_interval::{E2, N8};
use self::e3_e7_overrides::{E3, E6, E7};
use self::e8_n6_engine_batch::{E8, N6};
use self::g1_refused::G1;
use self::g2_values::G2;
use self::g3_g4_repeated::{G3, G4};
use self::g5_yaml_values::G5;
use self::m1_m2_new_mux::{M1, M2};
use self::n1_n7_precision::{N1, N2, N4, N7};
use self::n5_n14_infer_file::{N5, N11, N12, N14};
use self::n15_removed_model_formats::N15;
use self::p1_second_detector::P1;
use self::s2_s5_sources::{S2, S4, S5};
use self::u1_keys::U1;
use super::finding::Report;
use super::look::Look;
use super::rule::{Rule, Severity};

pub(super) use self::g1_refused::add as add_refusal;

/// Every rule, in the order of the ids.
pub static RULES: [Rule; 55] = [
    A1, A2, A3, A4, A5, A5B, A5C, A6, A7, A8, A9, B1, B2, B3, B4, B5, B6, B7, B8, C1, C2, C3, C4,
    E1, E2, E3, E4, E5, E6, E7, E8, N1, N2, N4, N5, N6, N7, N8, N9, N11, N12, N14, N15, S2, S4, S5,
    P1, M1, M2, U1, G1, G2, G3, G4, G5,
];
