//! Python programs: what is found in each fixture, edits worked by hand, properties.

use ds_config::{
    ErrorKind, PropertyAssignment, PyElement, PyLaunch, PyValue, PythonDocument, Span,
};
use proptest::prelude::*;

use crate::forms::applied;
use crate::table::testdata;

fn fixture(name: &str) -> Vec<u8> {
    let path = testdata(&format!("python/{name}.py"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[track_caller]
fn parse(text: &[u8]) -> PythonDocument {
    PythonDocument::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

/// The program as dsprof sees it: elements, values with their places, and for each value the line
/// that an edit leaves behind or the reason why there is none.
fn summary(text: &[u8]) -> String {
    let document = parse(text);
    let mut lines = Vec::new();
    for (index, element) in document.elements().iter().enumerate() {
        lines.push(headline(&document, element));
        for property in &element.properties {
            let place = document.place(property.span.start());
            let value = shown(&document, &property.value);
            lines.push(format!("    {place} {} = {value}", property.name));
            if element.property(&property.name) == Some(property) {
                lines.push(format!(
                    "        {}",
                    outcome(&document, index, &property.name)
                ));
            }
        }
        lines.push(format!("    + {}", outcome(&document, index, "added-knob")));
    }
    for launch in document.launches() {
        lines.extend(launch_lines(&document, launch));
    }
    for (name, value) in document.environment() {
        lines.push(format!("{name}={value}"));
    }
    lines.join("\n") + "\n"
}

fn headline(document: &PythonDocument, element: &PyElement) -> String {
    format!(
        "{} {:?} {} {:?} in {} ({:?})",
        document.place(element.span.start()),
        element.origin,
        element.factory.as_deref().unwrap_or("?"),
        element.name.as_deref().unwrap_or("?"),
        element.variable.as_deref().unwrap_or("-"),
        element.count,
    )
}

fn shown(document: &PythonDocument, value: &PyValue) -> String {
    let at = |span: Span| document.place(span.start());
    match value {
        PyValue::Literal(literal) => format!("{:?} {}", literal.kind, literal.text),
        PyValue::Constant { name, literal, .. } => {
            format!(
                "{name} -> {} {:?} {}",
                at(literal.span),
                literal.kind,
                literal.text
            )
        }
        PyValue::List { items } => format!("a list of {items}"),
        PyValue::Computed { expression, why } => format!("`{expression}`, {why}"),
        _ => panic!("a value that this test does not know"),
    }
}

/// The lines that differ after a value was set to 4711, or the error.
fn outcome(document: &PythonDocument, element: usize, property: &str) -> String {
    let edit = match document.set(element, property, "4711") {
        Ok(edit) => edit,
        Err(error) => return format!("{:?}: {error}", error.kind()),
    };
    let after = edit
        .apply(document.as_bytes())
        .expect("an edit fits its text");
    let lines = |text: &[u8]| -> Vec<String> {
        String::from_utf8_lossy(text)
            .split('\n')
            .map(|line| line.escape_debug().to_string())
            .collect()
    };
    let (before, after) = (lines(document.as_bytes()), lines(&after));
    let changed = after.iter().filter(|line| !before.contains(line));
    changed
        .map(|line| format!("> {line}"))
        .collect::<Vec<_>>()
        .join("\n        ")
}

fn launch_lines(document: &PythonDocument, launch: &PyLaunch) -> Vec<String> {
    let place = document.place(launch.span.start());
    let graph = match &launch.graph {
        Ok(graph) => graph,
        Err(error) => return vec![format!("{place} parse_launch {:?}: {error}", error.kind())],
    };
    let mut lines = vec![format!("{place} parse_launch")];
    for element in &graph.elements {
        let known = if element.opaque { "?" } else { "" };
        lines.push(format!("    {}{known} {}", element.factory, element.name));
        for property in &element.properties {
            let place = document.place(property.value_span.start());
            let blocked = if property.blocked.is_some() {
                " (filled in)"
            } else {
                ""
            };
            lines.push(format!(
                "        {place} {} = {}{blocked}",
                property.name, property.value
            ));
        }
    }
    lines
}

#[test]
fn what_each_fixture_holds() {
    for name in [
        "gst_literal",
        "gst_constant",
        "gst_computed",
        "gst_class",
        "gst_wrapper",
        "gst_loop",
        "gst_tabs",
        "gst_branches",
        "gst_functions",
        "parse_launch",
        "parse_launch_fstring",
        "service_maker_dict",
        "service_maker_keywords",
        "flow",
        "flow_variables",
        "configparser_tracker",
        "template",
    ] {
        let text = fixture(name);
        assert_eq!(parse(&text).as_bytes(), text, "{name}");
        insta::assert_snapshot!(name, summary(&text));
    }
}

#[test]
fn python_2_is_declined() {
    let error = PythonDocument::parse(&fixture("python2")).expect_err("Python 2");
    assert_eq!(error.kind(), ErrorKind::Declined);
    assert_eq!(
        error.to_string(),
        "5:1: a Python 2 statement: DeepStream's Python bindings need Python 3, so the values \
         have to be set by hand"
    );
}

#[test]
fn bytes_that_python_cannot_decode() {
    let error = PythonDocument::parse(b"x = 1\ny = '\xe9'\n").expect_err("no UTF-8");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.place().map(|place| place.line), Some(2));
    let text = b"# -*- coding: latin-1 -*-\nmux = Gst.ElementFactory.make('nvstreammux', 'caf\xe9')\nmux.set_property('width', 1)\n";
    let document = parse(text);
    let edited = applied(text, document.set(0, "width", "2"));
    assert!(edited.ends_with(b"caf\xe9')\nmux.set_property('width', 2)\n"));
}

/// Sets a property of the first element and compares the whole text.
#[track_caller]
fn check_set(before: &str, property: &str, value: &str, after: &str) {
    let document = parse(before.as_bytes());
    let edited = applied(before.as_bytes(), document.set(0, property, value));
    assert_eq!(String::from_utf8_lossy(&edited), after);
    let twice = parse(&edited)
        .set(0, property, value)
        .expect("the same edit again");
    assert!(twice.is_empty(), "a second time changes nothing");
}

#[test]
fn a_literal_keeps_its_kind_and_its_quotes() {
    let program = |value: &str| {
        format!("m = Gst.ElementFactory.make('q', 'm')\nm.set_property('k', {value})  # c\n")
    };
    let check = |before: &str, value: &str, after: &str| {
        check_set(&program(before), "k", value, &program(after));
    };
    check("4", "8", "8");
    check("-1", "33333", "33333");
    check("0x10", "16", "0x10");
    check("1_000", "2000", "2000");
    check("True", "0", "False");
    check("True", "true", "True");
    check("'a.txt'", "b.txt", "'b.txt'");
    check("\"a.txt\"", "it's \"b\"", "\"it's \\\"b\\\"\"");
    check("r'a' 'b'", "c", "'c'");
    check("(4)", "8", "(8)");
    check("4", "b.txt", "'b.txt'");
    check("4", "007", "'007'");
}

#[test]
fn a_missing_property_follows_the_last_one() {
    check_set(
        "def f():\n\tm = Gst.ElementFactory.make(\"q\", \"m\")  # c\n\treturn m\n",
        "batch_size",
        "8",
        "def f():\n\tm = Gst.ElementFactory.make(\"q\", \"m\")  # c\n\tm.set_property(\"batch_size\", 8)\n\treturn m\n",
    );
    check_set(
        "m = Gst.ElementFactory.make('q', 'm')\nif m is None:\n    exit()\nm.set_property('a', 1)\nif x:\n    m.set_property('b', 1)",
        "k",
        "false",
        "m = Gst.ElementFactory.make('q', 'm')\nif m is None:\n    exit()\nm.set_property('a', 1)\nm.set_property('k', False)\nif x:\n    m.set_property('b', 1)",
    );
}

#[test]
fn a_missing_pair_follows_the_manner_of_the_call() {
    let program =
        |call: &str| format!("from pyservicemaker import Pipeline\nPipeline('p').add({call})\n");
    let check = |before: &str, after: &str| {
        check_set(&program(before), "batch-size", "8", &program(after));
    };
    check("'q', 'm'", "'q', 'm', {'batch-size': 8}");
    check("'q', 'm', {}", "'q', 'm', {'batch-size': 8}");
    check(
        "'q', 'm', {\"a\": 1}",
        "'q', 'm', {\"a\": 1, \"batch-size\": 8}",
    );
    check(
        "'q', 'm', {'a': 1,}",
        "'q', 'm', {'a': 1, 'batch-size': 8,}",
    );
    check(
        "'q', 'm', {\n  'a': 1, # c\n}",
        "'q', 'm', {\n  'a': 1, # c\n  'batch-size': 8,\n}",
    );
    check(
        "'q', 'm', {\n  'a': 1 # c\n}",
        "'q', 'm', {\n  'a': 1, # c\n  'batch-size': 8\n}",
    );
    check("'q', 'm', a=1", "'q', 'm', a=1, batch_size=8");
    check("'q', 'm', {'a': 1}", "'q', 'm', {'a': 1, 'batch-size': 8}");
}

#[track_caller]
fn check_not_set(text: &str, property: &str, message: &str) {
    let error = parse(text.as_bytes())
        .set(0, property, "8")
        .expect_err("an edit that is refused");
    assert_eq!(error.kind(), ErrorKind::NotEditable);
    assert_eq!(error.to_string(), message);
}

#[test]
fn values_that_are_set_by_hand() {
    check_not_set(
        "m = Gst.ElementFactory.make('q', 'm')\nif x:\n    m.set_property('k', 1)\nelse:\n    m.set_property('k', 2)\n",
        "k",
        "5:25: it is set in several branches: set `k` to `8` by hand",
    );
    check_not_set(
        "from pyservicemaker import Flow\nFlow(p).infer('c', **options)\n",
        "batch_size",
        "2:14: there is no place to add `batch_size`: set it to `8` by hand where the element is made",
    );
    check_not_set(
        "m = Gst.ElementFactory.make('q', 'm'); n = 1\n",
        "k",
        "1:28: there is no place to add `k`: set it to `8` by hand where the element is made",
    );
}

#[test]
fn a_value_that_two_elements_share_is_not_edited_for_one() {
    let shared = "from pyservicemaker import Pipeline\nQ = {'k': 1}\nPipeline('p').add('queue', 'a', Q).add('queue', 'b', Q)\n";
    check_not_set(
        shared,
        "k",
        "2:11: the value of `Q` is used on line 3 too: set `k` to `8` by hand",
    );
    check_not_set(
        shared,
        "new",
        "3:18: there is no place to add `new`: set it to `8` by hand where the element is made",
    );
    check_not_set(
        "A = 1\nB = A\nm = Gst.ElementFactory.make('q', 'm')\nm.set_property('k', B)\nprint(A)\n",
        "k",
        "4:21: the value of `B` is used on line 5 too: set `k` to `8` by hand",
    );
}

#[test]
fn a_function_that_makes_several_elements() {
    let text = "def build(sink):\n    mux = Gst.ElementFactory.make('nvstreammux', 'mux')\n    end = Gst.ElementFactory.make(sink, 'end')\n    if (not end):\n        exit()\n\nbuild('fakesink')\n";
    let document = parse(text.as_bytes());
    let factories = document
        .elements()
        .iter()
        .map(|element| element.factory.as_deref());
    assert_eq!(
        factories.collect::<Vec<_>>(),
        [Some("nvstreammux"), Some("fakesink")]
    );
}

#[test]
fn a_parse_launch_text_is_edited_inside_its_literal() {
    let text = fixture("parse_launch_fstring");
    let document = parse(&text);
    let graph = document.launches()[0].graph.as_ref().expect("a graph");
    let index = |factory: &str| {
        let found = graph
            .elements
            .iter()
            .position(|element| element.factory == factory);
        found.expect("the element is there")
    };
    let set = |factory, name, value| document.set_launch(0, index(factory), name, value);
    let check = |edit, from: &str, to: &str| {
        let expected = String::from_utf8_lossy(&text).replace(from, to);
        assert_eq!(String::from_utf8_lossy(&applied(&text, edit)), expected);
    };
    check(set("nvinfer", "interval", "1"), "interval=0", "interval=1");
    check(
        set("nvstreammux", "live-source", "1"),
        "height=720 !",
        "height=720 live-source=1 !",
    );
    // The f-string fills in a constant; `format` uses it too, which is on another line.
    let error = set("nvstreammux", "batch-size", "8").expect_err("a constant with two uses");
    assert_eq!(
        error.to_string(),
        "11:37: the value of `BATCH` is used on line 16 too: set `batch-size` to `8` by hand"
    );
    let error = set("uridecodebin", "uri", "file:///b").expect_err("from the command line");
    assert_eq!(error.kind(), ErrorKind::NotEditable);
    assert_eq!(
        error.to_string(),
        "10:24: `sys.argv[1]` is computed when the program runs: set `uri` to `file:///b` by hand"
    );
    let joined = document
        .set_launch(1, 0, "k", "1")
        .expect_err("a joined text");
    assert_eq!(joined.kind(), ErrorKind::NotEditable);
    assert_eq!(
        document
            .set_launch(9, 0, "k", "1")
            .expect_err("none")
            .kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn pipeline_texts_that_are_not_read() {
    let check = |argument: &str, message: &str| {
        let text = format!("Gst.parse_launch({argument})\n");
        let document = parse(text.as_bytes());
        let error = document.launches()[0].graph.as_ref().expect_err("no graph");
        assert_eq!(error.to_string(), message);
    };
    check(
        "'nvinfer batch-' 'size=4'",
        "1:18: a word of the pipeline text goes on in the next literal",
    );
    check(
        "text % uri",
        "1:18: the pipeline text is put together when the program runs: `text % uri`",
    );
}

#[test]
fn what_is_filled_in_is_one_word_without_quotes() {
    let text = "N = 4\nGst.parse_launch(f'a ! b n={N} m=1 ! c')\n";
    let document = parse(text.as_bytes());
    for value in ["a b", "\u{e9}", "1 ! d"] {
        let error = document
            .set_launch(0, 1, "n", value)
            .expect_err("it would be read as other words");
        assert_eq!(error.kind(), ErrorKind::InvalidValue);
        assert_eq!(
            error.to_string(),
            format!("2:28: `{value}` cannot be filled in without quotes")
        );
    }
    let assignments =
        [("n", "8"), ("m", "2"), ("k", "3")].map(|(name, value)| PropertyAssignment {
            element: 1,
            name,
            value,
        });
    let edited = applied(text.as_bytes(), document.set_launch_all(0, &assignments));
    assert_eq!(
        String::from_utf8_lossy(&edited),
        "N = 8\nGst.parse_launch(f'a ! b n={N} m=2 k=3 ! c')\n"
    );
    let after = parse(&edited);
    let again = after
        .set_launch_all(0, &assignments)
        .expect("the same again");
    assert!(again.is_empty());
}

#[test]
fn a_constant_beside_an_open_string_is_left_alone() {
    // With a quote more in the line its string is closed, and the assignment is none any longer.
    let document = parse(b"\"B= 4\nparse_launch(f'0 e={B})");
    let error = document
        .set_launch(0, 0, "e", "a")
        .expect_err("it would not read back");
    assert_eq!(error.kind(), ErrorKind::NotEditable);
    assert_eq!(
        error.to_string(),
        "2:14: `e` cannot be written here: set it to `a` by hand"
    );
}

#[test]
fn a_call_without_its_closing_bracket_takes_no_property() {
    // The parser makes the bracket up, before the white space that ends the line.
    let document = parse(b"from pyservicemaker import lIN{H.add(\",\np:o;");
    assert_eq!(document.elements().len(), 1);
    let error = document
        .set(0, "batch-size", "4")
        .expect_err("nothing can be added here");
    assert_eq!(error.kind(), ErrorKind::NotEditable);
}

#[test]
fn a_constant_in_an_f_string_is_edited_where_it_is_assigned() {
    let text =
        "N = 1\nGst.parse_launch(f\"nvstreammux batch-size={N} ! nvinfer interval={N:d}\")\n";
    let document = parse(text.as_bytes());
    let held = document
        .set_launch(0, 0, "batch-size", "1")
        .expect("it is 1 already");
    assert!(held.is_empty());
    let error = document
        .set_launch(0, 0, "batch-size", "4")
        .expect_err("a second use");
    assert_eq!(
        error.message(),
        "the value of `N` is used on line 2 too: set `batch-size` to `4` by hand"
    );
    let text = text.replace("{N:d}", "0");
    let document = parse(text.as_bytes());
    let edited = applied(
        text.as_bytes(),
        document.set_launch(0, 0, "batch-size", "4"),
    );
    assert_eq!(
        String::from_utf8_lossy(&edited),
        text.replace("N = 1", "N = 4")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(document) = PythonDocument::parse(&bytes) {
            prop_assert_eq!(document.as_bytes(), bytes.as_slice());
        }
    }

    #[test]
    fn python_like_text_never_panics(text in "((import pyservicemaker|Gst\\.ElementFactory\\.make|Gst\\.parse_launch|Flow|set_property|add|[a-c]|[0-9]|\"[a-c! =]{0,6}\"|f'[a-c{}]{0,4}'|[=(){}\\[\\],.:#*-]|\n\t?)[ ]?){0,30}") {
        if let Ok(document) = PythonDocument::parse(text.as_bytes()) {
            for (index, element) in document.elements().iter().enumerate() {
                prop_assert!(element.span.end() <= text.len());
                for name in ["a", "b"] {
                    if let Ok(edit) = document.set(index, name, "7") {
                        let edited = edit.apply(text.as_bytes()).expect("an edit fits its text");
                        let again = parse(&edited).set(index, name, "7").expect("the same again");
                        prop_assert!(again.is_empty());
                    }
                }
            }
        }
    }

    #[test]
    fn edits_of_generated_programs(
        values in prop::collection::vec(("[a-z][a-z-]{0,5}[a-z]", prop_oneof!["[1-9][0-9]{0,3}", "'[a-z/.]{0,6}'", "True", "len\\(x\\)", "N"]), 1..6),
        indent in prop_oneof![Just(""), Just("    "), Just("\t")],
        eol in prop_oneof![Just("\n"), Just("\r\n")],
        pick in any::<prop::sample::Index>(),
        value in "[ -~]{1,8}",
    ) {
        let mut lines = vec!["N = 4".to_owned(), if indent.is_empty() { String::new() } else { "def f(x):".to_owned() }];
        lines.push(format!("{indent}m = Gst.ElementFactory.make(\"q\", \"m\")"));
        lines.extend(values.iter().map(|(name, value)| format!("{indent}m.set_property(\"{name}\", {value})  # {value}")));
        let text = lines.join(eol);
        let document = parse(text.as_bytes());
        let name = &values[pick.index(values.len())].0;
        let property = document.elements()[0].property(name).expect("it is set");
        match document.set(0, name, &value) {
            Ok(edit) => {
                let edited = edit.apply(text.as_bytes()).expect("an edit fits its text");
                let span = property.value.literal().map(|literal| literal.span).expect("a literal");
                prop_assert_eq!(&edited[..span.start()], &text.as_bytes()[..span.start()]);
                prop_assert!(edited.ends_with(&text.as_bytes()[span.end()..]));
                prop_assert!(parse(&edited).set(0, name, &value).expect("again").is_empty());
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::NotEditable);
                prop_assert!(error.place().is_some());
            }
        }
        let edited = applied(text.as_bytes(), document.set(0, "NEW", &value));
        prop_assert_eq!(edited.len() > text.len(), true);
        prop_assert!(parse(&edited).set(0, "NEW", &value).expect("again").is_empty());
    }
}
