//! The rules about mux, output, tracker and application: each with a pipeline in which it fires, and one in
//! which its guard holds it back.

use ds_config::{GpuKind, Purpose, RULES, Severity};

use super::world::{PRIMARY, alone, app, check, command, pgie, two_cameras};

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
    let cases = concat!(include_str!("rules.rs"), include_str!("file_rules.rs"));
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
    let one = |mux: &str| {
        command(&format!(
            "filesrc location=a ! nvv4l2decoder ! nvdewarper ! m.sink_0 nvstreammux name=m batch-size=4 {mux} ! fakesink"
        ))
    };
    check("A2", &one(""), &one("num-surfaces-per-frame=4"));
    check("A2", &one(""), &one("sync-inputs=0"));
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
    let without = two_cameras("batch-size=2");
    check("A4", &without, &two_cameras("batch-size=2 max-latency=0"));
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
    let multi = "nvmultiurisrcbin max-batch-size=8 uri-list=file:///a live-source=1 ! fakesink";
    check("A7", &faulty, &command(multi));
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
    let chain = |convert: &str| {
        command(&format!(
            "filesrc location=a ! nvv4l2decoder ! {convert} m.sink_0 nvstreammux name=m batch-size=1 nvbuf-memory-type=3 ! fakesink"
        ))
    };
    check(
        "A8",
        &chain(""),
        &chain("nvvideoconvert nvbuf-memory-type=3 !"),
    );
    check(
        "A8",
        &chain(""),
        &chain("").with("nvbuf-memory-type=3", "nvbuf-memory-type=4"),
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
    let array = faulty
        .clone()
        .with("nvbuf-memory-type=1", "nvbuf-memory-type=4");
    check("A9", &array.clone().gpu(GpuKind::Discrete), &array);
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
    let broker = |sync: &str| {
        command(&format!(
            "filesrc location=a ! nvv4l2decoder ! m.sink_0 nvstreammux name=m batch-size=1 ! nvmsgbroker {sync}"
        ))
    };
    check("B1", &broker("sync=true"), &broker(""));
}

#[test]
fn b2_a_sink_on_the_screen() {
    let faulty = app().with("type=1\nsync=0\n", "type=2\nsync=0\n");
    check("B2", &faulty, &faulty.clone().purpose(Purpose::Live));
    let display = |inner: &str| {
        command(&format!(
            "filesrc location=a ! nvv4l2decoder ! m.sink_0 nvstreammux name=m batch-size=1 ! fpsdisplaysink {inner}"
        ))
    };
    check("B2", &display(""), &display("video-sink=fakesink"));
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
    let group = "[tracker]\ntracker-width=640\nenable-past-frame=1\n";
    check(
        "C1",
        &alone("tracker.txt", group),
        &alone("tracker.txt", group).version(6, 1),
    );
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
    let batch_of_one = faulty.clone().with(MUX, "[streammux]\nbatch-size=1\n");
    check("E5", &faulty, &batch_of_one);
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
