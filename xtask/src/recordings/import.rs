//! From console logs recorded by hand to a bundle.
//!
//! The main job runs over the logs as if they were printed now, so that the bundle holds exactly the commands that it
//! asks for. What was not recorded is not made up: durations are absent, and a program that was not asked for says so.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use ds_ceilings::{Fps, StreamCount};
use ds_orchestrate::bundle::{Bundle, Inputs, RecordedBundle};
use ds_orchestrate::nvml::RecordedNvml;
use ds_orchestrate::process::{
    CommandSpec, Exit, Heard, Outcome, OutputSink, OutputStream, Record, RunError, Runner,
    Together, Watch,
};
use ds_orchestrate::{
    GpuMetrics, Launch, Scope, Session, TuneRequest, Via, Wishes, pipeline_hashes, read_pipeline,
    tune,
};

use crate::export::{self, Window};

/// One set of logs and how the main job is to look at it.
struct Set {
    name: &'static str,
    sweep: &'static str,
    e2e: Option<E2e>,
    streams: u32,
    arguments: &'static [(&'static str, &'static str)],
    provenance: &'static str,
}

/// The whole pipeline of a set.
struct E2e {
    logs: &'static str,
    batch: u32,
    capture: &'static str,
    window: (u32, u32),
}

/// The pipeline that the logs stand for.
const PIPELINE: &str = "testdata/pipelines/resnet152/deepstream-app/app.txt";

const SETS: [Set; 2] = [
    Set {
        name: "h200-resnet152",
        sweep: "h200-infer-resnet152",
        e2e: Some(E2e {
            logs: "h200-pipeline-resnet152",
            batch: 8,
            capture: "e2e_resnet152",
            window: (12_000, 13_000),
        }),
        streams: 8,
        arguments: &[
            ("codec", "hevc"),
            ("dims", "3;448;448"),
            (
                "e2e-launch",
                "pipeline-resnet152 --sources {batch} --seconds {seconds}",
            ),
            ("fps", "30"),
            (
                "launch",
                "infer-resnet152 --batch {batch} --seconds {seconds}",
            ),
            ("max-batch", "32"),
            ("seconds", "7"),
            ("source-size", "1920x1080"),
            ("streams", "8"),
        ],
        provenance: "Measured on one NVIDIA H200 by two PyTorch programs that stand where DeepStream would stand: \
                     inference alone by an FP16 ResNet-152 fed with pinned frames, the whole pipeline by a Python \
                     program that decodes H.265 on NVDEC, batches and infers.",
    },
    Set {
        name: "h200-resnet50",
        sweep: "h200-infer-resnet50",
        e2e: None,
        streams: 32,
        arguments: &[
            ("dims", "3;224;224"),
            ("fps", "30"),
            (
                "launch",
                "infer-resnet50 --batch {batch} --seconds {seconds}",
            ),
            ("max-batch", "32"),
            ("seconds", "7"),
            ("skip-profile", "yes"),
            ("streams", "32"),
        ],
        provenance: "Inference alone was measured on one NVIDIA H200 by a PyTorch FP16 ResNet-50 fed with pinned \
                     frames, which stands where DeepStream would stand; the whole pipeline was not measured.",
    },
];

/// Makes the bundles of the logs below `shared`, with the identity that dsprof recorded in `hardware`, in `out`.
pub(crate) fn import(shared: &Path, hardware: &Path, out: &Path) -> Result<()> {
    for set in &SETS {
        let root = out.join(set.name);
        if root.exists() {
            bail!("`{}` exists already", root.display());
        }
        import_set(shared, hardware, set, &root)
            .with_context(|| format!("the set {}", set.name))?;
    }
    Ok(())
}

fn import_set(shared: &Path, hardware: &Path, set: &Set, root: &Path) -> Result<()> {
    let pipeline = read_pipeline(PIPELINE)?;
    let argument = |name: &str| {
        set.arguments
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| *value)
    };
    let inputs = Inputs {
        command: "tune".to_owned(),
        pipeline: Some(PIPELINE.to_owned()),
        pipeline_files: pipeline_hashes(&pipeline),
        arguments: set
            .arguments
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect(),
        provenance: Some(set.provenance.to_owned()),
    };
    let bundle = Rc::new(RefCell::new(Bundle::open(root, inputs)?));
    let logs = Logs {
        recordings: shared.join("recordings"),
        captures: shared.join("captures"),
        hardware: RecordedBundle::open(hardware)?,
        set,
        root: root.to_owned(),
    };
    let runner = Record::new(logs, Rc::clone(&bundle));
    let mut wishes = Wishes::new(
        StreamCount::new(set.streams),
        Fps::new(30.0).context("a rate")?,
    );
    wishes.dims = argument("dims").and_then(ds_derive::Dims::parse);
    wishes.codec = argument("codec").map(str::parse).transpose()?;
    wishes.source_size = argument("source-size").map(str::parse).transpose()?;
    let request = TuneRequest {
        wishes,
        max_batch: Some(32),
        batches: Vec::new(),
        launch: argument("launch").map(Launch::parse).transpose()?,
        e2e_launch: argument("e2e-launch").map(Launch::parse).transpose()?,
        scope: if set.e2e.is_some() {
            Scope::Whole
        } else {
            Scope::WithoutProfile
        },
        seconds: 7,
        repeat: 1,
        trace_seconds: 5,
        gpu_metrics: GpuMetrics::LeftOut,
        nsys_patience: Duration::from_secs(300),
        waived: Vec::new(),
        provenance: Some(set.provenance.to_owned()),
    };
    let mut silent = |_: &ds_orchestrate::Event| {};
    let mut session = Session {
        runner: &runner,
        nvml: &RecordedNvml::new(RecordedBundle::open(hardware)?),
        via: Via::default(),
        files: Some(root.to_owned()),
        bundle: Some(Rc::clone(&bundle)),
        nsys: "nsys".to_owned(),
        gpu_index: 0,
        visible: None,
        progress: &mut silent,
    };
    tune(&mut session, &pipeline, &request)?;
    bundle.borrow().save()?;
    drop(runner);
    fs::remove_file(root.join(".lock"))?;
    Ok(())
}

/// Answers the main job's commands from the logs.
struct Logs<'a> {
    recordings: PathBuf,
    captures: PathBuf,
    hardware: RecordedBundle,
    set: &'a Set,
    root: PathBuf,
}

impl Logs<'_> {
    fn answer(&self, spec: &CommandSpec) -> Result<Outcome, RunError> {
        let missing = || RunError::NotFound {
            program: spec.program.clone(),
        };
        let printed = |path: PathBuf| {
            fs::read(path)
                .map(|stdout| outcome(stdout, Exit::Code(0)))
                .map_err(|_| missing())
        };
        let e2e = self.set.e2e.as_ref();
        match spec.purpose.split('/').collect::<Vec<_>>()[..] {
            ["hw", _] => {
                let commands = self.hardware.commands()?;
                let command = commands
                    .iter()
                    .find(|c| c.purpose == spec.purpose)
                    .ok_or_else(missing)?;
                Ok(outcome(self.hardware.read(&command.stdout)?, Exit::Code(0)))
            }
            ["sweep", batch, "load"] => {
                printed(self.log(self.set.sweep, &format!("fps_{batch}.txt")))
            }
            ["sweep", batch, "dmon"] => self
                .dmon(self.set.sweep, batch.trim_start_matches('b'))
                .ok_or_else(missing),
            ["profile", "clean"] => {
                let e2e = e2e.ok_or_else(missing)?;
                printed(self.log(e2e.logs, &format!("fps_b{}.txt", e2e.batch)))
            }
            ["profile", "dmon"] => {
                let e2e = e2e.ok_or_else(missing)?;
                self.dmon(e2e.logs, &e2e.batch.to_string())
                    .ok_or_else(missing)
            }
            // Asked for and not recorded; the export names its writer.
            ["profile", "nsys-version"] => e2e
                .map(|_| outcome(Vec::new(), Exit::Code(0)))
                .ok_or_else(missing),
            ["profile", "capture"] => {
                let e2e = e2e.ok_or_else(missing)?;
                printed(self.captures.join(e2e.capture).join("nsys-profile.log"))
            }
            ["profile", "export"] => {
                let e2e = e2e.ok_or_else(missing)?;
                self.export(e2e).map_err(|_| missing())?;
                Ok(outcome(Vec::new(), Exit::Code(0)))
            }
            _ => Err(missing()),
        }
    }

    fn log(&self, folder: &str, file: &str) -> PathBuf {
        self.recordings.join(folder).join(file)
    }

    /// A sampler was stopped together with its load.
    fn dmon(&self, folder: &str, batch: &str) -> Option<Outcome> {
        let stdout = fs::read(self.log(folder, &format!("dmon_b{batch}.txt"))).ok()?;
        Some(outcome(stdout, Exit::Stopped))
    }

    fn export(&self, e2e: &E2e) -> Result<()> {
        let window = Window::from_millis(e2e.window.0, e2e.window.1)?;
        let target = self.root.join("trace/e2e.sqlite.gz");
        fs::create_dir_all(self.root.join("trace"))?;
        export::trim(
            &self.captures.join(e2e.capture).join("trace.sqlite"),
            &target,
            window,
        )
    }
}

impl Runner for Logs<'_> {
    fn run(&self, spec: &CommandSpec, sink: &mut OutputSink<'_>) -> Result<Outcome, RunError> {
        let outcome = self.answer(spec)?;
        let _ = sink(OutputStream::Stdout, &outcome.stdout);
        Ok(outcome)
    }

    fn run_beside(
        &self,
        main: &CommandSpec,
        sides: &[CommandSpec],
        watch: &mut Watch<'_>,
    ) -> Result<Together, RunError> {
        let outcome = self.run(main, &mut |stream, chunk| watch(Heard::Main(stream, chunk)))?;
        Ok((
            outcome,
            sides.iter().map(|side| self.answer(side)).collect(),
        ))
    }
}

fn outcome(stdout: Vec<u8>, exit: Exit) -> Outcome {
    Outcome {
        exit,
        stdout,
        stderr: Vec::new(),
        dropped: 0,
        duration: None,
        through: Vec::new(),
    }
}
