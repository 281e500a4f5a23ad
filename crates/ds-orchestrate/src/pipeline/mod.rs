//! The user's pipeline: read from disk, turned into facts for the rules, changed as the plan says.

mod apply;
mod facts;
mod files;
mod inference_only;
mod kinds;
mod shadow;
mod variant;

pub(crate) use apply::target_of;
pub use apply::{PlannedEdit, PlannedEdits, plan_edits};
pub use facts::{Wishes, facts_of};
pub use files::{DiskFiles, pipeline_hashes, read_pipeline};
pub use inference_only::{e2e_launch, inference_only_launch};
pub(crate) use shadow::Shadow;

pub use variant::{BenchmarkVariant, benchmark_variant};

use ds_config::{ElementId, Pipeline, Role};

/// The element of a role that comes first.
fn first(pipeline: &Pipeline, role: Role) -> Option<ElementId> {
    pipeline
        .elements_with(role)
        .next()
        .map(|element| element.id)
}
