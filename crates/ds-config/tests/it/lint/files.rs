//! Comments that allow, files by themselves, the order of findings, and the generated page.

use ds_config::{Finding, LintContext, Pipeline, RULES, Severity, lint, lint_bytes, lint_markdown};
use proptest::prelude::*;

use super::world::{World, alone, app, command, pgie};
use crate::files::Folder;
use crate::table::testdata;

fn shown(findings: &[Finding]) -> String {
    findings
        .iter()
        .map(|finding| format!("{finding}\n"))
        .collect()
}

#[track_caller]
fn silenced(code: &str, plain: &World, commented: &World) {
    assert!(plain.codes().contains(&code), "{:?}", plain.codes());
    assert!(
        !commented.codes().contains(&code),
        "{:?}",
        commented.codes()
    );
}

#[test]
fn a_comment_above_allows_in_a_key_file() {
    let plain = pgie().with("network-mode=2", "network-mode=0");
    silenced(
        "N2",
        &plain,
        &plain
            .clone()
            .with("network-mode", "# dsprof: allow DS033\nnetwork-mode"),
    );
    silenced(
        "N2",
        &plain,
        &plain.clone().with(
            "network-mode=0",
            "network-mode=0 # dsprof: allow DS001, DS033",
        ),
    );
    assert!(
        plain
            .with("network-mode", "# dsprof: allow DS034\nnetwork-mode")
            .codes()
            .contains(&"N2")
    );
}

#[test]
fn a_comment_allows_in_yaml() {
    let plain = alone(
        "p.yml",
        "property:\n  onnx-file: m.onnx\n  network-mode: 0\n",
    );
    silenced(
        "N2",
        &plain,
        &plain
            .clone()
            .with("mode: 0", "mode: 0 # dsprof: allow DS033"),
    );
    silenced(
        "N2",
        &plain,
        &plain
            .clone()
            .with("  network", "  # dsprof: allow DS033\n  network"),
    );
}

#[test]
fn a_comment_allows_in_text_protobuf() {
    let plain = alone(
        "p.txt",
        "infer_config { max_batch_size: 1 }\ninput_control { interval: 3 }\n",
    );
    silenced(
        "N8",
        &plain,
        &plain.clone().with("3 }", "3 } # dsprof: allow DS038"),
    );
}

#[test]
fn a_comment_above_a_command_counts_for_all_of_its_lines() {
    let plain = command(
        "nvurisrcbin uri=rtsp://a ! m.sink_0 \\\n  nvstreammux name=m batch-size=4 \\\n  batched-push-timeout=-1 ! fakesink",
    );
    silenced(
        "A5",
        &plain,
        &plain
            .clone()
            .with("gst-launch-1.0", "# dsprof: allow DS005\ngst-launch-1.0"),
    );
}

#[test]
fn a_comment_allows_in_a_program() {
    let plain = alone(
        "a.py",
        "import gi\nfrom gi.repository import Gst\nsink = Gst.ElementFactory.make(\"fakesink\", \"s\")\nsink.set_property(\"sync\", 1)\n",
    );
    silenced(
        "B1",
        &plain,
        &plain.clone().with("1)\n", "1)  # dsprof: allow DS012\n"),
    );
    silenced(
        "B1",
        &plain,
        &plain
            .clone()
            .with("sink.set", "# dsprof: allow DS012\nsink.set"),
    );
}

#[test]
fn each_finding_can_be_allowed_by_itself() {
    let many = app()
        .with("batched-push-timeout=33333", "batched-push-timeout=-1")
        .with("[streammux]\nbatch-size=4", "[streammux]\nbatch-size=2")
        .with("type=1\nsync=0", "type=2\nsync=1")
        .with("network-mode=2", "network-mode=0")
        .and("[osd]\nenable=1\nprocess-mode=0\ngpu_id=0\n[tiled-display]\nenable=1\n");
    let ids = |world: &World| -> Vec<&str> {
        world.lint().iter().map(|finding| finding.rule.id).collect()
    };
    let all = ids(&many);
    assert!(all.len() >= 10, "{all:?}");
    for (position, finding) in many.lint().iter().enumerate() {
        let place = finding.place.as_ref().expect("it stands in a file");
        let comment = format!("# dsprof: allow {}", finding.rule.id);
        let mut others = all.clone();
        others.remove(position);
        assert_eq!(
            ids(&many.clone().above(place, &comment)),
            others,
            "{finding}"
        );
    }
}

#[test]
fn findings_stand_in_the_order_of_places_and_ids() {
    let many = app()
        .with(
            "[streammux]\nbatch-size=4\nbatched-push-timeout=33333",
            "[streammux]\nbatch-size=2\nbatched-push-timeout=-1",
        )
        .with("network-mode=2", "network-mode=0")
        .with("type=1\nsync=0", "type=2\nsync=1");
    let findings = many.lint();
    let keys: Vec<_> = findings
        .iter()
        .map(|finding| (finding.place.clone(), finding.rule.id))
        .collect();
    assert!(keys.is_sorted(), "{keys:?}");
    assert_eq!(findings, many.lint());
    let first = "app.txt:10:12: warning[DS001]: the mux batch is 2, and there are 4 sources";
    assert_eq!(findings[0].to_string(), first);
    assert_eq!(findings[0].remedy, "set `batch-size=4`");
    assert_eq!(findings[0].fixed_by, Some("R1"));
}

#[test]
fn a_file_that_never_worked_is_one_finding() {
    let text = b"[property]\nonnx-file=m.onnx\n// comment\n";
    let findings = lint_bytes("pgie.txt", text, &LintContext::default());
    assert_eq!(
        shown(&findings),
        "pgie.txt:3:1: error[DS051]: `//` begins no comment here, only `#` does\n"
    );
    assert_eq!(findings[0].severity, Severity::Error);
}

#[test]
fn a_text_of_no_form_has_no_findings() {
    for text in [
        "",
        "Dear all,\nthe pipeline is slow.\n",
        "FROM ubuntu\nRUN true\n",
    ] {
        assert_eq!(
            lint_bytes("x", text.as_bytes(), &LintContext::default()),
            []
        );
    }
}

#[test]
fn the_shipped_pipelines() {
    let folder = Folder(testdata("pipelines/resnet152"));
    for (name, entry) in [
        ("deepstream_app", "deepstream-app/app.txt"),
        ("gst_launch", "gst-launch/pipeline.sh"),
    ] {
        let pipeline = Pipeline::resolve(entry, &folder).expect("the pipeline is good");
        let findings = lint(&pipeline, &LintContext::default());
        insta::assert_snapshot!(format!("lint_resnet152_{name}"), shown(&findings));
    }
}

#[test]
fn the_page_documents_every_rule() {
    let page = lint_markdown();
    for rule in &RULES {
        assert!(page.contains(&format!("\n### {}\n", rule.id)), "{rule:?}");
        assert!(
            page.contains(rule.reason) && page.contains(rule.remedy),
            "{rule:?}"
        );
    }
    insta::assert_snapshot!("lint_markdown", page);
}

#[test]
fn what_a_rule_says_of_itself_is_written_in_one_way() {
    for rule in &RULES {
        assert!(
            !rule.title.ends_with('.') && !rule.remedy.ends_with('.'),
            "{rule:?}"
        );
        assert!(rule.reason.ends_with('.'), "{rule:?}");
        assert!(rule.guard == "–" || rule.guard.ends_with('.'), "{rule:?}");
        assert!(!rule.reason.contains("  "), "{rule:?}");
        let of_plan = ["R1", "R2", "R3", "R4", "R4a", "R5", "R6", "R7"];
        assert!(
            rule.fixed_by.is_none_or(|id| of_plan.contains(&id)),
            "{rule:?}"
        );
    }
}

/// Texts that have something of a configuration.
fn configuration() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        prop::sample::select(vec![
            "[property]",
            "[streammux]",
            "[source0]",
            "[source-list]",
            "[primary-gie]",
            "[sink0]",
            "[tracker]",
            "property:",
            "application:",
            "streammux:",
            "infer_config {",
            "}",
            "enable=1",
            "type=1",
            "list=a;b",
            "config-file=f",
            "onnx-file=m",
            "gst-launch-1.0 a ! nvstreammux name=m !",
            "import gi.repository",
            "deepstream:",
            "  nodes:",
            "  - type: nvinfer",
            "enable,type,uri",
            "1,3,file:///a",
        ])
        .prop_map(str::to_owned),
        "[a-z-]{1,12}[=:] ?[-0-9a-z;.]{0,12}",
        "\\PC{0,20}",
    ];
    prop::collection::vec(line, 0..24).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn no_text_makes_a_rule_panic(text in configuration()) {
        let _ = lint_bytes("f", text.as_bytes(), &LintContext::default());
        let _ = lint_bytes("f.yml", text.as_bytes(), &LintContext::default());
    }

    #[test]
    fn no_bytes_make_a_rule_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = lint_bytes("f", &bytes, &LintContext::default());
    }

    #[test]
    fn numbers_of_any_size_are_read(batch in any::<i32>(), timeout in any::<i32>(), n in any::<u32>()) {
        let world = app()
            .with("[streammux]\nbatch-size=4\nbatched-push-timeout=33333", &format!("[streammux]\nbatch-size={batch}\nbatched-push-timeout={timeout}"))
            .fps(n);
        let codes = world.codes();
        prop_assert_eq!(codes.contains(&"A1"), (1..4).contains(&batch));
        prop_assert_eq!(codes.contains(&"A2"), batch > 4);
        prop_assert_eq!(codes.contains(&"A5b"), timeout >= 1_000_000 && batch != 1);
    }
}
