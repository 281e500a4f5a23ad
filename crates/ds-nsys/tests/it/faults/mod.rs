//! Every fault that users met in public with traces and their readers has a test with the right behaviour.
//!
//! [`COVER`] says where it is. Rows are numbered as the project's page of facts numbers them; where that page is at hand,
//! the list is compared with it.

mod busy;
mod empty;
mod ranges;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::support::shared;

/// Where one fault is tested.
enum Cover {
    /// Tests, each as a file below `crates` and a function.
    Tests(&'static [(&'static str, &'static str)]),
    /// No test is possible, for this reason.
    Untestable(&'static str),
}

use Cover::{Tests, Untestable};

const EMPTY: &str = "ds-nsys/tests/it/faults/empty.rs";
const BUSY: &str = "ds-nsys/tests/it/faults/busy.rs";
const RANGES: &str = "ds-nsys/tests/it/faults/ranges.rs";
const CHECK: &str = "ds-nsys/tests/it/analysis/check.rs";
const GAPS: &str = "ds-nsys/tests/it/analysis/gaps.rs";
const STEPS: &str = "ds-nsys/tests/it/analysis/steps.rs";
const VERSIONS: &str = "ds-nsys/tests/it/versions.rs";
const DAMAGE: &str = "ds-nsys/tests/it/damage.rs";
const TEXT: &str = "ds-nsys/tests/it/stats_text.rs";
const EXPORT: &str = "dsprof/tests/it/trace_export.rs";

/// Number, where it was met, what is right, and where that is tested.
const COVER: [(u8, &str, &str, Cover); 51] = [
    (
        1,
        "vllm#31337",
        "launches without device rows name fork, graphs and flushing",
        Tests(&[(EMPTY, "row_01_launches_without_device_rows")]),
    ),
    (
        2,
        "vllm#10708",
        "GPUs without work are said",
        Tests(&[
            (CHECK, "gpus_without_work_are_a_note"),
            (CHECK, "missing_ranks_are_missed_when_their_number_is_known"),
        ]),
    ),
    (
        3,
        "vllm#5132",
        "processes that launch and have no kernels are listed",
        Tests(&[(EMPTY, "row_03_ranks_without_kernels_are_listed_by_process")]),
    ),
    (
        4,
        "vllm#20959",
        "an empty capture is explained by its settings and the profiler's words",
        Tests(&[
            (CHECK, "launches_without_work_are_told_from_no_calls_at_all"),
            (CHECK, "a_capture_without_cuda_says_so"),
        ]),
    ),
    (
        5,
        "sglang#2776, #3049",
        "fork and graph level are told apart",
        Tests(&[(EMPTY, "row_05_both_causes_of_no_activity_are_told_apart")]),
    ),
    (
        6,
        "NeMo-Framework-Launcher#441, NeMo-Run#138, pegainfer#163",
        "graphs count as busy and their number is said",
        Tests(&[
            (
                EMPTY,
                "row_06_graph_mode_is_said_with_the_number_of_launches",
            ),
            (BUSY, "row_07_kernels_alone_miss_what_graphs_did"),
        ]),
    ),
    (
        7,
        "public 2024.6.2 export",
        "busy is the union with graphs",
        Tests(&[(BUSY, "row_07_kernels_alone_miss_what_graphs_did")]),
    ),
    (
        8,
        "public blog, 2025.3.2",
        "graphs alone are not empty",
        Tests(&[(CHECK, "graphs_alone_and_copies_alone_are_not_empty")]),
    ),
    (
        9,
        "nsys-ai#160",
        "the release that loses rows gets its own hint",
        Tests(&[(CHECK, "the_release_that_loses_rows_gets_its_own_hint")]),
    ),
    (
        10,
        "nsys-ai#574, #579",
        "the union is never above 100 %",
        Tests(&[(BUSY, "row_10_overlapping_work_counts_once")]),
    ),
    (
        11,
        "nsys-ai#599",
        "copies and sets are work",
        Tests(&[(BUSY, "row_11_copies_and_sets_are_work")]),
    ),
    (
        12,
        "nsys-ai#240, #241",
        "gaps are those of the merged timeline",
        Tests(&[(GAPS, "a_stream_that_waits_for_another_leaves_no_gap")]),
    ),
    (
        13,
        "nsys-ai#142",
        "a stream is known by process, device and context too",
        Tests(&[(BUSY, "row_13_a_stream_belongs_to_its_device")]),
    ),
    (
        14,
        "nsys-ai#139",
        "every device has its own totals",
        Tests(&[(
            VERSIONS,
            "every_device_of_every_process_has_its_own_busy_time",
        )]),
    ),
    (
        15,
        "nsys-ai#619",
        "an idle stream is no idle device",
        Tests(&[(GAPS, "a_stream_that_waits_for_another_leaves_no_gap")]),
    ),
    (
        16,
        "nsys-ai#236, #569",
        "nodes and graphs do not count twice",
        Tests(&[(BUSY, "row_16_a_graph_and_its_nodes_count_once")]),
    ),
    (
        17,
        "nsys-ai#291, #294",
        "a missing or renamed table was not traced",
        Tests(&[(
            EMPTY,
            "row_17_ranges_in_a_missing_or_renamed_table_were_not_traced",
        )]),
    ),
    (
        18,
        "nsys-ai#237, #254, #16; flameox#190",
        "layouts of other releases are read by name",
        Tests(&[
            (VERSIONS, "a_newer_layout_is_a_warning_and_is_read"),
            (VERSIONS, "the_table_of_properties_has_two_names"),
            (VERSIONS, "columns_that_users_added_change_nothing"),
            (VERSIONS, "a_missing_column_is_named"),
        ]),
    ),
    (
        19,
        "flameox#339, #340; dbg-cli source",
        "ranges without an end are normal",
        Tests(&[(RANGES, "row_19_ranges_without_an_end_are_normal")]),
    ),
    (
        20,
        "nsys-ai#490, #506",
        "lists are bounded, and all is counted",
        Tests(&[
            (GAPS, "only_the_longest_are_listed_and_all_are_counted"),
            (BUSY, "row_26_a_million_rows_are_no_limit"),
        ]),
    ),
    (
        21,
        "nsys-ai#493",
        "health is that of the window asked for",
        Tests(&[(CHECK, "health_is_that_of_the_window_asked_for")]),
    ),
    (
        22,
        "gputrc2graph source",
        "intervals are merged per device",
        Tests(&[
            (BUSY, "row_22_intervals_are_never_merged_over_gpus"),
            (GAPS, "one_devices_gap_is_not_filled_by_another"),
        ]),
    ),
    (
        23,
        "gputrc2graph docs; sglang#9314",
        "an export is read without nsys",
        Tests(&[(
            "ds-nsys/tests/it/captures.rs",
            "small_recordings_print_as_the_profiler_does",
        )]),
    ),
    (
        24,
        "nsys2json source",
        "a process may use several devices",
        Tests(&[(
            VERSIONS,
            "every_device_of_every_process_has_its_own_busy_time",
        )]),
    ),
    (
        25,
        "dbg-cli source",
        "kinds of copies are those of CUPTI",
        Tests(&[(BUSY, "row_25_kinds_of_copies_are_those_of_cupti")]),
    ),
    (
        26,
        "dbg-cli source",
        "no number of rows is refused",
        Tests(&[(BUSY, "row_26_a_million_rows_are_no_limit")]),
    ),
    (
        27,
        "TraceLens#728",
        "the time inside a graph is not idle",
        Tests(&[(BUSY, "row_27_graphs_leave_no_artefact_of_idle_time")]),
    ),
    (
        28,
        "TraceLens#972",
        "a part without GPU events is not healthy",
        Tests(&[(EMPTY, "row_28_a_part_without_gpu_events_is_not_healthy")]),
    ),
    (
        29,
        "ninfer-3090#68",
        "idle time is what the union leaves",
        Tests(&[
            (BUSY, "row_10_overlapping_work_counts_once"),
            (GAPS, "gaps_and_work_complete_the_span"),
        ]),
    ),
    (
        30,
        "nsys2prv GitLab#33",
        "negative values are kept and counted",
        Tests(&[(
            "ds-nsys/tests/it/resources.rs",
            "two_gpus_a_negative_value_and_a_counter_without_a_name",
        )]),
    ),
    (
        31,
        "NVTX#65, #126; pytorch#111780",
        "registered strings have their names",
        Tests(&[(RANGES, "row_31_registered_strings_have_their_names")]),
    ),
    (
        32,
        "legate#293, #790",
        "names are opaque",
        Tests(&[(RANGES, "row_32_names_are_opaque")]),
    ),
    (
        33,
        "aws-ofi-nccl#1284",
        "unclosed and crossing ranges are counted",
        Tests(&[(RANGES, "row_33_unclosed_and_crossing_ranges_are_counted")]),
    ),
    (
        34,
        "JAX-Toolbox#985, #988, #1167, #1176, #1488",
        "columns are found by their headings",
        Tests(&[
            (TEXT, "old_releases"),
            (TEXT, "units_come_from_the_headings"),
        ]),
    ),
    (
        35,
        "vernier fixture; own runs",
        "a stale export beside a report is not read, and said",
        Tests(&[
            (EXPORT, "an_export_of_another_capture_is_not_read"),
            (TEXT, "messages_hold_no_numbers"),
        ]),
    ),
    (
        36,
        "public self-test (V100)",
        "what stands before the heading is skipped",
        Tests(&[(TEXT, "csv_streams_with_preambles")]),
    ),
    (
        37,
        "dotLLM notes",
        "how captures are made on Windows",
        Untestable("it concerns capturing on Windows; a file does not show it"),
    ),
    (
        38,
        "kineto#1062",
        "iterations inside a graph are unknown",
        Untestable("the profiler does not record them; a limit of its data"),
    ),
    (
        39,
        "pytorch#192021; nvidia-resiliency-ext#115; tensorflow#20750",
        "impossible times are dropped and counted",
        Tests(&[
            (BUSY, "row_39_impossible_times_are_dropped_and_counted"),
            (CHECK, "times_that_cannot_be_fail_above_one_in_a_thousand"),
        ]),
    ),
    (
        40,
        "vLLM docs",
        "rows come in any order",
        Tests(&[
            (BUSY, "row_40_graphs_in_any_order_are_read"),
            (STEPS, "rows_in_any_order_give_the_same_steps"),
        ]),
    ),
    (
        41,
        "habitat#5; ThunderKittens#73; verl#2438; cugraph#4797",
        "the permission is named, and absent is not 0 %",
        Tests(&[
            (
                EMPTY,
                "row_41_counters_without_permission_are_absent_and_say_so",
            ),
            ("ds-nsys/tests/it/resources.rs", "not_sampled_is_not_zero"),
        ]),
    ),
    (
        42,
        "DGX Spark (SM121) note",
        "the profiler's words explain the empty capture",
        Tests(&[(CHECK, "the_profilers_own_words_explain_an_empty_capture")]),
    ),
    (
        43,
        "DeepStream user, 2025.6.1",
        "names of reports are checked, and the right ones listed",
        Tests(&[
            (
                VERSIONS,
                "reports_are_known_by_old_and_new_names_with_their_options",
            ),
            (
                "dsprof/tests/it/trace_input.rs",
                "arguments_that_make_no_sense",
            ),
        ]),
    ),
    (
        44,
        "nvprof-tools#3",
        "a missing table is absent data",
        Tests(&[
            (
                VERSIONS,
                "empty_tables_and_missing_ones_give_the_same_empty_report",
            ),
            (
                "ds-nsys/tests/it/analysis/damage.rs",
                "every_table_can_be_missing",
            ),
        ]),
    ),
    (
        45,
        "cuml#4955",
        "a file is known by its first bytes, whatever its name",
        Tests(&[
            (DAMAGE, "other_files_are_named_for_what_they_are"),
            (EXPORT, "two_reports_are_compared"),
        ]),
    ),
    (
        46,
        "k2#421; LMCache#758; nsys_easy#1",
        "paths and missing programs have clear messages",
        Tests(&[
            (DAMAGE, "a_missing_file_is_an_io_error"),
            (EXPORT, "an_nsys_that_was_named_and_is_not_there"),
            (EXPORT, "an_nsys_that_fails_is_quoted"),
        ]),
    ),
    (
        47,
        "NVTX#126",
        "ranges lost by a newer importer",
        Untestable(
            "the loss happens in an import of a capture of 2023.2.3 by 2025.3, and needs that capture",
        ),
    ),
    (
        48,
        "public 2022.2.1 export",
        "migrations stand apart from copies",
        Tests(&[(BUSY, "row_48_migrations_stand_apart_from_copies")]),
    ),
    (
        49,
        "public 2024.6.2 export",
        "ties of doubles round away from zero",
        Tests(&[(
            "ds-nsys/src/style.rs",
            "ties_that_are_exact_in_binary_go_away_from_zero",
        )]),
    ),
    (
        50,
        "aprender-cgp source",
        "columns of text are those of the dashes",
        Tests(&[(TEXT, "graph_mode_and_names_with_blanks")]),
    ),
    (
        51,
        "own runs",
        "numbers that lost their fraction are refused or recomputed",
        Tests(&[(TEXT, "a_decimal_comma_in_columns_has_lost_the_fractions")]),
    ),
];

#[test]
fn every_fault_has_a_test_that_exists() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (at, (row, _, what, cover)) in (1..).zip(&COVER) {
        assert_eq!(*row, at, "rows are in order and none is left out");
        match cover {
            Tests(tests) => {
                assert!(!tests.is_empty(), "row {row}: {what}");
                for (file, test) in *tests {
                    let text = fs::read_to_string(crates.join(file))
                        .unwrap_or_else(|error| panic!("row {row}: {file}: {error}"));
                    assert!(
                        text.contains(&format!("fn {test}(")),
                        "row {row}: {file} has no test `{test}`"
                    );
                }
            }
            Untestable(reason) => assert!(!reason.is_empty(), "row {row}: {what}"),
        }
    }
}

/// The rows of the page's table: number, where, and how it can be reproduced.
fn rows(page: &str) -> Vec<(u8, String, BTreeSet<char>)> {
    let table = page
        .split("\n## ")
        .find(|section| section.starts_with("17. "))
        .expect("the section of faults");
    table
        .lines()
        .filter_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [number, place, .., repro] = cells.as_slice() else {
                return None;
            };
            let repro = repro.chars().filter(|c| c.is_ascii_uppercase()).collect();
            Some((number.parse().ok()?, (*place).to_owned(), repro))
        })
        .collect()
}

/// Whatever can be reproduced without hardware has a test.
#[test]
fn the_list_is_that_of_the_facts() {
    let Some(facts) = shared("facts/nsys.md") else {
        return;
    };
    let page = fs::read_to_string(facts).expect("the page of facts");
    let rows = rows(&page);
    assert_eq!(rows.len(), COVER.len());
    let mut tested = 0;
    for ((number, place, repro), (row, covered_place, _, cover)) in rows.iter().zip(&COVER) {
        assert_eq!((number, place.as_str()), (row, *covered_place));
        let can_be_tested = repro.contains(&'S') || repro.contains(&'R');
        assert_eq!(
            can_be_tested,
            matches!(cover, Tests(_)),
            "row {row}: {repro:?}"
        );
        tested += u32::from(can_be_tested);
    }
    assert_eq!(tested, 48);
    println!("shared-test: the_list_is_that_of_the_facts");
}
