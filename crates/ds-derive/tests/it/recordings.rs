//! The sweeps as they were recorded, where the recordings are at hand: the numbers in the tests are those of the files.

use std::fs;
use std::path::PathBuf;

use crate::bound::PIPELINE_RESNET152_B8;
use crate::plateau::{RESNET50, RESNET152};

/// The aggregate of each window of a log: the sum of the values that stand in front of a bracket.
fn windows(log: &str) -> Vec<f64> {
    log.lines()
        .filter_map(|line| line.strip_prefix("**PERF:"))
        .filter(|line| !line.contains("(Avg)"))
        .map(|line| {
            let values = line
                .split_whitespace()
                .filter(|word| !word.starts_with('('));
            values.filter_map(|value| value.parse::<f64>().ok()).sum()
        })
        .collect()
}

#[test]
fn the_constants_are_the_recordings() {
    let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/recordings");
    if !shared.is_dir() {
        println!("skipped: ../shared is not there");
        return;
    }
    let check = |folder: &str, batch: u32, expected: &[f64]| {
        let path = shared.join(folder).join(format!("fps_b{batch}.txt"));
        let log =
            fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let found = windows(&log);
        assert_eq!(found.len(), expected.len() + 1, "{}", path.display());
        for (found, expected) in found.iter().skip(1).zip(expected) {
            let off = (found - expected).abs();
            assert!(off < 1e-6, "{}: {found} {expected}", path.display());
        }
    };
    for (batch, windows) in RESNET152 {
        check("h200-infer-resnet152", batch, &windows);
    }
    for (batch, windows) in RESNET50 {
        check("h200-infer-resnet50", batch, &windows);
    }
    check("h200-pipeline-resnet152", 8, &PIPELINE_RESNET152_B8);
    println!("shared-test: the_constants_are_the_recordings");
}
