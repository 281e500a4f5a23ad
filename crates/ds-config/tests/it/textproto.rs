//! Text protobuf: the case table, edits worked by hand, properties, the corpus.

use ds_config::{
    ErrorKind, NVINFERSERVER, ProtoField, ProtoKind, ProtoMessage, TextProtoDocument,
    TextProtoMessage, TextProtoValue,
};
use proptest::prelude::*;

use crate::forms::{applied, corpus, name};
use crate::table::{rows, unescape};

/// The message that the program behind the table read. Its canonical print puts the fields in the
/// order of their numbers.
static PROBE: ProtoMessage = ProtoMessage::new(&[
    ProtoField::singular("infer", ProtoKind::Message(&PROBE_INFER)),
    ProtoField::repeated("many", ProtoKind::Message(&PROBE_INFER)),
    ProtoField::singular("max_batch_size", ProtoKind::Uint32),
    ProtoField::repeated("gpu_ids", ProtoKind::Int32),
    ProtoField::one_of("choice", "a", ProtoKind::Int32),
    ProtoField::one_of("choice", "b", ProtoKind::Int32),
]);

static PROBE_INFER: ProtoMessage = ProtoMessage::new(&[
    ProtoField::singular("interval", ProtoKind::Uint32),
    ProtoField::singular("name", ProtoKind::String),
    ProtoField::singular("flag", ProtoKind::Bool),
    ProtoField::singular("val", ProtoKind::Float),
]);

fn canonical(message: &TextProtoMessage, schema: &ProtoMessage) -> String {
    let in_order = schema.fields().iter().flat_map(|declared| {
        let given = message
            .fields()
            .iter()
            .filter(|field| field.name() == declared.name());
        given.map(move |field| (declared, field))
    });
    let shown = in_order.map(|(declared, field)| {
        let name = field.name();
        match (field.value(), declared.kind()) {
            (TextProtoValue::Message(inner), ProtoKind::Message(schema)) => {
                format!("{name} {{ {} }}", canonical(inner, schema)).replace("{  }", "{ }")
            }
            (TextProtoValue::Integer(value), _) => format!("{name}: {value}"),
            (TextProtoValue::Bool(value), _) => format!("{name}: {value}"),
            (TextProtoValue::Float(value), _) => format!("{name}: {value}"),
            (TextProtoValue::String(bytes), _) => {
                let text = String::from_utf8_lossy(bytes).replace('"', "\\\"");
                format!("{name}: \"{text}\"")
            }
            (value, kind) => panic!("{value:?} in a field of {kind:?}"),
        }
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Fragments of our messages by the reasons of the table.
const REASONS: &[(&str, &str)] = &[
    ("field given twice", "is given twice"),
    ("two members of a oneof", "members of one oneof"),
    ("unknown field", "no field"),
    ("bad boolean", "is no boolean"),
    ("byte outside ASCII", "outside ASCII"),
    ("octal digits", "not octal"),
    ("out of range", "out of range"),
];

/// Every row of the table of what the C++ TextFormat of protobuf 3.21.12 does.
#[test]
fn reads_as_text_format() {
    let rows = rows("textproto/cases.tsv");
    assert_eq!(rows.len(), 60);
    for row in rows {
        let [id, case, input, result, expected] = row.as_slice() else {
            panic!("odd row {row:?}");
        };
        let text = unescape(input);
        let label = format!("{id} {case}");
        let document = TextProtoDocument::parse(&text, &PROBE);
        let refusal = match &document {
            Ok(document) => document.refusal(),
            Err(error) => Some(error.clone()),
        };
        match (result.as_str(), refusal) {
            ("ok", None) => {
                let document = document.expect("a document that is not refused");
                assert_eq!(document.as_bytes(), text, "{label}");
                assert_eq!(&canonical(document.root(), &PROBE), expected, "{label}");
            }
            ("error", Some(error)) => {
                assert_eq!(error.kind(), ErrorKind::Refused, "{label}");
                assert!(error.place().is_some(), "{label}");
                let reason = REASONS
                    .iter()
                    .find(|(_, fragment)| error.message().contains(fragment))
                    .map_or("syntax", |(reason, _)| reason);
                assert_eq!(reason, expected, "{label}: {error}");
            }
            (result, refusal) => panic!("{label}: {result} expected, {refusal:?}"),
        }
    }
}

#[track_caller]
fn parse(text: &str) -> TextProtoDocument {
    TextProtoDocument::parse(text.as_bytes(), &NVINFERSERVER)
        .unwrap_or_else(|error| panic!("{error}"))
}

#[track_caller]
fn check_refused(text: &str, message: &str) {
    let error = TextProtoDocument::parse(text.as_bytes(), &NVINFERSERVER)
        .expect_err("a file that TextFormat refuses");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.to_string(), message);
}

#[test]
fn refusals_name_line_column_and_reason() {
    check_refused(
        "infer_config {\n  batch: 4\n}\n",
        "2:3: no field `batch` in this message",
    );
    check_refused(
        "infer_config {\n  unique_id: 1\n  unique_id: 2\n}\n",
        "3:3: field `unique_id` is given twice",
    );
    check_refused(
        "infer_config {\n  preprocess { }\n  input_tensor_from_meta { }\n}\n",
        "3:3: fields `preprocess` and `input_tensor_from_meta` are members of one oneof",
    );
    check_refused(
        "infer_config {\n  max_batch_size: \"4\"\n}\n",
        "2:19: a whole number expected, not `\"4\"`",
    );
    check_refused(
        "input_control { process_mode: FULL_FRAME }\n",
        "1:31: no value `FULL_FRAME` of this field",
    );
    check_refused(
        "infer_config {\n",
        "2:1: a field name expected, not the end of the file",
    );
    check_refused(
        "input_control { interval: 4294967296 }",
        "1:27: `4294967296` is out of range",
    );
}

#[test]
fn a_field_that_holds_its_default_may_be_given_again() {
    let document = parse("infer_config { max_batch_size: 0 max_batch_size: 4 }");
    let field = document
        .get(&["infer_config", "max_batch_size"])
        .expect("given");
    assert_eq!(field.value(), &TextProtoValue::Integer(4));
}

#[test]
fn a_template_is_read_and_refused() {
    let document = parse("infer_config {\n  max_batch_size: ${BATCH}\n}\n");
    let refusal = document.refusal().expect("a template");
    assert_eq!(
        refusal.to_string(),
        "2:19: a template: `${BATCH}` has to be filled in first"
    );
    let error = document
        .set(&["infer_config", "max_batch_size"], "4")
        .expect_err("a placeholder is not replaced");
    assert_eq!(
        error.to_string(),
        "2:19: a placeholder of a template stands here"
    );
}

/// Sets a field and compares the whole text.
#[track_caller]
fn check_set(before: &str, path: &[&str], value: &str, after: &str) {
    let document = parse(before);
    let edited = applied(before.as_bytes(), document.set(path, value));
    assert_eq!(String::from_utf8_lossy(&edited), after);
    let again = TextProtoDocument::parse(&edited, &NVINFERSERVER).expect("still a file");
    assert!(again.get(path).is_some(), "the field is there");
    let twice = again.set(path, value).expect("the same edit again");
    assert!(twice.is_empty(), "a second time changes nothing");
}

const BATCH: &[&str] = &["infer_config", "max_batch_size"];
const INTERVAL: &[&str] = &["input_control", "interval"];

#[test]
fn a_value_changes_in_place() {
    check_set(
        "infer_config {\r\n  max_batch_size:1# c\r\n}\r\n",
        BATCH,
        "8",
        "infer_config {\r\n  max_batch_size:8# c\r\n}\r\n",
    );
    check_set(
        "infer_config<max_batch_size : 0x1;>",
        BATCH,
        "8",
        "infer_config<max_batch_size : 8;>",
    );
    check_set(
        "infer_config{max_batch_size:010}",
        BATCH,
        "8",
        "infer_config{max_batch_size:010}",
    );
    let label = &["infer_config", "postprocess", "labelfile_path"];
    check_set(
        "infer_config { postprocess { labelfile_path: 'a' \"b\" other {} } }",
        label,
        "it's",
        "infer_config { postprocess { labelfile_path: 'it\\'s' other {} } }",
    );
    let flag = &["output_control", "output_tensor_meta"];
    check_set(
        "output_control { output_tensor_meta: 0 }",
        flag,
        "true",
        "output_control { output_tensor_meta: 1 }",
    );
    check_set(
        "output_control { output_tensor_meta: t }",
        flag,
        "0",
        "output_control { output_tensor_meta: false }",
    );
    let mode = &["input_control", "process_mode"];
    check_set(
        "input_control { process_mode: 1 }",
        mode,
        "PROCESS_MODE_CLIP_OBJECTS",
        "input_control { process_mode: PROCESS_MODE_CLIP_OBJECTS }",
    );
    check_set(
        "infer_config { gpu_ids: [ 0 ] }",
        &["infer_config", "gpu_ids"],
        "1",
        "infer_config { gpu_ids: [ 1 ] }",
    );
}

#[test]
fn a_missing_field_follows_the_last_one_of_its_message() {
    check_set(
        "infer_config {\n    unique_id:1 # c\n    #max_batch_size:4\n}\ninput_control {}\n",
        BATCH,
        "8",
        "infer_config {\n    unique_id:1 # c\n    max_batch_size:8\n    #max_batch_size:4\n}\ninput_control {}\n",
    );
    check_set(
        "infer_config { unique_id: 1 }",
        BATCH,
        "8",
        "infer_config { unique_id: 1 max_batch_size: 8 }",
    );
    check_set(
        "infer_config { unique_id: 1, gpu_ids: [0] }",
        BATCH,
        "8",
        "infer_config { unique_id: 1, gpu_ids: [0], max_batch_size: 8 }",
    );
    check_set(
        "infer_config {\r\n  unique_id: 1;\r\n}\r\n",
        BATCH,
        "8",
        "infer_config {\r\n  unique_id: 1;\r\n  max_batch_size: 8;\r\n}\r\n",
    );
    check_set(
        "infer_config {\n  # empty\n}\n",
        BATCH,
        "8",
        "infer_config {\n  max_batch_size: 8\n  # empty\n}\n",
    );
    check_set(
        "infer_config { }",
        BATCH,
        "8",
        "infer_config { max_batch_size: 8 }",
    );
    check_set(
        "infer_config\n{\n}\n",
        BATCH,
        "8",
        "infer_config\n{\n  max_batch_size: 8\n}\n",
    );
    check_set(
        "infer_config {\n  gpu_ids: [0,\n    1]\n}\n",
        BATCH,
        "8",
        "infer_config {\n  gpu_ids: [0,\n    1]\n  max_batch_size: 8\n}\n",
    );
}

#[test]
fn a_missing_message_is_added_with_its_field() {
    check_set(
        "infer_config {\n   max_batch_size: 4\n}\n# end\n",
        INTERVAL,
        "0",
        "infer_config {\n   max_batch_size: 4\n}\ninput_control {\n   interval: 0\n}\n# end\n",
    );
    check_set(
        "infer_config { max_batch_size: 4 }",
        INTERVAL,
        "0",
        "infer_config { max_batch_size: 4 }\ninput_control {\n  interval: 0\n}",
    );
    check_set(
        "# nothing\n",
        &["infer_config", "backend", "triton", "model_name"],
        "m",
        "# nothing\ninfer_config {\n  backend {\n    triton {\n      model_name: \"m\"\n    }\n  }\n}",
    );
}

#[track_caller]
fn check_not_set(text: &str, path: &[&str], value: &str, kind: ErrorKind, message: &str) {
    let error = parse(text)
        .set(path, value)
        .expect_err("an edit that is refused");
    assert_eq!(error.kind(), kind);
    assert_eq!(error.to_string(), message);
}

#[test]
fn values_and_places_that_are_refused() {
    let secondary = "input_control {\n  secondary_reinfer_interval: 0\n}\n";
    check_not_set(
        secondary,
        INTERVAL,
        "0",
        ErrorKind::InvalidValue,
        "2:3: `secondary_reinfer_interval` excludes `interval`",
    );
    check_not_set(
        "infer_config {}",
        BATCH,
        "-1",
        ErrorKind::InvalidValue,
        "`-1` is no value of `max_batch_size`",
    );
    check_not_set(
        "infer_config {}",
        BATCH,
        "4 # c",
        ErrorKind::InvalidValue,
        "`4 # c` is no value of `max_batch_size`",
    );
    check_not_set(
        "infer_config {}",
        BATCH,
        "4 unique_id: 1",
        ErrorKind::InvalidValue,
        "`4 unique_id: 1` is no value of `max_batch_size`",
    );
    check_not_set(
        "infer_config {}",
        &["infer_config"],
        "4",
        ErrorKind::InvalidValue,
        "`infer_config` is a message and holds no value",
    );
    check_not_set(
        "infer_config {}",
        &["infer_config", "batch"],
        "4",
        ErrorKind::NotFound,
        "the schema knows no field `infer_config.batch`",
    );
    check_not_set(
        "infer_config { gpu_ids: [0, 1] }",
        &["infer_config", "gpu_ids"],
        "1",
        ErrorKind::InvalidValue,
        "1:29: `gpu_ids` holds several values",
    );
}

/// A file in the style of an nvinferserver configuration.
fn documents() -> impl Strategy<Value = String> {
    let styles = (
        prop_oneof![Just(":"), Just(": "), Just(" : ")],
        prop_oneof![Just("\n"), Just("\r\n"), Just(" ")],
        prop_oneof![
            Just(("{", "}")),
            Just(("<", ">")),
            Just((" {", "}")),
            Just((": {", "}"))
        ],
        prop_oneof![Just(""), Just(";"), Just(",")],
    );
    (styles, 0..5_u32, prop::bool::ANY, "[a-z/.\u{e9}]{0,6}").prop_map(
        |((colon, eol, (open, close), separator), batch, comment, label)| {
            let note = if comment && eol != " " {
                " # max_batch_size: 9 }"
            } else {
                ""
            };
            [
                format!("infer_config{open}"),
                format!("  unique_id{colon}1{separator}{note}"),
                format!("  max_batch_size{colon}{batch}{separator}{note}"),
                format!(
                    "  postprocess{open}{eol}    labelfile_path{colon}\"{label}\"{separator}{note}"
                ),
                format!("  {close}{eol}{close}{note}"),
            ]
            .join(eol)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(document) = TextProtoDocument::parse(&bytes, &NVINFERSERVER) {
            prop_assert_eq!(document.as_bytes(), bytes.as_slice());
        }
    }

    #[test]
    fn proto_like_text_never_panics(text in "((infer_config|input_control|gpu_ids|max_batch_size|interval|[a-z]|[0-9]x?|[:{}<>,;\\[\\]#.\"'-]|\\$\\{)[ \n]?){0,24}") {
        if let Ok(document) = TextProtoDocument::parse(text.as_bytes(), &NVINFERSERVER) {
            for path in [BATCH, INTERVAL, &["infer_config", "gpu_ids"]] {
                if let Ok(edit) = document.set(path, "4") {
                    let edited = edit.apply(text.as_bytes()).expect("an edit fits its text");
                    let again = TextProtoDocument::parse(&edited, &NVINFERSERVER).expect("still a file");
                    let field = again.get(path).expect("the field is there");
                    prop_assert_eq!(field.value(), &TextProtoValue::Integer(4));
                }
            }
        }
    }

    #[test]
    fn edits_of_generated_documents(text in documents(), batch in 1..4096_i128, label in "[ -~]{0,8}") {
        let mut text = text.into_bytes();
        let label_path = ["infer_config", "postprocess", "labelfile_path"];
        let library = ["infer_config", "custom_lib", "path"];
        let number = batch.to_string();
        for (path, value) in [
            (BATCH, number.as_str()),
            (&label_path, label.as_str()),
            (INTERVAL, number.as_str()),
            (&library, label.as_str()),
        ] {
            let document = TextProtoDocument::parse(&text, &NVINFERSERVER).expect("a file");
            let before = document.get(path).map(|field| field.span());
            let edited = applied(&text, document.set(path, value));
            if let Some(span) = before {
                prop_assert_eq!(&edited[..span.start()], &text[..span.start()]);
                prop_assert!(edited.ends_with(&text[span.end()..]));
            }
            let again = TextProtoDocument::parse(&edited, &NVINFERSERVER).expect("still a file");
            match again.get(path).expect("the field is there").value() {
                TextProtoValue::Integer(read) => prop_assert_eq!(*read, batch),
                TextProtoValue::String(read) => prop_assert_eq!(read.as_slice(), label.as_bytes()),
                other => prop_assert!(false, "{other:?}"),
            }
            prop_assert!(again.set(path, value).expect("the same again").is_empty());
            text = edited;
        }
    }
}

#[test]
fn corpus_round_trip_and_single_edits() {
    let test = "textproto::corpus_round_trip_and_single_edits";
    let Some(files) = corpus(test, &["nvinferserver"]) else {
        return;
    };
    let mut templates = 0;
    for (path, bytes) in &files {
        let name = name(path);
        let document = TextProtoDocument::parse(bytes, &NVINFERSERVER)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(document.as_bytes(), bytes, "{name}");
        if document.refusal().is_some() {
            templates += 1;
            continue;
        }
        let batch = document.get(BATCH).map(|field| field.span());
        let edited = applied(bytes, document.set(BATCH, "4711"));
        let again = TextProtoDocument::parse(&edited, &NVINFERSERVER).expect("still a file");
        let read = again.get(BATCH).expect("the field is there").value();
        assert_eq!(read, &TextProtoValue::Integer(4711), "{name}");
        if let Some(span) = batch {
            assert_eq!(&edited[..span.start()], &bytes[..span.start()], "{name}");
            assert!(edited.ends_with(&bytes[span.end()..]), "{name}");
        }
        let secondary = ["input_control", "secondary_reinfer_interval"];
        let interval = document.set(INTERVAL, "4711");
        if document.get(&secondary).is_some() {
            assert!(interval.is_err(), "{name}");
        } else {
            let edited = applied(bytes, interval);
            let again = TextProtoDocument::parse(&edited, &NVINFERSERVER).expect("still a file");
            assert!(
                again
                    .set(INTERVAL, "4711")
                    .expect("the same again")
                    .is_empty(),
                "{name}"
            );
        }
    }
    assert_eq!(templates, 1, "one of {} files is a template", files.len());
}
