//! Forms told by content.

use ds_config::{Carrier, Form, detect};

#[track_caller]
fn check(text: &str, form: Form) {
    let detection = detect(text.as_bytes());
    assert_eq!(detection.form, form, "{}", detection.because);
}

#[test]
fn key_files_are_told_apart_by_their_groups_and_keys() {
    check(
        "# c\n[application]\nenable-perf-measurement=1\n[streammux]\nbatch-size=1\n",
        Form::AppTxt,
    );
    check(
        "[source-list]\nnum-source-bins=1\n[source-attr-all]\nenable=1\n",
        Form::AppTxt,
    );
    check("[sink0]\nenable=1\ntype=1\n", Form::AppTxt);
    check(
        "[property]\nonnx-file=m.onnx\n[class-attrs-all]\ntopk=20\n",
        Form::NvinferTxt,
    );
    check("\u{feff}[property]\nnetwork-mode=2\n", Form::NvinferTxt);
    check(
        "[property]\nenable=1\nconfig-width=1920\n",
        Form::AnalyticsTxt,
    );
    check(
        "[property]\nnetwork-input-shape=8;3;544;960\n[group-0]\nsrc-ids=0\n",
        Form::PreprocessTxt,
    );
    check("[property]\noverall-min-fps-n=30\n", Form::MuxPolicyTxt);
    check("[property]\r\nonnx-file=m.onnx\r\n", Form::NvinferTxt);
    check("[tracker]\ntracker-width=640\n", Form::TrackerTxt);
    check(
        "[message-broker]\nhostname=h\n",
        Form::Declined(Carrier::OtherKeyFile),
    );
    check(
        "[application]\nseed=1\n[receiver0]\nenable=1\n[primary-gie]\nenable=1\n",
        Form::Declined(Carrier::OtherKeyFile),
    );
    check(
        "[pipeline]\nf=\"a\"\n[streammux]\nbatch-size=1\n",
        Form::Declined(Carrier::Toml),
    );
}

#[test]
fn yaml_is_told_apart_by_its_schema() {
    check(
        "application:\n  enable-perf-measurement: 1\nsource:\n  csv-file-path: s.csv\nstreammux:\n  width: 8\n",
        Form::AppYml,
    );
    check(
        "source:\n  location: a.h264\nstreammux:\n  batch-size: 1\n",
        Form::SampleAppYml,
    );
    check(
        "property:\n  gpu-id: 0\n  onnx-file: m.onnx\n",
        Form::NvinferYml,
    );
    check(
        "property:\n  gpu-id: 0\n  network-type: 1\n",
        Form::Declined(Carrier::OtherYaml),
    );
    check("property:\n  config-width: 8\n", Form::AnalyticsYml);
    check(
        "property:\n  network-input-shape: 8;3;4;4\n",
        Form::PreprocessYml,
    );
    check("property:\n  adaptive-batching: 0\n", Form::MuxPolicyYml);
    check(
        "%YAML:1.0\n\nBaseConfig:\n  minDetectorConfidence: 0\n",
        Form::TrackerYml,
    );
    check(
        "deepstream:\n  nodes:\n  - type: nvurisrcbin\n  edges:\n    a: b\n",
        Form::ServiceMakerYml,
    );
    check(
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  a.txt: |\n    [property]\n",
        Form::Declined(Carrier::Kubernetes),
    );
    check(
        "name: m\nparameters:\n  a: 1\npipeline:\n  elements: []\n",
        Form::Declined(Carrier::Savant),
    );
    check(
        "name: p\nmodels:\n  - a\nserver:\n  b: 1\n",
        Form::Declined(Carrier::InferenceBuilder),
    );
    check(
        "name: d\ntype: ds3d::datafilter\n",
        Form::Declined(Carrier::Ds3d),
    );
    check(
        "name: x\ncomponents:\n  - a\ndependencies:\n  - b\n",
        Form::Declined(Carrier::GraphComposer),
    );
}

#[test]
fn the_other_syntaxes_are_found_by_what_only_they_hold() {
    check("infer_config {\n  unique_id: 1\n}\n", Form::Nvinferserver);
    check("# c\ninfer_config: <\n>\n", Form::Nvinferserver);
    check(
        "enable,type,uri,num-sources\n1,3,file:///a.mp4,2\n",
        Form::SourcesCsv,
    );
    check("#!/bin/sh\ngst-launch-1.0 a ! b\n", Form::GstLaunch);
    check(
        "# How to\n\n```sh\ngst-launch-1.0 a ! b\n```\n",
        Form::GstLaunch,
    );
    check("import gi\nfrom gi.repository import Gst\n", Form::Python);
    check("from pyservicemaker import Pipeline, Flow\n", Form::Python);
    check(
        "\tfrom gi.repository import Gst\n\tp = Gst.parse_launch(\"a ! b\")\n",
        Form::Python,
    );
}

#[test]
fn what_is_out_of_reach_is_named() {
    check(
        "#include <gst/gst.h>\nint main() { gst_parse_launch(\"a ! b\"); }\n",
        Form::Declined(Carrier::C),
    );
    check(
        "use gst::prelude::*;\nfn main() {}\n",
        Form::Declined(Carrier::Rust),
    );
    check(
        "{\"cells\": [], \"nbformat\": 4}\n",
        Form::Declined(Carrier::Notebook),
    );
    check(
        "[property]\nbatch-size={{ batch }}\nonnx-file=m.onnx\n",
        Form::Declined(Carrier::Template),
    );
    check(
        "models:\n  - {{ model }}\nserver:\n  a: 1\n",
        Form::Declined(Carrier::InferenceBuilder),
    );
    check(
        "{% for s in sources %}\n[source{{ s }}]\n{% endfor %}\n",
        Form::Declined(Carrier::Template),
    );
    check(
        "FROM nvcr.io/nvidia/deepstream\nRUN gst-launch-1.0 a ! b\n",
        Form::Declined(Carrier::Dockerfile),
    );
    check(
        "#!/bin/sh\ncat > pgie.txt <<EOF\nbatch-size=1\nEOF\n",
        Form::Declined(Carrier::HereDocument),
    );
    check("", Form::Unknown);
    check("Just some words.\n", Form::Unknown);
    check("Note: this is prose\n", Form::Unknown);
}

#[test]
fn a_command_line_above_a_group_is_no_key() {
    // The group is that of a here document, say. A property given to the element changes nothing.
    for properties in ["", " batch-size=7"] {
        let text = format!("gst-launch-1.0 nvinfer{properties} ! b\n\n[tracker]\ngpu-id=0\n");
        check(&text, Form::GstLaunch);
    }
    check("gpu-id=0\n[tracker]\ngpu-id=0\n", Form::TrackerTxt);
    check("gpu-id = 0\n[tracker]\ngpu-id=0\n", Form::TrackerTxt);
}

#[test]
fn a_script_with_placeholders_of_another_program_is_a_script() {
    check(
        "docker ps --format '{{.Names}}'\ngst-launch-1.0 a ! b\n",
        Form::GstLaunch,
    );
    check(
        "gst-launch-1.0 a c={{ batch }} ! b\n",
        Form::Declined(Carrier::Template),
    );
    check(
        "use gst-launch-1.0 like this:\ngst-launch-1.0 a ! b\n",
        Form::GstLaunch,
    );
    check(
        "Options:\n  sync: off\n\ngst-launch-1.0 a ! b\n",
        Form::GstLaunch,
    );
}

#[test]
fn every_carrier_has_advice() {
    for carrier in [
        Carrier::C,
        Carrier::Notebook,
        Carrier::Template,
        Carrier::Kubernetes,
        Carrier::OtherYaml,
    ] {
        assert!(carrier.advice().len() > 20, "{carrier}");
    }
}

proptest::proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(text in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let _ = detect(&text);
    }
}
