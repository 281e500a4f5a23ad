//! What others' `nsys stats` printed: every sample, and what a correct reader returns for it.

use std::fs;

use ds_nsys::{
    ErrorKind, FileContents, NameWidth, Report, ReportOptions, StatsAmount, StatsMessage,
    StatsNote, StatsOutput, StatsRow, StatsTable, StatsUnit,
};

use proptest::prelude::*;

use crate::support::{SmallTrace, testdata};

fn read(name: &str) -> StatsOutput {
    let bytes = fs::read(testdata("csv").join(name)).expect("a sample");
    StatsOutput::read(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Name, count, total, mean and median of a row; `?` for what is unknown.
fn line(row: &StatsRow) -> String {
    let amount = |amount: Option<StatsAmount>| match amount {
        Some(StatsAmount::Time(time)) => format!("{:.1}", time.0),
        Some(StatsAmount::Size(size)) => format!("{:.0}B", size.0),
        None => "?".to_owned(),
    };
    let count = row.count.map_or("?".to_owned(), |count| count.to_string());
    format!(
        "{} | {count} | {} | {} | {}",
        row.name,
        amount(row.total),
        amount(row.mean),
        amount(row.median)
    )
}

#[track_caller]
fn check(table: &StatsTable, report: Option<&str>, rows: usize, first: &str) {
    let summary = table.summary();
    assert_eq!((table.report.as_deref(), summary.len()), (report, rows));
    assert_eq!(line(&summary[0]), first);
}

const HOST_TO_DEVICE: &str =
    "[CUDA memcpy Host-to-Device] | 420 | 1424728131.0 | 3392209.8 | 800.0";
const HOST_TO_DEVICE_SIZE: &str =
    "[CUDA memcpy Host-to-Device] | 420 | 10064712000B | 23964000B | 1000B";

#[test]
fn one_capture_in_every_locale_and_format() {
    for name in ["2023.4.4_csv_de_DE.csv", "2023.4.4_table.txt"] {
        let output = read(name);
        check(
            &output.tables[0],
            Some("cuda_gpu_mem_time_sum"),
            4,
            HOST_TO_DEVICE,
        );
        assert_eq!(output.tables[0].notes, [], "{name}");
    }
    // A quoted number with a comma in CSV has a decimal comma: 10064.712 MB and not ten million.
    check(
        &read("2023.4.4_csv_de_DE.csv").tables[1],
        Some("cuda_gpu_mem_size_sum"),
        4,
        HOST_TO_DEVICE_SIZE,
    );
    let english = read("2023.4.4_columns_en_US.txt");
    let of = |report: &str| {
        english
            .tables
            .iter()
            .find(|table| table.report.as_deref() == Some(report))
    };
    check(
        of("cuda_gpu_mem_time_sum").expect("in the text"),
        Some("cuda_gpu_mem_time_sum"),
        4,
        HOST_TO_DEVICE,
    );
    check(
        of("cuda_gpu_mem_size_sum").expect("in the text"),
        Some("cuda_gpu_mem_size_sum"),
        4,
        HOST_TO_DEVICE_SIZE,
    );
}

#[test]
fn a_decimal_comma_in_columns_has_lost_the_fractions() {
    for name in ["2023.4.4_columns_de_DE.txt", "2023.4.4_columns_fr_FR.txt"] {
        let output = read(name);
        let [time, size] = output.tables.as_slice() else {
            panic!("two tables in {name}")
        };
        assert_eq!(time.notes, [StatsNote::FractionsLost], "{name}");
        // The mean follows from total and count; the median is gone.
        check(
            time,
            Some("cuda_gpu_mem_time_sum"),
            4,
            "[CUDA memcpy Host-to-Device] | 420 | 1424728131.0 | 3392209.8 | ?",
        );
        let second = &time.summary()[1];
        assert_eq!(
            (line(second).as_str(), second.stddev),
            (
                "[CUDA memcpy Device-to-Host] | 100 | 176960.0 | 1769.6 | ?",
                None
            )
        );
        assert_eq!(
            time.summary()[0].share.expect("recomputed").to_string(),
            "100.0 %"
        );
        // Sizes keep their decimals.
        assert_eq!(size.notes, [], "{name}");
        check(size, Some("cuda_gpu_mem_size_sum"), 4, HOST_TO_DEVICE_SIZE);
    }
}

#[test]
fn old_releases() {
    let output = read("2021.2_columns_es_locale.txt");
    let [api, kernels, copies, sizes] = output.tables.as_slice() else {
        panic!("four tables")
    };
    check(
        api,
        Some("cudaapisum"),
        12,
        "cuMemHostAlloc | 1 | 12373190.0 | 12373190.0 | ?",
    );
    assert_eq!(
        line(&api.summary()[4]),
        "cuLaunchKernel | 3 | 54308.0 | 18102.7 | ?"
    );
    assert_eq!(
        api.summary()[0].share.expect("recomputed").to_string(),
        "93.5 %"
    );
    check(
        kernels,
        Some("gpukernsum"),
        3,
        "loop_2_38_gpu | 1 | 2176.0 | 2176.0 | ?",
    );
    check(
        copies,
        Some("gpumemtimesum"),
        2,
        "[CUDA memcpy HtoD] | 5 | 4576.0 | 915.2 | ?",
    );
    // Sizes of this release are cut too, and nothing is left to recompute them from.
    check(
        sizes,
        Some("gpumemsizesum"),
        2,
        "[CUDA memcpy HtoD] | 5 | ? | ? | ?",
    );
    assert!(
        output
            .messages
            .iter()
            .all(|message| matches!(message, StatsMessage::Skipped { .. }))
    );

    let wrapped = read("2021.3_wrapped_header.txt");
    check(
        &wrapped.tables[0],
        Some("gpukernsum"),
        4,
        "update_weight_133_gpu(float*, float const*, float const*, unsigned long, float, unsigned long, unsi… | 37500 | \
         39754166488.0 | 1060111.1 | ?",
    );
    assert_eq!(wrapped.tables[0].notes, [StatsNote::NamesCut(1)]);
    let size = &wrapped.tables[2];
    assert_eq!(
        (size.columns[0].unit, size.summary()[0].count),
        (StatsUnit::Kibibytes, Some(459_450))
    );

    let running = read("2022.1.3_running_lines.txt");
    check(
        &running.tables[0],
        Some("cudaapisum"),
        3,
        "cudaLaunchKernel | 249116 | 2781618372.0 | 11166.0 | 4790.0",
    );
    assert_eq!(running.tables[1].summary().len(), 3);
    assert!(
        matches!(&running.messages[..], [StatsMessage::Skipped { report: Some(report), .. }] if report == "nvtxsum")
    );
}

#[test]
fn csv_streams_with_preambles() {
    let old = read("2022.4.2_csv_old_names.csv");
    assert_eq!(
        old.tables
            .iter()
            .map(|table| table.rows.len())
            .collect::<Vec<_>>(),
        [4, 4]
    );
    assert_eq!(old.tables[1].report.as_deref(), Some("gpumemsizesum"));
    assert_eq!(
        old.messages,
        [StatsMessage::Skipped {
            report: Some("osrtsum".to_owned()),
            reason: "memcpy.sqlite does not contain OS Runtime trace data.".to_owned()
        }]
    );

    let skipped = read("2023.4.4_csv_console_skipped.csv");
    assert_eq!(skipped.messages.len(), 2);
    check(
        &skipped.tables[0],
        Some("nvtx_pushpop_sum"),
        skipped.tables[0].rows.len(),
        "TensorRT:ExecutionContext::enqueue | 203 | 936664919.0 | 4614112.9 | 4051612.0",
    );
    assert_eq!(
        skipped.tables[0].summary()[1].name,
        "GstNvInfer: UID=1:queueInput"
    );

    let notice = read("2023.4.4_csv_notice_preamble.csv");
    assert_eq!(notice.messages, [StatsMessage::ExistingExport]);
    check(
        &notice.tables[0],
        Some("osrt_sum"),
        3,
        "nanosleep | 1 | 1000144966.0 | 1000144966.0 | 1000144966.0",
    );
    check(
        &read("2024.6.2_windows_kern_sum.csv").tables[0],
        None,
        15,
        &line(&read("2024.6.2_windows_kern_sum.csv").tables[0].summary()[0]),
    );
}

#[test]
fn units_come_from_the_headings() {
    let output = read("2023.4.4_timeunits.csv");
    let [micros, millis, seconds] = output.tables.as_slice() else {
        panic!("three tables")
    };
    check(
        micros,
        None,
        4,
        "[CUDA memcpy Host-to-Device] | 420 | 1424728131.0 | 3392210.0 | 800.0",
    );
    check(
        millis,
        None,
        4,
        "[CUDA memcpy Host-to-Device] | 420 | 1424728100.0 | 3392200.0 | 800.0",
    );
    check(
        seconds,
        None,
        4,
        "[CUDA memcpy Host-to-Device] | 420 | 1424700000.0 | 3400000.0 | 0.0",
    );
    assert_eq!(micros.notes, []);
    assert_eq!(
        millis.notes,
        [StatsNote::CoarseUnit(StatsUnit::Milliseconds)]
    );
    assert_eq!(seconds.notes, [StatsNote::CoarseUnit(StatsUnit::Seconds)]);
    check(
        &read("2022.4.2_timeunit_ms.txt").tables[0],
        Some("osrtsum"),
        3,
        "sem_wait | 2 | 910837800.0 | 455418900.0 | 455418900.0",
    );
}

#[test]
fn messages_hold_no_numbers() {
    for (name, expected) in [
        (
            "2023.4.4_stale_export_stderr.txt",
            StatsMessage::StaleExport,
        ),
        (
            "2023.4.4_unknown_report.txt",
            StatsMessage::UnknownReport {
                name: "gpu_metric_gpu_util_sum".to_owned(),
            },
        ),
        ("2023.4.4_broken_sqlite.txt", StatsMessage::DamagedExport),
    ] {
        let output = read(name);
        assert_eq!(
            (output.tables.len(), output.messages),
            (0, vec![expected]),
            "{name}"
        );
    }
    for name in [
        "2022.4.2_export_progress_stderr.txt",
        "2025.3.2_profile_capture_range.log",
    ] {
        assert_eq!(read(name), StatsOutput::default(), "{name}");
    }
    let files = read("2025.3.2_to_files_console.txt");
    let count = |wanted| {
        let of_kind = |message: &&StatsMessage| matches!(message, StatsMessage::Written { contents, .. } if *contents == wanted);
        files.messages.iter().filter(of_kind).count()
    };
    assert_eq!(
        (count(FileContents::Rows), count(FileContents::Nothing)),
        (12, 2)
    );
    assert!(matches!(
        files.messages.last(),
        Some(StatsMessage::Skipped { report: None, .. })
    ));
}

#[test]
fn every_sample_is_read() {
    let mut tables = 0;
    for entry in fs::read_dir(testdata("csv")).expect("the samples") {
        let name = entry
            .expect("an entry")
            .file_name()
            .into_string()
            .expect("a plain name");
        let output = read(&name);
        tables += output.tables.len();
        for table in &output.tables {
            assert!(!table.rows.is_empty(), "{name}, line {}", table.line);
            assert!(
                table
                    .rows
                    .iter()
                    .all(|row| row.len() == table.columns.len()),
                "{name}, line {}",
                table.line
            );
        }
    }
    assert!(tables >= 45, "{tables} tables");
}

#[test]
fn graph_mode_and_names_with_blanks() {
    let output = read("2022.4.2_columns_old_names.txt");
    let kernels = output
        .tables
        .iter()
        .find(|table| table.report.as_deref() == Some("gpukernsum"))
        .expect("kernels");
    let first = &kernels.summary()[0];
    assert_eq!(
        line(first),
        "nvjet_sm90_hsh_64x8_64x16_4x1_v_bz_splitK_NNT | 1624 | 17870412.0 | 11003.9 | 10848.0"
    );
    let graph = read("2024.6.2_graph_mode.txt");
    let kernels = graph
        .tables
        .iter()
        .find(|table| table.report.as_deref() == Some("cuda_gpu_kern_sum"));
    let totals: Vec<_> = kernels
        .expect("kernels")
        .summary()
        .iter()
        .map(|row| row.total)
        .collect();
    let time = |nanos| Some(StatsAmount::Time(ds_nsys::FracNanos(nanos)));
    assert_eq!(totals, [time(49502.0), time(28768.0)]);
}

#[test]
fn other_encodings_and_line_ends() {
    let text = fs::read_to_string(testdata("csv/2023.4.4_csv_de_DE.csv")).expect("a sample");
    let expected = StatsOutput::read(text.as_bytes()).expect("readable");
    let windows = text.replace('\n', "\r\n");
    let little: Vec<u8> = windows.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = windows.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (what, bytes) in [
        ("CRLF", windows.clone().into_bytes()),
        (
            "UTF-8 with a mark",
            [b"\xEF\xBB\xBF".to_vec(), windows.into_bytes()].concat(),
        ),
        (
            "UTF-16, little",
            [b"\xFF\xFE".to_vec(), little.clone()].concat(),
        ),
        ("UTF-16, big", [b"\xFE\xFF".to_vec(), big].concat()),
        ("UTF-16 without a mark", little),
    ] {
        assert_eq!(StatsOutput::read(&bytes).expect(what), expected, "{what}");
    }
}

#[track_caller]
fn refused(text: &str, says: &str) {
    let error = StatsOutput::read(text.as_bytes()).expect_err("not readable without guessing");
    assert_eq!(
        (error.kind(), error.to_string().as_str()),
        (ErrorKind::Damaged, says)
    );
}

#[test]
fn what_would_be_a_guess_is_refused() {
    refused(
        "==42== Profiling result:\n            Type  Time(%)      Time     Calls       Avg\n",
        "line 1: this is the output of nvprof, not of `nsys stats`",
    );
    refused(
        "Time (%),Total Time (ns),Instances,Avg (ns),Name\n100.0,7,1,7.0,a,b\n",
        "line 2: 6 fields where the heading has 5",
    );
    refused(
        " Time (%)  Total Time (ns)  Instances  Name\n --------  ---------------  ---------  ----\n     50,0            1.000          1  a\n     50.0            1,000          1  b\n",
        "line 1: point and comma cannot be told apart in this table's numbers",
    );
    refused(
        "Time (%),Total Time (ns),Instances,Avg (ns),Name\n100.0,seven,1,7.0,a\n",
        "line 2: `seven` in column `Total Time (ns)` is no number in this locale",
    );
}

/// What this crate prints, it reads back.
#[test]
fn own_tables_are_read_back() {
    let trace = SmallTrace::from_file("full.sql").open();
    for name in [
        "cuda_gpu_kern_sum",
        "cuda_api_sum",
        "cuda_gpu_mem_time_sum",
        "cuda_gpu_mem_size_sum",
        "nvtx_sum",
    ] {
        let report: Report = name.parse().expect("known");
        let table = trace
            .report(report, ReportOptions::default())
            .expect("readable");
        let from_csv = StatsOutput::read(table.to_csv().as_bytes()).expect("CSV");
        let from_tsv = StatsOutput::read(table.to_tsv().as_bytes()).expect("TSV");
        let from_text =
            StatsOutput::read(table.to_text(NameWidth::Full).as_bytes()).expect("columns");
        assert_eq!(from_csv.tables[0].rows.len(), table.rows().len(), "{name}");
        assert_eq!(from_csv.tables[0].rows, from_tsv.tables[0].rows, "{name}");
        assert_eq!(from_csv.tables[0].rows, from_text.tables[0].rows, "{name}");
        assert_eq!(from_text.tables[0].report.as_deref(), Some(name));
    }
}

proptest! {
    /// Lines cut out, repeated and broken anywhere give tables or an error, never a panic.
    #[test]
    fn broken_texts_never_panic(
        sample in prop::sample::select(vec![
            "2021.3_wrapped_header.txt",
            "2023.4.4_columns_de_DE.txt",
            "2023.4.4_csv_de_DE.csv",
            "2023.4.4_table.txt",
            "2025.3.2_to_files_console.txt",
        ]),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<char>()), 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let text = fs::read_to_string(testdata("csv").join(sample)).expect("a sample");
        let mut chars: Vec<char> = text.chars().collect();
        for (at, c) in edits {
            let at = at.index(chars.len());
            chars[at] = c;
        }
        chars.truncate(cut.index(chars.len()) + 1);
        let text: String = chars.into_iter().collect();
        let _ = StatsOutput::read(text.as_bytes());
    }
}
