//! Who says which GPUs there are, and what others would carry.

use std::fs;

use serde_json::Value;

use crate::support::{bundle, dsprof, output_of, root, run};

#[track_caller]
fn check(args: &[&str], status: i32, message: &str) {
    let ran = run(args);
    assert_eq!(ran.status, status, "{args:?}\n{}{}", ran.stdout, ran.stderr);
    assert!(
        ran.stderr.contains(message),
        "{args:?} said:\n{}",
        ran.stderr
    );
}

#[test]
fn where_nobody_answers_each_is_named_with_what_to_do() {
    check(
        &["hw", "--via", "nvml"],
        4,
        "error: NVML does not answer: `libnvidia-ml.so.1` cannot be loaded",
    );
    check(&["hw", "--via", "nvml"], 4, "hint: NVML: install");
    check(
        &["hw", "--via", "nvidia-smi"],
        4,
        "`nvidia-smi` is not installed",
    );
    let both = "neither NVML (`libnvidia-ml.so.1` cannot be loaded) nor nvidia-smi answers";
    for args in [&["hw"][..], &["hw", "--via", "both"]] {
        check(args, 4, both);
        check(args, 4, "`nvidia-smi` is not installed");
        check(args, 4, "hint: NVML: install");
        check(args, 4, "`dsprof hw --gpu NAME` plans without one");
    }
    check(&["hw", "--via", "guess"], 2, "invalid value 'guess'");
    check(
        &["hw", "--via", "nvml", "--gpu", "NVIDIA L4"],
        2,
        "cannot be used with",
    );
}

#[test]
fn whoever_answers_on_an_h200_the_report_is_the_same() {
    let recording = bundle("h200-hw");
    let report = |via| {
        output_of(&[
            "hw", "--replay", &recording, "--format", "json", "--via", via,
        ])
    };
    let document: Value = serde_json::from_str(&report("both")).expect("JSON");
    assert_eq!(document[0]["sm_count"], 132);
    assert_eq!(document[0]["memory_mib"], 143_771.0);
    assert_eq!(document[0]["findings"], Value::Array(Vec::new()));
    for via in ["nvml", "nvidia-smi"] {
        assert_eq!(report(via), report("both"), "{via}");
    }
}

#[test]
fn a_recording_without_nvml_has_nvidia_smi_alone() {
    let recording = bundle("h200-resnet152");
    let default = output_of(&["hw", "--replay", &recording]);
    for via in ["both", "nvidia-smi"] {
        let text = output_of(&["hw", "--replay", &recording, "--via", via]);
        assert_eq!(text, default, "{via}");
    }
    check(
        &["hw", "--replay", &recording, "--via", "nvml"],
        3,
        "the recording holds no reading of NVML",
    );
}

#[test]
fn the_environment_counts_on_the_machine_alone() {
    let recording = bundle("h200-resnet152");
    let plain = output_of(&["hw", "--replay", &recording]);
    let output = dsprof(&["hw", "--replay", &recording])
        .env("CUDA_VISIBLE_DEVICES", "7")
        .output()
        .expect("dsprof runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), plain);
}

#[test]
fn a_finished_stage_asks_nvml_no_more() {
    let recording = bundle("h200-resnet152");
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy");
    let copy = copy.to_str().expect("UTF-8");
    let first = output_of(&["tune", "--replay", &recording, "--bundle", copy]);
    // The same run once more, on the machine: every argument as the recording has it.
    let manifest = fs::read_to_string(root().join(&recording).join("bundle.json"));
    let manifest: Value = serde_json::from_str(&manifest.expect("a manifest")).expect("JSON");
    let inputs = &manifest["inputs"];
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let mut args = vec!["tune".to_owned(), text(&inputs["pipeline"])];
    for (name, value) in inputs["arguments"].as_object().expect("arguments") {
        args.extend([format!("--{name}"), text(value)]);
    }
    args.extend(["--provenance".to_owned(), text(&inputs["provenance"])]);
    args.extend(["--bundle".to_owned(), copy.to_owned()]);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    assert_eq!(output_of(&args), first);
    assert!(!folder.path().join("copy/hw/nvml.json").exists());
}

#[test]
fn a_live_reading_is_kept_also_where_there_is_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("kept");
    let bundle = kept.to_str().expect("UTF-8");
    check(&["hw", "--bundle", bundle], 4, "neither NVML");
    let text = fs::read_to_string(kept.join("hw/nvml.json")).expect("it was kept");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["schema"], "dsprof.nvml/1");
    assert_eq!(document["answer"]["failure"], "library_missing");
    // The replay says what the run said.
    check(
        &["hw", "--replay", bundle],
        4,
        "neither NVML (`libnvidia-ml.so.1` cannot be loaded) nor nvidia-smi answers",
    );
    // With other GPUs to be seen it is another run.
    let output = dsprof(&["hw", "--bundle", bundle])
        .env("CUDA_VISIBLE_DEVICES", "1")
        .output()
        .expect("dsprof runs");
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains("cuda-visible-devices was `(none)`, now it is `1`"),
        "{said}"
    );
}

/// The lines of the projection table: GPU, capacity, what decides, and the rest.
fn projected(args: &[&str]) -> Vec<Value> {
    let mut args = args.to_vec();
    args.extend(["--format", "json"]);
    let text = output_of(&args);
    let document: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(document["schema"], "dsprof.projection/1");
    let rows = document["projections"].as_array().expect("rows").clone();
    assert!(rows.iter().all(|row| row["confidence"] == "low"));
    rows
}

#[test]
fn a_measured_sweep_on_other_gpus() {
    let recording = bundle("h200-resnet152-graphs");
    let rows = projected(&[
        "capacity",
        "--replay",
        &recording,
        "--what-if",
        "NVIDIA H200",
        "--what-if",
        "NVIDIA L4",
    ]);
    let [same, l4] = rows.as_slice() else {
        panic!("two GPUs")
    };
    // The GPU itself: what `capacity` says without a projection.
    assert_eq!(
        (&same["gpu"], &same["streams"]),
        (&"NVIDIA H200".into(), &67.into())
    );
    assert_eq!(
        (&same["compute_ratio"], &same["memory_ratio"]),
        (&1.0.into(), &1.0.into())
    );
    assert_eq!(same["streams_if_memory_bound"], 67);
    // FP16: 121.2 TFLOP/s of the L4 over 989.4 of the H200 is 0.1225, and 67 streams are at most 68 × 30 frames/s:
    // between 67 × 0.1225 = 8.2 and 68 × 0.1225 = 8.3.
    assert_eq!(
        (&l4["gpu"], &l4["streams"]),
        (&"NVIDIA L4".into(), &8.into())
    );
    assert_eq!(l4["decides"], "compute");
    // 300 GB/s over 4.8 TB/s is 0.0625: between 4.1 and 4.3.
    assert_eq!(l4["streams_if_memory_bound"], 4);
}

#[test]
fn stated_numbers_on_other_gpus() {
    let stated = [
        "capacity",
        "--gpu",
        "Tesla T4",
        "--codec",
        "hevc",
        "--source-size",
        "1920x1080",
        "--plateau-fps",
        "310",
        "--what-if",
        "NVIDIA L40S",
    ];
    let rows = projected(&stated);
    // 366.4 / 65.1 TFLOP/s = 5.63; 310 × 5.63 / 30 = 58.2 streams. 864.1 / 320.1 GB/s = 2.70: 27.9 streams.
    assert_eq!(
        (&rows[0]["streams"], &rows[0]["streams_if_memory_bound"]),
        (&58.into(), &27.into())
    );

    // A T4 has no TF32, so that nothing is known of FP32 models but what decoding allows.
    let mut fp32 = stated.to_vec();
    fp32.extend(["--precision", "fp32"]);
    let row = &projected(&fp32)[0];
    assert!(row["compute_ratio"].is_null(), "{row}");
    assert_eq!(row["decides"], "decode");
    // 4478.6 / 30 = 149.3.
    assert_eq!(row["text"], "at most 149 streams");
}

#[test]
fn a_projection_says_that_it_is_one() {
    let recording = bundle("h200-resnet152-graphs");
    let args = ["capacity", "--replay", &recording, "--what-if", "NVIDIA L4"];
    for format in ["text", "md"] {
        let mut args = args.to_vec();
        args.extend(["--format", format]);
        let text = output_of(&args);
        let plain = output_of(&[&args[..3], &["--format", format]].concat());
        assert!(text.starts_with(&plain), "{text}");
        for part in [
            "Projected onto other GPUs at 30 frames/s",
            "NVIDIA L4",
            "×0.12",
            "low",
            "- projected from NVIDIA H200, not measured: confidence low",
            "published FP16 tensor rates",
        ] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
    }
}

#[test]
fn a_projection_that_cannot_be_made() {
    check(
        &["capacity", "--plateau-fps", "300", "--what-if", "NVIDIA L4"],
        2,
        "say with --gpu which one the numbers were measured on",
    );
    let recording = bundle("h200-resnet152-graphs");
    check(
        &[
            "capacity",
            "--replay",
            &recording,
            "--what-if",
            "NVIDIA L444",
        ],
        2,
        "no GPU named `NVIDIA L444` is known",
    );
    check(
        &["capacity", "--replay", &recording, "--precision", "int8"],
        2,
        "--what-if <NAME>",
    );
}
