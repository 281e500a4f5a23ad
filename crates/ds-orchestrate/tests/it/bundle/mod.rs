//! The directory that a run leaves behind.

mod crash;
mod difference;
mod open;
mod read;
mod resume;

use ds_orchestrate::bundle::Inputs;

/// Inputs with something in every item.
fn inputs() -> Inputs {
    let map = |items: &[(&str, &str)]| {
        items
            .iter()
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    };
    Inputs {
        command: "tune".to_owned(),
        pipeline: Some("pipeline.sh".to_owned()),
        pipeline_files: map(&[("pipeline.sh", "aa"), ("infer.txt", "bb")]),
        arguments: map(&[("streams", "8"), ("fps", "30")]),
        provenance: Some("measured here".to_owned()),
    }
}
