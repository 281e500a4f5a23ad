//! Exports of every age and shape: what is missing is absent, what is renamed is found, what is added is ignored.

use ds_nsys::{
    GpuWork, GraphTracing, KernelNaming, Nanos, Report, ReportKind, ReportOptions, SchemaVersion,
    Selection, Severity, Split, Trace, Trigger, Warning, Window,
};

use crate::support::{SmallTrace, csv, open, testdata};

/// One kernel in the layout of 2020: no tables of properties, no enumerations, columns in another order.
const OLD: &str = "
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
        streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER,
        gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
    INSERT INTO StringIds VALUES (1, 'void k<int>(int)'), (2, 'k');
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 30, 0, 1, 7, 1, 16777216, 1, 2, 1, 1, 1, 32, 1, 1);";

const KERNEL_CSV: &str = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n\
                          100.0,20,1,20.0,20.0,20,20,0.0,void k<int>(int)\n";

fn kern_sum(trace: &Trace) -> String {
    csv(trace, "cuda_gpu_kern_sum", ReportOptions::default())
}

#[test]
fn an_export_of_2020_says_nothing_about_itself_and_is_read() {
    let trace = SmallTrace::new(OLD).open();
    assert_eq!(trace.version().product, None);
    assert_eq!(trace.warnings(), [Warning::NoExportMeta]);
    assert!(!trace.capture().is_recorded());
    assert_eq!(
        (
            trace.capture().cuda_traced(),
            trace.session_duration().expect("readable")
        ),
        (None, None)
    );
    assert_eq!(kern_sum(&trace), KERNEL_CSV);
    // Mangled names came in 2022.1; before, the demangled ones are shown, as the original does.
    assert_eq!(
        csv(&trace, "gpukernsum:mangled", ReportOptions::default()),
        KERNEL_CSV
    );
    for kind in ReportKind::all() {
        trace
            .report(Report::from(kind), ReportOptions::default())
            .unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
}

fn with_meta(table: &str, schema: &str) -> SmallTrace {
    SmallTrace::new(OLD).and(&format!(
        "CREATE TABLE {table} (name TEXT, value TEXT);
         INSERT INTO {table} VALUES ('EXPORT_PRODUCT_VERSION', '2022.4.2.0'), ('EXPORT_SCHEMA_VERSION', '{schema}');"
    ))
}

#[test]
fn the_table_of_properties_has_two_names() {
    for table in ["EXPORT_META_DATA", "META_DATA_EXPORT"] {
        let trace = with_meta(table, "3.0.0").open();
        assert_eq!(
            trace.version().schema,
            Some(SchemaVersion {
                major: 3,
                minor: 0,
                micro: 0
            }),
            "{table}"
        );
        assert_eq!(
            trace.version().product.as_ref().expect("named").to_string(),
            "2022.4.2.0"
        );
        assert_eq!(trace.warnings(), []);
    }
}

#[test]
fn a_newer_layout_is_a_warning_and_is_read() {
    let trace = with_meta("META_DATA_EXPORT", "3.99.0").open();
    assert_eq!(
        trace.warnings()[0].to_string(),
        "export schema 3.99.0 is newer than 3.25.0, the newest one examined; columns are read by name"
    );
    assert_eq!(kern_sum(&trace), KERNEL_CSV);
}

#[test]
fn columns_that_users_added_change_nothing() {
    let trace = SmallTrace::new(OLD)
        .and(
            "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN name TEXT;
             ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN kernel_name TEXT DEFAULT 'x';
             CREATE TABLE notes (anything);",
        )
        .open();
    assert_eq!(kern_sum(&trace), KERNEL_CSV);
}

#[test]
fn a_missing_column_is_named() {
    let trace = SmallTrace::new(OLD)
        .and("ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL DROP COLUMN shortName;")
        .open();
    let report = "cuda_gpu_kern_sum:base".parse().expect("known");
    let error = trace
        .report(report, ReportOptions::default())
        .expect_err("no such names");
    assert!(
        error
            .to_string()
            .ends_with("table `CUPTI_ACTIVITY_KIND_KERNEL` has no column `shortName`"),
        "{error}"
    );
}

#[test]
fn strings_without_a_key_and_events_without_row_ids_are_read() {
    let trace = SmallTrace::new(OLD)
        .and(
            "CREATE TABLE s (id INTEGER, value TEXT); INSERT INTO s SELECT * FROM StringIds;
             DROP TABLE StringIds; ALTER TABLE s RENAME TO StringIds;
             ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO moved;
             CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT * FROM moved;",
        )
        .open();
    assert_eq!(kern_sum(&trace), KERNEL_CSV);
}

#[test]
fn ranges_out_of_a_view_are_numbered_as_they_come() {
    let sql =
        "ALTER TABLE NVTX_EVENTS RENAME TO moved; CREATE VIEW NVTX_EVENTS AS SELECT * FROM moved;";
    let table = SmallTrace::from_file("full.sql").open();
    let view = SmallTrace::from_file("full.sql").and(sql).open();
    let of = |trace: &Trace, report| csv(trace, report, ReportOptions::default());
    for report in ["nvtx_sum", "nvtx_kern_sum", "nvtx_gpu_proj_sum"] {
        assert_eq!(of(&view, report), of(&table, report), "{report}");
    }
    assert!(of(&view, "nvtx_pushpop_trace").contains(",:outer,100,100,0,2,1,,:1,"));
}

#[test]
fn empty_tables_and_missing_ones_give_the_same_empty_report() {
    let trace = SmallTrace::new(OLD)
        .and("DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER);")
        .open();
    for report in [
        "cuda_gpu_kern_sum",
        "nvtx_sum",
        "osrt_sum",
        "cuda_gpu_mem_size_sum",
        "um_sum",
    ] {
        let table = trace
            .report(report.parse().expect("known"), ReportOptions::default())
            .expect("readable");
        assert!(table.is_empty() && table.heading().is_none(), "{report}");
        assert_eq!(table.to_csv(), "");
    }
    assert_eq!(
        trace
            .kernel_summary(KernelNaming::Demangled, Selection::default())
            .expect("readable"),
        Some(Vec::new())
    );
    assert_eq!(
        trace
            .os_runtime_summary(Selection::default())
            .expect("readable"),
        None
    );
}

#[test]
fn a_share_of_nothing_is_empty() {
    let trace = SmallTrace::new(OLD)
        .and("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start;")
        .open();
    assert!(kern_sum(&trace).ends_with("\n,0,1,0.0,0.0,0,0,0.0,void k<int>(int)\n"));
}

/// Two processes with two devices each, among them one that only sets memory and one that only ran a graph.
const TWO_BY_TWO: &str = "
    CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER,
        contextId INTEGER, streamId INTEGER, demangledName INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER);
    CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER);
    INSERT INTO StringIds VALUES (1, 'k');
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
        (500, 600, 0, 16777216, 1, 7, 1), (100, 200, 0, 16777216, 1, 7, 1), (150, 300, 0, 16777216, 1, 8, 1),
        (100, 200, 0, 33554432, 1, 7, 1), (0, 0, 0, 33554432, 1, 7, 1), (90, 80, 0, 33554432, 2, 7, 1);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (250, 350, 0, 16777216);
    INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (10, 20, 1, 16777216);
    INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (400, 450, 1, 33554432);";

#[test]
fn every_device_of_every_process_has_its_own_busy_time() {
    let busy = SmallTrace::new(TWO_BY_TWO)
        .open()
        .busy(Window::ALL)
        .expect("readable");
    let found: Vec<_> = busy
        .devices
        .iter()
        .map(|d| {
            (
                d.device.process.pid(),
                d.device.ordinal,
                d.busy_time().0,
                d.overlap().0,
                d.dropped(),
                d.is_upper_figure(),
            )
        })
        .collect();
    // Process 1, device 0: [100, 350] and [500, 600]; the sum is 100 + 100 + 150 + 100.
    assert_eq!(
        found,
        [
            (1, 0, 350, 100, 0, false),
            (1, 1, 10, 0, 0, false),
            (2, 0, 100, 0, 2, false),
            (2, 1, 50, 0, 0, true)
        ]
    );
    // The gap lies on the merged timeline of the device: stream 8 fills what stream 7 leaves.
    let gaps: Vec<_> = busy.devices[0]
        .busy
        .gaps()
        .map(|gap| (gap.start.0, gap.end.0))
        .collect();
    assert_eq!(gaps, [(350, 500)]);
    let work = &busy.devices[2].work[&GpuWork::Kernel];
    assert_eq!((work.untimed, work.reversed, work.count), (1, 1, 1));
    assert!(busy.devices.iter().all(|d| {
        d.share_of_span()
            .is_some_and(|share| share.percent() <= 100.0)
    }));
}

#[test]
fn splits_keep_processes_devices_and_streams_apart() {
    let trace = SmallTrace::new(TWO_BY_TWO).open();
    let parts = |split| {
        let selection = Selection {
            split,
            ..Selection::default()
        };
        let kernels = trace
            .kernel_summary(KernelNaming::Demangled, selection)
            .expect("readable")
            .expect("kernels");
        kernels
            .iter()
            .map(|k| format!("{}: {}", k.scope, k.time.count))
            .collect::<Vec<_>>()
    };
    assert_eq!(parts(Split::Whole), ["all: 6"]);
    assert_eq!(parts(Split::Process), ["process 1: 3", "process 2: 3"]);
    assert_eq!(
        parts(Split::Device),
        ["process 1, device 0: 3", "process 2, device 0: 3"]
    );
    assert_eq!(
        parts(Split::Stream),
        [
            "process 1, device 0, context 1, stream 7: 2",
            "process 1, device 0, context 1, stream 8: 1",
            "process 2, device 0, context 1, stream 7: 2",
            "process 2, device 0, context 2, stream 7: 1",
        ]
    );
    let api = Selection {
        split: Split::Stream,
        ..Selection::default()
    };
    assert_eq!(trace.api_summary(api).expect("readable"), None);
}

#[test]
fn settings_and_diagnostics_of_recordings() {
    let trace = open(&testdata("captures/decode_graph/trace.sqlite.gz"));
    let capture = trace.capture();
    assert_eq!(
        (capture.graph_tracing(), capture.cuda_traced()),
        (Some(GraphTracing::Graph), Some(true))
    );
    assert_eq!(
        capture.event_types().collect::<Vec<_>>(),
        ["NvtxEvents", "Cuda"]
    );
    assert_eq!(
        (capture.start_trigger(), capture.stop_trigger()),
        (Some(Trigger::Immediate), Some(Trigger::Delayed))
    );
    assert_eq!(capture.value("PROCESS_0:WORKING_DIR"), None, "private");
    assert_eq!(
        trace.session_duration().expect("readable"),
        Some(Nanos(5_331_947_339))
    );
    let gpus = trace.gpus().expect("readable");
    assert_eq!(
        (
            gpus[0].name.as_deref(),
            gpus[0].sm_count,
            &*gpus[0].ordinals
        ),
        (Some("NVIDIA H200"), Some(132), &[(1623, 0)][..])
    );
    let processes = trace.processes().expect("readable");
    assert_eq!(
        (
            processes.len(),
            processes[0].key.pid(),
            processes[0].name.as_deref()
        ),
        (1, 1623, Some("python3"))
    );
    let diagnostics = trace.diagnostics().expect("readable");
    assert_eq!(
        (diagnostics.len(), diagnostics[0].severity),
        (14, Severity::Info)
    );
    assert_eq!(diagnostics[0].text, "Profiling has started.");

    let node = open(&testdata("captures/decode_node/trace.sqlite.gz"));
    assert_eq!(node.capture().graph_tracing(), Some(GraphTracing::Node));
    let nvtx = open(&testdata("captures/nvtxonly/trace.sqlite.gz"));
    assert_eq!(
        (nvtx.capture().cuda_traced(), nvtx.capture().nvtx_traced()),
        (Some(false), Some(true))
    );
}

#[test]
fn an_open_trace_never_writes() {
    let file = SmallTrace::new(OLD);
    let before = std::fs::read(file.path()).expect("the file");
    let trace = file.open();
    kern_sum(&trace);
    drop(trace);
    assert_eq!(std::fs::read(file.path()).expect("the file"), before);
}

#[test]
fn reports_are_known_by_old_and_new_names_with_their_options() {
    for (typed, canonical) in [
        ("gpukernsum", "cuda_gpu_kern_sum"),
        (
            "cuda_gpu_kern_sum:base:nvtx-name",
            "cuda_gpu_kern_sum:base:nvtx-name",
        ),
        (
            "cuda_gpu_trace:nvtx-name:base",
            "cuda_gpu_trace:base:nvtx-name",
        ),
        ("nvtxkernsum:mangled", "nvtx_kern_sum:mangled"),
        ("unifiedmemory:rows=20", "um_sum:rows=20"),
        ("nvtxppsum", "nvtx_pushpop_sum"),
    ] {
        let report: Report = typed
            .parse()
            .unwrap_or_else(|error| panic!("{typed}: {error}"));
        assert_eq!(report.to_string(), canonical);
        assert_eq!(canonical.parse::<Report>().expect("canonical"), report);
    }
    for (typed, says) in [
        (
            "gpu_metric_gpu_util_sum",
            "unknown report `gpu_metric_gpu_util_sum`",
        ),
        ("", "unknown report ``"),
        (
            "cuda_api_sum:base",
            "report `cuda_api_sum` takes no option `base`",
        ),
        (
            "nvtx_kern_sum:nvtx-name",
            "report `nvtx_kern_sum` takes no option `nvtx-name`",
        ),
        ("um_sum:rows=0", "report `um_sum` takes no option `rows=0`"),
        (
            "cuda_gpu_kern_sum:rows=5",
            "report `cuda_gpu_kern_sum` takes no option `rows=5`",
        ),
    ] {
        assert_eq!(
            typed.parse::<Report>().expect_err("unknown").to_string(),
            says
        );
    }
}
