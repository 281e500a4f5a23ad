//! `dsprof trace stats`: the digits of nsys, the arguments that people type to it.

use std::fs;
use std::io::Read as _;

use serde_json::Value;

use crate::support::{output_of, root, run};
use crate::trace_support::{SHIPPED, reference, shared, shipped, start};

/// The reports that nsys printed for every shipped capture.
const REFERENCES: [&str; 14] = [
    "cuda_api_gpu_sum",
    "cuda_api_sum",
    "cuda_gpu_kern_gb_sum",
    "cuda_gpu_kern_sum",
    "cuda_gpu_mem_size_sum",
    "cuda_gpu_mem_time_sum",
    "cuda_gpu_sum",
    "cuda_kern_exec_sum",
    "nvtx_gpu_proj_sum",
    "nvtx_kern_sum",
    "nvtx_pushpop_sum",
    "nvtx_startend_sum",
    "nvtx_sum",
    "osrt_sum",
];

#[test]
fn csv_equals_what_nsys_printed() {
    for name in SHIPPED {
        for (report, ours) in all_reports(&shipped(name)) {
            assert_eq!(ours, reference(name, report), "{name} {report}");
        }
    }
}

/// All reports of a trace through one run and its files.
fn all_reports(trace: &str) -> Vec<(&'static str, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path().join("ours").display().to_string();
    let printed = output_of(&[
        "trace",
        "stats",
        "--report",
        &REFERENCES.join(","),
        "--output",
        &prefix,
        trace,
    ]);
    assert_eq!(printed, "");
    let read = |report| fs::read_to_string(format!("{prefix}_{report}.csv")).expect("a report");
    REFERENCES
        .iter()
        .map(|report| (*report, read(report)))
        .collect()
}

#[test]
fn options_and_the_old_style_equal_what_nsys_2023_printed() {
    let trace = shipped("decode_graph");
    for (report, file) in [
        (
            "cuda_gpu_kern_sum:nvtx-name:base",
            "cuda_gpu_kern_sum+nvtx-name+base",
        ),
        ("gpukernsum:mangled", "cuda_gpu_kern_sum+mangled"),
        ("cuda_gpu_trace:base", "cuda_gpu_trace+base"),
        ("nvtxpptrace", "nvtx_pushpop_trace"),
    ] {
        let ours = output_of(&[
            "trace", "stats", "--style", "2023", "-r", report, "-f", "csv", &trace,
        ]);
        let path = root().join(format!(
            "testdata/nsys/reference-2023.4.4/decode_graph/{file}.csv"
        ));
        assert_eq!(
            ours,
            fs::read_to_string(path).expect("a reference"),
            "{report}"
        );
    }
}

#[test]
fn several_reports_on_the_console_leave_a_line_free() {
    let ours = output_of(&[
        "trace",
        "stats",
        "-r",
        "nvtx_sum,cuda_api_sum",
        "-f",
        "csv",
        &shipped("decode_graph"),
    ]);
    let expected = [
        reference("decode_graph", "nvtx_sum"),
        reference("decode_graph", "cuda_api_sum"),
    ]
    .join("\n");
    assert_eq!(ours, expected);
}

#[test]
fn reports_without_data_print_nothing_and_say_so_beside() {
    let ran = run(&[
        "trace",
        "stats",
        "-r",
        "osrt_sum,nvtx_sum",
        "-f",
        "csv",
        &shipped("nvtxonly"),
    ]);
    assert_eq!(ran.status, 0);
    assert_eq!(ran.stdout, reference("nvtxonly", "nvtx_sum"));
    assert!(
        ran.stderr.contains("no data for osrt_sum"),
        "{}",
        ran.stderr
    );
}

#[test]
fn formats_and_outputs_are_matched_with_reports_and_the_last_one_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let prefix = folder.path().join("out").display().to_string();
    let args = [
        "trace",
        "stats",
        "--report",
        "cuda_gpu_kern_sum:base",
        "--report",
        "nvtx_sum,cuda_api_sum",
        "--format",
        "csv,json",
        "--output",
        &format!("{prefix},-"),
        "--force-export=true",
        "--force-overwrite",
        &shipped("decode_graph"),
    ];
    let stdout = output_of(&args);
    // The name that nsys 2023.4.4 gave such a file.
    let file = fs::read_to_string(format!("{prefix}_cuda_gpu_kern_sum_base.csv"))
        .expect("the first report");
    assert!(file.starts_with("Time (%),"), "{file}");
    let documents: Vec<Value> = serde_json::Deserializer::from_str(&stdout)
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("two lists");
    assert_eq!(documents.len(), 2);
    assert_eq!(documents[0][0]["Range"], ":decode_step");
}

#[test]
fn a_dot_names_files_after_the_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let trace = folder.path().join("run.7.sqlite.gz");
    fs::copy(root().join(shipped("decode_graph")), &trace).expect("a copy");
    let trace = trace.to_str().expect("UTF-8");
    assert_eq!(
        output_of(&["trace", "stats", "-r", "nvtx_sum", "--output", ".", trace]),
        ""
    );
    let written = fs::read_to_string(folder.path().join("run.7_nvtx_sum.csv")).expect("the report");
    assert_eq!(written, reference("decode_graph", "nvtx_sum"));
}

#[test]
fn json_holds_the_printed_digits() {
    let text = output_of(&[
        "trace",
        "stats",
        "-r",
        "nvtx_sum",
        "-f",
        "json",
        &shipped("decode_graph"),
    ]);
    // Laid out as nsys 2023.4.4 does.
    let expected = "[\n  {\n    \"Time (%)\": 95.9,\n    \"Total Time (ns)\": 98755251,\n    \"Instances\": 200,\n";
    assert!(text.starts_with(expected), "{text}");
    serde_json::from_str::<Value>(&text).expect("JSON");
    assert_eq!(
        output_of(&[
            "trace",
            "stats",
            "-r",
            "osrt_sum",
            "-f",
            "json",
            &shipped("idle")
        ]),
        "[]\n"
    );
}

#[test]
fn parts_of_a_split_report_add_up_to_the_whole() {
    let trace = shipped("decode_node");
    let total = |args: &[&str]| {
        let mut all = vec![
            "trace",
            "stats",
            "-r",
            "cuda_gpu_kern_sum",
            "-f",
            "json",
            &trace,
        ];
        all.extend(args);
        let rows: Vec<Value> = serde_json::from_str(&output_of(&all)).expect("JSON");
        rows.iter()
            .map(|row| row["Total Time (ns)"].as_i64().expect("a time"))
            .sum::<i64>()
    };
    let whole = total(&[]);
    for by in ["process", "device", "stream"] {
        assert_eq!(total(&["--by", by]), whole, "{by}");
    }
}

#[test]
fn a_window_takes_a_part() {
    let trace = shipped("decode_graph");
    let rows = |args: &[&str]| {
        let mut all = vec![
            "trace",
            "stats",
            "-r",
            "nvtx_pushpop_trace",
            "-f",
            "csv",
            &trace,
        ];
        all.extend(args);
        output_of(&all).lines().count()
    };
    let (all, before, after) = (
        rows(&[]),
        rows(&["--to-ms", "4300"]),
        rows(&["--from-ms", "4300"]),
    );
    assert!(
        before > 1 && after > 1 && before < all && after < all,
        "{all} {before} {after}"
    );
}

#[test]
fn the_printed_output_of_another_nsys_is_read() {
    let ran = run(&[
        "trace",
        "stats",
        "-r",
        "gpumemtimesum",
        "-f",
        "csv",
        "testdata/nsys/csv/2023.4.4_columns_fr_FR.txt",
    ]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.stdout.lines().count() > 1, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("medians and deviations are lost"),
        "{}",
        ran.stderr
    );
    let json = output_of(&[
        "trace",
        "stats",
        "-f",
        "json",
        "testdata/nsys/csv/2022.4.2_csv_old_names.csv",
    ]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(json["schema"], "dsprof.printed-stats/1");
    assert_eq!(json["tables"][0]["report"], "gpumemtimesum");
}

#[test]
fn what_printed_output_cannot_tell_is_refused() {
    let file = "testdata/nsys/csv/2023.4.4_columns_C.txt";
    for (args, message) in [
        (vec!["--by", "device"], "--by: needs the export"),
        (
            vec!["--from-ms", "1"],
            "--from-ms and --to-ms: needs the export",
        ),
        (vec!["-r", "um_sum"], "the file holds no `um_sum`, only: "),
        (
            vec!["-r", "cuda_gpu_kern_sum:base"],
            "an option of a report: needs the export",
        ),
    ] {
        let mut all = vec!["trace", "stats", file];
        all.extend(args);
        let ran = run(&all);
        assert_eq!((ran.status, ran.stdout.as_str()), (3, ""), "{all:?}");
        assert!(ran.stderr.contains(message), "{all:?}: {}", ran.stderr);
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let trace = shipped("decode_node");
    for format in ["csv", "json", "text"] {
        let mut child = start(&[
            "trace",
            "stats",
            "-r",
            "cuda_gpu_trace",
            "-f",
            format,
            &trace,
        ]);
        let mut stdout = child.stdout.take().expect("a pipe");
        stdout.read_exact(&mut [0]).expect("a first byte");
        drop(stdout);
        let ended = child.wait_with_output().expect("dsprof ends");
        assert!(ended.status.success(), "{format}: {}", ended.status);
        assert_eq!(String::from_utf8_lossy(&ended.stderr), "", "{format}");
    }
}

#[test]
fn the_list_of_reports_needs_no_trace() {
    let list = output_of(&["trace", "stats", "--help-reports"]);
    assert!(
        REFERENCES.iter().all(|report| list.contains(report)),
        "{list}"
    );
}

#[test]
fn every_capture_of_the_collection_gives_the_reference_through_the_program() {
    for name in [
        "infer_resnet152_b16",
        "memcpy",
        "osrt",
        "sync",
        "e2e_resnet152",
    ] {
        let Some(trace) = shared(name) else { return };
        for (report, ours) in all_reports(&trace) {
            let path = trace.replace("trace.sqlite", &format!("nsys-stats/{report}.csv"));
            assert_eq!(
                ours,
                fs::read_to_string(path).expect("a reference"),
                "{name} {report}"
            );
        }
    }
    println!(
        "shared-test: every_capture_of_the_collection_gives_the_reference_through_the_program"
    );
}
