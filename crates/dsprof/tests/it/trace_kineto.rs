//! Traces of PyTorch's profiler, asked on the command line.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{Ran, run};
use crate::trace_support::{shipped, write_file};

const CLEAN: &str = "testdata/nsys/kineto/decode_clean.rank0.pt.trace.json.gz";
const MIXED: &str = "testdata/nsys/kineto/decode_mixed.rank0.pt.trace.json.gz";

/// A rank's trace: eight steps of 100 µs with one kernel each, which takes so many microseconds.
fn rank(rank: u64, of: u64, kernel: u64) -> String {
    let mut events = String::new();
    for step in 0..9_u64 {
        let at = 1_000 + step * 100;
        write!(
            events,
            r#"{{"ph":"X","cat":"user_annotation","name":"execute_context_0(0)_generation_1(1)","pid":9,"tid":9,"ts":{at},"dur":90}},
{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":{},"dur":2,"args":{{"correlation":{}}}}},
{{"ph":"X","cat":"kernel","name":"gemm","pid":{rank},"tid":7,"ts":{},"dur":{kernel}.5,"args":{{"device":{rank},"stream":7,"correlation":{}}}}},
"#,
            at + 10,
            step + 1,
            at + 20,
            step + 1
        )
        .expect("a String takes every write");
    }
    let events = events.trim_end().trim_end_matches(',');
    format!(
        r#"{{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank":{rank},"world_size":{of}}},"traceEvents":[{events}]}}"#
    )
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
}

#[test]
fn a_trace_is_known_by_its_content() {
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = fs::read(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .join(CLEAN),
    )
    .expect("a recording");
    let path = write_file(folder.path(), "renamed.sqlite", &bytes);
    let ran = run(&[
        "trace",
        "stats",
        "--report",
        "cuda_gpu_kern_sum",
        "--format",
        "csv",
        &path,
    ]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(
        ran.stdout.contains("\n33.4,2713369,240,11305.7,11264.0,10624,12960,434.9,nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_splitK_bias_TNT\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stderr
            .contains("note: PyTorch's profiler slows the host"),
        "{}",
        ran.stderr
    );
}

#[test]
fn what_such_a_trace_cannot_answer_is_said_by_name() {
    let ran = run(&["trace", "stats", CLEAN]);
    assert_eq!(ran.status, 0);
    assert!(
        ran.stderr.contains("no data for osrt_sum: PyTorch's profiler records no calls of the operating system's runtime"),
        "{}",
        ran.stderr
    );
    for (question, says) in [
        ("memory", "records no allocations of the CUDA API"),
        ("metrics", "records no hardware counters"),
    ] {
        let ran = run(&["trace", question, CLEAN]);
        assert_eq!((ran.status, ran.stdout.as_str()), (3, ""), "{question}");
        assert!(ran.stderr.contains(says), "{}", ran.stderr);
    }
}

#[test]
fn steps_carry_their_tokens() {
    let ran = run(&["trace", "steps", "--format", "json", MIXED]);
    let page = json(&ran);
    assert!(
        page["distortion"]
            .as_str()
            .is_some_and(|text| text.starts_with("PyTorch's profiler"))
    );
    let series = &page["ranks"][0]["series"];
    assert_eq!(series["method"], "step annotations");
    assert_eq!(series["prefill"]["steps"], 6);
    let steps = series["steps"].as_array().expect("steps");
    let mixed: Vec<&Value> = steps
        .iter()
        .filter(|step| step["kind"] == "mixed")
        .collect();
    assert_eq!(mixed.len(), 6);
    assert_eq!(
        (&mixed[0]["context_tokens"], &mixed[0]["generation_tokens"]),
        (&512.into(), &4.into())
    );
    let text = run(&["trace", "steps", MIXED]).stdout;
    assert!(
        text.contains(
            "prompt processing: 6 of 59 steps, 26.2 % of busy time; 6 of them also generated tokens"
        ),
        "{text}"
    );
    assert!(
        text.contains("\ndistorted: PyTorch's profiler slows the host"),
        "{text}"
    );
}

#[test]
fn a_verdict_says_what_one_file_cannot() {
    let ran = run(&["trace", "check", CLEAN]);
    assert_eq!(ran.status, 0, "{}", ran.stdout);
    assert!(ran.stdout.starts_with("pass as decode"), "{}", ran.stdout);
    let ran = run(&["trace", "check", "--ranks", "8", CLEAN]);
    assert_eq!(ran.status, 13, "{}", ran.stdout);
    let ran = run(&[
        "trace",
        "check",
        "--tpot-ms",
        "0.61",
        "--format",
        "json",
        CLEAN,
    ]);
    assert_eq!(ran.status, 13);
    assert_eq!(json(&ran)["decisive"], "G9");
}

#[test]
fn a_cut_off_file_gives_what_it_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let whole = rank(0, 1, 40);
    let path = write_file(
        folder.path(),
        "cut.json",
        &whole.as_bytes()[..whole.len() - 60],
    );
    let ran = run(&["trace", "busy", &path]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("note: the file ends early, after"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stdout.contains("partial: the file is cut off"),
        "{}",
        ran.stdout
    );
    assert_eq!(run(&["trace", "check", &path]).status, 12);
}

#[test]
fn captures_of_two_profilers_are_not_compared() {
    let nsys = shipped("decode_node");
    let ran = run(&["trace", "diff", &nsys, CLEAN]);
    assert_eq!(ran.status, 3);
    assert!(
        ran.stdout
            .contains("only the second capture was made by PyTorch's profiler"),
        "{}",
        ran.stdout
    );
    assert_eq!(run(&["trace", "diff", "--force", &nsys, CLEAN]).status, 0);
    assert_eq!(run(&["trace", "diff", CLEAN, CLEAN]).status, 0);
}

#[test]
fn a_folder_of_ranks_is_read_in_their_order() {
    let folder = tempfile::tempdir().expect("a folder");
    // The names sort against the ranks, and the front end's file is none of them.
    write_file(folder.path(), "a.pt.trace.json", rank(2, 4, 40).as_bytes());
    write_file(folder.path(), "b.pt.trace.json", rank(0, 4, 20).as_bytes());
    write_file(folder.path(), "c_async_llm.pt.trace.json", b"{}");
    let ran = run(&[
        "trace",
        "ranks",
        "--format",
        "json",
        folder.path().to_str().expect("a path"),
    ]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let page = json(&ran);
    assert_eq!(page["distributed_ranks"], serde_json::json!([0, 2]));
    assert_eq!(
        page["problems"],
        serde_json::json!([
            "2 of 4 ranks are missing: 1, 3; figures over ranks are of the others only"
        ])
    );
    // 20.5 and 40.5 µs of compute in a step.
    assert_eq!(page["ranks"][0]["compute_ns"], 20_500.0);
    assert_eq!(page["ranks"][1]["compute_ns"], 40_500.0);
    assert_eq!(page["straggler"]["rank"]["trace"], 2);
}
