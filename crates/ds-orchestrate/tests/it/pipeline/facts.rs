//! What the rules get to know about a pipeline.

use std::fs;

use ds_ceilings::StreamCount;
use ds_derive::{DecodeCeiling, Present, QueuePosition, Queues, SinkKind, SourceKind, Value};
use ds_orchestrate::{Error, ErrorKind, facts_of, pipeline_hashes, read_pipeline};

use super::{FORMS, copied, h200, read, wishes};
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
            &|_| false,
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
        &|_| false,
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
    let facts = facts_of(&read(folder.path(), "app.txt"), &wishes(), None, &|_| false);
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
            &|_| false,
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
