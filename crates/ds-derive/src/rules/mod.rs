//! The rules: one file each, one table, one fixed order.

mod batch;
mod deadline;
mod line;
mod r1_mux;
mod r2_infer;
mod r3_decode;
mod r4_tracker;
mod r4a_interval;
mod r5_queues;
mod r6_visible;
mod r7_capacity;

pub(crate) use self::batch::{batches_per_tick, final_batch};
pub use self::r4a_interval::{KEEPS_IDS, KEEPS_MOST_IDS};
pub(crate) use self::r7_capacity::decode_term;
pub use self::r7_capacity::{
    BandwidthUse, Capacity, CapacityInputs, ComputeRate, Limit, Resource, capacity,
};

use crate::derivation::{Entry, RuleId};
use crate::facts::Facts;

/// One row of the table.
pub(crate) struct Rule {
    /// Its id.
    pub(crate) id: RuleId,
    /// What it is about.
    pub(crate) title: &'static str,
    /// The text of its file, whose header comment is its documentation.
    pub(crate) source: &'static str,
    /// What it says about the knobs. R7 sets none: it has [`capacity`].
    pub(crate) derive: fn(&Facts) -> Vec<Entry>,
}

/// Every rule, in the order in which they run.
pub(crate) const RULES: [Rule; 8] = [
    Rule {
        id: RuleId::R1,
        title: "The stream mux",
        source: include_str!("r1_mux.rs"),
        derive: r1_mux::derive,
    },
    Rule {
        id: RuleId::R2,
        title: "Inference",
        source: include_str!("r2_infer.rs"),
        derive: r2_infer::derive,
    },
    Rule {
        id: RuleId::R3,
        title: "Decoding",
        source: include_str!("r3_decode.rs"),
        derive: r3_decode::derive,
    },
    Rule {
        id: RuleId::R4,
        title: "The tracker",
        source: include_str!("r4_tracker.rs"),
        derive: r4_tracker::derive,
    },
    Rule {
        id: RuleId::R4a,
        title: "Skipped inferences",
        source: include_str!("r4a_interval.rs"),
        derive: r4a_interval::derive,
    },
    Rule {
        id: RuleId::R5,
        title: "Queues",
        source: include_str!("r5_queues.rs"),
        derive: r5_queues::derive,
    },
    Rule {
        id: RuleId::R6,
        title: "Visible output",
        source: include_str!("r6_visible.rs"),
        derive: r6_visible::derive,
    },
    Rule {
        id: RuleId::R7,
        title: "Capacity",
        source: include_str!("r7_capacity.rs"),
        derive: |_| Vec::new(),
    },
];
