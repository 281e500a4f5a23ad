//! One trap a test.

use std::fmt::Write as _;

use ds_ceilings::Fps;
use ds_orchestrate::{FpsEmitter, FpsLog, FpsReader, FpsStatus, FpsStreamId, FpsUnit};

use super::{read, read_bytes};

fn fps(value: f64) -> Fps {
    Fps::new(value).expect("a rate")
}

/// A deepstream-app console: ready, running, then one line of columns for each slice.
fn deepstream_app(windows: &[&[f64]]) -> String {
    let mut console = "** INFO: <bus_callback:291>: Pipeline ready\n\n\
                       ** INFO: <bus_callback:277>: Pipeline running\n\n"
        .to_owned();
    for window in windows {
        console.push_str("**PERF:  ");
        for rate in *window {
            write!(console, "{rate:.2} (1.00)\t").expect("a string takes everything");
        }
        console.push('\n');
    }
    console
}

/// The rates of the aggregate's windows.
fn aggregate_windows(log: &FpsLog) -> Vec<f64> {
    log.aggregate()
        .map(|segment| segment.windows.iter().map(|rate| rate.get()).collect())
        .unwrap_or_default()
}

fn statuses(log: &FpsLog) -> Vec<FpsStatus> {
    log.streams.iter().map(|stream| stream.status).collect()
}

#[track_caller]
fn check_ids(console: &str, emitter: FpsEmitter, expected: &[(&str, FpsUnit, f64)]) {
    let log = read(console);
    assert_eq!(log.emitter, Some(emitter));
    let found: Vec<_> = log
        .streams
        .iter()
        .map(|stream| {
            let id = stream.id.as_ref().expect("a name").to_string();
            (id, stream.unit, stream.last_sample.expect("a sample"))
        })
        .collect();
    let expected: Vec<_> = expected
        .iter()
        .map(|&(id, unit, rate)| (id.to_owned(), unit, fps(rate)))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn an_empty_console() {
    let log = read("");
    assert_eq!(
        (log.emitter, log.windows_in_log, log.status),
        (None, 0, FpsStatus::None)
    );
    assert!(log.streams.is_empty() && log.aggregate().is_none());
}

#[test]
fn headers_alone_are_no_windows() {
    let log = read("**PERF:  FPS 0 (Avg)\tFPS 1 (Avg)\t\n**PERF:  FPS 0 (Avg)\tFPS 1 (Avg)\t\n");
    assert_eq!(
        (log.emitter, log.windows_in_log, log.status),
        (None, 0, FpsStatus::None)
    );
}

#[test]
fn each_emitter_is_told_apart() {
    use FpsUnit::{Buffers, Frames};
    check_ids(
        "**PERF:  30.10 (30.00)\t29.90 (1.00)\t",
        FpsEmitter::DeepstreamApp,
        &[("0", Frames, 30.1), ("1", Frames, 29.9)],
    );
    check_ids(
        "**PERF: 30.10 (30.00)\t29.90 (1.00)",
        FpsEmitter::ParallelInference,
        &[("0", Frames, 30.1), ("1", Frames, 29.9)],
    );
    check_ids(
        "Active sources : 1\n**PERF:  30.10 (30.00)\t",
        FpsEmitter::DeepstreamTest5,
        &[("0", Frames, 30.1)],
    );
    check_ids(
        "**PERF:  \nCam3[Hall (left)] 29.80 (30.01)\tCam1[Gate 2] 30.20 (29.99)\t",
        FpsEmitter::DeepstreamTest5,
        &[("Cam3", Frames, 29.8), ("Cam1", Frames, 30.2)],
    );
    check_ids(
        "29.80000 (30.00634)\tsource_id : 3 stream_name Camera_01",
        FpsEmitter::RtviCv,
        &[("3", Frames, 29.8)],
    );
    check_ids(
        "**FPS:  24.60 (12.26)\t25.00 (12.95)\t",
        FpsEmitter::MeasureFpsProbe,
        &[("0", Frames, 24.6), ("1", Frames, 25.0)],
    );
    check_ids(
        "**PERF: FPS 2 (Avg) 29.87",
        FpsEmitter::PerfMonitor,
        &[("2", Frames, 29.87)],
    );
    check_ids(
        "**PERF:  {'stream0': 29.79, 'gate': 30.0} ",
        FpsEmitter::PythonPerfData,
        &[("0", Frames, 29.79), ("gate", Frames, 30.0)],
    );
    check_ids(
        "Fps of stream 1 is  29.8",
        FpsEmitter::PythonGetFps,
        &[("1", Frames, 29.8)],
    );
    check_ids(
        "**PERF : FPS_0 (28.49)\tFPS_1 (28.50)\t",
        FpsEmitter::NvdsLogger,
        &[("0", Frames, 28.49), ("1", Frames, 28.5)],
    );
    check_ids(
        "/GstPipeline:p/GstFPSDisplaySink:end: last-message = rendered: 9, dropped: 0, current: 17.20, average: 18.00",
        FpsEmitter::FpsDisplaySink,
        &[("end", Buffers, 17.2)],
    );
    check_ids(
        "perf: fps_m.sink_4; timestamp: 72:58:32.7; fps: 30.041; mean_fps: 27.982",
        FpsEmitter::PerfElement,
        &[("4", Frames, 30.041)],
    );
    check_ids(
        "perf: behind; timestamp: 72:58:32.7; fps: 30.041; mean_fps: 27.982",
        FpsEmitter::PerfElement,
        &[("behind", Buffers, 30.041)],
    );
    check_ids(
        "FPS 0 (AVG)    FPS 1 (AVG)    \n30.00 (30.99)  31.00 (30.99)  ",
        FpsEmitter::DslSourceMeter,
        &[("0", Frames, 30.0), ("1", Frames, 31.0)],
    );
    check_ids(
        "Source '0' interval FPS avg = 29.97",
        FpsEmitter::DslDebugLog,
        &[("0", Frames, 29.97)],
    );
    check_ids(
        "AVG FPS (num_sources 4 * 65.370): 261.481",
        FpsEmitter::IpcTest,
        &[("each of 4", Frames, 65.37)],
    );
    check_ids(
        "**PERF: FPS0 12.40  FPS1 12.50  (total 24.90)",
        FpsEmitter::GdinoApp,
        &[("0", Frames, 12.4), ("1", Frames, 12.5)],
    );
    check_ids(
        "PERF(0): 29.97 (30.02)\t\nPERF(1): 29.95 (29.98)\t",
        FpsEmitter::DeepstreamApp,
        &[("0/0", Frames, 29.97), ("1/0", Frames, 29.95)],
    );
}

#[test]
fn lines_that_only_look_like_rates() {
    for line in [
        "30.00 (30.99)  30.00 (30.99)",
        "29.970030 30.275275 ",
        "**PERF:  abc (30.00)",
        "**PERF:  30.00",
        "**PERF:  {}",
        "**PERF:  {'stream0'}",
        "**PERF : FPS_0 28.49",
        "**PERF:  FPS 0 (Avg) 1.0 FPS 1 (Avg)",
        "GST_PERF: 30.00 (30.00)",
        "PERF 30.00 (30.00)",
        "PERF(x): 30.00 (30.00)",
        "Fps of stream 0 is  450",
        "perf: name; timestamp: 1; mean_fps: 3.0",
        "rendered: 102, dropped: 0",
        "AVG FPS (num_sources x * 1): 2",
        "3.0 (3.0) source_id : x",
    ] {
        assert_eq!(read(line).emitter, None, "{line}");
    }
}

#[test]
fn a_time_in_front_and_other_line_ends() {
    let console = "2026-08-11T10:22:31Z **PERF:  10.00 (10.00)\t\r\n2026-08-11T10:22:36Z **PERF:  20.00 (15.00)\t\r\n";
    assert_eq!(aggregate_windows(&read(console)), [20.0]);
}

#[test]
fn bytes_that_are_not_utf8() {
    let log = read_bytes(
        b"\xff\xfe\n**PERF:  10.00 (10.00)\t\ngarbage \xc3( **PERF:  20.00 (15.00)\t\n\xf0",
    );
    assert_eq!(aggregate_windows(&log), [20.0]);
}

#[test]
fn a_last_line_without_an_end() {
    let log = read("**PERF:  10.00 (10.00)\n**PERF:  20.00 (15.00)");
    assert_eq!(aggregate_windows(&log), [20.0]);
}

#[test]
fn fillers_are_no_samples() {
    for filler in ["--.--", "nan", "-nan", "inf", "-1.00"] {
        let line = |value: &str| format!("**FPS:  {value} (1.00)\t5.00 (1.00)\t\n");
        let log = read(&[line("9.00"), line("10.00"), line(filler), line("20.00")].concat());
        assert_eq!(log.streams[0].windows, [fps(10.0), fps(20.0)], "{filler}");
        // Only two windows hold a number of both streams.
        assert_eq!(aggregate_windows(&log), [15.0, 25.0], "{filler}");
        let aggregate = log.aggregate().expect("steady windows");
        assert_eq!(
            (aggregate.mean, aggregate.n_windows),
            (fps(20.0), 2),
            "{filler}"
        );
    }
}

#[test]
fn zeros_after_running_are_a_stall_and_not_a_rate() {
    let log = read(&deepstream_app(&[&[0.0, 0.0], &[0.0, 0.0]]));
    assert_eq!(log.status, FpsStatus::Stall);
    assert_eq!(statuses(&log), [FpsStatus::Stall, FpsStatus::Stall]);
    assert!(log.aggregate().is_none());
}

#[test]
fn zeros_at_the_end_of_a_stream_are_no_stall() {
    let mut console = deepstream_app(&[&[9.0], &[10.0], &[12.0], &[3.0], &[0.0]]);
    assert_eq!(read(&console).status, FpsStatus::Stall);
    console.push_str("** INFO: <bus_callback:328>: Received EOS. Exiting ...\n");
    let log = read(&console);
    assert!(log.saw_end_of_stream);
    assert_eq!(log.status, FpsStatus::Short { n: 2 });
    assert_eq!(aggregate_windows(&log), [10.0, 12.0]);
}

#[test]
fn a_stall_on_the_border_of_two_windows() {
    // The second stream gets one more frame in before everything stands still: no fault of the first.
    let log = read(&deepstream_app(&[
        &[9.0, 9.0],
        &[10.0, 10.0],
        &[7.0, 10.0],
        &[0.0, 0.2],
        &[0.0, 0.0],
    ]));
    assert_eq!(log.status, FpsStatus::Stall);
    assert_eq!(statuses(&log), [FpsStatus::Stall, FpsStatus::Stall]);
    assert_eq!(aggregate_windows(&log), [20.0]);
}

#[test]
fn a_source_that_never_starts() {
    let log = read(&deepstream_app(&[&[5.0, 0.0], &[10.0, 0.0], &[11.0, 0.0]]));
    assert_eq!(log.status, FpsStatus::Fault);
    assert_eq!(
        statuses(&log),
        [FpsStatus::Short { n: 2 }, FpsStatus::Fault]
    );
    let aggregate = log.aggregate().expect("the stream that ran");
    assert_eq!(
        (aggregate.n_streams, aggregate.status),
        (1, FpsStatus::Fault)
    );
}

#[test]
fn a_source_that_comes_back_keeps_its_gap() {
    // (10 + 0 + 20) / 3 frames a window were seen of it.
    let log = read(&deepstream_app(&[&[5.0], &[10.0], &[0.0], &[20.0]]));
    assert_eq!(log.streams[0].mean, Some(fps(10.0)));
    assert_eq!(log.status, FpsStatus::Short { n: 3 });
}

#[test]
fn streams_paced_at_two_rates() {
    let window: &[f64] = &[30.0, 25.0];
    let log = read(&deepstream_app(&[window; 7]));
    assert_eq!(
        statuses(&log),
        [
            FpsStatus::Paced { rate: fps(30.0) },
            FpsStatus::Paced { rate: fps(25.0) }
        ]
    );
    assert_eq!(log.status, FpsStatus::Paced { rate: fps(25.0) });
}

#[test]
fn one_stream_off_the_pace_frees_the_aggregate() {
    let window: &[f64] = &[30.0, 29.8];
    let log = read(&deepstream_app(&[window; 7]));
    assert_eq!(
        statuses(&log),
        [FpsStatus::Paced { rate: fps(30.0) }, FpsStatus::Ok]
    );
    assert_eq!(log.status, FpsStatus::Ok);
}

#[test]
fn steady_at_a_rate_that_no_source_has() {
    let window: &[f64] = &[178.0];
    assert_eq!(read(&deepstream_app(&[window; 7])).status, FpsStatus::Ok);
    assert_eq!(
        read(&deepstream_app(&[window; 6])).status,
        FpsStatus::Short { n: 5 }
    );
}

#[test]
fn a_name_that_goes_away_is_no_fault() {
    let console = "**PERF:  {'stream0': 5.0, 'stream1': 5.0}\n\
                   **PERF:  {'stream0': 10.0, 'stream1': 10.0}\n\
                   **PERF:  {'stream1': 12.0}\n";
    let log = read(console);
    assert_eq!(
        statuses(&log),
        [FpsStatus::Short { n: 1 }, FpsStatus::Short { n: 2 }]
    );
    let sets: Vec<_> = log
        .segments
        .iter()
        .map(|segment| (segment.n_streams, segment.mean))
        .collect();
    assert_eq!(sets, [(2, fps(20.0)), (1, fps(12.0))]);
}

#[test]
fn a_stream_that_ended_before_the_next_was_steady_is_no_fault() {
    let console = "**PERF:  {'stream0': 5.0}\n**PERF:  {'stream0': 10.0}\n**PERF:  {'stream0': 3.0}\n\
                   **PERF:  {'stream0': 0.0}\n**PERF:  {'stream0': 0.0, 'stream1': 4.0}\n\
                   **PERF:  {'stream1': 9.0}\n";
    let log = read(console);
    assert_eq!(
        statuses(&log),
        [FpsStatus::Short { n: 1 }, FpsStatus::Short { n: 1 }]
    );
}

#[test]
fn a_stall_marks_the_last_set_of_streams_only() {
    let console = "**PERF:  {'stream0': 5.0, 'stream1': 5.0}\n**PERF:  {'stream0': 10.0, 'stream1': 10.0}\n\
                   **PERF:  {'stream0': 12.0}\n**PERF:  {'stream0': 1.0}\n**PERF:  {'stream0': 0.0}\n";
    let log = read(console);
    assert_eq!(log.status, FpsStatus::Stall);
    let sets: Vec<_> = log
        .segments
        .iter()
        .map(|segment| (segment.n_streams, segment.status))
        .collect();
    assert_eq!(
        sets,
        [(2, FpsStatus::Short { n: 1 }), (1, FpsStatus::Stall)]
    );
}

#[test]
fn an_end_of_stream_before_the_start_is_of_another_run() {
    let mut console = "** INFO: <bus_callback:328>: Received EOS. Exiting ...\n".to_owned();
    console.push_str(&deepstream_app(&[&[9.0], &[10.0], &[3.0], &[0.0]]));
    assert_eq!(read(&console).status, FpsStatus::Stall);
}

#[test]
fn a_header_before_the_start_names_the_columns_after_it() {
    let console = "**PERF:  FPS 7 (Avg)\tFPS 4 (Avg)\t\n**PERF:  0.00 (0.00)\t0.00 (0.00)\t\nPipeline running\n\
                   **PERF:  5.00 (1.00)\t6.00 (1.00)\t\n";
    check_ids(
        console,
        FpsEmitter::DeepstreamApp,
        &[("7", FpsUnit::Frames, 5.0), ("4", FpsUnit::Frames, 6.0)],
    );
}

#[test]
fn values_on_the_line_of_a_marker_end_the_wait_for_the_next_line() {
    let log = read("**PERF:  \n**PERF:  5.00 (1.00)\t\n99.00 (99.00)\t\n");
    assert_eq!(
        (log.windows_in_log, log.streams[0].last_sample),
        (1, Some(fps(5.0)))
    );
}

#[test]
fn one_name_twice_on_a_line_counts_once() {
    let log = read("**PERF:  {'stream0': 5.0}\n**PERF:  {'stream0': 10.0, 'stream0': 10.0}\n");
    assert_eq!(aggregate_windows(&log), [10.0]);
}

#[test]
fn a_header_names_the_columns_around_it() {
    let console = "**PERF:  FPS 7 (Avg)\tFPS 4 (Avg)\t\n\
                   **PERF:  5.00 (1.00)\t6.00 (1.00)\t\n\
                   **PERF:  5.00 (1.00)\t6.00 (1.00)\t8.00 (1.00)\t\n\
                   **PERF:  FPS 9 (Avg)\tFPS 7 (Avg)\tFPS 4 (Avg)\t\n\
                   **PERF:  5.00 (1.00)\t6.00 (1.00)\t8.00 (1.00)\t\n\
                   **PERF:  6.00 (1.00)\t8.00 (1.00)\t\n";
    let log = read(console);
    let ids: Vec<_> = log.streams.iter().map(|stream| stream.id.clone()).collect();
    let index = |index| Some(FpsStreamId::Index(index));
    assert_eq!(
        ids,
        [index(7), index(4), index(9), index(7), index(4), None, None]
    );
}

#[test]
fn a_header_with_other_names_begins_another_set() {
    let console = "**PERF:  FPS 0 (Avg)\t\n**PERF:  5.00 (1.00)\t\n**PERF:  10.00 (1.00)\t\n\
                   **PERF:  FPS 3 (Avg)\t\n**PERF:  4.00 (1.00)\t\n**PERF:  20.00 (1.00)\t\n";
    let log = read(console);
    assert_eq!(log.streams.len(), 2);
    assert_eq!(log.streams[1].id, Some(FpsStreamId::Index(3)));
    assert_eq!(log.streams[1].windows, [fps(20.0)]);
}

#[test]
fn buffers_are_never_added_to_frames() {
    let sink = "rendered: 9, dropped: 0, current: 500.00, average: 18.00\n";
    let console = deepstream_app(&[&[5.0], &[10.0]]) + &sink.repeat(9);
    let log = read(&console);
    assert_eq!(log.emitter, Some(FpsEmitter::DeepstreamApp));
    assert_eq!(log.other_emitters, [FpsEmitter::FpsDisplaySink]);
    assert_eq!(
        (log.streams.len(), aggregate_windows(&log)),
        (1, vec![10.0])
    );

    let log = read(&sink.repeat(9));
    assert_eq!((log.status, log.aggregate()), (FpsStatus::Ok, None));
    assert_eq!(log.streams[0].mean, Some(fps(500.0)));
}

#[test]
fn frames_count_from_the_first_of_two_starts() {
    let console = "PERF(0): 1.00 (1.00)\t\nPipeline running\nPERF(0): 5.00 (1.00)\t\nPipeline running\n\
                   PERF(1): 5.00 (1.00)\t\nPERF(0): 10.00 (1.00)\t\nPERF(1): 20.00 (1.00)\t\n";
    let log = read(console);
    assert_eq!(
        (log.windows_in_log, aggregate_windows(&log)),
        (3, vec![30.0])
    );
}

#[test]
fn labelled_values_of_two_streams_on_lines_of_their_own() {
    let round =
        |a: f64, b: f64| format!("**PERF: FPS 0 (Avg) {a:.2}\n**PERF: FPS 1 (Avg) {b:.2}\n");
    let log = read(&(round(5.0, 5.0) + &round(10.0, 20.0) + &round(11.0, 21.0)));
    assert_eq!(
        (log.windows_in_log, aggregate_windows(&log)),
        (3, vec![30.0, 32.0])
    );
}

#[test]
fn a_total_over_another_number_of_sources() {
    let console = "AVG FPS (num_sources 4 * 10.0): 40.0\nAVG FPS (num_sources 2 * 11.0): 22.0\n\
                   AVG FPS (num_sources 4 * 12.0): 48.0\n";
    let log = read(console);
    let aggregate = log.aggregate().expect("the last average");
    assert_eq!((aggregate.n_streams, aggregate.mean), (4, fps(48.0)));
    assert_eq!(log.streams.len(), 1);
}

#[test]
fn averages_since_start_of_several_streams() {
    let console = "Source '0' session FPS avg = 10.0\nSource '1' session FPS avg = 11.0\n\
                   Source '0' session FPS avg = 20.0\n";
    let log = read(console);
    assert_eq!(log.status, FpsStatus::Cumulative);
    let aggregate = log.aggregate().expect("the last averages");
    assert_eq!((aggregate.n_streams, aggregate.mean), (2, fps(31.0)));
}

#[test]
fn more_columns_than_sources_can_be() {
    let line = |n: usize| format!("**PERF:  {}\n", "30.00 (30.00)\t".repeat(n));
    assert_eq!(read(&line(1024)).streams.len(), 1024);
    assert_eq!(read(&line(1025)).streams.len(), 0);
    let names: String = (0..2000)
        .map(|n| format!("Fps of stream {n} is  1.5\n"))
        .collect();
    assert_eq!(read(&names).streams.len(), 1024);
}

#[test]
fn a_line_without_end_costs_no_memory_and_no_window() {
    let mut reader = FpsReader::new();
    for _ in 0..40 {
        reader.push_bytes(&[b'x'; 1 << 16]);
    }
    reader.push_bytes(b"**PERF:  99.00 (99.00)\t\n**PERF:  10.00 (1.00)\t\n");
    let log = reader.finish();
    assert_eq!(
        (log.windows_in_log, log.streams[0].last_sample),
        (1, Some(fps(10.0)))
    );
}

#[test]
fn progress_while_the_pipeline_runs() {
    let mut reader = FpsReader::new();
    assert_eq!(reader.latest_aggregate(), None);
    reader.push_line("** INFO: <bus_callback:291>: Pipeline ready");
    reader.push_line("**PERF:  0.00 (0.00)\t0.00 (0.00)\t");
    assert_eq!(reader.latest_aggregate(), None);
    reader.push_line("** INFO: <bus_callback:277>: Pipeline running\n");
    assert_eq!(reader.latest_aggregate(), None);
    reader.push_line("**PERF:  10.00 (0.00)\t20.00 (0.00)\t");
    assert_eq!(reader.latest_aggregate(), Some(fps(30.0)));
    reader.push_bytes(b"**PERF:  20.00 (0.00)\t20.00 (0.00)");
    assert_eq!(reader.latest_aggregate(), Some(fps(30.0)));
    reader.push_bytes(b"\t\n");
    assert_eq!(reader.latest_aggregate(), Some(fps(40.0)));
}

#[test]
fn progress_where_streams_print_a_line_each() {
    let mut reader = FpsReader::new();
    reader.push_line("Fps of stream 0 is  10.0");
    reader.push_line("Fps of stream 1 is  20.0");
    // A third stream may follow.
    assert_eq!(reader.latest_aggregate(), None);
    reader.push_line("Fps of stream 0 is  11.0");
    assert_eq!(reader.latest_aggregate(), Some(fps(30.0)));
}
