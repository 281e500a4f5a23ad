//! The gates before a profile.

use std::collections::BTreeMap;

use ds_ceilings::Batch;
use ds_config::Pipeline;
use ds_orchestrate::{Gate, GateId, GateState, KnownFiles, preflight};

/// An application with values that hold, of which some are replaced.
fn application(replacements: &[(&str, &str)]) -> Pipeline {
    let mut app =
        "[source0]\nenable=1\ntype=3\nuri=file:///v.mp4\nnum-sources=4\ncudadec-memtype=0\n\
                   [streammux]\nbatch-size=4\nnvbuf-memory-type=0\n\
                   [primary-gie]\nenable=1\nbatch-size=4\nconfig-file=pgie.txt\n\
                   [sink0]\nenable=1\ntype=1\nsync=0\n"
            .to_owned();
    let mut pgie =
        "[property]\nonnx-file=/m/net.onnx\nmodel-engine-file=/m/net.onnx_b4_gpu0_int8.engine\n\
                    network-mode=1\nint8-calib-file=/m/calib.bin\n"
            .to_owned();
    for (old, new) in replacements {
        assert!(app.contains(old) || pgie.contains(old), "{old}");
        app = app.replace(old, new);
        pgie = pgie.replace(old, new);
    }
    let files = BTreeMap::from([
        ("app.txt".to_owned(), app.into_bytes()),
        ("pgie.txt".to_owned(), pgie.into_bytes()),
    ]);
    Pipeline::resolve("app.txt", &files).expect("a pipeline")
}

/// All files that the application names.
fn all_files() -> KnownFiles {
    KnownFiles::of(
        [
            "/m/net.onnx",
            "/m/net.onnx_b4_gpu0_int8.engine",
            "/m/calib.bin",
        ]
        .map(str::to_owned),
    )
}

fn gates(pipeline: &Pipeline, files: Option<&KnownFiles>) -> Vec<Gate> {
    preflight(pipeline, Batch::new(4), files)
}

#[track_caller]
fn check(replacements: &[(&str, &str)], id: GateId, state: GateState, evidence: &str) {
    let gates = gates(&application(replacements), Some(&all_files()));
    for gate in &gates {
        let expected = if gate.id == id {
            state
        } else {
            GateState::Pass
        };
        assert_eq!(gate.state, expected, "{gate}");
    }
    let gate = gates
        .iter()
        .find(|gate| gate.id == id)
        .expect("it is looked at");
    assert!(gate.evidence.contains(evidence), "{gate}");
    assert_eq!(gate.advice.is_empty(), state != GateState::Fail, "{gate}");
}

#[test]
fn all_gates_hold() {
    let gates = gates(&application(&[]), Some(&all_files()));
    let ids: Vec<GateId> = gates.iter().map(|gate| gate.id).collect();
    assert_eq!(ids, GateId::ALL);
    for gate in gates {
        assert_eq!(gate.state, GateState::Pass, "{gate}");
        assert!(!gate.evidence.is_empty());
    }
}

#[test]
fn a_smaller_batch_of_the_inference_fails_and_a_larger_one_does_not() {
    let infer = "enable=1\nbatch-size=4\nconfig-file";
    check(
        &[(infer, "enable=1\nbatch-size=2\nconfig-file")],
        GateId::Batch,
        GateState::Fail,
        "mux `batch-size` 4 (app.txt:8:12), inference `batch-size` 2 (app.txt:12:12)",
    );
    check(
        &[(infer, "enable=1\nbatch-size=8\nconfig-file")],
        GateId::Batch,
        GateState::Pass,
        "inference `batch-size` 8",
    );
}

#[test]
fn an_engine_that_is_too_small_or_is_not_there() {
    check(
        &[("_b4_gpu0", "_b2_gpu0")],
        GateId::Engine,
        GateState::Fail,
        "does not exist: nvinfer builds one while it starts",
    );
    let small = application(&[("_b4_gpu0", "_b2_gpu0")]);
    let files = KnownFiles::of(["/m/net.onnx_b2_gpu0_int8.engine".to_owned()]);
    let gates = gates(&small, Some(&files));
    assert_eq!(gates[1].state, GateState::Fail);
    assert!(
        gates[1]
            .evidence
            .contains("takes batches of 2, 4 are wanted"),
        "{}",
        gates[1]
    );
    check(
        &[("model-engine-file=/m/net.onnx_b4_gpu0_int8.engine\n", "")],
        GateId::Engine,
        GateState::Fail,
        "no `model-engine-file` is named",
    );
}

#[test]
fn what_nobody_can_see_is_unknown_and_stops_nothing() {
    let neither = gates(&application(&[]), Some(&KnownFiles::default()));
    assert_eq!(neither[1].state, GateState::Unknown, "{}", neither[1]);
    for gate in gates(&application(&[]), None) {
        assert_ne!(gate.state, GateState::Fail, "{gate}");
    }
}

#[test]
fn memory_that_is_not_on_the_device() {
    check(
        &[("nvbuf-memory-type=0", "nvbuf-memory-type=3")],
        GateId::Memory,
        GateState::Fail,
        "`nvbuf-memory-type` is 3 (app.txt:9:19)",
    );
    check(
        &[("cudadec-memtype=0", "cudadec-memtype=1")],
        GateId::Memory,
        GateState::Fail,
        "`cudadec-memtype` is 1",
    );
}

#[test]
fn int8_without_a_table() {
    check(
        &[("int8-calib-file=/m/calib.bin\n", "")],
        GateId::Calibration,
        GateState::Fail,
        "no `int8-calib-file` is named",
    );
    check(
        &[("/m/calib.bin", "/m/other.bin")],
        GateId::Calibration,
        GateState::Fail,
        "`/m/other.bin` does not exist",
    );
    check(
        &[
            ("int8-calib-file=/m/calib.bin\n", ""),
            ("network-mode=1", "network-mode=2"),
        ],
        GateId::Calibration,
        GateState::Pass,
        "`network-mode` 2",
    );
}

#[test]
fn a_queue_that_drops_frames() {
    let script = "#!/bin/sh\ngst-launch-1.0 filesrc location=a ! nvv4l2decoder ! queue leaky=2 name=q ! m.sink_0 \
                  nvstreammux name=m batch-size=1 ! nvinfer batch-size=1 ! fakesink\n";
    let files = BTreeMap::from([("p.sh".to_owned(), script.as_bytes().to_vec())]);
    let pipeline = Pipeline::resolve("p.sh", &files).expect("a pipeline");
    let gates = gates(&pipeline, None);
    assert_eq!(gates[4].state, GateState::Fail, "{}", gates[4]);
    assert!(
        gates[4].evidence.contains("`leaky` of `q` is 2"),
        "{}",
        gates[4]
    );
}

#[test]
fn gates_have_names_and_others_are_refused() {
    for id in GateId::ALL {
        assert_eq!(id.name().parse(), Ok(id));
    }
    let error = "speed".parse::<GateId>().expect_err("no gate");
    assert_eq!(
        error,
        "`speed` is no gate; there are batch, engine, memory, calibration, leaky"
    );
}
