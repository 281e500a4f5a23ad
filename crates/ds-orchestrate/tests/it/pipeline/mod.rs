//! The user's pipeline: read into facts, changed as a plan says.

mod facts;
mod launch;
mod plan;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ds_ceilings::{Batch, Ceilings, Codec, Fps, GpuIdentity, GpuTable, Resolution, StreamCount};
use ds_config::Pipeline;
use ds_derive::{Dims, Facts, Outcome, Plan, SweepPoint, Variant, derive, plateau};
use ds_orchestrate::{PlannedEdits, Wishes, facts_of, plan_edits, read_pipeline};
use tempfile::TempDir;

use crate::support::{folder, put, testdata};

/// Models and engines that do not exist.
type NoFiles = BTreeMap<String, Vec<u8>>;

/// The forms in which the pipeline is shipped, by folder and first file.
const FORMS: [(&str, &str); 2] = [("gst-launch", "pipeline.sh"), ("deepstream-app", "app.txt")];

/// A copy of the shipped pipeline in one form that a test may change.
fn copied(form: &str) -> TempDir {
    let folder = folder();
    let from = testdata("pipelines/resnet152").join(form);
    for entry in fs::read_dir(from).expect("it is shipped") {
        let path = entry.expect("an entry").path();
        let bytes = fs::read(&path).expect("a file");
        put(
            &folder.path().join(path.file_name().expect("a name")),
            bytes,
        );
    }
    folder
}

fn read(root: &Path, entry: &str) -> Pipeline {
    read_pipeline(&root.join(entry).display().to_string()).expect("a pipeline")
}

/// What the files do not say: eight streams at 30 frames a second, and the sizes of model and sources.
fn wishes() -> Wishes {
    let mut wishes = Wishes::new(StreamCount::new(8), Fps::new(30.0).expect("a rate"));
    wishes.dims = Dims::new(3, 448, 448);
    wishes.source_size = Some(Resolution::FULL_HD);
    wishes.codec = Some(Codec::Hevc);
    wishes
}

fn h200() -> Ceilings {
    Ceilings::new(&GpuIdentity::named("NVIDIA H200"), GpuTable::built_in())
}

/// Facts with a sweep that grows up to a batch of eight.
fn facts(pipeline: &Pipeline, ceilings: Option<&Ceilings>) -> Facts {
    let mut facts = facts_of(pipeline, &wishes(), ceilings, &NoFiles::new());
    let point = |(batch, rate): (u32, f64)| SweepPoint {
        batch: Batch::new(batch).expect("a batch"),
        streams: StreamCount::new(batch),
        outcome: Outcome::Ran {
            windows: vec![Fps::new(rate).expect("a rate"); 8],
        },
    };
    let points: Vec<SweepPoint> = [(1, 68.1), (2, 141.8), (4, 279.2), (8, 562.2)]
        .into_iter()
        .map(point)
        .collect();
    facts.plateau = Some(plateau(&points, facts.streams));
    facts
}

fn planned(pipeline: &Pipeline) -> (Plan, PlannedEdits) {
    let plan = derive(&facts(pipeline, Some(&h200())));
    let edits = plan_edits(pipeline, &plan, Variant::Every).expect("the files are what was read");
    (plan, edits)
}
