//! What the rules get to know about a pipeline.

use std::fs;

use ds_ceilings::{Batch, StreamCount};
use ds_derive::{
    DecodeCeiling, Dims, ModelBatch, Present, QueuePosition, Queues, SinkKind, SourceKind, Value,
    Variant, derive,
};
use ds_orchestrate::{
    DiskFiles, Error, ErrorKind, facts_of, pipeline_hashes, plan_edits, read_pipeline,
};

use super::{FORMS, NoFiles, copied, h200, read, wishes};
use crate::support::{folder, put};

#[track_caller]
fn check_value(present: &Present, expected: impl Into<Value>) {
    let Present::Value { value, .. } = present else {
        panic!("{present:?}");
    };
    assert_eq!(*value, expected.into());
}

#[test]
fn both_forms_say_the_same_about_mux_and_inference() {
    for (form, entry) in FORMS {
        let folder = copied(form);
        let facts = facts_of(
            &read(folder.path(), entry),
            &wishes(),
            Some(&h200()),
            &NoFiles::new(),
        );
        assert_eq!(facts.streams, StreamCount::new(8));
        let mux = facts.mux.as_ref().expect("there is a mux");
        check_value(&mux.width, 1920);
        check_value(&mux.height, 1080);
        check_value(&mux.batched_push_timeout, 40000);
        let [infer] = &facts.infers[..] else {
            panic!("{form}: {:?}", facts.infers);
        };
        check_value(&infer.batch_size, 1);
        check_value(&infer.network_mode, 0);
        assert_eq!(infer.infer_dims, Present::Absent, "{form}");
        assert!(
            facts.tracker.is_none(),
            "{form}: it is switched off, or not there"
        );
        assert!(
            facts
                .sources
                .iter()
                .all(|source| source.kind == SourceKind::File)
        );
        assert!(matches!(facts.decode, DecodeCeiling::Known(_)), "{form}");
        let [sink] = &facts.sinks[..] else {
            panic!("{form}: {:?}", facts.sinks);
        };
        assert_eq!(sink.kind, SinkKind::Display, "{form}");
    }
}

#[test]
fn queues_are_named_only_where_they_can_be_configured() {
    let folder = copied("gst-launch");
    let facts = facts_of(
        &read(folder.path(), "pipeline.sh"),
        &wishes(),
        None,
        &NoFiles::new(),
    );
    let Queues::Named(queues) = &facts.queues else {
        panic!("{:?}", facts.queues);
    };
    let at = |position| {
        queues
            .iter()
            .filter(|queue| queue.position == position)
            .count()
    };
    assert_eq!(
        (
            at(QueuePosition::DecoderToMux),
            at(QueuePosition::MuxToInfer),
            queues.len()
        ),
        (8, 1, 9)
    );

    let folder = copied("deepstream-app");
    let facts = facts_of(
        &read(folder.path(), "app.txt"),
        &wishes(),
        None,
        &NoFiles::new(),
    );
    assert_eq!(facts.queues, Queues::NotConfigurable);
}

#[test]
fn a_codec_is_read_off_the_parsers() {
    let folder = copied("gst-launch");
    let mut wishes = wishes();
    wishes.codec = None;
    let decode = |wishes: &_| {
        facts_of(
            &read(folder.path(), "pipeline.sh"),
            wishes,
            Some(&h200()),
            &NoFiles::new(),
        )
        .decode
    };
    // `h265parse` stands in front of each decoder.
    assert!(matches!(decode(&wishes), DecodeCeiling::Known(_)));
    // Nothing in the files says how large the frames are.
    wishes.source_size = None;
    assert_eq!(decode(&wishes), DecodeCeiling::Unknown);
}

#[test]
fn every_file_that_was_read_has_its_hash() {
    for (form, entry) in FORMS {
        let folder = copied(form);
        let hashes = pipeline_hashes(&read(folder.path(), entry));
        assert_eq!(hashes.len(), 2, "{form}: {hashes:?}");
        for (path, hash) in hashes {
            let bytes = fs::read(&path).expect("it is there");
            assert_eq!(hash, ds_orchestrate::bundle::hex_sha256(&bytes));
        }
    }
}

#[test]
fn files_that_are_no_pipeline() {
    let folder = folder();
    let path = folder.path().join("missing.txt").display().to_string();
    let error = read_pipeline(&path).expect_err("it is missing");
    assert!(matches!(&error, Error::Read { .. }), "{error}");
    assert_eq!(error.to_string(), format!("cannot read `{path}`"));
    let empty = folder.path().join("empty.txt");
    put(&empty, "");
    let error = read_pipeline(&empty.display().to_string()).expect_err("it is empty");
    assert_eq!(error.kind(), ErrorKind::Input);
}

/// One field of the protobuf wire format with a length in front; short enough for one byte of it.
fn field(number: u8, payload: &[u8]) -> Vec<u8> {
    let len = u8::try_from(payload.len()).expect("a short payload");
    [&[number << 3 | 2, len], payload].concat()
}

/// An ONNX model (`onnx.proto3`: ModelProto.graph 7, GraphProto.input 11, ValueInfoProto.name 1 and type 2) with one
/// input of these dimensions.
fn onnx(dims: &[u8]) -> Vec<u8> {
    let dim = |size: &u8| field(1, &[1 << 3, *size]);
    let shape = field(2, &dims.iter().flat_map(dim).collect::<Vec<_>>());
    let tensor = field(1, &[&[1 << 3, 1], &shape[..]].concat());
    let input = [field(1, b"input"), field(2, &tensor)].concat();
    field(7, &field(11, &input))
}

#[track_caller]
fn check_model(dims: &[u8], batch: ModelBatch, size: Option<Dims>) {
    let folder = copied("deepstream-app");
    put(&folder.path().join("resnet152.onnx"), onnx(dims));
    let mut wishes = wishes();
    wishes.dims = None;
    let facts = facts_of(&read(folder.path(), "app.txt"), &wishes, None, &DiskFiles);
    assert_eq!(
        (facts.infers[0].model_batch, facts.infers[0].model_dims),
        (batch, size)
    );
}

#[test]
fn batch_and_size_of_a_model_are_read_out_of_its_file() {
    let size = Dims::new(3, 96, 112);
    let one = ModelBatch::Static(Batch::new(1).expect("not zero"));
    check_model(&[1, 3, 96, 112], one, size);
    check_model(&[1, 96, 112, 3], one, size);
    check_model(&[0, 3, 96, 112], ModelBatch::Dynamic, size);
    check_model(&[1, 5], one, None);
}

#[test]
fn a_model_of_one_batch_stops_the_plan() {
    let folder = copied("deepstream-app");
    put(
        &folder.path().join("resnet152.onnx"),
        onnx(&[1, 3, 96, 112]),
    );
    let pipeline = read(folder.path(), "app.txt");
    let plan = derive(&facts_of(&pipeline, &wishes(), Some(&h200()), &DiskFiles));
    assert!(
        plan.stops().next().is_some(),
        "batch 8 asks for more than the model takes"
    );
    let edits = plan_edits(&pipeline, &plan, Variant::Every).expect("edits");
    assert!(
        edits.files.is_empty(),
        "nothing is written while the model cannot follow"
    );
}
