//! Launch lines: the reading of GStreamer, and edits that change nothing else.

use ds_config::{Error, ErrorKind, GstElement, GstGraph, GstScript, Liveness, Span, TextEdit};
use proptest::prelude::*;

use crate::table::rows;

/// What the elements of the table take: property and type.
const ELEMENTS: &[(&str, &[(&str, &str)])] = &[
    ("fakesrc", &[("num-buffers", "int"), ("name", "string")]),
    (
        "fakesink",
        &[("silent", "bool"), ("sync", "bool"), ("name", "string")],
    ),
    ("identity", &[]),
    ("funnel", &[("name", "string")]),
    ("tee", &[("name", "string")]),
    (
        "queue",
        &[
            ("leaky", "leaky"),
            ("max-size-buffers", "uint"),
            ("max-size-bytes", "uint"),
            ("max-size-time", "uint64"),
        ],
    ),
    ("capsfilter", &[("caps", "caps")]),
    ("bin", &[]),
];

/// Why GStreamer refuses an element, or nothing.
fn refusal(element: &GstElement) -> Option<&'static str> {
    let Some((_, known)) = ELEMENTS
        .iter()
        .find(|(factory, _)| *factory == element.factory)
    else {
        return Some("no such element");
    };
    element.properties.iter().find_map(|property| {
        let Some((_, kind)) = known.iter().find(|(name, _)| *name == property.name) else {
            return Some("no such property");
        };
        let number = property.integer();
        let within =
            |low: i128, high: i128| number.is_some_and(|number| (low..=high).contains(&number));
        let taken = match *kind {
            "int" => within(i128::from(i32::MIN), i128::from(i32::MAX)),
            "uint" => within(i128::from(i32::MIN), i128::from(u32::MAX)),
            "uint64" => number.is_some(),
            "bool" => property.boolean().is_some(),
            "leaky" => {
                within(0, 2) || ["no", "upstream", "downstream"].contains(&property.value.as_str())
            }
            "caps" => property.value.starts_with("video/"),
            _ => true,
        };
        (!taken).then_some("value refused")
    })
}

/// The reason in the words of the table.
fn reason(result: &Result<GstGraph, Error>) -> Option<&'static str> {
    match result {
        Ok(graph) => graph.elements.iter().find_map(refusal),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Refused);
            let message = error.message();
            if message.starts_with("two elements are named")
                || message.starts_with("no element is named")
            {
                Some("link failed")
            } else if message.starts_with("unexpected reference") {
                Some("unexpected reference")
            } else {
                Some("syntax")
            }
        }
    }
}

/// How many buffers reach the sinks: a tee gives what it gets to every branch.
fn buffers(graph: &GstGraph) -> i128 {
    (0..graph.elements.len())
        .filter(|at| graph.elements[*at].factory == "fakesrc")
        .map(|at| {
            let each = graph.elements[at]
                .property("num-buffers")
                .and_then(|p| p.integer())
                .unwrap_or(0);
            each * sinks_behind(graph, at)
        })
        .sum()
}

fn sinks_behind(graph: &GstGraph, at: usize) -> i128 {
    if graph.elements[at].factory == "fakesink" {
        return 1;
    }
    graph
        .links
        .iter()
        .filter(|link| link.from == at)
        .map(|link| sinks_behind(graph, link.to))
        .sum()
}

#[test]
fn every_case_reads_as_gstreamer_reads_it() {
    let rows = rows("gst/gst-launch-cases.tsv");
    assert_eq!(rows.len(), 116);
    for row in &rows {
        let [id, _, via, input, result, count, expected_reason] = row.as_slice() else {
            panic!("a row of the table is short: {row:?}");
        };
        let input: serde_json::Value = serde_json::from_str(input).expect("the input is JSON");
        let graph = if via == "argv" {
            let words = input.as_array().expect("argv is a list").iter();
            let quoted = words.map(|word| {
                format!(
                    "'{}'",
                    word.as_str().expect("a string").replace('\'', "'\\''")
                )
            });
            let line = format!("gst-launch-1.0 {}\n", quoted.collect::<Vec<_>>().join(" "));
            GstScript::parse(line).commands()[0].graph.clone()
        } else {
            let text = input.as_str().expect("a string").as_bytes();
            GstGraph::parse_string(text, Span::new(0, text.len()))
        };
        let actual = match reason(&graph) {
            // GStreamer looks the element up before it comes to the sign that fits nowhere.
            Some("syntax") if id == "L091" => "no such element",
            Some(reason) => reason,
            None => "",
        };
        assert_eq!(
            (actual.is_empty(), actual),
            (result == "ok", expected_reason.as_str()),
            "{id} {graph:?}"
        );
        let Ok(graph) = graph else { continue };
        if result == "ok" && via == "argv" {
            assert_eq!(buffers(&graph).to_string(), *count, "{id}");
        } else if result == "ok" {
            let read = graph.elements[0]
                .property("num-buffers")
                .and_then(|property| property.integer());
            assert_eq!(
                format!("num-buffers={}", read.expect("an integer")),
                *count,
                "{id}"
            );
        }
    }
}

#[track_caller]
fn only(text: &str) -> GstGraph {
    let script = GstScript::parse(text);
    assert_eq!(script.commands().len(), 1);
    script.commands()[0]
        .graph
        .clone()
        .expect("the command is good")
}

#[track_caller]
fn edited(text: &str, element: &str, property: &str, value: &str, expected: &str) {
    let apply = |text: &str| {
        let graph = only(text);
        let index = graph
            .elements
            .iter()
            .position(|e| e.factory == element)
            .expect("the element is there");
        let edit = graph
            .set_property(index, property, value)
            .expect("the edit is possible");
        let out = edit.apply(text.as_bytes()).expect("the edit fits");
        String::from_utf8(out).expect("still UTF-8")
    };
    let once = apply(text);
    assert_eq!(once, expected);
    assert_eq!(apply(&once), once, "the second edit changes something");
    let graph = only(&once);
    let read = graph
        .elements
        .iter()
        .find(|e| e.factory == element)
        .and_then(|e| e.property(property));
    assert_eq!(read.map(|p| p.value.as_str()), Some(value));
}

#[test]
fn a_value_changes_inside_its_quotes() {
    let check = |from: &str, to: &str| {
        edited(
            &format!("gst-launch-1.0 a ! mux {from} width=1 ! b\n"),
            "mux",
            "batch-size",
            "8",
            &format!("gst-launch-1.0 a ! mux {to} width=1 ! b\n"),
        );
    };
    check("batch-size=1", "batch-size=8");
    check("batch_size=1", "batch_size=8");
    check("batch-size = 1", "batch-size = 8");
    check("batch-size= 1", "batch-size= 8");
    check("batch-size=\"1\"", "batch-size=\"8\"");
    check("batch-size='1'", "batch-size='8'");
    check("'batch-size=1'", "'batch-size=8'");
    check("batch-size=2 batch-size=1", "batch-size=2 batch-size=8");
    check("batch-size=1 \\\n  name=m", "batch-size=8 \\\n  name=m");
}

#[test]
fn a_missing_property_goes_behind_the_last_one() {
    let text = "gst-launch-1.0 a ! mux ! b c=1 \\\n  name=x \\\n  ! d\n";
    edited(
        text,
        "mux",
        "batch-size",
        "8",
        "gst-launch-1.0 a ! mux batch-size=8 ! b c=1 \\\n  name=x \\\n  ! d\n",
    );
    edited(
        text,
        "b",
        "sync",
        "0",
        "gst-launch-1.0 a ! mux ! b c=1 \\\n  name=x sync=0 \\\n  ! d\n",
    );
    edited(
        text,
        "d",
        "sync",
        "0",
        "gst-launch-1.0 a ! mux ! b c=1 \\\n  name=x \\\n  ! d sync=0\n",
    );
    edited(
        "gst-launch-1.0 a ! b c = 1",
        "b",
        "d",
        "2",
        "gst-launch-1.0 a ! b c = 1 d = 2",
    );
    edited(
        "gst-launch-1.0 t name=t t. ! b",
        "t",
        "d",
        "2",
        "gst-launch-1.0 t name=t d=2 t. ! b",
    );
}

#[test]
fn a_value_with_a_blank_gets_the_quotes_it_needs() {
    edited(
        "gst-launch-1.0 a ! b c=1",
        "b",
        "c",
        "x y",
        "gst-launch-1.0 a ! b c='x y'",
    );
    edited(
        "gst-launch-1.0 a ! b c=\"1\"",
        "b",
        "c",
        "x y",
        "gst-launch-1.0 a ! b c=\"x y\"",
    );
    edited(
        "gst-launch-1.0 a ! b",
        "b",
        "c",
        "x y",
        "gst-launch-1.0 a ! b c='x y'",
    );
}

#[test]
fn what_the_shell_fills_in_is_not_editable() {
    let graph = only(
        "gst-launch-1.0 ${SRC} ! mux batch-size=${BS} width=\"$W\"0 name='m'x ! b location=<file name>\n",
    );
    let refused = |element: usize, property: &str| {
        let error = graph
            .set_property(element, property, "8")
            .expect_err("this cannot be edited");
        assert_eq!(error.kind(), ErrorKind::NotEditable);
        error.to_string()
    };
    assert_eq!(
        refused(0, "uri"),
        "`${SRC}` is filled in when the pipeline is started"
    );
    assert_eq!(
        refused(1, "batch-size"),
        "`${BS}` is filled in when the pipeline is started"
    );
    assert_eq!(
        refused(1, "width"),
        "`$W0` is filled in when the pipeline is started"
    );
    assert_eq!(
        refused(1, "name"),
        "the value is put together from parts in different quotes"
    );
    assert_eq!(
        refused(2, "location"),
        "`<file name>` is filled in when the pipeline is started"
    );
}

#[test]
fn a_new_name_would_break_what_refers_to_the_element() {
    let graph = only("gst-launch-1.0 a ! nvstreammux name=m ! b c ! m.sink_1\n");
    for (element, held) in [(1, "m"), (2, "b0")] {
        let error = graph
            .set_property(element, "name", "other")
            .expect_err("links name the element");
        assert_eq!(error.kind(), ErrorKind::NotEditable);
        assert_eq!(
            error.to_string(),
            format!("other places refer to `{held}` by its name")
        );
    }
    assert_eq!(graph.set_property(1, "name", "m"), Ok(TextEdit::empty()));
}

#[test]
fn an_open_expansion_is_refused_as_the_shell_does() {
    for (written, sign) in [("${W height=${H}", '{'), ("$(nproc height=1", '(')] {
        for quote in ["", "\""] {
            let text = format!("gst-launch-1.0 a ! b width={quote}{written} ! c\n");
            let script = GstScript::parse(text.as_str());
            let error = script.commands()[0].graph.as_ref().expect_err("it is open");
            assert_eq!(error.kind(), ErrorKind::Refused);
            let column = 28 + quote.len();
            let expected = format!("1:{column}: the `{sign}` is not closed");
            assert_eq!(error.to_string(), expected);
        }
    }
}

#[test]
fn one_of_several_commands_is_edited() {
    let text = "gst-launch-1.0 a p=1 ! b\ngst-launch-1.0 a p=1 ! b\n";
    let script = GstScript::parse(text);
    let edit = script.set_property(1, 0, "p", "2").expect("a plain value");
    assert_eq!(edit, TextEdit::replace(Span::new(44, 45), "2"));
    assert_eq!(script.set_property(1, 0, "p", "1"), Ok(TextEdit::empty()));
    let missing = script
        .set_property(2, 0, "p", "2")
        .expect_err("there are two");
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let open = GstScript::parse("gst-launch-1.0 a p=\"1 ! b");
    let refused = open
        .set_property(0, 0, "p", "2")
        .expect_err("it never worked");
    assert_eq!(refused.kind(), ErrorKind::Refused);
}

#[test]
fn a_command_knows_the_exports_above_it() {
    let text = "export A=1 B=2\ngst-launch-1.0 a ! b\n  export A=3\nC=4 gst-launch-1.0 a ! b\n\
                export D=5; gst-launch-1.0 a ! b\n";
    let script = GstScript::parse(text);
    let environments: Vec<_> = script
        .commands()
        .iter()
        .map(|command| ["A", "B", "C", "D"].map(|name| command.environment(name)))
        .collect();
    assert_eq!(
        environments,
        [
            [Some("1"), Some("2"), None, None],
            [Some("3"), Some("2"), Some("4"), None],
            [Some("3"), Some("2"), None, Some("5")],
        ]
    );
}

#[test]
fn another_factory_loses_the_properties_it_lacks() {
    let text = "gst-launch-1.0 a ! nveglglessink sync=1 \\\n   window-x=10 \\\n   name=s ! c\n";
    let graph = only(text);
    let (edit, dropped) = graph
        .replace_element(1, "fakesink", |name| ["sync", "name"].contains(&name))
        .expect("a plain element");
    assert_eq!(dropped, ["window-x"]);
    let out = edit.apply(text.as_bytes()).expect("the edit fits");
    assert_eq!(
        String::from_utf8_lossy(&out),
        "gst-launch-1.0 a ! fakesink sync=1 \\\n   name=s ! c\n"
    );
}

#[track_caller]
fn graphs(text: &str) -> Vec<(usize, Result<Vec<String>, String>)> {
    let script = GstScript::parse(text);
    script
        .commands()
        .iter()
        .map(|command| {
            let factories =
                |graph: &GstGraph| graph.elements.iter().map(|e| e.factory.clone()).collect();
            (
                command.place.line,
                command
                    .graph
                    .as_ref()
                    .map(factories)
                    .map_err(ToString::to_string),
            )
        })
        .collect()
}

#[test]
fn commands_are_found_wherever_they_stand() {
    let names = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(
        graphs("Use `gst-launch-1.0 a ! b` or gst-launch-1.0 --help.\n"),
        [(1, names(&["a", "b"]))]
    );
    assert_eq!(
        graphs("  $ gst-launch-1.0 -v -e a ! b # c ! d\nnext ! x\n"),
        [(1, names(&["a", "b"]))]
    );
    assert_eq!(
        graphs("gst-launch-1.0 a ! b 2>&1 | tee log ! c"),
        [(1, names(&["a", "b"]))]
    );
    assert_eq!(
        graphs("x=\"$(gst-launch-1.0 a ! b)\" ! c"),
        [(1, names(&["a", "b"]))]
    );
    assert_eq!(
        graphs("sh -c \"gst-launch-1.0 a ! b c=\\\"1\\\" ! d\" ! e"),
        [(1, names(&["a", "b", "d"]))]
    );
    assert_eq!(
        graphs("sh -c 'gst-launch-1.0 a ! b c=\"1\" ! d' ! e"),
        [(1, names(&["a", "b", "d"]))]
    );
    assert_eq!(
        graphs("docker run --entrypoint gst-launch-1.0 img:1 -e a ! b"),
        [(1, names(&["a", "b"]))]
    );
    assert_eq!(
        graphs("gst-launch-1.0 a \\\r\n ! b\r\n\r\ngst-launch-1.0 c ! d\r\n"),
        [(1, names(&["a", "b"])), (4, names(&["c", "d"]))]
    );
    assert_eq!(
        graphs("gst-launch-1.0 -o log a ! b; gst-launch-1.0 c ! d"),
        [(1, names(&["a", "b"])), (1, names(&["c", "d"]))]
    );
    assert_eq!(
        graphs("# Use gst-launch-1.0 today!\n\nNothing beats gst-launch-1.0 for a test!\n"),
        []
    );
    assert_eq!(
        graphs("my-gst-launch-1.0 a ! b\ngst-launch-1.0.md ! c\n"),
        []
    );
}

#[test]
fn a_command_in_a_comment_is_read_and_marked() {
    let script = GstScript::parse("# gst-launch-1.0 a \\\n#   ! b c=1\ngst-launch-1.0 d ! e\n");
    let states: Vec<Liveness> = script
        .commands()
        .iter()
        .map(|command| command.liveness)
        .collect();
    assert_eq!(states, [Liveness::CommentedOut, Liveness::Live]);
    assert!(
        script
            .commands()
            .iter()
            .all(|command| command.graph.is_ok())
    );
}

#[track_caller]
fn refused(text: &str, place: &str, message: &str) {
    let script = GstScript::parse(text);
    let error = script.commands()[0]
        .graph
        .as_ref()
        .expect_err("the command is refused");
    assert_eq!(error.to_string(), format!("{place}: {message}"));
}

#[test]
fn a_refused_command_names_its_place_and_the_reason() {
    refused(
        "\ngst-launch-1.0 a !\n\n  b\n",
        "2:18",
        "the pipeline ends in `!`",
    );
    refused(
        "gst-launch-1.0 a ! video/x-raw(memory:NVMM) ! b",
        "1:31",
        "the shell refuses a bare `(`: caps and bins need quotes here",
    );
    refused(
        "gst-launch-1.0 a ! b c='x",
        "1:24",
        "the quote is not closed",
    );
    refused(
        "gst-launch-1.0 a ! m.sink_0",
        "1:20",
        "no element is named `m`",
    );
    refused(
        "gst-launch-1.0 a name=x ! b name=x",
        "1:27",
        "two elements are named `x`",
    );
    refused(
        "gst-launch-1.0 a ! ! b",
        "1:20",
        "`!` stands where an element is due",
    );
    refused(
        "gst-launch-1.0 c=1 a ! b",
        "1:16",
        "`c=1` stands before any element",
    );
    refused(
        "gst-launch-1.0 a ! m.s c=1 b name=m",
        "1:24",
        "`c=1` follows no element",
    );
}

#[test]
fn a_manual_that_forgot_the_backslash_is_read_with_a_fault() {
    let script = GstScript::parse("$ gst-launch-1.0 a !\n    b ! \n  c\n");
    let command = &script.commands()[0];
    assert_eq!(
        command.graph.as_ref().map(|graph| graph.elements.len()),
        Ok(3)
    );
    let fault = command.fault.as_ref().map(ToString::to_string);
    let message = "1:21: the line ends in `!` without a `\\`, so the shell ends the command here";
    assert_eq!(fault.as_deref(), Some(message));
}

#[test]
fn a_string_split_over_lines_is_one_command() {
    let python = "p = (\"gst-launch-1.0 a ! \"\n     \"b ! c\")\n";
    assert_eq!(
        GstScript::parse(python).commands()[0]
            .graph
            .as_ref()
            .map(|graph| graph.elements.len()),
        Ok(3)
    );
}

#[test]
fn a_string_that_goes_on_elsewhere_is_read_as_far_as_it_goes() {
    let script = GstScript::parse("p = \"gst-launch-1.0 a ! b ! \" + sink\n");
    let command = &script.commands()[0];
    assert_eq!(
        command.graph.as_ref().map(|graph| graph.elements.len()),
        Ok(2)
    );
    let fault = command.fault.as_ref().map(ToString::to_string);
    let message = "1:27: the string ends in `!`: what follows is put together elsewhere";
    assert_eq!(fault.as_deref(), Some(message));
}

#[test]
fn the_environment_comes_from_exports_and_prefixes() {
    let script =
        GstScript::parse("export A=1 B=\"x\"\nB=y C='z' gst-launch-1.0 a ! b\nexport A=2\n");
    let command = &script.commands()[0];
    assert_eq!(command.environment("A"), Some("1"));
    assert_eq!(command.environment("B"), Some("y"));
    assert_eq!(command.environment("C"), Some("z"));
    assert_eq!(command.environment("D"), None);
}

#[test]
fn links_follow_references_and_caps() {
    let graph = only(
        "gst-launch-1.0 a ! m.sink_0 c ! 'video/x-raw(memory:NVMM), width=8' ! m.sink_1 mux name=m .src ! d\n",
    );
    let links: Vec<_> = graph
        .links
        .iter()
        .map(|link| {
            let name = |index: usize| graph.elements[index].factory.as_str();
            (
                name(link.from),
                link.from_pad.as_deref(),
                name(link.to),
                link.to_pad.as_deref(),
                link.caps.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        links,
        [
            ("a", None, "mux", Some("sink_0"), None),
            (
                "c",
                None,
                "mux",
                Some("sink_1"),
                Some("video/x-raw(memory:NVMM), width=8")
            ),
            ("mux", Some("src"), "d", None, None),
        ]
    );
}

#[test]
fn a_reference_to_a_bin_reaches_its_ends() {
    let graph = only("gst-launch-1.0 '(' name=x a ! b ')' x. ! c d ! x.sink");
    let links: Vec<_> = graph
        .links
        .iter()
        .map(|link| (link.from, link.to))
        .collect();
    assert_eq!(links, [(0, 1), (1, 2), (3, 0)]);
}

#[test]
fn bins_have_a_limit() {
    let text = format!("{} a ! b {}", "(".repeat(90), ")".repeat(90));
    assert!(GstGraph::parse_string(text.as_bytes(), Span::new(0, text.len())).is_ok());
    let text = "(".repeat(100_000);
    let error =
        GstGraph::parse_string(text.as_bytes(), Span::new(0, text.len())).expect_err("too deep");
    assert_eq!(
        error.to_string(),
        "1:101: bins are nested more than 100 deep"
    );
}

#[test]
fn a_property_is_added_inside_the_quotes_of_the_whole_command() {
    let text = "sh -c 'gst-launch-1.0 a ! b ! c'";
    edited(text, "b", "d", "2", "sh -c 'gst-launch-1.0 a ! b d=2 ! c'");
    let error = only(text)
        .set_property(1, "d", "x y")
        .expect_err("no quotes are left");
    assert_eq!(error.kind(), ErrorKind::InvalidValue);
}

proptest! {
    #[test]
    fn arbitrary_launch_strings_never_panic(text in "[a-c!=.'\"\\\\ ()/:;,-]{0,60}") {
        let span = Span::new(0, text.len());
        if let Ok(graph) = GstGraph::parse_string(text.as_bytes(), span) {
            for link in &graph.links {
                prop_assert!(link.from < graph.elements.len() && link.to < graph.elements.len());
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut line = b"gst-launch-1.0 a ! ".to_vec();
        line.extend_from_slice(&text);
        let script = GstScript::parse(line.as_slice());
        prop_assert_eq!(script.as_bytes(), line.as_slice());
    }

    #[test]
    fn arbitrary_shell_text_never_panics(text in "[a-c!=.'\"\\\\ \n$(){}`;<>#:,/-]{0,60}") {
        let line = format!("gst-launch-1.0 a ! {text}");
        for command in GstScript::parse(line.as_str()).commands() {
            let Ok(graph) = &command.graph else { continue };
            for element in &graph.elements {
                for property in &element.properties {
                    let written = property.value_span.of(line.as_bytes());
                    prop_assert!(written.is_some());
                }
            }
        }
    }

    #[test]
    fn one_edit_changes_one_value(
        values in proptest::collection::vec("[a-z0-9/.]{1,6}", 1..6),
        quotes in proptest::collection::vec(prop_oneof![Just(""), Just("'"), Just("\"")], 6),
        pick in any::<prop::sample::Index>(),
        new in "[a-z0-9/.]{1,6}",
    ) {
        let properties: Vec<String> = values
            .iter()
            .zip(&quotes)
            .enumerate()
            .map(|(n, (value, quote))| format!("p{n}={quote}{value}{quote}"))
            .collect();
        let line = format!("gst-launch-1.0 a ! b {} ! c", properties.join(" \\\n  "));
        let graph = only(&line);
        let n = pick.index(values.len());
        let edit = graph.set_property(1, &format!("p{n}"), &new).expect("a plain value");
        let expected = if values[n] == new {
            TextEdit::empty()
        } else {
            TextEdit::replace(graph.elements[1].properties[n].value_span, new.as_str())
        };
        prop_assert_eq!(&edit, &expected);
        let after = String::from_utf8(edit.apply(line.as_bytes()).expect("the edit fits")).expect("UTF-8");
        let after = only(&after);
        for (m, value) in values.iter().enumerate() {
            let wanted = if m == n { &new } else { value };
            prop_assert_eq!(&after.elements[1].properties[m].value, wanted);
        }
    }
}
