//! Whole pipelines: resolved through every file, and changed at the place that wins.

use std::collections::BTreeMap;

use ds_config::{
    Change, ErrorKind, Knob, KnobValue, MuxGeneration, Pipeline, QueuePosition, Role, SinkKind,
    Target,
};

use crate::files::{Folder, after, memory, resolve, show, show_change};
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
        "app.txt:6:1: [source-list] sets it to the number of URIs; `batch-size` should be 8"
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

#[test]
fn two_elements_that_share_a_file_share_its_values() {
    let app = "[streammux]\nbatch-size=1\n[primary-gie]\nenable=1\nconfig-file=p.txt\n[secondary-gie0]\nenable=1\nconfig-file=p.txt\n";
    let pipeline = resolve(&[
        ("app.txt", app),
        ("p.txt", "[property]\nonnx-file=m.onnx\n"),
    ]);
    let batches: Vec<Target> = pipeline
        .knobs_of(Knob::InferBatchSize)
        .map(|setting| setting.target)
        .collect();
    let both = |a: i64, b: i64| pipeline.set_all(&[(batches[0], a.into()), (batches[1], b.into())]);
    let change = both(8, 8).expect("one value for both");
    assert_eq!(show_change(&pipeline, &change), "p.txt\n+batch-size=8\n");
    assert_eq!(change.knobs.len(), 2);
    let error = both(8, 4).expect_err("two values for one place");
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(
        error.to_string(),
        "two elements share `batch-size`, and it is to be 8 and 4"
    );
}

#[test]
fn a_file_in_a_foreign_encoding_never_worked() {
    let error = |bytes: &[u8]| {
        let files = BTreeMap::from([("a.txt".to_owned(), bytes.to_vec())]);
        Pipeline::resolve("a.txt", &files)
            .expect_err("no reader takes this")
            .to_string()
    };
    let text = "[streammux]\nbatch-size=1\n";
    let utf16: Vec<u8> = std::iter::once(0xfeff)
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(
        error(&utf16),
        "a.txt: the text is UTF-16, which no reader of DeepStream takes"
    );
    let marked = format!("\u{feff}{text}");
    assert_eq!(
        error(marked.as_bytes()),
        "a.txt:1:1: the file begins with a byte order mark"
    );
    let old_mac = text.replace('\n', "\r");
    let cr_only = "a.txt:1:1: a key stands before any group: the lines end in CR alone";
    assert_eq!(error(old_mac.as_bytes()), cr_only);
}

#[test]
fn a_stage_that_names_the_file_of_another_element_gets_nothing_from_it() {
    let script = "gst-launch-1.0 a ! nvinfer config-file-path=config.txt batch-size=2 ! fakesink\n";
    let files = BTreeMap::from([
        ("run.sh".to_owned(), script.as_bytes().to_vec()),
        ("config.txt".to_owned(), b"[tracker]\ngpu-id=0\n".to_vec()),
    ]);
    let pipeline = Pipeline::resolve("run.sh", &files).expect("a pipeline");
    let faults: Vec<String> = pipeline.faults.iter().map(ToString::to_string).collect();
    assert_eq!(
        faults,
        [
            "config.txt: this is a tracker-group-txt file, and an inference stage names it as its own"
        ]
    );
    let of_file = pipeline.knobs_of(Knob::InferNetworkMode).next();
    assert_eq!(of_file, None);
    let batch = pipeline
        .knobs_of(Knob::InferBatchSize)
        .next()
        .expect("the element's own");
    let change = pipeline
        .set(batch.target, 4)
        .expect("it stands in the script");
    assert_eq!(change.files.len(), 1);
    assert_eq!(change.files[0].path, "run.sh");
}
