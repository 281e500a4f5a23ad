//! Opens what a command works with: runner, bundle, recording, progress.

use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result};
use clap::ValueEnum as _;
use ds_config::Pipeline;
use ds_orchestrate::bundle::{Bundle, Inputs, RecordedBundle, StageName};
use ds_orchestrate::nvml::{LiveNvml, NvmlSource, RecordedNvml};
use ds_orchestrate::process::{Interrupt, Live, Record, Replay, Resume, Runner};
use ds_orchestrate::{DEFAULT_NSYS, Event, Session, Via, pipeline_hashes, read_pipeline};
use signal_hook::consts::{SIGINT, SIGTERM};

use crate::args::{BundleArgs, ViaArg};
use crate::exit::Usage;
use crate::load::{Arguments, Merged};
use crate::progress::Bar;

/// What the bundle arguments stand for, before anything runs.
pub(crate) struct Opened {
    recorded: Option<RecordedBundle>,
    bundle: Option<PathBuf>,
    interrupt: Interrupt,
    /// Raised once nothing runs any more that would have to be ended first: signals then do what they do by default.
    is_over: Arc<AtomicBool>,
}

impl Opened {
    /// Opens the recording, where one is named.
    pub(crate) fn new(args: &BundleArgs) -> Result<Self> {
        let recorded = args
            .replay
            .as_deref()
            .map(RecordedBundle::open)
            .transpose()
            .map_err(ds_orchestrate::Error::from)?;
        Ok(Self {
            recorded,
            bundle: args.bundle.clone(),
            interrupt: Interrupt::default(),
            is_over: Arc::default(),
        })
    }

    /// A file that the recording kept, where it has it.
    pub(crate) fn kept(&self, relative: &str) -> Result<Option<Vec<u8>>> {
        match &self.recorded {
            Some(recorded) if recorded.manifest().files.contains_key(relative) => Ok(Some(
                recorded
                    .read(relative)
                    .map_err(ds_orchestrate::Error::from)?,
            )),
            _ => Ok(None),
        }
    }

    /// Whether a recording answers in place of the machine.
    pub(crate) fn is_replay(&self) -> bool {
        self.recorded.is_some()
    }

    /// The session of nsys that was named, else the recorded one.
    pub(crate) fn attached(&self, named: Option<&String>) -> Option<String> {
        let recorded = || self.inputs()?.arguments.get("attach");
        named.or_else(recorded).cloned()
    }

    /// Whether the recording was made by a command that sweeps.
    pub(crate) fn holds_a_sweep(&self) -> bool {
        self.inputs()
            .is_some_and(|inputs| inputs.command != "profile")
    }

    fn inputs(&self) -> Option<&Inputs> {
        self.recorded
            .as_ref()
            .map(|recorded| &recorded.manifest().inputs)
    }

    /// `now`, and behind it what the recording was made with. What the environment says counts on the machine alone:
    /// a recording has its own.
    pub(crate) fn merged(&self, mut now: Arguments) -> Merged {
        if !self.is_replay()
            && !now.contains_key("gpu-index")
            && let Some(value) = visible_devices()
        {
            now.insert(VISIBLE.to_owned(), value);
        }
        self.with_recorded(now)
    }

    /// `now`, and behind it what the recording was made with.
    pub(crate) fn with_recorded(&self, now: Arguments) -> Merged {
        Merged::new(
            now,
            self.inputs()
                .map(|inputs| inputs.arguments.clone())
                .unwrap_or_default(),
        )
    }

    /// The sentence of the recording about who measured what.
    pub(crate) fn provenance(&self, now: Option<String>) -> Option<String> {
        now.or_else(|| self.inputs().and_then(|inputs| inputs.provenance.clone()))
    }

    /// The path of the pipeline that was named, else of the recorded one.
    pub(crate) fn pipeline_path(&self, named: Option<&String>) -> Result<String> {
        named
            .cloned()
            .or_else(|| self.inputs().and_then(|inputs| inputs.pipeline.clone()))
            .ok_or_else(|| {
                let reason = if self.is_replay() {
                    "the recording was made without one"
                } else {
                    "a file of deepstream-app, or a script with a gst-launch line"
                };
                Usage(format!("name the pipeline: {reason}")).into()
            })
    }

    /// The pipeline that was named, else the recorded one.
    pub(crate) fn pipeline(&self, named: Option<&String>) -> Result<(String, Pipeline)> {
        let path = self.pipeline_path(named)?;
        let pipeline = read_pipeline(&path)?;
        Ok((path, pipeline))
    }

    /// What differs between the files of the pipeline and those that the recording was made with.
    pub(crate) fn changed_files(&self, pipeline: &Pipeline) -> Vec<String> {
        let Some(inputs) = self.inputs() else {
            return Vec::new();
        };
        let now = pipeline_hashes(pipeline);
        let same: usize = now
            .iter()
            .filter(|(path, hash)| inputs.pipeline_files.get(*path) == Some(*hash))
            .count();
        if same == now.len() || inputs.pipeline_files.is_empty() {
            return Vec::new();
        }
        let names: Vec<&str> = now
            .iter()
            .filter(|(path, hash)| inputs.pipeline_files.get(*path) != Some(*hash))
            .map(|(path, _)| path.as_str())
            .collect();
        vec![format!(
            "the measurements were recorded with other contents or names of: {}",
            names.join(", ")
        )]
    }

    /// Runs `work` with a session: live or replayed, recorded where a bundle is asked for.
    pub(crate) fn with_session<T>(
        &self,
        command: &str,
        pipeline: Option<(&str, &Pipeline)>,
        merged: &Merged,
        provenance: Option<&str>,
        work: impl FnOnce(&mut Session<'_>) -> Result<T>,
    ) -> Result<T> {
        let bundle = match &self.bundle {
            Some(root) => {
                let inputs = Inputs {
                    command: command.to_owned(),
                    pipeline: pipeline.map(|(path, _)| path.to_owned()),
                    pipeline_files: pipeline
                        .map(|(_, p)| pipeline_hashes(p))
                        .unwrap_or_default(),
                    arguments: merged.arguments().clone(),
                    provenance: provenance.map(str::to_owned),
                };
                let bundle = Bundle::open(root, inputs).map_err(ds_orchestrate::Error::from)?;
                Some(Rc::new(RefCell::new(bundle)))
            }
            None => None,
        };
        let runner = self.runner(bundle.as_ref())?;
        let nvml = self.nvml(bundle.as_ref())?;
        let index: Option<u32> = merged.get("gpu-index")?;
        let visible: Option<String> = merged.get(VISIBLE)?.filter(|_| index.is_none());
        let files = self
            .bundle
            .clone()
            .or_else(|| self.recorded.as_ref().map(|r| r.root().to_owned()));
        // What is replayed takes no time.
        let mut bar = if self.is_replay() {
            Bar::silent()
        } else {
            Bar::new()
        };
        let mut progress = |event: &Event| bar.show(event);
        let mut session = Session {
            runner: &*runner,
            nvml: &*nvml,
            via: via(merged)?,
            files,
            bundle,
            nsys: merged
                .get("nsys")?
                .unwrap_or_else(|| DEFAULT_NSYS.to_owned()),
            gpu_index: index
                .or_else(|| first_index(visible.as_deref()?))
                .unwrap_or(0),
            visible,
            progress: &mut progress,
        };
        let result = work(&mut session);
        self.is_over.store(true, Ordering::Relaxed);
        result
    }

    /// Whether the user ended the run.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    /// Runs `work` with a session on this machine of which nothing is kept.
    pub(crate) fn on_machine<T>(
        merged: &Merged,
        work: impl FnOnce(&mut Session<'_>) -> Result<T>,
    ) -> Result<T> {
        let unkept = Self {
            recorded: None,
            bundle: None,
            interrupt: Interrupt::default(),
            is_over: Arc::default(),
        };
        unkept.with_session("", None, merged, None, work)
    }

    /// Who answers for NVML: a recording, what an earlier run on the bundle kept of a finished stage, or the machine.
    fn nvml(&self, bundle: Option<&Rc<RefCell<Bundle>>>) -> Result<Box<dyn NvmlSource>> {
        if let Some(recorded) = &self.recorded {
            return Ok(Box::new(RecordedNvml::new(recorded.clone())));
        }
        let bundle = bundle.map(|bundle| bundle.borrow());
        Ok(match bundle {
            Some(bundle) if bundle.manifest().finished().contains(&StageName::Hw) => {
                let earlier =
                    RecordedBundle::open(bundle.root()).map_err(ds_orchestrate::Error::from)?;
                Box::new(RecordedNvml::new(earlier))
            }
            _ => Box::new(LiveNvml),
        })
    }

    fn runner(&self, bundle: Option<&Rc<RefCell<Bundle>>>) -> Result<Box<dyn Runner>> {
        let root = bundle.map(|bundle| bundle.borrow().root().to_owned());
        Ok(match (&self.recorded, bundle) {
            (Some(recorded), None) => {
                Box::new(Replay::new(recorded.clone()).map_err(ds_orchestrate::Error::from)?)
            }
            (Some(recorded), Some(bundle)) => {
                let mut replay =
                    Replay::new(recorded.clone()).map_err(ds_orchestrate::Error::from)?;
                if let Some(root) = &root {
                    replay = replay.copy_files_to(root);
                }
                Box::new(Record::new(replay, Rc::clone(bundle)))
            }
            (None, bundle) => {
                for signal in [SIGINT, SIGTERM] {
                    // The first one ends the program that runs and keeps the bundle. Who asks again does not want to wait
                    // for that: dsprof ends at once, and the guard of the runner ends what is left. Where no program runs
                    // any more, the first one ends dsprof.
                    let is_over = Arc::clone(&self.is_over);
                    signal_hook::flag::register_conditional_shutdown(
                        signal,
                        INTERRUPTED,
                        self.interrupt.flag(),
                    )
                    .and_then(|_| signal_hook::flag::register_conditional_default(signal, is_over))
                    .and_then(|_| signal_hook::flag::register(signal, self.interrupt.flag()))
                    .context("cannot listen for signals")?;
                }
                let mut live = Live::new(self.interrupt.clone());
                if let Some(root) = &root {
                    live = live.with_bundle_root(root);
                }
                match bundle {
                    Some(bundle) => resumed(bundle, live)?,
                    None => Box::new(live),
                }
            }
        })
    }
}

/// 128 and the number of SIGINT, as shells count.
const INTERRUPTED: i32 = 130;

/// The name under which a bundle keeps what the environment said about the GPUs.
const VISIBLE: &str = "cuda-visible-devices";

fn visible_devices() -> Option<String> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the binary reads the environment and passes it on"
    )]
    let value = std::env::var_os("CUDA_VISIBLE_DEVICES")?;
    Some(value.to_string_lossy().into_owned())
}

/// The first entry of `CUDA_VISIBLE_DEVICES` where it is an index: commands that do not ask who the GPUs are need no
/// more.
fn first_index(visible: &str) -> Option<u32> {
    visible.split(',').next()?.trim().parse().ok()
}

fn via(merged: &Merged) -> Result<Via> {
    let text: Option<String> = merged.get("via")?;
    Ok(match text.as_deref() {
        None => Via::Both,
        Some(text) => ViaArg::from_str(text, false)
            .map_err(|error| Usage(format!("--via `{text}`: {error}")))?
            .into(),
    })
}

/// Records what runs, and takes the stages that an earlier run on the bundle finished from there.
fn resumed(bundle: &Rc<RefCell<Bundle>>, live: Live) -> Result<Box<dyn Runner>> {
    let finished = bundle.borrow().manifest().finished();
    let record = Record::new(live, Rc::clone(bundle));
    if finished.is_empty() {
        return Ok(Box::new(record));
    }
    let earlier =
        RecordedBundle::open(bundle.borrow().root()).map_err(ds_orchestrate::Error::from)?;
    let earlier = Replay::new(earlier).map_err(ds_orchestrate::Error::from)?;
    Ok(Box::new(Resume::new(finished, earlier, record)))
}
