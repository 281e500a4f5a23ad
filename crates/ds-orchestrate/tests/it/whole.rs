//! The whole pipeline as the plan wants it measured: written into the bundle, run from there, and the user's files left alone.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use ds_ceilings::{Batch, Ceilings, Fps, GpuIdentity, GpuTable, StreamCount};
use ds_derive::{Outcome, Plan, SweepPoint, Variant, derive, plateau};
use ds_orchestrate::bundle::{Bundle, Inputs, RecordedBundle};
use ds_orchestrate::process::{CommandSpec, Exit, Interrupt, Live, Record, Replay, Runner};
use ds_orchestrate::{
    DiskFiles, GateId, GateState, GpuMetrics, Scope, Subject, TuneRequest, Whole, WholeRequest,
    Wishes, benchmark_variant, facts_of, fit_to_installed, plan_edits, profile_whole,
    read_pipeline,
};

use crate::stages::Machine;
use crate::support::{Fake, files_below, folder, not_found, outcome, put, set_mode, testdata};

/// The pipeline as a command line, beside a `gst-launch-1.0` that prints what it was given and then frame rates.
fn pipeline_folder(root: &Path) -> String {
    let from = testdata("pipelines/resnet152/gst-launch");
    let script = fs::read_to_string(from.join("pipeline.sh")).expect("it is shipped");
    let script = script.replace(
        "set -eu\n",
        "set -eu\ncd \"$(dirname \"$0\")\"\nPATH=\"$PWD/bin:$PATH\"\n",
    );
    put(&root.join("pipeline.sh"), script);
    let config = "config_infer_primary_resnet152.txt";
    put(
        &root.join(config),
        fs::read(from.join(config)).expect("it is shipped"),
    );
    fs::create_dir(root.join("bin")).expect("a folder");
    let program = root.join("bin/gst-launch-1.0");
    put(
        &program,
        "#!/bin/sh\necho \"$*\"\ncat config_infer_primary_resnet152.txt\n\
         echo '** INFO: <bus_callback:277>: Pipeline running'\n\
         for i in 1 2 3 4 5 6 7 8 9; do echo '**PERF:  30.00 (30.00)'; done\n",
    );
    set_mode(&program, 0o755);
    root.join("pipeline.sh").display().to_string()
}

fn wishes() -> Wishes {
    let mut wishes = Wishes::new(StreamCount::new(8), Fps::new(30.0).expect("a rate"));
    wishes.dims = ds_derive::Dims::new(3, 448, 448);
    wishes
}

fn request() -> TuneRequest {
    TuneRequest {
        wishes: wishes(),
        max_batch: None,
        batches: Vec::new(),
        launch: None,
        e2e_launch: None,
        scope: Scope::Whole,
        seconds: 1,
        repeat: 1,
        trace_seconds: 1,
        gpu_metrics: GpuMetrics::LeftOut,
        nsys_patience: Duration::from_secs(20),
        waived: Vec::new(),
        provenance: None,
    }
}

/// A plan for a batch of eight.
fn plan(pipeline: &ds_config::Pipeline) -> Plan {
    let h200 = Ceilings::new(&GpuIdentity::named("NVIDIA H200"), GpuTable::built_in());
    let mut facts = facts_of(pipeline, &wishes(), Some(&h200), &DiskFiles);
    let points: Vec<SweepPoint> = [(1, 68.1), (2, 141.8), (4, 279.2), (8, 562.2)]
        .into_iter()
        .map(|(batch, rate)| SweepPoint {
            batch: Batch::new(batch).expect("a batch"),
            streams: StreamCount::new(batch),
            outcome: Outcome::Ran {
                windows: vec![Fps::new(rate).expect("a rate"); 8],
            },
        })
        .collect();
    facts.plateau = Some(plateau(&points, facts.streams));
    derive(&facts)
}

/// Profiles with `runner`, of which nsys is none.
fn run(
    runner: &dyn Runner,
    files: &Path,
    bundle: Option<Rc<RefCell<Bundle>>>,
    entry: &str,
    request: &TuneRequest,
) -> Whole {
    let pipeline = read_pipeline(entry).expect("a pipeline");
    let plan = plan(&pipeline);
    let machine = Machine {
        files: Some(files),
        bundle,
        nsys: "/no/such/nsys",
        ..Machine::new(runner)
    };
    let wanted = WholeRequest {
        pipeline: &pipeline,
        request,
        plan: Some(&plan),
        batch: Batch::new(8).expect("a batch"),
    };
    let (whole, _) = machine.session(|session| profile_whole(session, &wanted));
    whole.expect("the pipeline runs")
}

#[test]
fn the_variant_runs_from_the_bundle_and_replays() {
    let folder = folder();
    let home = folder.path().join("home");
    fs::create_dir(&home).expect("a folder");
    let entry = pipeline_folder(&home);
    let before: Vec<(String, Vec<u8>)> = files_below(&home)
        .into_iter()
        .map(|file| (file.clone(), fs::read(home.join(file)).expect("a file")))
        .collect();

    let root = folder.path().join("bundle");
    let bundle = Rc::new(RefCell::new(
        Bundle::open(&root, Inputs::default()).expect("a new bundle"),
    ));
    let live = Live::new(Interrupt::default()).with_bundle_root(&root);
    let runner = Record::new(live, Rc::clone(&bundle));
    let whole = run(&runner, &root, Some(bundle), &entry, &request());
    drop(runner);

    let reading = whole.reading.as_ref().expect("it ran");
    assert_eq!(reading.subject, Subject::BenchmarkVariant);
    assert!(
        matches!(reading.clean, Outcome::Ran { .. }),
        "{:?}",
        reading.clean
    );
    // What ran is what was planned: the batch on the command line, FP16 in the file that it names.
    let printed = fs::read_dir(root.join("commands"))
        .expect("commands")
        .filter_map(|entry| fs::read_to_string(entry.ok()?.path()).ok())
        .find(|text| text.contains("Pipeline running"))
        .expect("the output of the run");
    for part in ["batch-size=8", "fakesink", "network-mode=2"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    // The user's files are as they were, the edited ones are kept, and nothing else of the tree is left.
    for (file, bytes) in before {
        assert_eq!(
            fs::read(home.join(&file)).expect("it is there"),
            bytes,
            "{file}"
        );
    }
    let kept: Vec<String> = files_below(&root.join("variant"))
        .into_iter()
        .map(|file| file.rsplit('/').next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(kept, ["config_infer_primary_resnet152.txt", "pipeline.sh"]);

    let replay = Replay::new(RecordedBundle::open(&root).expect("a bundle")).expect("commands");
    let again = run(&replay, &root, None, &entry, &request());
    assert_eq!(again, whole);
}

#[test]
fn what_runs_where_the_variant_cannot() {
    let folder = folder();
    let entry = pipeline_folder(folder.path());
    let fake = Fake::new(|spec| match spec.program.as_str() {
        "sh" => Ok(outcome(Exit::Code(0), "", "")),
        _ => Err(not_found(spec)),
    });
    // Without a bundle there is no place for copies.
    let whole = run(&fake, folder.path(), None, &entry, &request());
    assert_eq!(whole.reading.expect("it ran").subject, Subject::AsItIs);
    assert!(
        whole
            .notes
            .iter()
            .any(|note| note.contains("needs a bundle")),
        "{:?}",
        whole.notes
    );
    // A load that was given runs in place of the pipeline, whatever its files say.
    let mut request = request();
    request.launch = Some(ds_orchestrate::Launch::parse("sh load {batch}").expect("a command"));
    let whole = run(&fake, folder.path(), None, &entry, &request);
    assert_eq!(whole.reading.expect("it ran").subject, Subject::GivenLoad);
    assert_eq!(whole.gates, []);
}

#[test]
fn a_gate_that_fails_stops_the_profile_unless_it_is_waived() {
    let folder = folder();
    let entry = pipeline_folder(folder.path());
    let script = fs::read_to_string(&entry).expect("a script");
    put(
        Path::new(&entry),
        script.replace("! queue ! mux.sink_0", "! queue leaky=2 ! mux.sink_0"),
    );
    let fake = Fake::new(|spec| match spec.program.as_str() {
        "sh" => Ok(outcome(Exit::Code(0), "", "")),
        _ => Err(not_found(spec)),
    });
    let mut request = request();
    let pipeline = read_pipeline(&entry).expect("a pipeline");
    let as_it_is = |request: &TuneRequest| {
        let machine = Machine::new(&fake);
        let wanted = WholeRequest {
            pipeline: &pipeline,
            request,
            plan: None,
            batch: Batch::new(1).expect("a batch"),
        };
        let (whole, _) = machine.session(|session| profile_whole(session, &wanted));
        whole.expect("no error")
    };
    let stopped = as_it_is(&request);
    assert_eq!(stopped.reading, None);
    assert!(
        stopped.notes[0].contains("gate `leaky`: fail")
            && stopped.notes[0].contains("--waive leaky"),
        "{:?}",
        stopped.notes
    );
    request.waived = vec![GateId::Leaky];
    let waived = as_it_is(&request);
    assert!(waived.reading.is_some());
    assert!(
        waived
            .gates
            .iter()
            .any(|gate| gate.state == GateState::Waived)
    );
}

#[test]
fn what_the_installed_element_lacks_is_withheld() {
    let folder = folder();
    let entry = pipeline_folder(folder.path());
    let pipeline = read_pipeline(&entry).expect("a pipeline");
    // A mux without `width` and `height` that takes four frames at most, as gst-inspect-1.0 would show it.
    let mux = "Element Properties:\n  batch-size          : Maximum number of buffers in a batch\n                        \
               flags: readable, writable\n                        Unsigned Integer. Range: 0 - 4 Default: 0 \n  \
               batched-push-timeout: Timeout in microseconds\n                        flags: readable, writable\n                        \
               Integer. Range: -1 - 2147483647 Default: -1 \n";
    let fake = Fake::new(|spec: &CommandSpec| match spec.args[0].as_str() {
        "nvstreammux" => Ok(outcome(Exit::Code(0), mux, "")),
        name => Ok(outcome(
            Exit::Code(255),
            "",
            format!("No such element or plugin '{name}'\n"),
        )),
    });
    let machine = Machine::new(&fake);
    let (fitted, _) =
        machine.session(|session| fit_to_installed(session, &pipeline, plan(&pipeline)));
    let fitted = fitted.expect("no error");
    let reasons: Vec<&str> = fitted
        .withheld()
        .map(|withheld| withheld.reason.as_str())
        .filter(|reason| reason.contains("gst-inspect"))
        .collect();
    assert!(
        reasons.contains(
            &"`batch-size` of the installed `nvstreammux` takes 0 to 4, as gst-inspect-1.0 shows, and 8 was derived"
        ),
        "{reasons:?}"
    );
    let edits = plan_edits(&pipeline, &fitted, Variant::Every).expect("edits");
    let diff = edits.unified_diff();
    assert!(
        diff.contains("batched-push-timeout=33333")
            && !diff.contains("+  nvstreammux name=mux batch-size=8"),
        "{diff}"
    );
    // Each kind of element is asked about once.
    let mut asked = fake.purposes();
    let n_asked = asked.len();
    asked.dedup();
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), n_asked);
    // Without the program nothing changes.
    let none = Fake::new(|spec| Err(not_found(spec)));
    let machine = Machine::new(&none);
    let (same, _) =
        machine.session(|session| fit_to_installed(session, &pipeline, plan(&pipeline)));
    assert_eq!(same.expect("no error"), plan(&pipeline));
    assert_eq!(none.asked().len(), 1);
}

#[test]
fn an_application_is_told_to_print_its_rate() {
    let folder = folder();
    let from = testdata("pipelines/resnet152/deepstream-app");
    for entry in fs::read_dir(&from).expect("it is shipped") {
        let path = entry.expect("an entry").path();
        put(
            &folder.path().join(path.file_name().expect("a name")),
            fs::read(&path).expect("a file"),
        );
    }
    let entry = folder.path().join("app.txt");
    let text = fs::read_to_string(&entry).expect("a file");
    put(
        &entry,
        text.replace("enable-perf-measurement=1", "enable-perf-measurement=0"),
    );
    let pipeline = read_pipeline(&entry.display().to_string()).expect("a pipeline");
    let variant = benchmark_variant(&pipeline, &plan(&pipeline)).expect("a variant");
    let (program, args) = variant.launch.fill(8, 8, 1);
    assert_eq!(program, "deepstream-app");
    assert_eq!(args, ["-c", "[BUNDLE]/variant/entry/app.txt"]);
    let after = variant
        .edits
        .files
        .iter()
        .map(|file| String::from_utf8_lossy(&file.after).into_owned())
        .collect::<String>();
    for part in [
        "enable-perf-measurement=1",
        "type=1",
        "sync=0",
        "file-loop=1",
    ] {
        assert!(after.contains(part), "{part}: {after}");
    }
    assert_eq!(variant.pipeline.streams(), Some(8));
}
