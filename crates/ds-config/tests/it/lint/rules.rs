//! Every rule: a pipeline in which it fires, and one in which its guard holds it back.

use ds_config::{GpuKind, PrecisionWish, Purpose, RULES, Severity};

use super::world::{World, alone, app, command, pgie};

/// Holds a rule to a pipeline that has its fault, and to one that only looks like it.
#[track_caller]
fn check(code: &str, faulty: &World, guarded: &World) {
    let found = faulty.codes();
    assert!(found.contains(&code), "{code} is not among {found:?}");
    let found = guarded.lint();
    let found = found.iter().find(|finding| finding.rule.code == code);
    assert_eq!(found, None, "{code} fires in spite of its guard");
}

/// Two sources into a mux with the properties given.
fn two_cameras(mux: &str) -> World {
    command(&format!(
        "nvurisrcbin uri=rtsp://a ! m.sink_0 nvurisrcbin uri=rtsp://b ! m.sink_1 \
         nvstreammux name=m {mux} ! nvinfer config-file-path=pgie.txt batch-size=2 ! fakesink"
    ))
}

#[test]
fn a_pipeline_without_faults_has_no_findings() {
    assert_eq!(app().lint(), []);
    assert_eq!(
        app()
            .models(&["m.onnx", "m.onnx_b4_gpu0_fp16.engine"])
            .fps(30)
            .version(9, 1)
            .lint(),
        []
    );
    assert_eq!(pgie().lint(), []);
}

#[test]
fn every_rule_has_a_case_here() {
    let cases = include_str!("rules.rs");
    for rule in &RULES {
        let case = format!("check(\n        \"{}\",", rule.code);
        let short = format!("check(\"{}\",", rule.code);
        assert!(
            cases.contains(&case) || cases.contains(&short),
            "{rule:?} has no case"
        );
    }
}

#[test]
fn ids_count_up() {
    for (position, rule) in RULES.iter().enumerate() {
        assert_eq!(rule.id, format!("DS{:03}", position + 1), "{rule:?}");
    }
}

const MUX: &str = "[streammux]\nbatch-size=4\n";

#[test]
fn a1_four_sources_in_batches_of_two() {
    let faulty = app().with(MUX, "[streammux]\nbatch-size=2\n");
    check("A1", &faulty, &faulty.clone().new_mux());
    let list =
        "[source-list]\nlist=file:///a.mp4;file:///b.mp4\n[source-attr-all]\nenable=1\ntype=2\n";
    check(
        "A1",
        &faulty,
        &app()
            .with(MUX, "[streammux]\nbatch-size=1\n")
            .with("enable=1\ntype=3", "enable=0\ntype=3")
            .and(list),
    );
    let policy = "[property]\nadaptive-batching=0\noverall-min-fps-n=30\n";
    let fixed = app()
        .with(MUX, "[streammux]\nbatch-size=2\nconfig-file-path=mux.txt\n")
        .file("mux.txt", policy)
        .new_mux();
    check("A1", &fixed, &app());
}

#[test]
fn a2_four_sources_in_batches_of_eight() {
    let multi = "nvmultiurisrcbin max-batch-size=8 uri-list=file:///a,file:///b width=8 height=8 ! fakesink";
    check(
        "A2",
        &app().with(MUX, "[streammux]\nbatch-size=8\n"),
        &command(multi),
    );
}

#[test]
fn a3_a_mux_without_a_batch() {
    let faulty = app().with(MUX, "[streammux]\n");
    check("A3", &faulty, &faulty.clone().new_mux());
    check(
        "A3",
        &app().with(MUX, "[streammux]\nbatch-size=0\n"),
        &app(),
    );
    let flow = "from pyservicemaker import Pipeline, Flow\nFlow(Pipeline(\"p\")).batch_capture([\"a\", \"b\"]).infer(\"pgie.txt\").render()()\n";
    check("A3", &two_cameras("live-source=1"), &alone("flow.py", flow));
}

const TIMEOUT: &str = "batched-push-timeout=33333\n";

#[test]
fn a4_a_mux_without_a_timeout() {
    let faulty = app().with(TIMEOUT, "");
    check("A4", &faulty, &faulty.clone().purpose(Purpose::Benchmark));
    check("A4", &faulty, &faulty.clone().new_mux());
    check(
        "A4",
        &faulty,
        &faulty.clone().with(MUX, "[streammux]\nbatch-size=1\n"),
    );
}

#[test]
fn a5_a_timeout_without_an_end() {
    let faulty = app().with(TIMEOUT, "batched-push-timeout=-1\n");
    check("A5", &faulty, &faulty.clone().purpose(Purpose::Benchmark));
    let live = two_cameras("batch-size=2 batched-push-timeout=-1").purpose(Purpose::Benchmark);
    check("A5", &live, &app());
}

#[test]
fn a5b_a_timeout_of_four_seconds() {
    let faulty = app().with(TIMEOUT, "batched-push-timeout=4000000\n");
    check("A5b", &faulty, &faulty.clone().purpose(Purpose::Benchmark));
    check(
        "A5b",
        &faulty,
        &app().with(TIMEOUT, "batched-push-timeout=999999\n"),
    );
}

#[test]
fn a5c_a_timeout_for_25_fps() {
    let copied = app().with(TIMEOUT, "batched-push-timeout=40000\n");
    check("A5c", &copied.clone().fps(30), &copied.clone().fps(25));
    check("A5c", &copied.clone().fps(30), &copied);
    // 1,000,000 / 30 = 33,333; 33,000 is one per cent below, and two are allowed.
    check(
        "A5c",
        &copied.fps(30),
        &app().with(TIMEOUT, "batched-push-timeout=33000\n").fps(30),
    );
}

#[test]
fn a6_cameras_that_the_mux_takes_for_files() {
    let faulty = two_cameras("batch-size=2");
    check("A6", &faulty, &two_cameras("batch-size=2 live-source=1"));
    check("A6", &faulty, &faulty.clone().new_mux());
}

#[test]
fn a7_files_that_the_mux_takes_for_cameras() {
    let faulty = app().with(TIMEOUT, "batched-push-timeout=33333\nlive-source=1\n");
    let simulated = faulty.clone().with(
        "num-sources=4\n",
        "num-sources=4\nsimulate-fps-interval-ms=33\n",
    );
    check("A7", &faulty, &simulated);
    check("A7", &faulty, &faulty.clone().purpose(Purpose::Live));
}

#[test]
fn a8_a_decoder_and_a_mux_with_different_memory() {
    let faulty = app().with("num-sources=4\n", "num-sources=4\ncudadec-memtype=2\n");
    check("A8", &faulty, &faulty.clone().gpu(GpuKind::Integrated));
    check(
        "A8",
        &faulty,
        &app().with("num-sources=4\n", "num-sources=4\ncudadec-memtype=0\n"),
    );
    check(
        "A8",
        &app().and("[osd]\nenable=1\nnvbuf-memory-type=1\n"),
        &app().and("[osd]\nenable=1\nnvbuf-memory-type=2\n"),
    );
}

#[test]
fn a9_frames_in_pinned_host_memory() {
    let faulty = app().with(TIMEOUT, "batched-push-timeout=33333\nnvbuf-memory-type=1\n");
    check("A9", &faulty, &faulty.clone().gpu(GpuKind::Integrated));
    let program = |probe: &str| {
        let text = format!(
            "import gi\nfrom gi.repository import Gst\nconv = Gst.ElementFactory.make(\"nvvideoconvert\", \"c\")\nconv.set_property(\"nvbuf-memory-type\", 3)\n{probe}\n"
        );
        alone("app.py", &text)
    };
    check(
        "A9",
        &program(""),
        &program("frame = pyds.get_nvds_buf_surface(b, 0)"),
    );
}

#[test]
fn b1_a_sink_that_waits_for_the_clock() {
    let faulty = app().with("type=1\nsync=0\n", "type=1\nsync=1\n");
    check("B1", &faulty, &faulty.clone().purpose(Purpose::Live));
    check(
        "B1",
        &faulty,
        &faulty
            .clone()
            .with("[sink0]\nenable=1", "[sink0]\nenable=0"),
    );
    let by_default = "filesrc location=a ! nvv4l2decoder ! m.sink_0 nvstreammux name=m batch-size=1 ! nveglglessink";
    check(
        "B1",
        &command(by_default),
        &command(&format!("{by_default} sync=false")),
    );
}

#[test]
fn b2_a_sink_on_the_screen() {
    let faulty = app().with("type=1\nsync=0\n", "type=2\nsync=0\n");
    check("B2", &faulty, &faulty.clone().purpose(Purpose::Live));
}

#[test]
fn b3_a_sink_that_encodes() {
    let faulty = app().with("type=1\nsync=0\n", "type=3\nsync=0\noutput-file=o.mp4\n");
    check("B3", &faulty, &faulty.clone().purpose(Purpose::Live));
    let raw = "filesrc location=a ! nvv4l2decoder ! m.sink_0 nvstreammux name=m batch-size=1 ! filesink location=o.raw";
    check("B3", &faulty, &command(raw));
}

#[test]
fn b4_a_tiler() {
    let faulty = app().and("[tiled-display]\nenable=1\n");
    check("B4", &faulty, &app().and("[tiled-display]\nenable=0\n"));
    check("B4", &faulty, &faulty.clone().purpose(Purpose::Live));
}

#[test]
fn b5_an_on_screen_display() {
    let faulty = app().and("[osd]\nenable=1\n");
    check("B5", &faulty, &app().and("[osd]\nenable=0\n"));
    check("B5", &faulty, &faulty.clone().purpose(Purpose::Live));
}

#[test]
fn b6_an_on_screen_display_on_the_cpu() {
    check(
        "B6",
        &app().and("[osd]\nenable=1\nprocess-mode=0\n"),
        &app().and("[osd]\nenable=1\n"),
    );
}

#[test]
fn b7_no_measurement() {
    let off = app().with("enable-perf-measurement=1\n", "enable-perf-measurement=0\n");
    check("B7", &off, &two_cameras("batch-size=2"));
}

#[test]
fn b8_a_measurement_without_an_interval() {
    let faulty = app().with("perf-measurement-interval-sec=5\n", "");
    check(
        "B8",
        &faulty,
        &faulty.clone().with("enable-perf-measurement=1\n", ""),
    );
}

const TRACKER_SIZE: &str = "tracker-width=480\ntracker-height=288\n";

#[test]
fn c1_a_key_that_trackers_lost() {
    let faulty = app().with(TRACKER_SIZE, "enable-batch-process=1\n");
    check("C1", &faulty, &faulty.clone().version(6, 2));
    check("C1", &faulty.version(6, 3), &app());
}

#[test]
fn c2_a_tracker_of_500_pixels() {
    let faulty = app().with("tracker-width=480", "tracker-width=500");
    let three_dimensional = faulty.clone().with("NvDCF_max_perf", "NvDCF_accuracy_3D");
    check("C2", &faulty, &three_dimensional);
}

#[test]
fn c3_a_tracker_library_of_another_maker() {
    let faulty = app().with("libnvds_nvmultiobjecttracker", "libByteTracker");
    let meant = faulty
        .clone()
        .with("ll-lib-file", "# dsprof: allow DS022\nll-lib-file");
    check("C3", &faulty, &meant);
    check(
        "C3",
        &app().with("libnvds_nvmultiobjecttracker", "libnvds_mot_klt"),
        &app(),
    );
}

#[test]
fn c4_a_tracker_without_a_configuration() {
    let faulty = app().with("ll-config-file=config_tracker_NvDCF_max_perf.yml\n", "");
    check(
        "C4",
        &faulty,
        &faulty
            .clone()
            .with("libnvds_nvmultiobjecttracker", "libByteTracker"),
    );
}

const PRIMARY: &str = "[primary-gie]\nenable=1\nbatch-size=4\n";

#[test]
fn e1_an_inference_with_another_batch_than_the_mux() {
    let faulty = app().with(PRIMARY, "[primary-gie]\nenable=1\nbatch-size=2\n");
    let prepared = faulty
        .clone()
        .and("[pre-process]\nenable=1\nconfig-file=pre.txt\n");
    check("E1", &faulty, &prepared);
    check("E1", &faulty, &faulty.clone().new_mux());
}

#[test]
fn e1_a_larger_batch_is_only_a_note() {
    let larger = app().with(PRIMARY, "[primary-gie]\nenable=1\nbatch-size=8\n");
    let found = larger.lint();
    let found = found.iter().find(|finding| finding.rule.code == "E1");
    assert_eq!(found.map(|finding| finding.severity), Some(Severity::Note));
}

#[test]
fn e2_batches_are_skipped_without_a_tracker() {
    let faulty = app()
        .with(
            PRIMARY,
            "[primary-gie]\nenable=1\nbatch-size=4\ninterval=2\n",
        )
        .with("[tracker]\nenable=1", "[tracker]\nenable=0");
    check(
        "E2",
        &faulty,
        &faulty
            .clone()
            .with("[tracker]\nenable=0", "[tracker]\nenable=1"),
    );
}

#[test]
fn e3_a_batch_that_replaces_another() {
    check(
        "E3",
        &app().with("engine\nbatch-size=4", "engine\nbatch-size=1"),
        &app(),
    );
}

#[test]
fn e4_the_file_has_another_batch_than_the_mux() {
    let faulty = app()
        .with(PRIMARY, "[primary-gie]\nenable=1\n")
        .with("engine\nbatch-size=4", "engine\nbatch-size=2");
    check(
        "E4",
        &faulty,
        &faulty
            .clone()
            .and("[pre-process]\nenable=1\nconfig-file=pre.txt\n"),
    );
    check(
        "E4",
        &faulty,
        &app().with(PRIMARY, "[primary-gie]\nenable=1\n"),
    );
}

#[test]
fn e5_a_batch_in_neither_place() {
    let faulty = app()
        .with(PRIMARY, "[primary-gie]\nenable=1\n")
        .with("engine\nbatch-size=4", "engine");
    let single = faulty.clone().with("num-sources=4", "num-sources=1");
    check("E5", &faulty, &single);
    let unread = app()
        .with(PRIMARY, "[primary-gie]\nenable=1\n")
        .with("config-file=pgie.txt", "config-file=elsewhere.txt");
    check("E5", &faulty, &unread);
}

#[test]
fn e6_an_interval_that_replaces_another() {
    let faulty = app()
        .with(
            PRIMARY,
            "[primary-gie]\nenable=1\nbatch-size=4\ninterval=0\n",
        )
        .with("network-mode=2\n", "network-mode=2\ninterval=4\n");
    check(
        "E6",
        &faulty,
        &faulty.clone().with("interval=4", "interval=0"),
    );
}

#[test]
fn e7_an_engine_that_replaces_another() {
    let engine = |path: &str| app().with(PRIMARY, &format!("{PRIMARY}model-engine-file={path}\n"));
    check(
        "E7",
        &engine("other.onnx_b4_gpu0_fp16.engine"),
        &engine("./m.onnx_b4_gpu0_fp16.engine"),
    );
}

#[test]
fn e8_an_engine_for_less_than_the_application_asks_for() {
    let engine =
        |batch: &str| app().with("m.onnx_b4_gpu0_fp16", &format!("m.onnx_b{batch}_gpu0_fp16"));
    check("E8", &engine("1"), &engine("16"));
    check(
        "E8",
        &engine("1"),
        &engine("1").and("[pre-process]\nenable=1\nconfig-file=pre.txt\n"),
    );
}

#[test]
fn n1_no_precision() {
    let faulty = pgie().with("network-mode=2\n", "");
    check("N1", &faulty, &faulty.clone().and("strongly-typed=1\n"));
    check(
        "N1",
        &faulty,
        &faulty.clone().with("onnx-file=m.onnx\n", ""),
    );
    check(
        "N1",
        &faulty,
        &faulty.clone().precision(PrecisionWish::Fp32),
    );
}

#[test]
fn n2_fp32() {
    let faulty = pgie().with("network-mode=2\n", "network-mode=0\n");
    check(
        "N2",
        &faulty,
        &faulty.clone().precision(PrecisionWish::Fp32),
    );
    check("N2", &faulty, &faulty.clone().and("strongly-typed=1\n"));
}

#[test]
fn n4_int8_without_a_calibration() {
    let faulty = pgie().with("network-mode=2", "network-mode=1");
    check(
        "N4",
        &faulty,
        &faulty
            .clone()
            .with("onnx-file=m.onnx", "onnx-file=m_qat.onnx"),
    );
    let named = faulty.clone().and("int8-calib-file=c.bin\n");
    check("N4", &named.clone().models(&[]), &named);
    check("N4", &named.clone().models(&[]), &named.models(&["c.bin"]));
}

#[test]
fn n5_no_engine() {
    let faulty = pgie().with("model-engine-file=m.onnx_b4_gpu0_fp16.engine\n", "");
    let by_app = app()
        .with("model-engine-file=m.onnx_b4_gpu0_fp16.engine\n", "")
        .with(
            PRIMARY,
            &format!("{PRIMARY}model-engine-file=m.onnx_b4_gpu0_fp16.engine\n"),
        );
    check("N5", &faulty, &by_app);
}

#[test]
fn n6_an_engine_for_less_than_its_file_asks_for() {
    let engine =
        |batch: &str| pgie().with("m.onnx_b4_gpu0_fp16", &format!("m.onnx_b{batch}_gpu0_fp16"));
    check("N6", &engine("2"), &engine("8"));
    let overridden = app().with("m.onnx_b4_gpu0_fp16", "m.onnx_b2_gpu0_fp16");
    check("N6", &engine("2"), &overridden);
}

#[test]
fn n7_an_engine_of_another_precision() {
    let faulty = pgie().with("gpu0_fp16", "gpu0_fp32");
    check(
        "N7",
        &faulty,
        &faulty.clone().with("network-mode=2", "network-mode=3"),
    );
    check(
        "N7",
        &faulty,
        &pgie().with("network-mode=2", "network-mode=1"),
    );
}

#[test]
fn n8_a_file_that_skips_batches() {
    let faulty = pgie().and("interval=8\n");
    let replaced = app()
        .with(PRIMARY, &format!("{PRIMARY}interval=0\n"))
        .with("network-mode=2\n", "network-mode=2\ninterval=8\n");
    check("N8", &faulty, &replaced);
    let triton = "infer_config { max_batch_size: 4 }\ninput_control { interval: 3 }\n";
    check(
        "N8",
        &alone("infer.txt", triton),
        &alone("infer.txt", &triton.replace('3', "0")),
    );
}

#[test]
fn n9_a_file_without_a_batch() {
    let faulty = pgie().with("batch-size=4\n", "");
    check("N9", &faulty, &app().with("engine\nbatch-size=4", "engine"));
}

#[test]
fn n11_no_input_size() {
    let faulty = pgie().with("infer-dims=3;480;640\n", "");
    check(
        "N11",
        &faulty,
        &faulty.clone().with("onnx-file=m.onnx\n", ""),
    );
}

#[test]
fn n12_objects_that_are_seen_once() {
    let faulty = pgie().and("process-mode=2\n");
    check("N12", &faulty, &pgie());
    check(
        "N12",
        &faulty,
        &faulty.clone().and("secondary-reinfer-interval=15\n"),
    );
}

#[test]
fn n14_frames_keep_their_shape() {
    check(
        "N14",
        &pgie().and("maintain-aspect-ratio=1\n"),
        &pgie().and("maintain-aspect-ratio=0\n"),
    );
}

#[test]
fn n15_a_model_that_is_not_read_any_more() {
    let faulty = pgie().with("onnx-file=m.onnx", "tlt-encoded-model=m.etlt");
    check("N15", &faulty, &faulty.clone().version(7, 1));
    check(
        "N15",
        &faulty,
        &faulty.clone().models(&["m.onnx_b4_gpu0_fp16.engine"]),
    );
    check("N15", &faulty, &faulty.clone().and("onnx-file=m.onnx\n"));
    let severity = |world: &World| {
        let found = world.lint();
        found
            .iter()
            .find(|finding| finding.rule.code == "N15")
            .map(|finding| finding.severity)
    };
    assert_eq!(severity(&faulty), Some(Severity::Warning));
    assert_eq!(
        severity(&faulty.models(&[]).version(8, 0)),
        Some(Severity::Error)
    );
}

const USB: &str = "[source0]\nenable=1\ntype=1\ncamera-width=1280\ncamera-height=720\ncamera-fps-n=30\ncamera-fps-d=1\n";
const FILES: &str = "[source0]\nenable=1\ntype=3\nuri=file:///cam%d.mp4\nnum-sources=4\n";

#[test]
fn s2_frames_of_a_usb_camera_are_not_dropped() {
    let faulty = app().with(FILES, &format!("{USB}drop-frame-interval=3\n"));
    check(
        "S2",
        &faulty,
        &app().with(FILES, &format!("{USB}drop-frame-interval=0\n")),
    );
    check(
        "S2",
        &faulty,
        &app().with(FILES, &format!("{FILES}drop-frame-interval=3\n")),
    );
}

#[test]
fn s4_a_batch_beside_a_list() {
    let list = |uris: &str| {
        let groups = format!("[source-list]\nlist={uris}\n[source-attr-all]\nenable=1\ntype=2\n");
        app().with(FILES, &groups)
    };
    check(
        "S4",
        &list("file:///a;file:///b"),
        &list("file:///a;file:///b;file:///c;file:///d"),
    );
}

#[test]
fn s4_a_list_that_yaml_does_not_know() {
    let yml = "application:\n  enable-perf-measurement: 1\n  perf-measurement-interval-sec: 5\nsource-list:\n  list: file:///a\nstreammux:\n  batch-size: 1\n";
    let named = yml.replace(
        "source-list:\n  list: file:///a",
        "source:\n  csv-file-path: s.csv",
    );
    check("S4", &alone("app.yml", yml), &alone("app.yml", &named));
}

#[test]
fn s5_cameras_above_their_bus() {
    let two = |second: &str| {
        let both = format!(
            "{USB}{}",
            USB.replace("[source0]", "[source1]")
                .replace("1280", second)
        );
        app().with(FILES, &both)
    };
    // 1280 × 720 × 30 × 16 bit = 442 Mbit/s; a second camera of 64 columns adds 22 Mbit/s, one of
    // 1280 goes beyond the 480 Mbit/s of the bus.
    check("S5", &two("1280"), &two("64"));
    check(
        "S5",
        &two("1280"),
        &two("1280").with(
            "camera-width=1280\ncamera-height=720\ncamera-fps-n=30\ncamera-fps-d=1\n[source1]",
            "[source1]",
        ),
    );
}

#[test]
fn p1_a_second_detector_on_whole_frames() {
    let chain = |second: &str| {
        command("filesrc location=a ! nvv4l2decoder ! m.sink_0 nvstreammux name=m batch-size=4 batched-push-timeout=33333 ! nvinfer config-file-path=pgie.txt ! nvinfer config-file-path=second.txt ! fakesink")
            .file("second.txt", second)
    };
    let detector = "[property]\nonnx-file=s.onnx\nbatch-size=4\n";
    check(
        "P1",
        &chain(detector),
        &chain(&format!("{detector}process-mode=2\n")),
    );
    check(
        "P1",
        &chain(detector),
        &chain(&format!("{detector}process-mode=1\n")),
    );
    check(
        "P1",
        &chain(detector),
        &chain(&format!("{detector}network-type=1\n")),
    );
}

#[test]
fn m1_a_timeout_that_the_new_mux_ignores() {
    let cameras = two_cameras("batched-push-timeout=16667");
    check("M1", &cameras.clone().new_mux(), &cameras);
    check("M1", &app().new_mux(), &app());
}

#[test]
fn m2_a_batch_that_adapts() {
    let policy = |adaptive: &str| {
        let mux = two_cameras("batch-size=2 config-file-path=mux.txt");
        let text = format!("[property]\nalgorithm-type=1\nadaptive-batching={adaptive}\n");
        mux.file("mux.txt", &text).new_mux()
    };
    check("M2", &policy("1"), &policy("0"));
    check(
        "M2",
        &two_cameras("batch-size=2").new_mux(),
        &two_cameras("batch-size=2"),
    );
}

#[test]
fn u1_keys_that_nothing_reads() {
    let with = |key: &str| app().with("num-sources=4\n", &format!("num-sources=4\n{key}\n"));
    check(
        "U1",
        &with("num-decode-surfaces=3"),
        &with("a-key-of-tomorrow=3"),
    );
    check("U1", &with("gpu_id=0"), &with("gpu-id=0"));
    check("U1", &with("cuda-memory-type=1"), &with("vendor_key=1"));
    let source = |property: &str| {
        command(&format!(
            "nvurisrcbin uri=file:///a {property} ! m.sink_0 nvstreammux name=m batch-size=1 ! fakesink"
        ))
    };
    check(
        "U1",
        &source("nvbuf-memory-type=0"),
        &source("cudadec-memtype=0"),
    );
}

#[test]
fn g1_files_that_never_worked() {
    let refused = |text: &str| alone("pgie.txt", text);
    check(
        "G1",
        &refused("\u{feff}[property]\nonnx-file=m.onnx\n"),
        &pgie(),
    );
    check(
        "G1",
        &refused("[property]\ronnx-file=m.onnx\r"),
        &pgie().with("[property]\n", "[property]\r\n"),
    );
    check(
        "G1",
        &refused("[property]\n; a comment\nonnx-file=m.onnx\n"),
        &refused("[property]\n# a comment\nonnx-file=m.onnx\n"),
    );
    check(
        "G1",
        &refused("[property]\nonnx-file=m.onnx\nnetwork-mode: 2\n"),
        &pgie(),
    );
    check(
        "G1",
        &alone("pgie.yml", "[property]\nonnx-file=m.onnx\n"),
        &alone("pgie.yml", "property:\n  onnx-file: m.onnx\n"),
    );
    let named = app().with("network-mode=2\n", "; slow\nnetwork-mode=2\n");
    check(
        "G1",
        &named,
        &app().with("network-mode=2\n", "# slow\nnetwork-mode=2\n"),
    );
}

#[test]
fn g2_comments_where_none_may_stand() {
    check(
        "G2",
        &pgie().and("net-scale-factor=0.0039 # 1/255\n"),
        &pgie().with("batch-size=4", "batch-size=4 # four"),
    );
    check(
        "G2",
        &pgie().and("net-scale-factor=0.0039 \n"),
        &pgie().and("net-scale-factor=0.0039\n"),
    );
    check(
        "G2",
        &pgie().and("maintain-aspect-ratio=0 # no\n"),
        &pgie().and("maintain-aspect-ratio=0 \n"),
    );
    check(
        "G2",
        &pgie().with("network-mode=2", "network-mode=2# fp16"),
        &pgie().with("network-mode=2", "network-mode=2 # fp16"),
    );
    check(
        "G2",
        &pgie().with("onnx-file=m.onnx", "onnx-file=m.onnx # resnet"),
        &pgie().with("onnx-file=m.onnx", "onnx-file=m#1.onnx"),
    );
    check(
        "G2",
        &pgie().and("[class-attrs-all]\npre-cluster-threshold=0.4 # low\n"),
        &pgie().and("[class-attrs-all]\npre-cluster-threshold=0.4\n"),
    );
}

#[test]
fn g3_a_key_that_is_given_twice() {
    let faulty = pgie().and("batch-size=4\n");
    let program = "import gi\nfrom gi.repository import Gst\nm = Gst.ElementFactory.make(\"nvstreammux\", \"m\")\nif live:\n    m.set_property(\"batch-size\", 1)\nelse:\n    m.set_property(\"batch-size\", 2)\n";
    check("G3", &faulty, &alone("app.py", program));
    check(
        "G3",
        &two_cameras("batch-size=1 batch-size=2"),
        &command("a ! b").with(
            "gst-launch-1.0 a ! b",
            "#gst-launch-1.0 a b=1 b=2 ! c\ngst-launch-1.0 a ! b",
        ),
    );
    check(
        "G3",
        &alone(
            "p.yml",
            "property:\n  onnx-file: a\n  batch-size: 1\n  batch-size: 2\n",
        ),
        &alone(
            "p.yml",
            "property:\n  onnx-file: a\nclass-attrs-all:\n  onnx-file: 2\n",
        ),
    );
}

#[test]
fn g4_a_group_that_is_given_twice() {
    let other = pgie().and("[class-attrs-all]\ntopk=20\n[class-attrs-0]\ntopk=20\n");
    check(
        "G4",
        &pgie().and("[class-attrs-all]\ntopk=20\n[property]\nprocess-mode=1\n"),
        &other,
    );
    check(
        "G4",
        &alone(
            "p.yml",
            "property:\n  onnx-file: a\nproperty:\n  batch-size: 2\n",
        ),
        &alone("p.yml", "property:\n  onnx-file: a\n"),
    );
}

#[test]
fn g5_yaml_at_which_the_reader_throws() {
    let infer = |line: &str| {
        alone(
            "p.yml",
            &format!("property:\n  onnx-file: m.onnx\n  {line}\n"),
        )
    };
    check(
        "G5",
        &infer("maintain-aspect-ratio: true"),
        &infer("maintain-aspect-ratio: 1"),
    );
    check(
        "G5",
        &infer("infer-dims: 3;544;960;"),
        &infer("infer-dims: 3;544;960"),
    );
    check("G5", &infer("infer-dims: [3, 544, 960]"), &pgie());
    check("G5", &infer("batch-size: 4.0"), &infer("batch-size: \"4\""));
    let mux = |key: &str| {
        alone(
            "a.yml",
            &format!(
                "application:\n  enable-perf-measurement: 0\nstreammux:\n  batch-size: 1\n  {key}: 1\n"
            ),
        )
    };
    check("G5", &mux("attach-sys-ts-as-ntp"), &mux("attach-sys-ts"));
    let service = "deepstream:\n  nodes:\n  - type: nvstreammux\n    name: m\n    properties:\n      batch-size: 2\n      live-source: true\n";
    check("G5", &infer("interval: yes"), &alone("s.yml", service));
}
