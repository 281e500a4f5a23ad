//! The rules about the files of inferences, sources and stages, and about syntax: each with a case in
//! which it fires, and one in which its guard holds it back.

use ds_config::{OnnxDim, PrecisionWish, Severity};

use super::world::{PRIMARY, World, alone, app, check, command, pgie, two_cameras};

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
    let built = faulty.clone().with("gpu0_fp16", "gpu0_int8");
    let engine = "m.onnx_b4_gpu0_int8.engine";
    check("N4", &built.clone().models(&[]), &built.models(&[engine]));
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
    let model = |batch: OnnxDim| {
        let sizes = [3, 480, 640].map(OnnxDim::Fixed);
        pgie().onnx(&[&[batch][..], &sizes].concat())
    };
    check("N6", &model(OnnxDim::Fixed(1)), &model(OnnxDim::Fixed(4)));
    check(
        "N6",
        &model(OnnxDim::Fixed(1)),
        &model(OnnxDim::Named("batch".to_owned())),
    );
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
    let of_app = app().with(PRIMARY, &format!("{PRIMARY}interval=8\n"));
    check(
        "N8",
        &app().with("network-mode=2\n", "network-mode=2\ninterval=8\n"),
        &of_app,
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
    let of_width = |width: OnnxDim| {
        let dims = [OnnxDim::Open, OnnxDim::Fixed(3), OnnxDim::Fixed(480), width];
        faulty.clone().onnx(&dims)
    };
    check(
        "N11",
        &of_width(OnnxDim::Open),
        &of_width(OnnxDim::Fixed(640)),
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
    let prepared = chain(detector).with("second.txt !", "second.txt input-tensor-meta=1 !");
    let prepared = prepared.with(
        "! nvinfer config-file-path=pgie",
        "! nvdspreprocess config-file=pre.txt ! nvinfer config-file-path=pgie",
    );
    check("P1", &chain(detector), &prepared);
    let beside = command(
        "filesrc location=a ! nvv4l2decoder ! m.sink_0 nvstreammux name=m batch-size=4 ! tee name=t t. ! nvinfer config-file-path=pgie.txt ! fakesink t. ! nvinfer config-file-path=second.txt ! fakesink",
    );
    check("P1", &chain(detector), &beside.file("second.txt", detector));
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
    check(
        "U1",
        &source("nvbuf-memory-type=0"),
        &with("nvbuf-memory-type=0"),
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
    let script = |text: &str| alone("run.sh", &format!("{text}\n"));
    check(
        "G1",
        &script("gst-launch-1.0 a ! b (x) ! c"),
        &script("gst-launch-1.0 a ! … ! c"),
    );
    check(
        "G1",
        &script("gst-launch-1.0 a ! ! c"),
        &script("gst-launch-1.0 a ! ... ! c"),
    );
    check(
        "G1",
        &script("gst-launch-1.0 a ! ! c"),
        &script("# gst-launch-1.0 a ! ! c\ngst-launch-1.0 a ! c"),
    );
    check(
        "G1",
        &script("gst-launch-1.0 a ! b !\nc"),
        &script("p=\"gst-launch-1.0 a ! b ! \" + c"),
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
    check(
        "G2",
        &pgie().with("infer-dims=3;480;640", "infer-dims=3,480,640"),
        &pgie().with("infer-dims=3;480;640", "infer-dims=3;${HEIGHT};640"),
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
            "# gst-launch-1.0 a b=1 b=2 ! c\ngst-launch-1.0 a ! b",
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
    let template = |property: &str| {
        command(&format!(
            "a ! nvdsvideotemplate {property}=\"a:1\" {property}=\"b:2\" ! c"
        ))
    };
    check(
        "G3",
        &template("customlib-name"),
        &template("customlib-props"),
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
    let tomorrow = mux("a-key-of-tomorrow");
    check(
        "G5",
        &tomorrow.clone().version(9, 1),
        &tomorrow.version(9, 2),
    );
}
