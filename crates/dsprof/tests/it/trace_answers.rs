//! The other questions to a trace, on the shipped captures.

use std::fs;

use serde_json::Value;

use crate::support::{output_of, root, run};
use crate::trace_support::{shipped, write_file};

/// Every question that takes one trace and answers in all report formats.
const QUESTIONS: [&str; 9] = [
    "busy",
    "gaps",
    "steps",
    "check",
    "categories",
    "ranks",
    "plugins",
    "metrics",
    "memory",
];

#[test]
fn every_answer_is_json_with_a_schema() {
    // With graphs, with kernels only, without any GPU work.
    for name in ["decode_graph", "idle", "nvtxonly"] {
        for question in QUESTIONS {
            let ran = run(&["trace", question, "--format", "json", &shipped(name)]);
            assert!(
                matches!(ran.status, 0 | 12),
                "{question} {name}: {}",
                ran.stderr
            );
            let answer: Value = serde_json::from_str(&ran.stdout).expect("JSON");
            assert_eq!(
                answer["schema"]
                    .as_str()
                    .expect("a schema")
                    .split('/')
                    .next(),
                Some(&*format!("dsprof.{question}"))
            );
        }
    }
}

#[test]
fn every_markdown_table_has_as_many_cells_in_every_row() {
    for question in QUESTIONS {
        let page = run(&["trace", question, "--format", "md", &shipped("decode_node")]).stdout;
        let mut cells = None;
        for line in page.lines() {
            let count = line
                .starts_with('|')
                .then(|| line.replace("\\|", "").matches('|').count());
            assert!(
                cells.is_none() || count.is_none() || cells == count,
                "{question}: {line}"
            );
            cells = count;
        }
    }
}

#[test]
fn three_busy_shares_stand_where_one_does() {
    let trace = shipped("decode_graph");
    insta::assert_snapshot!(
        "busy_of_decode_graph",
        output_of(&["trace", "busy", &trace])
    );
    insta::assert_snapshot!(
        "steps_of_decode_graph",
        output_of(&["trace", "steps", &trace])
    );
}

#[test]
fn figures_of_a_partial_capture_are_called_partial() {
    for question in ["busy", "steps", "check"] {
        let page = run(&["trace", question, &shipped("idle")]).stdout;
        assert!(
            page.contains("\npartial: the profiler says that events are missing"),
            "{page}"
        );
        let whole = run(&["trace", question, &shipped("decode_graph")]).stdout;
        assert!(!whole.contains("partial"), "{whole}");
    }
}

#[test]
fn captures_without_steps_say_so() {
    for name in ["idle", "nvtxonly"] {
        let page = output_of(&["trace", "steps", &shipped(name)]);
        assert!(page.starts_with("no steps found\n"), "{page}");
    }
}

#[test]
fn gaps_list_as_many_as_asked_for() {
    let trace = shipped("decode_graph");
    let json = output_of(&["trace", "gaps", "--top", "3", "--format", "json", &trace]);
    let gaps: Value = serde_json::from_str(&json).expect("JSON");
    let device = &gaps["devices"][0];
    assert_eq!(device["longest"].as_array().map(Vec::len), Some(3));
    let busy: Value =
        serde_json::from_str(&output_of(&["trace", "busy", "--format", "json", &trace]))
            .expect("JSON");
    let nanos = |value: &Value| value.as_i64().expect("a time");
    let span = nanos(&device["span"]["end_ns"]) - nanos(&device["span"]["start_ns"]);
    assert_eq!(
        nanos(&device["idle_ns"]) + nanos(&busy["devices"][0]["busy_ns"]),
        span
    );
}

#[test]
fn a_capture_differs_from_itself_in_nothing() {
    let trace = shipped("decode_node");
    let diff: Value = serde_json::from_str(&output_of(&[
        "trace", "diff", &trace, &trace, "--format", "json",
    ]))
    .expect("JSON");
    let found = &diff["differences"];
    assert_eq!(found["normalization"], "per step");
    assert!(found["appeared"].as_array().is_some_and(Vec::is_empty));
    assert!(found["vanished"].as_array().is_some_and(Vec::is_empty));
    let changed = found["changed"].as_array().expect("rows");
    assert!(!changed.is_empty());
    for row in changed {
        assert_eq!(row["change"]["difference"]["ns"], 0.0, "{row}");
    }
}

#[test]
fn captures_in_two_graph_modes_are_compared_only_by_force() {
    let (graph, node) = (shipped("decode_graph"), shipped("decode_node"));
    let refused = run(&["trace", "diff", &graph, &node]);
    assert_eq!(refused.status, 3);
    assert!(
        refused.stdout.contains("--cuda-graph-trace"),
        "{}",
        refused.stdout
    );
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    let forced = output_of(&["trace", "diff", &graph, &node, "--force"]);
    assert!(
        forced.starts_with("Compared although they are not comparable\n"),
        "{forced}"
    );
    assert!(forced.contains("[CUDA graph]"), "{forced}");
}

#[test]
fn rules_of_the_user_come_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "version = \"mine\"\n[[rule]]\ncategory = \"nvjet\"\ncontains = [\"nvjet\"]\n";
    let rules = write_file(folder.path(), "rules.toml", text.as_bytes());
    let trace = shipped("decode_node");
    let page = output_of(&["trace", "categories", &trace, "--taxonomy", &rules]);
    assert!(page.contains("│ nvjet "), "{page}");
    assert!(page.contains("+mine"), "{page}");
    let text = "version = \"mine\"\n[[rule]]\nkategorie = 1\n";
    write_file(folder.path(), "rules.toml", text.as_bytes());
    let refused = run(&["trace", "categories", &trace, "--taxonomy", &rules]);
    assert_eq!(refused.status, 3);
    assert!(
        refused.stderr.contains("rules.toml") && refused.stderr.contains("line 3"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_sampled_profile_is_put_beside_the_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "category\tsamples\ngemm\t700\nattention\t200\nsomething\t100\n";
    let profile = write_file(folder.path(), "profile.tsv", text.as_bytes());
    let trace = shipped("decode_node");
    let json = output_of(&[
        "trace",
        "join",
        &trace,
        "--sampled",
        &profile,
        "--format",
        "json",
    ]);
    let join: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(join["join"]["samples"], 1000);
    let rows = join["join"]["rows"].as_array().expect("rows");
    let gemm = rows
        .iter()
        .find(|row| row["category"] == "gemm")
        .expect("gemm");
    assert_eq!(gemm["sampled"], 0.7);
    assert_eq!(join["join"]["only_sampled"][0]["name"], "something");
    let page = output_of(&["trace", "join", &trace, "--sampled", &profile]);
    assert!(page.contains("70.0 %"), "{page}");
}

#[test]
fn ranks_are_taken_from_files_and_from_folders() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["rank1", "rank0"] {
        fs::copy(
            root().join(shipped("decode_node")),
            folder.path().join(format!("{name}.sqlite.gz")),
        )
        .expect("a copy");
    }
    write_file(folder.path(), "notes.txt", b"no trace");
    let from_folder = output_of(&[
        "trace",
        "ranks",
        folder.path().to_str().expect("UTF-8"),
        "--format",
        "json",
    ]);
    let table: Value = serde_json::from_str(&from_folder).expect("JSON");
    assert_eq!(table["ranks"].as_array().map(Vec::len), Some(2));
    assert!(
        table["traces"][0]
            .as_str()
            .is_some_and(|path| path.ends_with("rank0.sqlite.gz"))
    );
    // Equal ranks: the longest busy time is the mean.
    assert_eq!(table["busy_imbalance"], 1.0);
    assert_eq!(table["straggler"], Value::Null);
    let empty = tempfile::tempdir().expect("a folder");
    let refused = run(&["trace", "ranks", empty.path().to_str().expect("UTF-8")]);
    assert_eq!(refused.status, 3);
    assert!(
        refused.stderr.contains("holds no .sqlite"),
        "{}",
        refused.stderr
    );
}

#[test]
fn absent_data_is_named_and_no_zero() {
    for (question, says) in [
        ("metrics", "no counters were sampled"),
        ("memory", "no allocations were recorded"),
        ("categories", "no kernels in this trace"),
        ("busy", "no GPU work in this trace"),
    ] {
        let page = output_of(&["trace", question, &shipped("nvtxonly")]);
        assert!(page.starts_with(says), "{question}: {page}");
    }
}
