//! Pipelines in YAML, in service-maker files and in Python, and the parts of pipelines.

use ds_config::{Change, Knob, KnobValue, Pipeline, Target};

use crate::files::{Folder, after, resolve, show, show_change};
use crate::table::testdata;

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

#[track_caller]
fn part(path: &str, text: &str, knob: Knob, expected: &str) {
    let pipeline = resolve(&[(path, text)]);
    assert!(
        pipeline
            .elements
            .iter()
            .all(|element| element.place.path == path)
    );
    let setting = pipeline
        .knobs_of(knob)
        .next()
        .expect("the part has the knob");
    assert_eq!(
        setting.value.as_ref().map(ToString::to_string).as_deref(),
        Some(expected)
    );
}

#[test]
fn a_part_is_a_pipeline_by_itself() {
    part(
        "p.txt",
        "[property]\nonnx-file=m.onnx\nbatch-size=4\n",
        Knob::InferBatchSize,
        "4",
    );
    part("p.yml", SGIE.1, Knob::InferDims, "3;224;224");
    part("t.yml", TRITON.1, Knob::InferInterval, "2");
    part(
        "m.txt",
        "[property]\noverall-min-fps-n=30\n",
        Knob::MuxMinFpsNumerator,
        "30",
    );
    part(
        "t.txt",
        "[tracker]\ntracker-width=640\n",
        Knob::TrackerWidth,
        "640",
    );
    part("s.csv", CSV.1, Knob::DecodeCudadecMemtype, "0");
    let shape = "[property]\nnetwork-input-shape=8;3;544;960\n";
    part("pre.txt", shape, Knob::PreprocessInputShape, "8;3;544;960");
}

#[test]
fn a_name_that_chooses_the_wrong_reader_is_a_fault() {
    let fault = |path: &str, text: &str| {
        let faults = resolve(&[(path, text)]).faults;
        faults.first().map(ToString::to_string)
    };
    let key_file = "[property]\nonnx-file=m.onnx\n";
    let yaml = "property:\n  onnx-file: m.onnx\n";
    assert_eq!(fault("p.txt", key_file), None);
    assert_eq!(fault("p.yaml", yaml), None);
    let as_yaml = "p.yml: this is a key file, and under this name it is read as YAML";
    assert_eq!(fault("p.yml", key_file).as_deref(), Some(as_yaml));
    let as_keys = "p.cfg: this is YAML, and under this name it is read as a key file";
    assert_eq!(fault("p.cfg", yaml).as_deref(), Some(as_keys));
}

#[test]
fn a_new_column_takes_one_value() {
    let pipeline = resolve(&[("app.yml", APP_YML), CSV, TRITON, SGIE]);
    let surfaces: Vec<Target> = pipeline
        .knobs_of(Knob::DecodeNumExtraSurfaces)
        .map(|setting| setting.target)
        .collect();
    let error = pipeline
        .set_all(&[(surfaces[0], 1.into()), (surfaces[1], 2.into())])
        .expect_err("two values");
    assert_eq!(
        error.to_string(),
        "sources.csv: the new column `num-extra-surfaces` takes one value for all rows"
    );
    let memory: Vec<Target> = pipeline
        .knobs_of(Knob::DecodeCudadecMemtype)
        .map(|setting| setting.target)
        .collect();
    let change = pipeline
        .set_all(&[(memory[0], 1.into()), (memory[1], 2.into())])
        .expect("the column is there");
    assert_eq!(
        show_change(&pipeline, &change),
        "sources.csv\n-1,3,file:///a%d.mp4,4,0,0\n+1,3,file:///a%d.mp4,4,0,1\n-1,4,rtsp://b,1,0,0\n+1,4,rtsp://b,1,0,2\n"
    );
}

#[test]
fn a_program_that_parses_a_text_and_sets_a_property_is_the_text() {
    let program = "import gi\nfrom gi.repository import Gst\n\
                   p = Gst.parse_launch('videotestsrc ! nvstreammux name=m batch-size=2 ! nvinfer ! fakesink')\n\
                   sink = p.get_by_name('s')\nsink.set_property('sync', False)\n";
    let pipeline = resolve(&[("p.py", program)]);
    let batch = pipeline
        .knobs_of(Knob::MuxBatchSize)
        .next()
        .expect("the text has a mux");
    let change = pipeline
        .set(batch.target, 4)
        .expect("a literal of the text");
    assert_eq!(
        show_change(&pipeline, &change),
        "p.py\n-p = Gst.parse_launch('videotestsrc ! nvstreammux name=m batch-size=2 ! nvinfer ! fakesink')\n\
         +p = Gst.parse_launch('videotestsrc ! nvstreammux name=m batch-size=4 ! nvinfer ! fakesink')\n"
    );
    let sink = pipeline
        .knobs_of(Knob::SinkKind)
        .next()
        .expect("the text has a sink");
    assert_eq!(sink.value, Some(KnobValue::Text("fakesink".to_owned())));
}
