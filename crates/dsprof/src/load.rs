//! From arguments to what the stages take; a recorded run fills in what was left out.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context as _, Result};
use ds_ceilings::{Batch, Codec, Fps, Resolution, StreamCount};
use ds_derive::{DeepStreamVersion, Dims, MuxSizeWish, OutputWish, PrecisionWish};
use ds_orchestrate::{GateId, GpuMetrics, Launch, Scope, TuneRequest, Wishes};

use crate::args::{LoadArgs, MuxSize, Output, WishArgs};
use crate::exit::Usage;

/// Arguments by name, as a bundle keeps them.
pub(crate) type Arguments = BTreeMap<String, String>;

/// The arguments that decide what runs, as a bundle keeps them.
pub(crate) fn recorded(wishes: &WishArgs, load: &LoadArgs, gpu_index: Option<u32>) -> Arguments {
    let mut out = Arguments::new();
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            out.insert(name.to_owned(), value);
        }
    };
    put("streams", text(wishes.streams));
    put("fps", text(wishes.fps));
    put("dims", wishes.dims.clone());
    put("source-size", wishes.source_size.clone());
    put("codec", wishes.codec.clone());
    put("fp32", wishes.fp32.then(|| "yes".to_owned()));
    put(
        "mux-size",
        wishes.mux_size.map(|size| match size {
            MuxSize::Model => "model".to_owned(),
            MuxSize::Source => "source".to_owned(),
        }),
    );
    put(
        "output",
        wishes.output.map(|output| match output {
            Output::None => "none".to_owned(),
            Output::Visible => "visible".to_owned(),
            Output::Recorded => "recorded".to_owned(),
        }),
    );
    put("deepstream", wishes.deepstream.clone());
    put("tracks", crate::tracks::recorded(&wishes.tracks));
    put("max-batch", text(load.max_batch));
    let batches: Vec<String> = load.batches.iter().map(ToString::to_string).collect();
    put("batches", (!batches.is_empty()).then(|| batches.join(",")));
    put("launch", load.launch.clone());
    put("e2e-launch", load.e2e_launch.clone());
    put("seconds", text(load.seconds));
    put("repeat", text(load.repeat));
    put("trace-seconds", text(load.trace_seconds));
    put("nsys-timeout", text(load.nsys_timeout));
    put("gpu-metrics", load.gpu_metrics.then(|| "yes".to_owned()));
    let waived: Vec<&str> = load.waive.iter().map(|gate| gate.name()).collect();
    put("waive", (!waived.is_empty()).then(|| waived.join(",")));
    put("skip-profile", load.skip_profile.then(|| "yes".to_owned()));
    put("nsys", load.nsys.clone());
    put("gpu-index", text(gpu_index));
    out
}

fn text(value: Option<impl Display>) -> Option<String> {
    value.map(|value| value.to_string())
}

/// What was given now, and behind it what a recording was made with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Merged(Arguments);

impl Merged {
    /// `now` wins over `recorded`.
    pub(crate) fn new(now: Arguments, recorded: Arguments) -> Self {
        let mut all = recorded;
        all.extend(now);
        Self(all)
    }

    /// The arguments as a bundle keeps them.
    pub(crate) fn arguments(&self) -> &Arguments {
        &self.0
    }

    /// One argument, read as a `T`.
    pub(crate) fn get<T: FromStr>(&self, name: &str) -> Result<Option<T>>
    where
        T::Err: Display,
    {
        let Some(text) = self.0.get(name) else {
            return Ok(None);
        };
        match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(Usage(format!("--{name} `{text}`: {error}")).into()),
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The load, for a pipeline that itself has `own` streams.
    pub(crate) fn wishes(&self, own: Option<u32>) -> Result<Wishes> {
        let streams = match (self.get::<u32>("streams")?, own) {
            (Some(0), _) => {
                return Err(Usage(
                    "--streams 0: a pipeline without streams does nothing; give at least 1"
                        .to_owned(),
                )
                .into());
            }
            (Some(n), _) | (None, Some(n)) if n > 0 => n,
            _ => {
                return Err(Usage(
                    "the files do not say how many streams there are: give --streams".to_owned(),
                )
                .into());
            }
        };
        let mut wishes = Wishes::new(StreamCount::new(streams), self.fps()?);
        wishes.dims = match self.text("dims") {
            Some(text) => Some(dims(text)?),
            None => None,
        };
        wishes.source_size = self.get::<Resolution>("source-size")?;
        wishes.codec = self.get::<Codec>("codec")?;
        if self.0.contains_key("fp32") {
            wishes.precision = PrecisionWish::Fp32;
        }
        wishes.mux_size = match self.text("mux-size") {
            Some("model") => MuxSizeWish::Model,
            Some("source") => MuxSizeWish::Source,
            _ => MuxSizeWish::ByRule,
        };
        wishes.output = match self.text("output") {
            Some("visible") => OutputWish::Visible,
            Some("recorded") => OutputWish::Recorded,
            _ => OutputWish::None,
        };
        wishes.deepstream = match self.text("deepstream") {
            Some(text) => Some(release(text)?),
            None => None,
        };
        Ok(wishes)
    }

    /// Frames per second of each stream; 30 where nobody says.
    pub(crate) fn fps(&self) -> Result<Fps> {
        positive_fps("fps", self.get("fps")?.unwrap_or(30.0))
    }

    /// What to run.
    pub(crate) fn request(
        &self,
        wishes: Wishes,
        provenance: Option<String>,
    ) -> Result<TuneRequest> {
        let launch = |name| self.text(name).map(Launch::parse).transpose();
        let batches: Vec<u32> = match self.text("batches") {
            Some(text) => text
                .split(',')
                .map(|b| b.trim().parse())
                .collect::<Result<_, _>>()
                .map_err(|_| {
                    Usage(format!(
                        "--batches `{text}`: give whole numbers with commas between"
                    ))
                })?,
            None => Vec::new(),
        };
        let mut batches: Vec<Batch> = batches
            .into_iter()
            .map(|b| {
                Batch::new(b)
                    .ok_or_else(|| Usage("a batch of 0 holds no frame; give at least 1".to_owned()))
            })
            .collect::<Result<_, _>>()?;
        batches.sort_unstable();
        batches.dedup();
        let max_batch = self.get("max-batch")?;
        if max_batch == Some(0) {
            return Err(Usage(
                "--max-batch 0: a batch of 0 holds no frame; give at least 1".to_owned(),
            )
            .into());
        }
        let seconds = self.get("seconds")?.unwrap_or(30);
        let trace_seconds = self.get("trace-seconds")?.unwrap_or(5);
        if seconds == 0 || trace_seconds == 0 {
            return Err(Usage(
                "a load that runs for 0 seconds shows no rate; give at least 1".to_owned(),
            )
            .into());
        }
        let repeat = self.get("repeat")?.unwrap_or(1);
        if repeat == 0 {
            return Err(Usage(
                "--repeat 0: a batch that is not run shows no rate; give at least 1".to_owned(),
            )
            .into());
        }
        Ok(TuneRequest {
            wishes,
            max_batch,
            batches,
            launch: launch("launch")?,
            e2e_launch: launch("e2e-launch")?,
            scope: if self.0.contains_key("skip-profile") {
                Scope::WithoutProfile
            } else {
                Scope::Whole
            },
            seconds,
            repeat,
            trace_seconds,
            gpu_metrics: self.gpu_metrics(),
            nsys_patience: self.nsys_patience()?,
            waived: match self.text("waive") {
                Some(text) => text
                    .split(',')
                    .map(|name| name.parse::<GateId>())
                    .collect::<Result<_, _>>()
                    .map_err(|error| Usage(format!("--waive: {error}")))?,
                None => Vec::new(),
            },
            provenance,
        })
    }

    /// How long nsys may take beyond the traced time.
    pub(crate) fn nsys_patience(&self) -> Result<Duration> {
        let seconds = self.get("nsys-timeout")?.unwrap_or(300);
        Ok(Duration::from_secs(seconds))
    }

    /// Whether metrics of the GPU are sampled beside a trace.
    pub(crate) fn gpu_metrics(&self) -> GpuMetrics {
        if self.0.contains_key("gpu-metrics") {
            GpuMetrics::Sampled
        } else {
            GpuMetrics::LeftOut
        }
    }
}

/// A frame rate above 0.
pub(crate) fn positive_fps(name: &str, value: f64) -> Result<Fps> {
    Fps::new(value)
        .filter(|fps| fps.get() > 0.0)
        .ok_or_else(|| {
            Usage(format!(
                "--{name} {value}: a frame rate is a number above 0, in frames per second"
            ))
            .into()
        })
}

/// `3;544;960`, and the same with `x` or `,` between, which need no quotes in a shell.
fn dims(text: &str) -> Result<Dims> {
    let with_semicolons = text.replace([',', 'x'], ";");
    Dims::parse(&with_semicolons).ok_or_else(|| {
        Usage(format!(
            "--dims `{text}`: give channels, height and width, for example 3;544;960"
        ))
        .into()
    })
}

fn release(text: &str) -> Result<DeepStreamVersion> {
    let parse = || {
        let (major, minor) = text.split_once('.')?;
        Some(DeepStreamVersion {
            major: major.parse().ok()?,
            minor: minor.parse().ok()?,
        })
    };
    parse().with_context(|| {
        Usage(format!(
            "--deepstream `{text}`: give major and minor, for example 9.1"
        ))
    })
}
