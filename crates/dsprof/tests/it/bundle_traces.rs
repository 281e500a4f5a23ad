//! The traces of the shipped bundles print as a real nsys 2023.4.4 prints them.

use std::fs;

use crate::support::{output_of, root};

#[test]
fn every_report_of_every_shipped_trace() {
    let references = root().join("testdata/bundle-references");
    let mut compared = 0;
    for name in ["h200-resnet152", "h200-resnet152-graphs", "h200-video-cnn"] {
        let trace = format!("testdata/bundles/{name}/trace/e2e.sqlite.gz");
        for file in fs::read_dir(references.join(name)).expect("references") {
            let file = file.expect("a file").path();
            let report = file.file_stem().expect("a name").to_str().expect("UTF-8");
            let printed = output_of(&[
                "trace", "stats", "--style", "2023", "--format", "csv", "--report", report, &trace,
            ]);
            assert_eq!(
                printed,
                fs::read_to_string(&file).expect("a CSV file"),
                "{name}: {report}"
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 48);
}
