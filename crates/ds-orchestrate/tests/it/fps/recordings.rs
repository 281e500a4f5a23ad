//! Sweeps recorded on one H200, where they are at hand.

use std::fs;
use std::path::Path;

use ds_orchestrate::{FpsEmitter, FpsStatus};

use super::read_bytes;

/// Folder, batch, steady windows, aggregate: the mean over every `**PERF` data line but the first of the sum of its
/// window values, computed by a script of its own.
const AGGREGATES: [(&str, usize, usize, f64); 24] = [
    ("h200-infer-resnet152", 1, 5, 68.122),
    ("h200-infer-resnet152", 2, 5, 141.808),
    ("h200-infer-resnet152", 4, 5, 279.216),
    ("h200-infer-resnet152", 8, 5, 562.176),
    ("h200-infer-resnet152", 16, 5, 1083.168),
    ("h200-infer-resnet152", 32, 5, 1739.072),
    ("h200-infer-resnet50", 1, 5, 236.854),
    ("h200-infer-resnet50", 2, 5, 337.46),
    ("h200-infer-resnet50", 4, 5, 762.2),
    ("h200-infer-resnet50", 8, 5, 1320.368),
    ("h200-infer-resnet50", 16, 5, 2767.136),
    ("h200-infer-resnet50", 32, 5, 6076.096),
    ("h200-pipeline-resnet152", 1, 5, 26.74),
    ("h200-pipeline-resnet152", 2, 5, 127.092),
    ("h200-pipeline-resnet152", 4, 5, 197.176),
    ("h200-pipeline-resnet152", 8, 5, 389.184),
    ("h200-pipeline-resnet152", 16, 5, 650.72),
    ("h200-pipeline-resnet152", 32, 5, 986.048),
    ("h200-pipeline-resnet18", 1, 5, 289.756),
    ("h200-pipeline-resnet18", 2, 5, 571.352),
    ("h200-pipeline-resnet18", 4, 5, 789.048),
    ("h200-pipeline-resnet18", 8, 6, 1027.88),
    ("h200-pipeline-resnet18", 16, 5, 1576.224),
    ("h200-pipeline-resnet18", 32, 5, 1817.792),
];

#[test]
fn sweeps_of_one_h200() {
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/recordings");
    if !recordings.exists() {
        println!("skipped: ../shared is not there");
        return;
    }
    for (folder, batch, n_windows, mean) in AGGREGATES {
        let console = fs::read(recordings.join(folder).join(format!("fps_b{batch}.txt")))
            .expect("a recording");
        let log = read_bytes(&console);
        let what = format!("{folder} at batch {batch}");
        assert_eq!(log.emitter, Some(FpsEmitter::DeepstreamApp), "{what}");
        let aggregate = log.aggregate().expect("steady windows");
        assert_eq!(
            (aggregate.n_streams, aggregate.n_windows),
            (batch, n_windows),
            "{what}"
        );
        assert_eq!(aggregate.windows.len(), n_windows, "{what}");
        assert!(
            (aggregate.mean.get() - mean).abs() < 1e-6,
            "{what}: {}",
            aggregate.mean.get()
        );
        let status = if n_windows < 6 {
            FpsStatus::Short { n: n_windows }
        } else {
            FpsStatus::Ok
        };
        assert_eq!(log.status, status, "{what}");
    }
    println!("shared-test: fps::recordings::sweeps_of_one_h200");
}
