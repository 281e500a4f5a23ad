//! `dsprof trace check`: verdicts, exit statuses, and what CI reads.

use serde_json::Value;

use crate::support::{output_of, run};
use crate::trace_support::{SHIPPED, shared, shipped};

#[track_caller]
fn check(trace: &str, args: &[&str], status: i32, says: &[&str]) {
    let mut all = vec!["trace", "check", trace];
    all.extend(args);
    let ran = run(&all);
    assert_eq!(ran.status, status, "{all:?}\n{}{}", ran.stdout, ran.stderr);
    for text in says {
        assert!(
            ran.stdout.contains(text),
            "{all:?} does not say `{text}`:\n{}",
            ran.stdout
        );
    }
}

/// Capture, purpose, exit status, and what has to be said.
type Case = (
    &'static str,
    &'static [&'static str],
    i32,
    &'static [&'static str],
);

const SHIPPED_VERDICTS: &[Case] = &[
    (
        "decode_graph",
        &["--as", "timing"],
        0,
        &["pass as timing", "≤ 1.9 %", "≤ 19.0 %", "≤ 49.7 %"],
    ),
    (
        "decode_graph",
        &["--as", "kernels"],
        12,
        &["retry as kernels: G1", "needs node mode"],
    ),
    (
        "decode_graph",
        &[],
        0,
        &[
            "pass as decode",
            "median 0.896 ms",
            "1 graph launches and 0 kernels",
        ],
    ),
    (
        "decode_node",
        &[],
        0,
        &["pass as decode", "host-bound", "1.5 %", "8.6 %", "42.9 %"],
    ),
    (
        "decode_mixed",
        &["--as", "decode"],
        12,
        &["retry as decode: G8", "67.5 %"],
    ),
    (
        "decode_mixed",
        &["--as", "timing"],
        0,
        &[
            "pass as timing",
            "with prompt processing take 67.5 % of busy time",
        ],
    ),
    (
        "idle",
        &[],
        12,
        &["G13 idle: no GPU work in the last 2428.301 ms"],
    ),
    ("idle", &["--as", "timing"], 12, &["retry as timing: G13"]),
    ("nvtxonly", &[], 12, &["CUDA was not traced"]),
];

#[test]
fn verdicts_of_the_shipped_captures() {
    for (name, args, status, says) in SHIPPED_VERDICTS {
        check(&shipped(name), args, *status, says);
    }
}

#[test]
fn verdicts_of_all_captures() {
    const MORE: &[Case] = &[
        (
            "infer_resnet152_b16",
            &[],
            0,
            &[
                "pass as pipeline",
                "host-bound",
                "9.6 %",
                "27.3 %",
                "37.2 %",
            ],
        ),
        (
            "e2e_resnet152",
            &[],
            12,
            &[
                "G6 truncation",
                "partial",
                "Not all CUDA events might have been collected.",
            ],
        ),
        ("memcpy", &[], 0, &["pass as pipeline", "memcpy-bound"]),
        ("sync", &[], 0, &["pass as pipeline", "-bound"]),
        ("osrt", &[], 0, &["pass as pipeline"]),
    ];
    for (name, args, status, says) in SHIPPED_VERDICTS.iter().chain(MORE) {
        let Some(trace) = shared(name) else { return };
        check(&trace, args, *status, says);
    }
    println!("shared-test: verdicts_of_all_captures");
}

#[test]
fn an_expected_time_per_token_is_held_against_the_steps() {
    let trace = shipped("decode_graph");
    check(&trace, &["--tpot-ms", "0.9"], 0, &["pass as decode"]);
    check(&trace, &["--tpot-ms", "0.2"], 12, &["G9 tpot_reconcile"]);
    // Three tokens a step make 0.3 ms a token.
    check(
        &trace,
        &["--tpot-ms", "0.3", "--tokens-per-step", "3"],
        0,
        &["pass as decode"],
    );
}

/// A part of the session in which no step lies: the time per token has nothing to be compared with.
const WITHOUT_STEPS: [&str; 8] = [
    "--as",
    "timing",
    "--tpot-ms",
    "1",
    "--from-ms",
    "3900",
    "--to-ms",
    "4100",
];

#[test]
fn what_the_file_does_not_say_is_status_13() {
    check(
        &shipped("decode_graph"),
        &WITHOUT_STEPS,
        13,
        &["undecidable as timing: G9"],
    );
}

#[test]
fn missing_ranks_are_status_12() {
    check(
        &shipped("decode_graph"),
        &["--as", "timing", "--ranks", "2"],
        12,
        &["G5 rank_coverage: 1 of 2 ranks"],
    );
    check(
        &shipped("decode_graph"),
        &["--as", "timing", "--ranks", "1"],
        0,
        &[],
    );
}

#[test]
fn upstream_exit_codes_are_0_1_and_2() {
    let trace = shipped("decode_graph");
    check(&trace, &["--upstream-exit-codes", "--as", "timing"], 0, &[]);
    check(
        &trace,
        &["--upstream-exit-codes", "--as", "kernels"],
        1,
        &["retry"],
    );
    let mut undecidable = vec!["--upstream-exit-codes"];
    undecidable.extend(WITHOUT_STEPS);
    check(&trace, &undecidable, 2, &["undecidable"]);
}

#[test]
fn a_gate_that_the_purpose_does_not_need_breaks_no_build() {
    for name in SHIPPED {
        let ran = run(&[
            "trace",
            "check",
            "--as",
            "timing",
            "--format",
            "json",
            &shipped(name),
        ]);
        let verdict: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_eq!(verdict["schema"], "dsprof.check/1");
        let gates = verdict["gates"].as_array().expect("gates");
        assert_eq!(gates.len(), 14, "{name}");
        let fails = gates
            .iter()
            .any(|gate| gate["is_needed"] == true && gate["state"] == "fail");
        assert_eq!(ran.status == 12, fails, "{name}");
        let junit = run(&[
            "trace",
            "check",
            "--as",
            "timing",
            "--format",
            "junit",
            &shipped(name),
        ])
        .stdout;
        assert_eq!(junit.contains("<failure "), fails, "{name}\n{junit}");
        assert_eq!(junit.matches("<testcase ").count(), 14, "{name}");
    }
}

#[test]
fn the_whole_verdict_of_decode_graph() {
    let trace = shipped("decode_graph");
    insta::assert_snapshot!(output_of(&["trace", "check", "--as", "timing", &trace]));
    insta::assert_snapshot!(
        "check_as_junit",
        run(&[
            "trace", "check", "--as", "kernels", "--format", "junit", &trace
        ])
        .stdout
    );
}
