//! Pipeline time by element.

use ds_nsys::{Nanos, Plugin, PluginTime, RangeStyle, Window};

use crate::support::{SmallTrace, open, shared};

/// One thread, 1 = process 0, and what a DeepStream pipeline would mark on it.
const PIPELINE: &str = "
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER,
        globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
        nameId INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, globalPid INTEGER, correlationId INTEGER);
    INSERT INTO StringIds VALUES (1, 'ExecutionContext::enqueue'), (2, 'TensorRT');
    INSERT INTO NVTX_EVENTS VALUES
        (0, NULL, 75, 'GstNvInfer: UID=1', NULL, 1, NULL, 1),
        (0, NULL, 75, NULL, 2, 1, NULL, 2),
        (100, 200, 59, 'queueInput batch_num=0', NULL, 1, NULL, 1),
        (300, 420, 59, 'queueInput batch_num=1', NULL, 1, NULL, 1),
        (310, 400, 59, NULL, 1, 1, NULL, 2),
        (105, 500, 60, 'buffer_process batch_num=0', NULL, 1, 2, 1),
        (600, NULL, 59, 'osd_(Frame=8)', NULL, 2, NULL, 0),
        (610, 640, 59, 'tracker_nvtracker_process(Batch=3)', NULL, 2, NULL, 0);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (320, 330, 1, 5, 1), (410, 415, 1, 6, 1), (700, 710, 1, 7, 1);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (900, 1000, 0, 5), (1000, 1007, 0, 6), (1100, 1200, 0, 7);";

#[track_caller]
fn of(plugins: &[PluginTime], plugin: Plugin) -> &PluginTime {
    plugins
        .iter()
        .find(|time| time.owner.plugin == plugin)
        .expect("a plugin of this kind")
}

#[test]
fn ranges_fold_and_nested_time_belongs_to_the_inner_range() {
    let times = SmallTrace::new(PIPELINE)
        .open()
        .plugin_times(Window::ALL)
        .expect("readable")
        .expect("ranges");
    assert_eq!((times.open, times.crossing), (1, 1));
    let infer = of(&times.plugins, Plugin::Infer);
    assert_eq!(infer.owner.to_string(), "nvinfer (UID=1)");
    let ranges: Vec<_> = infer
        .ranges
        .iter()
        .map(|r| (r.text.as_str(), r.style, r.count, r.total, r.self_time))
        .collect();
    // 100 + 120 of queueInput, of which TensorRT takes 90; buffer_process lasts 395 and crosses threads.
    assert_eq!(
        ranges,
        [
            (
                "buffer_process batch_num=N",
                RangeStyle::StartEnd,
                1,
                Nanos(395),
                None
            ),
            (
                "queueInput batch_num=N",
                RangeStyle::PushPop,
                2,
                Nanos(220),
                Some(Nanos(130))
            ),
        ]
    );
    // From 100 to 500 without a gap.
    assert_eq!((infer.covered, infer.self_time), (Nanos(400), Nanos(130)));
    assert_eq!(
        infer.share_of(Nanos(1000)).expect("a wall").to_string(),
        "40.0 %"
    );
    let tensor_rt = of(&times.plugins, Plugin::TensorRt);
    assert_eq!(
        (tensor_rt.covered, tensor_rt.gpu_time, infer.gpu_time),
        (Nanos(90), Nanos(100), Nanos(7))
    );
    // The OSD's range is open and lasts until 640, the last time of any range; the tracker's lies within it.
    let osd = of(&times.plugins, Plugin::Osd);
    assert_eq!((osd.covered, osd.self_time), (Nanos(40), Nanos(10)));
    assert_eq!(
        of(&times.plugins, Plugin::Tracker).owner.to_string(),
        "nvtracker (tracker)"
    );
}

#[test]
fn a_window_takes_the_ranges_that_begin_in_it() {
    let window = Window {
        from: Nanos(300),
        to: Nanos(600),
    };
    let times = SmallTrace::new(PIPELINE)
        .open()
        .plugin_times(window)
        .expect("readable")
        .expect("ranges");
    let owners: Vec<_> = times.plugins.iter().map(|time| time.owner.plugin).collect();
    assert_eq!(owners, [Plugin::Infer, Plugin::TensorRt]);
}

#[test]
fn a_recorded_pipeline_on_nine_threads() {
    let Some(captures) = shared("captures") else {
        return;
    };
    let trace = open(&captures.join("e2e_resnet152/trace.sqlite"));
    let times = trace
        .plugin_times(Window::ALL)
        .expect("readable")
        .expect("ranges");
    let covered: Vec<_> = times
        .plugins
        .iter()
        .map(|time| (time.owner.to_string(), time.covered.0))
        .collect();
    // Unions over threads, computed by an independent script.
    assert_eq!(
        covered,
        [
            ("nvinfer (UID=1)".to_owned(), 2_298_219_540),
            ("TensorRT".to_owned(), 2_057_670_458),
            ("other".to_owned(), 692_043_454),
            ("nvstreammux".to_owned(), 523_646_980),
        ]
    );
    let infer = of(&times.plugins, Plugin::Infer);
    let buffer = infer
        .ranges
        .iter()
        .find(|range| range.text == "buffer_process batch_num=N")
        .expect("the outer range");
    assert_eq!(
        (buffer.count, buffer.self_time),
        (78, Some(Nanos(5_113_140)))
    );
    assert_eq!(of(&times.plugins, Plugin::Other).threads.len(), 8);
    println!("shared-test: a_recorded_pipeline_on_nine_threads");
}
