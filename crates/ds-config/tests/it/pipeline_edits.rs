//! Random sets of edits over a pipeline of two files.

use std::collections::BTreeMap;

use ds_config::{Change, Knob, KnobKind, KnobValue, Pipeline, Target};
use proptest::prelude::*;

use crate::files::{after, resolve};

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
