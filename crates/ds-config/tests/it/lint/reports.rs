//! Faults that users reported in public, each as a small file of our own.
//!
//! The numbers are those of a collection of 58 threads. What no look at the files can find stands in
//! [`NOT_IN_THE_FILES`] with the reason.

use ds_config::{GpuKind, OnnxDim};

use super::world::{PRIMARY, World, alone, app, command, pgie};

/// Holds the rules to a reported fault.
#[track_caller]
fn check(expected: &[&str], world: &World) {
    let found = world.codes();
    for code in expected {
        assert!(found.contains(code), "{code} is not among {found:?}");
    }
}

const MUX: &str = "[streammux]\nbatch-size=4\n";
const FILES: &str = "[source0]\nenable=1\ntype=3\nuri=file:///cam%d.mp4\nnum-sources=4\n";
const TIMEOUT: &str = "batched-push-timeout=33333\n";
const SINK: &str = "type=1\nsync=0\n";

/// The sources of the pipeline are RTSP streams.
fn rtsp() -> World {
    let source =
        |number: usize| format!("[source{number}]\nenable=1\ntype=4\nuri=rtsp://camera{number}\n");
    app().with(FILES, &(0..4).map(source).collect::<String>())
}

fn usb(keys: &str) -> String {
    format!("[source0]\nenable=1\ntype=1\n{keys}")
}

#[test]
fn e01_two_streams_share_the_rate_of_one() {
    check(&["A1"], &app().with(MUX, "[streammux]\nbatch-size=1\n"));
}

#[test]
fn e02_half_the_engine_at_the_same_rate() {
    check(&["B2"], &app().with(SINK, "type=2\nsync=0\n"));
}

#[test]
fn e03_two_input_sizes_at_60_fps() {
    check(
        &["B2"],
        &app()
            .with(SINK, "type=5\nsync=0\n")
            .gpu(GpuKind::Integrated),
    );
}

#[test]
fn e04_two_models_at_60_fps() {
    check(
        &["B2"],
        &command(
            "filesrc location=a ! nvv4l2decoder ! m.sink_0 nvstreammux name=m batch-size=1 ! nvinfer config-file-path=pgie.txt ! nv3dsink sync=0",
        ),
    );
}

#[test]
fn e05_thirty_fps_for_every_model() {
    let program = "import gi\nfrom gi.repository import Gst\nsink = Gst.ElementFactory.make(\"fakesink\", \"s\")\nsink.set_property(\"sync\", 1)\n";
    check(&["B1"], &alone("app.py", program));
}

#[test]
fn e06_an_fp32_engine_is_kept() {
    check(&["N2"], &pgie().with("network-mode=2", "network-mode=0"));
    check(&["N7"], &pgie().with("gpu0_fp16", "gpu0_fp32"));
}

#[test]
fn e07_the_same_rate_in_both_precisions() {
    check(&["N7"], &pgie().with("network-mode=2", "network-mode=0"));
}

#[test]
fn e08_an_engine_that_did_not_follow_the_mode() {
    let int8 = pgie()
        .with("network-mode=2", "network-mode=1")
        .with("gpu0_fp16", "gpu0_fp32");
    check(&["N7"], &int8.and("int8-calib-file=c.bin\n"));
}

#[test]
fn e11_two_frames_for_an_engine_of_one() {
    check(&["N6"], &pgie().with("m.onnx_b4", "m.onnx_b1"));
    check(&["E8"], &app().with("m.onnx_b4", "m.onnx_b1"));
    let fixed = [1, 3, 480, 640].map(OnnxDim::Fixed);
    check(&["E8"], &app().onnx(&fixed));
}

#[test]
fn e12_an_engine_that_does_not_match() {
    check(&["E8"], &app().with("m.onnx_b4", "m.onnx_b2"));
}

#[test]
fn e13_three_batches_that_differ() {
    let three = app()
        .with(PRIMARY, "[primary-gie]\nenable=1\nbatch-size=2\n")
        .with("engine\nbatch-size=4", "engine\nbatch-size=1");
    check(&["E1", "E3"], &three);
}

#[test]
fn e14_an_engine_alone_cannot_be_built_anew() {
    check(
        &["E8"],
        &app()
            .with("onnx-file=m.onnx\n", "")
            .with("m.onnx_b4", "model_b1"),
    );
}

#[test]
fn e15_an_engine_for_one_and_stale_keys() {
    let stale = app()
        .with("m.onnx_b4", "m.onnx_b1")
        .with("num-sources=4\n", "num-sources=4\nnum-decode-surfaces=16\n");
    check(&["E8", "U1"], &stale);
}

#[test]
fn e16_a_batch_of_four_and_an_engine_of_three() {
    check(&["E8"], &app().with("m.onnx_b4", "m.onnx_b3"));
}

#[test]
fn e17_batches_that_were_not_raised_together() {
    let drifted = app()
        .with("num-sources=4", "num-sources=16")
        .with(PRIMARY, "[primary-gie]\nenable=1\nbatch-size=1\n");
    check(&["A1", "E1"], &drifted);
}

#[test]
fn e18_rtsp_with_the_timeout_of_files() {
    check(
        &["A5c", "A6"],
        &rtsp()
            .with(TIMEOUT, "batched-push-timeout=40000\nlive-source=0\n")
            .fps(60),
    );
}

#[test]
fn e20_stutter_from_four_seconds() {
    check(
        &["A5b"],
        &rtsp().with(TIMEOUT, "batched-push-timeout=4000000\n"),
    );
}

#[test]
fn e22_a_tracker_on_the_cpu() {
    check(
        &["C3"],
        &app().with("libnvds_nvmultiobjecttracker", "libnvds_mot_klt"),
    );
}

#[test]
fn e25_three_usb_cameras() {
    let keys = "camera-width=1280\ncamera-height=720\ncamera-fps-n=30\ncamera-fps-d=1\n";
    let three: String = (0..3)
        .map(|number| usb(keys).replace("source0", &format!("source{number}")))
        .collect();
    check(&["S5"], &app().with(FILES, &three));
    let small = three.replace("=1280", "=640").replace("=720", "=480");
    assert!(!app().with(FILES, &small).codes().contains(&"S5"));
}

#[test]
fn e26_frames_of_a_usb_camera() {
    check(&["S2"], &app().with(FILES, &usb("drop-frame-interval=2\n")));
}

#[test]
fn e27_a_large_usb_camera() {
    check(
        &["A6"],
        &app().with(FILES, &usb("camera-width=3840\ncamera-height=2160\n")),
    );
}

#[test]
fn e28_from_files_to_a_usb_camera() {
    check(
        &["A6"],
        &app()
            .with(FILES, &usb(""))
            .with(TIMEOUT, "batched-push-timeout=33333\nlive-source=0\n"),
    );
}

#[test]
fn e32_the_engine_is_commented_out() {
    check(
        &["N5"],
        &pgie().with("model-engine-file", "#model-engine-file"),
    );
}

#[test]
fn e33_an_engine_under_another_name() {
    check(
        &["N7"],
        &pgie().with("m.onnx_b4_gpu0_fp16.engine", "m_fp32.engine"),
    );
}

#[test]
fn e34_an_engine_that_cannot_be_named() {
    check(
        &["N5"],
        &pgie().with("model-engine-file=m.onnx_b4_gpu0_fp16.engine\n", ""),
    );
}

#[test]
fn e36_a_batch_to_speed_one_stream_up() {
    check(&["A2"], &app().with("num-sources=4", "num-sources=1"));
}

#[test]
fn e37_a_second_detector() {
    let chain = "filesrc location=a ! nvv4l2decoder ! m.sink_0 nvstreammux name=m batch-size=4 ! nvinfer config-file-path=pgie.txt ! nvinfer config-file-path=plates.txt ! fakesink";
    check(
        &["P1"],
        &command(chain).file(
            "plates.txt",
            "[property]\nonnx-file=plates.onnx\ngie-unique-id=2\n",
        ),
    );
}

#[test]
fn e38_a_timeout_of_30_fps_at_60() {
    check(&["A5c"], &rtsp().fps(60));
}

#[test]
fn e39_a_timeout_of_a_sample() {
    check(
        &["A5c"],
        &rtsp().with(TIMEOUT, "batched-push-timeout=40000\n").fps(15),
    );
}

#[test]
fn e40_a_mux_for_live_sources() {
    check(&["A5c"], &rtsp().fps(20));
    check(&["M2"], &rtsp().new_mux());
}

#[test]
fn e41_a_mux_in_unified_memory() {
    check(
        &["A8"],
        &rtsp().with(TIMEOUT, "batched-push-timeout=33333\nnvbuf-memory-type=3\n"),
    );
}

#[test]
fn e42_one_inference_in_a_second() {
    check(
        &["N8"],
        &app().with("network-mode=2\n", "network-mode=2\ninterval=8\n"),
    );
}

#[test]
fn e46_fp32_on_an_integrated_gpu() {
    check(
        &["N2"],
        &pgie()
            .with("network-mode=2", "network-mode=0")
            .gpu(GpuKind::Integrated),
    );
}

#[test]
fn e47_a_timeout_without_effect() {
    check(&["M1"], &rtsp().new_mux());
}

#[test]
fn e48_batches_of_four_for_a_batch_of_two() {
    check(
        &["M2"],
        &rtsp().with(MUX, "[streammux]\nbatch-size=2\n").new_mux(),
    );
}

#[test]
fn e50_a_timeout_that_is_too_large() {
    check(
        &["A5b"],
        &app().with(TIMEOUT, "batched-push-timeout=40000000\n"),
    );
}

#[test]
fn e51_one_dead_stream_stalls_all() {
    check(&["A5"], &rtsp().with(TIMEOUT, "batched-push-timeout=-1\n"));
}

#[test]
fn e52_timestamp_warnings_of_a_window() {
    check(&["B1"], &app().with(SINK, "type=2\nsync=1\n"));
}

/// Reports that no rule can find, and why.
const NOT_IN_THE_FILES: [(&str, &str); 21] = [
    (
        "e09",
        "one file stream limits both precisions: only their rates show it",
    ),
    (
        "e10",
        "INT8 slower than FP16 shows in two measurements; the power mode stands in no file",
    ),
    (
        "e19",
        "a model that is too slow for its sources shows in rates only",
    ),
    (
        "e21",
        "the library sets the batch when it runs; the files hold another",
    ),
    (
        "e23",
        "a hang of two inferences and a tracker shows in queue levels; each file is sound",
    ),
    (
        "e24",
        "a second stream that halves the rate of a full GPU is what is to be expected",
    ),
    (
        "e29",
        "a model that is not safe for batches shows in the boxes of each source",
    ),
    (
        "e30",
        "an output without a batch dimension stands in the model, of which the inputs only are read",
    ),
    (
        "e31",
        "a defect of the builder shows in boxes at two batches",
    ),
    ("e35", "the camera gives 22 fps whatever is configured"),
    (
        "e43",
        "which input is too large depends on the GPU: the ceilings say it",
    ),
    ("e44", "a pipeline that never runs is seen in its log"),
    (
        "e45",
        "back-pressure of a broker shows in queue levels; the plan's queues (R5) prevent it",
    ),
    (
        "e49",
        "timestamps of a camera stand in no file, and `sync-inputs=1` is right for others",
    ),
    (
        "e53",
        "where more batch brings nothing is measured: the plateau",
    ),
    ("e54", "a matter of reading logs"),
    ("e55", "a matter of reading logs"),
    ("e56", "a question, not a fault"),
    ("e57", "published figures without their conditions"),
    ("e58", "a question, not a fault"),
    (
        "e06, power mode",
        "the power mode of a board stands in no file",
    ),
];

#[test]
fn every_report_is_found_or_explained() {
    let tests = include_str!("reports.rs");
    for number in 1..=58 {
        let id = format!("e{number:02}");
        let has_test = tests.contains(&format!("fn {id}_"));
        let is_explained = NOT_IN_THE_FILES.iter().any(|(held, _)| *held == id);
        assert_ne!(has_test, is_explained, "{id} is neither or both");
    }
}
