//! Whole pipelines: resolved through every file, and changed at the place that wins.

use std::collections::BTreeMap;

use proptest::prelude::*;

use ds_config::{
    Change, ErrorKind, Knob, KnobKind, KnobValue, MuxGeneration, Pipeline, QueuePosition, Role,
    SinkKind, Target,
};

use crate::files::{Folder, memory, show, show_change};
use crate::table::testdata;

fn resnet152(entry: &str) -> Pipeline {
    let folder = Folder(testdata("pipelines/resnet152"));
    Pipeline::resolve(entry, &folder).expect("the pipeline is good")
}

/// What the plan for eight streams at 30 fps changes, on every element that has the knob.
fn plan(pipeline: &Pipeline) -> Vec<(Target, KnobValue)> {
    let mut out: Vec<(Target, KnobValue)> = Vec::new();
    let mut set = |knob: Knob, value: KnobValue| {
        out.extend(
            pipeline
                .knobs_of(knob)
                .map(|setting| (setting.target, value.clone())),
        );
    };
    set(Knob::MuxBatchSize, 8.into());
    set(Knob::MuxWidth, 448.into());
    set(Knob::MuxHeight, 448.into());
    set(Knob::MuxBatchedPushTimeout, 33333.into());
    set(Knob::MuxNvbufMemoryType, 0.into());
    set(Knob::MuxLiveSource, false.into());
    set(Knob::InferBatchSize, 8.into());
    set(Knob::InferNetworkMode, 2.into());
    set(Knob::InferDims, [3, 448, 448].into());
    set(
        Knob::InferModelEngineFile,
        "resnet152.onnx_b8_gpu0_fp16.engine".into(),
    );
    set(Knob::DecodeNumExtraSurfaces, 5.into());
    set(Knob::SourceFileLoop, true.into());
    set(Knob::QueueMaxSizeBytes, 0.into());
    set(Knob::QueueMaxSizeTime, 0.into());
    set(Knob::SinkKind, "fakesink".into());
    set(Knob::SinkSync, false.into());
    for setting in pipeline.knobs_of(Knob::QueueMaxSizeBuffers) {
        let element = pipeline
            .element(setting.target.element)
            .expect("the element is there");
        let buffers = match element.role {
            Role::Queue(QueuePosition::DecoderToMux) => 32,
            Role::Queue(QueuePosition::MuxToInfer) => 16,
            _ => continue,
        };
        out.push((setting.target, KnobValue::Integer(buffers)));
    }
    out
}

/// The files after a change, as a new source.
fn after(pipeline: &Pipeline, change: &Change) -> BTreeMap<String, Vec<u8>> {
    let mut files: BTreeMap<String, Vec<u8>> = pipeline
        .files
        .iter()
        .map(|file| (file.path().to_owned(), file.bytes().to_vec()))
        .collect();
    for edit in &change.files {
        let bytes = edit.edit.apply(&files[&edit.path]).expect("the edit fits");
        files.insert(edit.path.clone(), bytes);
    }
    files
}

#[track_caller]
fn planned_once_and_for_all(entry: &str) -> (Pipeline, Change) {
    let pipeline = resnet152(entry);
    let plan = plan(&pipeline);
    let change = pipeline.set_all(&plan).expect("the plan can be applied");
    let again = Pipeline::resolve(entry, &after(&pipeline, &change)).expect("still a pipeline");
    assert_eq!(again.faults, []);
    for (target, value) in &plan {
        let setting = again.knob(*target).expect("the knob is still there");
        assert_eq!(setting.value.as_ref(), Some(value), "{target:?}");
    }
    assert_eq!(
        again.set_all(&plan),
        Ok(Change::default()),
        "the second change changes something"
    );
    (pipeline, change)
}

#[test]
fn the_gst_launch_sample_is_understood() {
    insta::assert_snapshot!(show(&resnet152("gst-launch/pipeline.sh")));
}

#[test]
fn the_deepstream_app_sample_is_understood() {
    insta::assert_snapshot!(show(&resnet152("deepstream-app/app.txt")));
}

#[test]
fn the_gst_launch_sample_takes_the_plan() {
    let (pipeline, change) = planned_once_and_for_all("gst-launch/pipeline.sh");
    insta::assert_snapshot!(show_change(&pipeline, &change));
}

#[test]
fn the_deepstream_app_sample_takes_the_plan() {
    let (pipeline, change) = planned_once_and_for_all("deepstream-app/app.txt");
    insta::assert_snapshot!(show_change(&pipeline, &change));
}

/// A pipeline in memory.
#[track_caller]
fn resolve(files: &[(&str, &str)]) -> Pipeline {
    Pipeline::resolve(files[0].0, &memory(files)).expect("the pipeline is good")
}

/// The value of the first such knob, and the line on which it stands.
#[track_caller]
fn value(pipeline: &Pipeline, knob: Knob) -> (Option<String>, Option<(&str, usize)>) {
    let setting = pipeline
        .knobs_of(knob)
        .next()
        .expect("the pipeline has the knob");
    let place = setting
        .place
        .as_ref()
        .map(|place| (place.path.as_str(), place.place.line));
    (setting.value.as_ref().map(ToString::to_string), place)
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

const PGIE: (&str, &str) = (
    "infer/pgie.txt",
    "[property]\nonnx-file=m.onnx\nbatch-size=4\ninterval=1\nmodel-engine-file=e.engine\n",
);

#[test]
fn a_key_of_the_app_beats_the_file_of_nvinfer() {
    let app = "[streammux]\nbatch-size=2\n[primary-gie]\nenable=1\nbatch-size=2\nconfig-file=infer/pgie.txt\n";
    let pipeline = resolve(&[("app.txt", app), PGIE]);
    assert_eq!(
        value(&pipeline, Knob::InferBatchSize),
        (some("2"), Some(("app.txt", 5)))
    );
    assert_eq!(
        value(&pipeline, Knob::InferInterval),
        (some("1"), Some(("infer/pgie.txt", 4)))
    );
    let batch = pipeline
        .knobs_of(Knob::InferBatchSize)
        .next()
        .expect("the knob is there");
    assert_eq!(batch.overridden.len(), 1);
    assert_eq!(batch.overridden[0].value, KnobValue::Integer(4));
    let change = pipeline
        .set(batch.target, 8)
        .expect("the app's key can be changed");
    assert_eq!(
        show_change(&pipeline, &change),
        "app.txt\n-batch-size=2\n+batch-size=8\n"
    );
    let engine = pipeline
        .knobs_of(Knob::InferModelEngineFile)
        .next()
        .expect("the knob is there");
    assert_eq!(pipeline.path_of(engine), some("infer/e.engine"));
}

#[test]
fn a_missing_value_goes_to_the_file_of_nvinfer() {
    let app = "[streammux]\nwidth=8\n[primary-gie]\nenable=1\nconfig-file=../pgie.txt\n";
    let pipeline = resolve(&[
        ("configs/app.txt", app),
        ("pgie.txt", "[property]\nonnx-file=m.onnx\n"),
    ]);
    let batch = pipeline
        .knobs_of(Knob::InferBatchSize)
        .next()
        .expect("the knob is there");
    assert_eq!((batch.value.as_ref(), batch.default), (None, Some("1")));
    let change = pipeline
        .set(batch.target, 8)
        .expect("the file can be changed");
    assert_eq!(show_change(&pipeline, &change), "pgie.txt\n+batch-size=8\n");
}

#[test]
fn a_source_list_sets_the_batch_itself() {
    let app = "[source-list]\nlist=file:///a.mp4;file:///b.mp4;file:///c.mp4\nsgie-batch-size=16\n[source-attr-all]\nenable=1\n\
               [streammux]\nbatch-size=1\n[primary-gie]\nenable=1\nbatch-size=1\nconfig-file=p.txt\n\
               [secondary-gie0]\nenable=1\nbatch-size=2\nconfig-file=p.txt\n";
    let pipeline = resolve(&[
        ("app.txt", app),
        ("p.txt", "[property]\nonnx-file=m.onnx\n"),
    ]);
    assert_eq!(pipeline.streams(), Some(3));
    let batches: Vec<_> = pipeline
        .knobs_of(Knob::InferBatchSize)
        .map(|setting| setting.value.clone())
        .collect();
    assert_eq!(
        batches,
        [Some(KnobValue::Integer(3)), Some(KnobValue::Integer(16))]
    );
    let mux = pipeline
        .knobs_of(Knob::MuxBatchSize)
        .next()
        .expect("the knob is there");
    assert_eq!(mux.value, Some(KnobValue::Integer(3)));
    assert_eq!(mux.overridden[0].value, KnobValue::Integer(1));
    let error = pipeline.set(mux.target, 8).expect_err("the list decides");
    assert_eq!(error.kind(), ErrorKind::NotEditable);
    assert_eq!(
        error.to_string(),
        "[source-list] sets it to the number of URIs; `batch-size` should be 8"
    );
}

#[test]
fn a_source_list_with_nvmultiurisrcbin_sets_the_cap() {
    let app = "[source-list]\nlist=rtsp://a;rtsp://b\nuse-nvmultiurisrcbin=1\nmax-batch-size=20\n[source-attr-all]\nenable=1\nnum-extra-surfaces=2\n\
               [streammux]\nbatch-size=1\n";
    let pipeline = resolve(&[("app.txt", app)]);
    assert_eq!(value(&pipeline, Knob::MuxBatchSize).0, some("20"));
    assert_eq!(
        value(&pipeline, Knob::MultiUriMaxBatchSize),
        (some("20"), Some(("app.txt", 4)))
    );
    assert_eq!(
        value(&pipeline, Knob::DecodeNumExtraSurfaces),
        (some("2"), Some(("app.txt", 7)))
    );
}

#[test]
fn groups_that_are_off_do_not_count() {
    let app = "[source0]\nenable=0\ntype=2\nuri=file:///a\n[source1]\nenable=1\ntype=4\nuri=rtsp://b\n[source2]\ntype=2\n\
               [streammux]\n[osd]\nenable=0\n[tiled-display]\nenable=1\n[sink0]\nenable=1\ntype=4\n[sink1]\nenable=0\n";
    let pipeline = resolve(&[("app.txt", app)]);
    assert_eq!(pipeline.streams(), Some(1));
    assert!(pipeline.elements_with(Role::Osd).next().is_none());
    assert!(pipeline.elements_with(Role::Tiler).next().is_some());
    let kinds: Vec<SinkKind> = pipeline.sinks.iter().map(|sink| sink.kind).collect();
    assert_eq!(kinds, [SinkKind::Network]);
    let disabled: Vec<&str> = pipeline
        .disabled
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(disabled, ["source0", "source2", "osd", "sink1"]);
}

#[test]
fn the_new_mux_takes_its_batch_from_the_policy_file() {
    let script = "export USE_NEW_NVSTREAMMUX=yes\n\
                  gst-launch-1.0 nvurisrcbin uri=file:///a ! m.sink_0 nvstreammux name=m batch-size=4 config-file-path=mux.txt ! nvinfer config-file-path=p.txt ! fakesink\n";
    let policy = "[property]\nbatch-size=2\noverall-min-fps-n=10\n";
    let files = [
        ("run.sh", script),
        ("mux.txt", policy),
        ("p.txt", "[property]\nonnx-file=m.onnx\n"),
    ];
    let pipeline = resolve(&files);
    assert_eq!(pipeline.mux, Some(MuxGeneration::New));
    assert_eq!(
        value(&pipeline, Knob::MuxBatchSize),
        (some("2"), Some(("mux.txt", 2)))
    );
    assert_eq!(
        value(&pipeline, Knob::MuxMinFpsNumerator),
        (some("10"), Some(("mux.txt", 3)))
    );
    assert!(
        pipeline.knobs_of(Knob::MuxWidth).next().is_none(),
        "the new mux has no size"
    );
    assert!(
        pipeline
            .knobs_of(Knob::MuxBatchedPushTimeout)
            .next()
            .is_none(),
        "the new mux ignores the timeout"
    );
    let min = pipeline
        .knobs_of(Knob::MuxMinFpsDenominator)
        .next()
        .expect("the knob is there")
        .target;
    let change = pipeline.set(min, 1).expect("the policy can be changed");
    assert_eq!(
        show_change(&pipeline, &change),
        "mux.txt\n+overall-min-fps-d=1\n"
    );
}

#[test]
fn any_other_value_of_the_variable_is_the_legacy_mux() {
    for setting in ["1", "YES", "no", ""] {
        let script = format!(
            "USE_NEW_NVSTREAMMUX={setting} gst-launch-1.0 nvstreammux name=m batch-size=4 ! fakesink\n"
        );
        assert_eq!(
            resolve(&[("run.sh", &script)]).mux,
            Some(MuxGeneration::Legacy),
            "{setting}"
        );
    }
}

#[test]
fn the_caller_may_give_the_environment() {
    struct WithNewMux(BTreeMap<String, Vec<u8>>);
    impl ds_config::FileSource for WithNewMux {
        fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
            self.0.read(path)
        }
        fn exists(&self, path: &str) -> bool {
            self.0.exists(path)
        }
        fn environment(&self, name: &str) -> Option<String> {
            (name == "USE_NEW_NVSTREAMMUX").then(|| "yes".to_owned())
        }
    }
    let files = WithNewMux(memory(&[("app.txt", "[streammux]\nbatch-size=1\n")]));
    let pipeline = Pipeline::resolve("app.txt", &files).expect("the pipeline is good");
    assert_eq!(pipeline.mux, Some(MuxGeneration::New));
}

#[test]
fn a_shell_variable_is_reported_with_the_value_to_set() {
    let script = "gst-launch-1.0 $SRC nvstreammux name=m batch-size=$B width=8 ! queue ! nvinfer config-file-path=$C ! fakesink\n";
    let pipeline = resolve(&[("run.sh", script)]);
    assert_eq!(pipeline.streams(), None);
    let mux = pipeline
        .knobs_of(Knob::MuxBatchSize)
        .next()
        .expect("the knob is there");
    assert_eq!(mux.computed, some("$B"));
    let error = pipeline
        .set(mux.target, 8)
        .expect_err("the shell fills it in");
    assert_eq!(error.kind(), ErrorKind::NotEditable);
    assert_eq!(
        error.to_string(),
        "run.sh:1:51: `$B` is filled in when the pipeline is started; `batch-size` should be 8"
    );
}

#[test]
fn queues_know_where_they_stand() {
    let script = "gst-launch-1.0 filesrc location=a ! qtdemux ! queue name=q0 ! h264parse ! nvv4l2decoder ! queue name=q1 ! nvvideoconvert ! queue name=q2 ! m.sink_0 \
                  nvstreammux name=m batch-size=1 ! queue name=q3 ! nvdspreprocess config-file=p ! queue name=q4 ! nvinfer config-file-path=c ! queue name=q5 ! tee name=t \
                  t. ! queue name=q6 ! nvmsgconv ! nvmsgbroker t. ! queue name=q7 ! nvvideoconvert ! nvv4l2h264enc ! filesink location=o t. ! queue name=q8 ! fakesink\n";
    let pipeline = resolve(&[("run.sh", script)]);
    let positions: Vec<(&str, QueuePosition)> = pipeline
        .elements
        .iter()
        .filter_map(|element| match element.role {
            Role::Queue(position) => Some((element.name.as_str(), position)),
            _ => None,
        })
        .collect();
    assert_eq!(
        positions,
        [
            ("q0", QueuePosition::Other),
            ("q1", QueuePosition::DecoderToMux),
            ("q2", QueuePosition::DecoderToMux),
            ("q3", QueuePosition::MuxToInfer),
            ("q4", QueuePosition::MuxToInfer),
            ("q5", QueuePosition::Other),
            ("q6", QueuePosition::MessageBranch),
            ("q7", QueuePosition::FileBranch),
            ("q8", QueuePosition::Other),
        ]
    );
}

#[test]
fn a_display_sink_gives_way_and_says_what_it_loses() {
    let script =
        "gst-launch-1.0 nvstreammux name=m ! nveglglessink sync=true window-x=10 ! nothing\n"
            .replace(" ! nothing", "");
    let pipeline = resolve(&[("run.sh", &script)]);
    let kind = pipeline
        .knobs_of(Knob::SinkKind)
        .next()
        .expect("the knob is there")
        .target;
    let sync = pipeline
        .knobs_of(Knob::SinkSync)
        .next()
        .expect("the knob is there")
        .target;
    let change = pipeline
        .set_all(&[(kind, "fakesink".into()), (sync, false.into())])
        .expect("a plain sink");
    assert_eq!(
        show_change(&pipeline, &change),
        "run.sh\n-gst-launch-1.0 nvstreammux name=m ! nveglglessink sync=true window-x=10\n\
         +gst-launch-1.0 nvstreammux name=m ! fakesink sync=false\ndropped window-x\n"
    );
    let error = pipeline
        .set(kind, "filesink")
        .expect_err("only fakesink can");
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
}

#[test]
fn the_script_with_inference_is_the_pipeline() {
    let script = "# gst-launch-1.0 nvinfer ! fakesink\ngst-launch-1.0 videotestsrc ! fakesink\ngst-launch-1.0 nvstreammux name=m ! nvinfer ! fakesink\n";
    let pipeline = resolve(&[("run.sh", script)]);
    assert_eq!(pipeline.elements[0].place.place.line, 3);
    assert_eq!(pipeline.others.len(), 1);
    assert_eq!(pipeline.disabled.len(), 1);
}

#[test]
fn what_goes_wrong_in_a_named_file_is_a_fault_and_no_failure() {
    let app = "[streammux]\nbatch-size=0x8\n[primary-gie]\nenable=1\nconfig-file=gone.txt\n[secondary-gie0]\nenable=1\nconfig-file=bad.txt\n";
    let pipeline = resolve(&[
        ("app.txt", app),
        ("bad.txt", "[property]\n; c\nonnx-file=m\n"),
    ]);
    let faults: Vec<String> = pipeline.faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        [
            "app.txt:2:12: `0x8` is not a 32-bit decimal integer",
            "gone.txt: there is no such file",
            "bad.txt:2:1: `;` begins no comment here, only `#` does",
        ]
    );
}

#[track_caller]
fn unreadable(path: &str, text: &str, kind: ErrorKind, message: &str) {
    let error = Pipeline::resolve(path, &memory(&[(path, text)])).expect_err("this is no pipeline");
    assert_eq!((error.kind(), error.to_string().as_str()), (kind, message));
}

#[test]
fn what_is_no_pipeline_says_why() {
    let missing = Pipeline::resolve("x.txt", &memory(&[])).expect_err("there is no file");
    assert_eq!(missing.kind(), ErrorKind::MissingFile);
    unreadable(
        "a.txt",
        "",
        ErrorKind::UnknownForm,
        "a.txt: nothing in it belongs to a known form",
    );
    unreadable(
        "a.txt",
        "[sink0]\nk\n",
        ErrorKind::Refused,
        "a.txt:2:1: the line is no `key=value`, group or comment",
    );
    unreadable(
        "a.txt",
        "[sink0]\nenable=1\n",
        ErrorKind::NoPipeline,
        "a.txt: there is no group `[streammux]`",
    );
    unreadable(
        "s.yml",
        "source:\n  location: a\nprimary-gie:\n  batch-size: 1\n",
        ErrorKind::NoPipeline,
        "s.yml: a sample-app-yml file (top-level keys `source` and `primary-gie`, no `application`) is not followed: give the program or the nvinfer file that it is for",
    );
    unreadable(
        "a.c",
        "#include <gst/gst.h>\n",
        ErrorKind::Declined,
        "a.c: a C or C++ program (`#include` lines) is not read: set the properties in the program by hand, and give the nvinfer file to dsprof by itself",
    );
    unreadable(
        "r.sh",
        "gst-launch-1.0 a ! ! b\n",
        ErrorKind::Refused,
        "r.sh:1:20: `!` stands where an element is due",
    );
}

#[test]
fn a_knob_takes_values_of_its_kind_only() {
    let pipeline = resolve(&[("app.txt", "[streammux]\nbatch-size=1\n")]);
    let batch = pipeline
        .knobs_of(Knob::MuxBatchSize)
        .next()
        .expect("the knob is there")
        .target;
    assert_eq!(
        pipeline.set(batch, "8").map_err(|e| e.kind()),
        Err(ErrorKind::InvalidValue)
    );
    let absent = Target {
        knob: Knob::TrackerWidth,
        ..batch
    };
    assert_eq!(
        pipeline.set(absent, 8).map_err(|e| e.kind()),
        Err(ErrorKind::NotFound)
    );
    let twice = [(batch, 8.into()), (batch, 9.into())];
    assert_eq!(
        pipeline.set_all(&twice).map_err(|e| e.kind()),
        Err(ErrorKind::Conflict)
    );
}

const CSV: (&str, &str) = (
    "sources.csv",
    "enable,type,uri,num-sources,gpu-id,cudadec-memtype\n1,3,file:///a%d.mp4,4,0,0\n0,4,rtsp://off,1,0,0\n1,4,rtsp://b,1,0,0\n",
);

const APP_YML: &str = "application:\n  enable-perf-measurement: 1\nsource:\n  csv-file-path: sources.csv\n\
                       streammux:\n  batch-size: 5  # five\n  width: 1280\n\
                       primary-gie:\n  enable: 1\n  plugin-type: 1\n  config-file: triton.yml\n\
                       secondary-gie0:\n  enable: 1\n  config-file: sgie.yml\nsink0:\n  enable: 1\n  type: 2\n  sync: 1\n";

const TRITON: (&str, &str) = (
    "triton.yml",
    "infer_config {\n  unique_id: 1\n  max_batch_size: 4\n}\ninput_control {\n  interval: 2\n}\n",
);

const SGIE: (&str, &str) = (
    "sgie.yml",
    "property:\n  onnx-file: m.onnx\n  network-mode: 0\n  infer-dims: 3;224;224\n",
);

#[test]
fn an_app_in_yaml_leads_to_its_table_and_its_models() {
    let pipeline = resolve(&[("app.yml", APP_YML), CSV, TRITON, SGIE]);
    insta::assert_snapshot!(show(&pipeline));
    assert_eq!(pipeline.streams(), Some(5));
    let mut values: Vec<(Target, KnobValue)> = Vec::new();
    for (knob, value) in [
        (Knob::MuxBatchSize, 8),
        (Knob::MuxBatchedPushTimeout, 33333),
        (Knob::InferBatchSize, 8),
        (Knob::InferNetworkMode, 2),
        (Knob::DecodeNumExtraSurfaces, 5),
    ] {
        values.extend(
            pipeline
                .knobs_of(knob)
                .map(|setting| (setting.target, value.into())),
        );
    }
    values.extend(
        pipeline
            .knobs_of(Knob::SinkKind)
            .map(|setting| (setting.target, "fakesink".into())),
    );
    let change = pipeline.set_all(&values).expect("the plan can be applied");
    insta::assert_snapshot!(show_change(&pipeline, &change));
    let again = Pipeline::resolve("app.yml", &after(&pipeline, &change)).expect("still a pipeline");
    assert_eq!(
        again.set_all(&values),
        Ok(Change::default()),
        "the second change changes something"
    );
}

const SERVICE_MAKER: &str = "deepstream:\n  nodes:\n  - type: nvurisrcbin\n    name: src\n    properties:\n      uri: rtsp://a\n\
                             \x20 - type: queue\n    name: q   # plain\n  - type: nvstreammux\n    name: mux\n    properties:\n      batch-size: 1\n\
                             \x20 - type: nvinfer\n    name: pgie\n    properties:\n      config-file-path: pgie.txt\n\
                             \x20 - type: nveglglessink\n    name: sink\n    properties:\n      sync: true\n\
                             \x20 edges:\n    src: q\n    q: mux.sink_0\n    mux: pgie\n    pgie: [sink]\n";

#[test]
fn a_service_maker_file_takes_properties_where_a_node_has_none() {
    let pgie = ("pgie.txt", "[property]\nonnx-file=m.onnx\n");
    let pipeline = resolve(&[("p.yml", SERVICE_MAKER), pgie]);
    insta::assert_snapshot!(show(&pipeline));
    let mut values: Vec<(Target, KnobValue)> = Vec::new();
    for (knob, value) in [
        (Knob::MuxBatchSize, 4),
        (Knob::MuxLiveSource, 1),
        (Knob::SinkSync, 0),
        (Knob::QueueMaxSizeBuffers, 16),
        (Knob::QueueMaxSizeBytes, 0),
        (Knob::InferBatchSize, 4),
    ] {
        values.extend(
            pipeline
                .knobs_of(knob)
                .map(|setting| (setting.target, value.into())),
        );
    }
    let change = pipeline.set_all(&values).expect("the plan can be applied");
    insta::assert_snapshot!(show_change(&pipeline, &change));
    let again = Pipeline::resolve("p.yml", &after(&pipeline, &change)).expect("still a pipeline");
    assert_eq!(
        again.set_all(&values),
        Ok(Change::default()),
        "the second change changes something"
    );
}

#[track_caller]
fn python(name: &str) -> Pipeline {
    let folder = Folder(testdata("python"));
    Pipeline::resolve(name, &folder).expect("the program makes a pipeline")
}

#[test]
fn python_programs_become_pipelines() {
    for name in [
        "gst_literal",
        "gst_loop",
        "service_maker_dict",
        "flow",
        "flow_variables",
        "parse_launch_fstring",
        "gst_branches",
    ] {
        insta::assert_snapshot!(
            format!("python_{name}"),
            show(&python(&format!("{name}.py")))
        );
    }
}

#[test]
fn a_python_program_is_changed_at_its_literals() {
    let pipeline = python("service_maker_dict.py");
    let values: Vec<(Target, KnobValue)> = [
        (Knob::MuxBatchSize, 4),
        (Knob::MuxBatchedPushTimeout, 40000),
        (Knob::SinkSync, 1),
        (Knob::QueueMaxSizeBuffers, 8),
        (Knob::DecodeNumExtraSurfaces, 5),
    ]
    .into_iter()
    .flat_map(|(knob, value)| {
        pipeline
            .knobs_of(knob)
            .map(move |setting| (setting.target, value.into()))
    })
    .collect();
    let change = pipeline.set_all(&values).expect("literals can be changed");
    insta::assert_snapshot!(show_change(&pipeline, &change));
    let again = Pipeline::resolve("service_maker_dict.py", &after(&pipeline, &change))
        .expect("still a pipeline");
    assert_eq!(
        again.set_all(&values),
        Ok(Change::default()),
        "the second change changes something"
    );
}

#[test]
fn a_computed_python_value_names_its_place_and_the_value() {
    let pipeline = python("gst_loop.py");
    let mux = pipeline
        .knobs_of(Knob::MuxBatchSize)
        .next()
        .expect("the knob is there")
        .target;
    let error = pipeline.set(mux, 4).expect_err("the program computes it");
    assert_eq!(
        error.to_string(),
        "gst_loop.py:12:32: `len(URIS)` is computed when the program runs; `batch-size` should be 4"
    );
}

#[test]
fn a_part_is_a_pipeline_by_itself() {
    let part = |path: &str, text: &str, knob: Knob| {
        let pipeline = resolve(&[(path, text)]);
        assert!(
            pipeline
                .elements
                .iter()
                .all(|element| element.place.path == path)
        );
        value(&pipeline, knob).0
    };
    assert_eq!(part("p.txt", PGIE.1, Knob::InferBatchSize), some("4"));
    assert_eq!(part("p.yml", SGIE.1, Knob::InferDims), some("3;224;224"));
    assert_eq!(part("t.yml", TRITON.1, Knob::InferInterval), some("2"));
    assert_eq!(
        part(
            "m.txt",
            "[property]\noverall-min-fps-n=30\n",
            Knob::MuxMinFpsNumerator
        ),
        some("30")
    );
    assert_eq!(
        part(
            "t.txt",
            "[tracker]\ntracker-width=640\n",
            Knob::TrackerWidth
        ),
        some("640")
    );
    assert_eq!(part("s.csv", CSV.1, Knob::DecodeCudadecMemtype), some("0"));
    let shape = "[property]\nnetwork-input-shape=8;3;544;960\n";
    assert_eq!(
        part("pre.txt", shape, Knob::PreprocessInputShape),
        some("8;3;544;960")
    );
}

#[test]
fn a_switch_that_the_program_refuses_is_a_fault() {
    let app = "[streammux]\nbatch-size=1\n[osd]\nenable=true\n[primary-gie]\nenable=1\ninput-tensor-meta=yes\n";
    let faults: Vec<String> = resolve(&[("app.txt", app)])
        .faults
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        faults,
        [
            "app.txt:7:19: `yes` is not `true`, `false`, `1` or `0`",
            "app.txt:4:8: `true` is not a 32-bit decimal integer",
        ]
    );
}

/// An app with an nvinfer file, each key present or missing, in the styles that files have.
fn app_and_pgie() -> impl Strategy<Value = (String, String)> {
    let entry = |key: &'static str, values: &'static str| {
        let written = (
            prop_oneof![3 => Just("="), 1 => Just(" = ")],
            values,
            prop_oneof![3 => Just(""), 1 => Just(" # c")],
        );
        proptest::option::of(
            written
                .prop_map(move |(sign, value, comment)| format!("{key}{sign}{value}{comment}\n")),
        )
        .prop_map(Option::unwrap_or_default)
    };
    let app = (
        entry("batch-size", "[1-9]"),
        entry("batched-push-timeout", "[1-9]0000"),
        entry("width", "[1-9][0-9]{2}"),
        entry("batch-size", "[1-9]"),
        entry("interval", "[0-2]"),
    );
    let pgie = (
        entry("batch-size", "[1-9]"),
        entry("network-mode", "[0-2]"),
        entry("infer-dims", "3;[1-9]0;[1-9]0"),
    );
    let crlf = any::<bool>();
    (app, pgie, crlf).prop_map(|((mux, timeout, width, gie, interval), (batch, mode, dims), crlf)| {
        let app = format!("[streammux]\n{mux}{timeout}{width}\n[primary-gie]\nenable=1\nconfig-file=pgie.txt\n{gie}{interval}[sink0]\nenable=1\ntype=2\n");
        let pgie = format!("[property]\nonnx-file=m.onnx\n{batch}{mode}{dims}[class-attrs-all]\ntopk=20\n");
        if crlf { (app.replace('\n', "\r\n"), pgie) } else { (app, pgie) }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_set_of_edits_reads_back_and_is_applied_once(
        (app, pgie) in app_and_pgie(),
        picks in proptest::collection::vec((any::<prop::sample::Index>(), 1_i32..100), 1..8),
    ) {
        let pipeline = resolve(&[("app.txt", &app), ("pgie.txt", &pgie)]);
        prop_assert!(pipeline.faults.is_empty(), "{:?}", pipeline.faults);
        let mut plan: Vec<(Target, KnobValue)> = Vec::new();
        for (pick, number) in picks {
            let setting = &pipeline.knobs()[pick.index(pipeline.knobs().len())];
            let value = match setting.target.knob.kind() {
                KnobKind::Integer => KnobValue::Integer(number.into()),
                KnobKind::Flag => KnobValue::Flag(number % 2 == 0),
                KnobKind::List => KnobValue::List(vec![3, number, number]),
                KnobKind::Path if setting.target.knob == Knob::InferConfigFile => continue,
                KnobKind::Path => KnobValue::Text(format!("models/{number}")),
                KnobKind::Name => "fakesink".into(),
            };
            if plan.iter().all(|(target, _)| *target != setting.target) {
                plan.push((setting.target, value));
            }
        }
        let change = pipeline.set_all(&plan).expect("every knob of these files can be set");
        let again = Pipeline::resolve("app.txt", &after(&pipeline, &change)).expect("still a pipeline");
        prop_assert!(again.faults.is_empty(), "{:?}", again.faults);
        for (before, after) in pipeline.knobs().iter().zip(again.knobs()) {
            let planned = plan.iter().find(|(target, _)| *target == before.target).map(|(_, value)| value);
            prop_assert_eq!(after.value.as_ref(), planned.or(before.value.as_ref()));
        }
        prop_assert_eq!(again.set_all(&plan), Ok(Change::default()));
    }

    #[test]
    fn arbitrary_bytes_give_a_pipeline_or_an_error(
        head in prop_oneof![
            Just("[streammux]\n"), Just("application:\nstreammux:\n"), Just("gst-launch-1.0 nvstreammux ! "),
            Just("infer_config {\n"), Just("deepstream:\n  nodes:\n  - "), Just("import gi\nGst.ElementFactory.make('queue')\n"),
        ],
        tail in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        let mut text = head.as_bytes().to_vec();
        text.extend(tail);
        let files = BTreeMap::from([("f".to_owned(), text)]);
        if let Err(error) = Pipeline::resolve("f", &files) {
            prop_assert!(error.to_string().starts_with("f:"), "{error}");
        }
    }
}
