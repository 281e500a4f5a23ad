//! Planning with a GPU that is not at hand.

use crate::support::{output_of, root};

#[test]
fn ceilings_by_name() {
    let text = output_of(&["hw", "--gpu", "NVIDIA L4", "--format", "md"]);
    assert!(text.starts_with("# NVIDIA L4\n"), "{text}");
    // 58 SM x 1024 operations per clock and SM x 2040 MHz = 121.2 TFLOP/s, printed as 121 by NVIDIA.
    assert!(
        text.contains("58 SM × 1024 op/clk/SM × 2040 MHz = 121.2 TFLOP/s"),
        "{text}"
    );
}

#[test]
fn a_file_from_another_machine() {
    let xml = root().join("testdata/smi/xml/h200-580.159.04.xml");
    let text = output_of(&["hw", "--from", xml.to_str().expect("UTF-8")]);
    for part in ["NVIDIA H200", "×132", "×7", "Gen5 x16", "580.159.04"] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
}

#[test]
fn two_gpus_beside_each_other() {
    let text = output_of(&[
        "hw",
        "--compare",
        "Tesla T4",
        "NVIDIA L4",
        "--format",
        "json",
    ]);
    let rows: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let memory = rows
        .as_array()
        .expect("rows")
        .iter()
        .find(|row| row["id"] == "memory")
        .expect("memory");
    // Data sheets: 320 GB/s (T4) and 300 GB/s (L4).
    assert!(
        (memory["ratio"].as_f64().expect("a ratio") - 300.0 / 320.0).abs() < 0.01,
        "{memory}"
    );
}

#[test]
fn every_listed_name_has_ceilings_or_is_ambiguous() {
    let list = output_of(&["hw", "--list"]);
    assert!(list.lines().count() > 100, "{list}");
    assert!(list.lines().any(|name| name == "NVIDIA H200"));
}

#[test]
fn capacity_from_numbers_by_hand() {
    // Compute: floor(1200 / 30) = 40 streams. The L4 decodes far more, so compute decides.
    let text = output_of(&[
        "capacity",
        "--gpu",
        "NVIDIA L40S",
        "--codec",
        "hevc",
        "--source-size",
        "1920x1080",
        "--plateau-fps",
        "1200",
        "--fps",
        "30",
    ]);
    assert!(
        text.starts_with("40 streams at 30 frames/s; compute decides."),
        "{text}"
    );
}
