//! YAML: the case table, edits worked by hand, properties, the corpus.

use std::path::Path;

use ds_config::{ErrorKind, YamlDocument, YamlKind, YamlNode};
use proptest::prelude::*;

use crate::forms::{applied, corpus, escape, name};
use crate::table::{rows, unescape};

#[track_caller]
fn parse(text: &str) -> YamlDocument {
    YamlDocument::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// Every row of the table of what yaml-cpp 0.7.0 does.
#[test]
fn reads_as_yaml_cpp() {
    let rows = rows("yaml/cases.tsv");
    assert_eq!(rows.len(), 79);
    for row in rows {
        let [id, case, input, load, ..] = row.as_slice() else {
            panic!("short row {row:?}");
        };
        let text = unescape(input);
        let label = format!("{id} {case}");
        let Ok(document) = YamlDocument::parse(&text) else {
            assert_eq!(load, "THROWS", "{label}");
            continue;
        };
        assert_eq!(load, "ok", "{label}");
        assert_eq!(document.as_bytes(), text, "{label}");
        assert_eq!(reading_of(&document).as_slice(), &row[4..], "{label}");
    }
}

/// What the program behind the table printed: the top-level keys, then everything about
/// `property`. It looped over every group of that name, which is why a second one counts here.
fn reading_of(document: &YamlDocument) -> Vec<String> {
    let keys = |nodes: Vec<YamlNode<'_>>| {
        let names = nodes
            .into_iter()
            .map(|key| escape(key.bytes().expect("a scalar key")));
        names.collect::<Vec<_>>().join("|")
    };
    let top = keys(document.groups().map(|(key, _)| key).collect());
    let group = document.group("property");
    let kind = match group.map(YamlNode::kind) {
        None => "absent",
        Some(YamlKind::Null) => "null",
        Some(YamlKind::Scalar) => "scalar",
        Some(YamlKind::Sequence) => "sequence",
        Some(YamlKind::Mapping) => "map",
        Some(_) => panic!("a kind that the table does not know"),
    };
    let entries: Vec<_> = document
        .groups()
        .filter(|(key, _)| key.text() == Some("property"))
        .flat_map(|(_, group)| group.entries())
        .collect();
    let group_keys = keys(entries.iter().map(|(key, _)| *key).collect());
    let last = entries.iter().rfind(|(key, _)| key.text() == Some("k"));
    let mut row = vec![top, kind.to_owned(), group_keys];
    match last {
        None => row.extend(std::iter::repeat_n("-".to_owned(), 5)),
        Some(&(_, node)) => row.extend([
            or_throws(node.bytes().map(|bytes| format!("\"{}\"", escape(bytes)))),
            or_throws(node.int().map(|value| value.to_string())),
            or_throws(node.uint().map(|value| value.to_string())),
            or_throws(node.boolean().map(|value| value.to_string())),
            or_throws(node.double().map(as_c_prints_it)),
        ]),
    }
    row.push(match group.and_then(|group| group.first("k")) {
        None => "-".to_owned(),
        Some(node) => or_throws(node.bytes().map(|bytes| format!("\"{}\"", escape(bytes)))),
    });
    row
}

fn or_throws(reading: Option<String>) -> String {
    reading.unwrap_or_else(|| "THROWS".to_owned())
}

/// The table's doubles were printed by a C++ stream, which turns to exponents above six digits
/// only where that is shorter; one row does.
fn as_c_prints_it(value: f64) -> String {
    if value >= 1e7 {
        format!("{value:e}").replace('e', "e+")
    } else {
        value.to_string()
    }
}

#[test]
fn conversions_beyond_the_table() {
    let int = |text: &str| {
        parse(&format!("p:\n  k: \"{text}\"\n"))
            .value("p", "k")
            .and_then(YamlNode::int)
    };
    assert_eq!(int("2147483647"), Some(i32::MAX));
    assert_eq!(int("2147483648"), None);
    assert_eq!(int("-2147483648"), Some(i32::MIN));
    assert_eq!(int("-0x10"), Some(-16));
    assert_eq!(int("0"), Some(0));
    assert_eq!(int("+-1"), None);
    assert_eq!(int("0x"), None);
    assert_eq!(int(" 4"), None);
    assert_eq!(int("4 "), Some(4));
    let double = |text: &str| {
        parse(&format!("p:\n  k: {text}\n"))
            .value("p", "k")
            .and_then(YamlNode::double)
    };
    assert_eq!(double(".inf"), Some(f64::INFINITY));
    assert_eq!(double("inf"), None);
    assert_eq!(double("1e999"), None);
    assert_eq!(double("1e"), None);
}

#[test]
fn a_refused_file_names_line_and_column() {
    let error = YamlDocument::parse(b"property:\n\tk: 4\n").expect_err("a tab as indent");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(
        error.to_string(),
        "2:2: no YAML: tabs disallowed within this context (block indentation)"
    );
}

/// Sets `group.key` and compares the whole text.
#[track_caller]
fn check_set(before: &str, group: &str, key: &str, value: &str, after: &str) {
    let document = parse(before);
    let edited = applied(before.as_bytes(), document.set(group, key, value));
    assert_eq!(String::from_utf8_lossy(&edited), after);
    let again = YamlDocument::parse(&edited).expect("an edited file parses");
    let read = again.value(group, key).and_then(YamlNode::text);
    assert_eq!(read, Some(value), "reads back");
    let twice = again.set(group, key, value).expect("the same edit again");
    assert!(twice.is_empty(), "a second time changes nothing");
}

#[test]
fn a_value_keeps_its_quotes_and_its_comment() {
    check_set("p:\n  k: 4 # c\n", "p", "k", "8", "p:\n  k: 8 # c\n");
    check_set(
        "p:\n  k: \"4\"  # c\n",
        "p",
        "k",
        "8",
        "p:\n  k: \"8\"  # c\n",
    );
    check_set("p:\n  k: '4'\n", "p", "k", "it's", "p:\n  k: 'it''s'\n");
    check_set("p:\n  k : 4   \n", "p", "k", "8", "p:\n  k : 8   \n");
    check_set("p:\r\n  k:\t4\r\n", "p", "k", "8", "p:\r\n  k:\t8\r\n");
}

#[test]
fn a_value_is_quoted_only_where_it_must_be() {
    check_set(
        "p:\n  k: 1\n",
        "p",
        "k",
        "3;544;960",
        "p:\n  k: 3;544;960\n",
    );
    check_set("p:\n  k: 1\n", "p", "k", "a: b", "p:\n  k: \"a: b\"\n");
    check_set("p:\n  k: 1\n", "p", "k", "a #b", "p:\n  k: \"a #b\"\n");
    check_set("p:\n  k: 1\n", "p", "k", "-1", "p:\n  k: -1\n");
    check_set("p:\n  k: 1\n", "p", "k", "", "p:\n  k: \"\"\n");
    check_set("p:\n  k: 1\n", "p", "k", "null", "p:\n  k: \"null\"\n");
    check_set("p: {k: 1}\n", "p", "k", "a,b", "p: {k: \"a,b\"}\n");
}

#[test]
fn what_stands_in_place_of_a_scalar_gives_way() {
    check_set(
        "p:\n  k: [3, 4] # c\n",
        "p",
        "k",
        "3;4",
        "p:\n  k: 3;4 # c\n",
    );
    check_set("p:\n  k:\n  j: 1\n", "p", "k", "4", "p:\n  k: 4\n  j: 1\n");
    check_set("p:\n  k: ~\n", "p", "k", "4", "p:\n  k: 4\n");
    check_set(
        "a: &a 4\np:\n  k: *a\n",
        "p",
        "k",
        "8",
        "a: &a 4\np:\n  k: 8\n",
    );
    check_set("p:\n  k: &b 4\n", "p", "k", "8", "p:\n  k: &b 8\n");
    check_set("p: {k}\n", "p", "k", "4", "p: {k: 4}\n");
}

#[test]
fn the_copy_that_is_read_is_the_one_that_changes() {
    check_set(
        "p:\n  k: 4\n  k: 8\n",
        "p",
        "k",
        "9",
        "p:\n  k: 4\n  k: 9\n",
    );
    check_set(
        "p:\n  k: 4\np:\n  k: 8\n",
        "p",
        "k",
        "9",
        "p:\n  k: 9\np:\n  k: 8\n",
    );
    check_set(
        "p:\n  k: 4\n---\np:\n  k: 8\n",
        "p",
        "k",
        "9",
        "p:\n  k: 9\n---\np:\n  k: 8\n",
    );
}

#[test]
fn a_missing_key_follows_the_last_live_one() {
    check_set(
        "p:\n    j : 1 # c\n#    k: 4\n\n# next\nq:\n    k: 1\n",
        "p",
        "k",
        "8",
        "p:\n    j : 1 # c\n    k : 8\n#    k: 4\n\n# next\nq:\n    k: 1\n",
    );
    check_set(
        "p:\r\n  j: 1\r\n",
        "p",
        "k",
        "8",
        "p:\r\n  j: 1\r\n  k: 8\r\n",
    );
    check_set("p:\n  j: 1", "p", "k", "8", "p:\n  j: 1\n  k: 8");
    check_set("p: {j: 1}\n", "p", "k", "8", "p: {j: 1, k: 8}\n");
    check_set("p: {} # c\n", "p", "k", "8", "p: {k: 8} # c\n");
    check_set(
        "a:\n   x: 1\np: # c\n",
        "p",
        "k",
        "8",
        "a:\n   x: 1\np: # c\n   k: 8\n",
    );
    check_set(
        "p:\n  j:\n    - 1\n    - 2 # c\n",
        "p",
        "k",
        "8",
        "p:\n  j:\n    - 1\n    - 2 # c\n  k: 8\n",
    );
    check_set(
        "%YAML:1.0\np:\n  j: 1\n",
        "p",
        "k",
        "8",
        "%YAML:1.0\np:\n  j: 1\n  k: 8\n",
    );
    check_set(
        "\u{feff}p:\n  j: 1\n",
        "p",
        "k",
        "8",
        "\u{feff}p:\n  j: 1\n  k: 8\n",
    );
}

#[test]
fn lone_carriage_returns_end_lines() {
    check_set(
        "%YAML:1.0\rp:\r  j: 1 # c\r",
        "p",
        "k",
        "8",
        "%YAML:1.0\rp:\r  j: 1 # c\r  k: 8\r",
    );
}

#[test]
fn a_missing_group_follows_the_last_one() {
    check_set("a:\n   x: 1\n", "p", "k", "8", "a:\n   x: 1\np:\n   k: 8\n");
    check_set(
        "a:\n  x: 1\n\nb:\n  x: 1\n#p:\n#  k: 1\n",
        "p",
        "k",
        "8",
        "a:\n  x: 1\n\nb:\n  x: 1\n\np:\n  k: 8\n#p:\n#  k: 1\n",
    );
    check_set("\u{feff}a: 1", "p", "k", "8", "\u{feff}a: 1\np:\n  k: 8");
}

#[test]
fn properties_inside_a_list_of_nodes() {
    let text = "deepstream:\n  nodes:\n  - name: mux\n    type: nvstreammux\n    properties:\n      width: 1280\n  - name: pgie\n    type: nvinfer\n";
    let document = parse(text);
    let nodes = document.value("deepstream", "nodes").expect("a list");
    let mux = nodes.items().next().expect("a first node");
    let properties = mux.first("properties").expect("a mapping");
    let edited = applied(text.as_bytes(), properties.set_key("batch-size", "8"));
    let expected = text.replace("width: 1280\n", "width: 1280\n      batch-size: 8\n");
    assert_eq!(String::from_utf8_lossy(&edited), expected);
    let pgie = nodes.items().nth(1).expect("a second node");
    let edited = applied(text.as_bytes(), pgie.set_key("unique-id", "1"));
    assert_eq!(
        String::from_utf8_lossy(&edited),
        format!("{text}    unique-id: 1\n")
    );
}

#[test]
fn bytes_that_are_not_utf8_stay() {
    let text = b"p:\n  a: caf\xe9 # \xe9\n  k: 4\n";
    let document = YamlDocument::parse(text).expect("yaml-cpp reads it");
    let edited = applied(text, document.set("p", "k", "8"));
    assert_eq!(edited, b"p:\n  a: caf\xe9 # \xe9\n  k: 8\n");
}

#[track_caller]
fn check_refused(text: &str, group: &str, key: &str, message: &str) {
    let error = parse(text).set(group, key, "8").expect_err("a refusal");
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
    assert_eq!(error.to_string(), message);
}

#[test]
fn places_that_cannot_take_a_value() {
    check_refused(
        "p:\n  k: |\n    4\n",
        "p",
        "k",
        "3:5: a block scalar stands here and is not replaced",
    );
    check_refused(
        "p:\n  k:\n  - 3\n",
        "p",
        "k",
        "3:5: a block list stands here and is not replaced",
    );
    check_refused(
        "p:\n  k: &a 4\nq:\n  k: *a\n",
        "p",
        "k",
        "2:9: the anchor here is used elsewhere in the file, where the change would be made too",
    );
    check_refused(
        "p: &a\n  k: 4\nq: *a\n",
        "p",
        "k",
        "2:6: the anchor here is used elsewhere in the file, where the change would be made too",
    );
    check_refused(
        "p: &a\n  j: 4\nq: *a\n",
        "p",
        "k",
        "2:3: the anchor here is used elsewhere in the file, where the change would be made too",
    );
    check_refused(
        "p:\n  k:4\n",
        "p",
        "k",
        "2:3: no mapping that could take `k` stands here",
    );
    check_refused(
        "# nothing\n",
        "p",
        "k",
        "the file holds no mapping that could take a group",
    );
    check_refused("- a\n", "p", "k", "1:1: the top of the file is no mapping");
}

fn keys_and_values() -> impl Strategy<Value = Vec<(String, String)>> {
    let value = prop_oneof![
        "[0-9]{1,4}",
        "[a-z/._]{1,12}",
        "3;[0-9]{1,3};[0-9]{1,3}",
        "\"[a-z #:]{0,8}\"",
        "'[a-z #:]{0,8}'",
    ];
    prop::collection::vec(("[a-z][a-z-]{0,8}[a-z]", value), 1..6)
}

/// A document in the style of a config file: groups, comments, blank lines, one line ending.
fn documents() -> impl Strategy<Value = String> {
    let group = ("[a-z]{1,6}", keys_and_values(), 1..5_usize, prop::bool::ANY);
    let eol = prop_oneof![Just("\n"), Just("\r\n")];
    (prop::collection::vec(group, 1..4), eol, prop::bool::ANY).prop_map(|(groups, eol, last)| {
        let mut lines = Vec::new();
        for (name, entries, indent, comment) in groups {
            lines.push(format!("{name}:"));
            for (key, value) in entries {
                let note = if comment { "  # a note: {1, 2}" } else { "" };
                lines.push(format!("{:indent$}{key}: {value}{note}", ""));
                if comment {
                    lines.extend([format!("#{key}: 0"), String::new()]);
                }
            }
        }
        let text = lines.join(eol);
        if last { text + eol } else { text }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(document) = YamlDocument::parse(&bytes) {
            prop_assert_eq!(document.as_bytes(), bytes.as_slice());
            if let Ok(edit) = document.set("property", "batch-size", "4") {
                let edited = edit.apply(&bytes).expect("an edit fits its text");
                let again = YamlDocument::parse(&edited).expect("an edited file parses");
                let read = again.value("property", "batch-size").and_then(YamlNode::text);
                prop_assert_eq!(read, Some("4"));
            }
        }
    }

    #[test]
    fn yaml_like_text_never_panics(text in "([ \t]{0,3}[-?:,\\[\\]{}#&*!|>'\"%@a-c0\u{e9}]{0,6}[ \t:]{0,2}[\r\n]{0,2}){0,12}") {
        if let Ok(document) = YamlDocument::parse(text.as_bytes()) {
            for (_, group) in document.groups() {
                let _ = group.set_key("a", "x: y");
                for (_, value) in group.entries() {
                    let _ = value.set("1");
                    prop_assert!(value.span().end() <= text.len());
                }
            }
        }
    }

    #[test]
    fn edits_of_generated_documents(
        text in documents(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[ -~]{0,10}"), 1..4),
    ) {
        let mut text = text.into_bytes();
        for (pick, value) in edits {
            let document = YamlDocument::parse(&text).expect("a generated document parses");
            let places: Vec<_> = document
                .groups()
                .flat_map(|(_, group)| group.entries().map(|(_, node)| node))
                .collect();
            let node = places[pick.index(places.len())];
            let span = node.span();
            let edit = node.set(&value).expect("any value can be written");
            let edited = edit.apply(&text).expect("an edit fits its text");
            prop_assert_eq!(&edited[..span.start()], &text[..span.start()]);
            let tail = text.len() - span.end();
            prop_assert_eq!(&edited[edited.len() - tail..], &text[span.end()..]);
            text = edited;
        }
    }

    #[test]
    fn keys_added_to_generated_documents(text in documents(), value in "[ -~]{0,10}") {
        let document = YamlDocument::parse(text.as_bytes()).expect("a generated document parses");
        let names: Vec<_> = document.groups().filter_map(|(key, _)| key.text()).collect();
        for name in names.iter().chain(&["new-group"]) {
            let edited = applied(text.as_bytes(), document.set(name, "NEW", &value));
            let again = YamlDocument::parse(&edited).expect("an edited file parses");
            prop_assert_eq!(again.value(name, "NEW").and_then(YamlNode::text), Some(value.as_str()));
            prop_assert!(again.set(name, "NEW", &value).expect("the same again").is_empty());
        }
    }
}

/// All scalars of a tree that can be edited one by one.
fn scalars<'a>(node: YamlNode<'a>, into: &mut Vec<YamlNode<'a>>) {
    match node.kind() {
        YamlKind::Mapping => node.entries().for_each(|(_, value)| scalars(value, into)),
        YamlKind::Sequence => node.items().for_each(|item| scalars(item, into)),
        _ => into.push(node),
    }
}

#[test]
fn corpus_round_trip_and_single_edits() {
    let folders = [
        "deepstream-app-yml",
        "nvinfer-yml",
        "tracker-yml",
        "servicemaker-yml",
        "other-yml",
        "preprocess",
    ];
    let Some(files) = corpus("yaml::corpus_round_trip_and_single_edits", &folders) else {
        return;
    };
    let mut edits = 0;
    let is_yaml = |path: &Path| path.extension().is_some_and(|suffix| suffix != "txt");
    for (path, bytes) in files.iter().filter(|(path, _)| is_yaml(path)) {
        let document =
            YamlDocument::parse(bytes).unwrap_or_else(|error| panic!("{}: {error}", name(path)));
        assert_eq!(document.as_bytes(), bytes, "{}", name(path));
        let mut places = Vec::new();
        document
            .root()
            .into_iter()
            .for_each(|root| scalars(root, &mut places));
        // Every seventh place keeps the test short and still meets each file many times.
        for node in places
            .into_iter()
            .step_by(7)
            .filter(|node| !node.span().is_empty())
        {
            let Ok(edit) = node.set("4711") else {
                continue;
            };
            let edited = edit.apply(bytes).expect("an edit fits its text");
            let span = node.span();
            let written = span.of(bytes).expect("a span is inside its text");
            if let Some(quote @ (b'"' | b'\'')) = written.first() {
                assert_eq!(
                    written.last(),
                    Some(quote),
                    "a span ends where its quotes do"
                );
            }
            assert!(!written.contains(&b'#') || node.text() == str::from_utf8(written).ok());
            assert_eq!(&edited[..span.start()], &bytes[..span.start()]);
            assert!(edited.ends_with(&bytes[span.end()..]));
            edits += 1;
        }
    }
    assert!(edits > 500, "only {edits} edits over {} files", files.len());
}
