//! What the simulated machine costs, read from the environment, and the answer that follows from it.
//!
//! | variable | unit | default |
//! |---|---|---|
//! | `DSSIM_DECODE_FPS` | frames/s of one decoding engine | 609.35 |
//! | `DSSIM_DECODE_ENGINES` | engines, shared by all decoders of a process | 2 |
//! | `DSSIM_INFER_BASE_MS`, `DSSIM_INFER_FRAME_MS` | `a` and `b` of `a + b · batch`, ms | 1, 1 |
//! | `DSSIM_TRACKER_FRAME_MS` | ms a frame | 0 |
//! | `DSSIM_SOURCE_FPS` | frames/s of each stream's time stamps | 30 |
//! | `DSSIM_FILE_FRAMES` | frames of a file that is not looped | 100000 |
//! | `DSSIM_ENGINE_BUILD_MS` | ms, on the first run with an engine that does not exist | 0 |
//! | `DSSIM_START_MS` | ms before the first frame (slow start) | 0 |
//! | `DSSIM_FAULTS` | see [`Fault`] | none |
//! | `DSSIM_NVTX` | `on`, or `off` for a container without the injector | on |
//! | `DSSIM_STATE` | folder that the processes of one machine share | none |
//!
//! The defaults of decoding are those of the Tesla T4 that the stand-in `nvidia-smi` shows: two engines, and half of
//! the 1218.7 frames/s that `dsprof capacity --gpu 'Tesla T4' --codec h264 --source-size 1920x1080` states.

mod fault;
mod truth;

use std::path::PathBuf;
use std::time::Duration;

pub use fault::Fault;
pub use truth::{BoundBy, Load, Sinks, Truth};

/// The costs of one simulated machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Frames per second of one decoding engine.
    pub decode_fps: f64,
    /// Decoding engines.
    pub decode_engines: u32,
    /// What a batch costs before its first frame.
    pub infer_base: Duration,
    /// What each frame of a batch adds.
    pub infer_frame: Duration,
    /// What the tracker needs for a frame.
    pub tracker_frame: Duration,
    /// The rate of the time stamps of each stream, in frames per second.
    pub source_fps: f64,
    /// Frames of a file that is not looped.
    pub file_frames: u64,
    /// How long an engine is built where there is none.
    pub engine_build: Duration,
    /// How long the program is silent before its first frame.
    pub start: Duration,
    /// What goes wrong.
    pub faults: Vec<Fault>,
    /// Whether ranges are marked where a profiler listens.
    pub ranges: Ranges,
    /// The folder that the processes of one simulated machine share.
    pub state: Option<PathBuf>,
}

/// Whether NVTX ranges reach a profiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranges {
    /// They do.
    Marked,
    /// They do not, as in a container whose injector is missing.
    Missing,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            decode_fps: 609.35,
            decode_engines: 2,
            infer_base: Duration::from_millis(1),
            infer_frame: Duration::from_millis(1),
            tracker_frame: Duration::ZERO,
            source_fps: 30.0,
            file_frames: 100_000,
            engine_build: Duration::ZERO,
            start: Duration::ZERO,
            faults: Vec::new(),
            ranges: Ranges::Marked,
            state: None,
        }
    }
}

/// A variable that cannot be understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}={value}`: {what}")]
pub struct ModelError {
    name: String,
    value: String,
    what: String,
}

impl Model {
    /// The model that this process's environment describes.
    ///
    /// # Errors
    ///
    /// When a variable cannot be understood.
    pub fn from_env() -> Result<Self, ModelError> {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// The model that the variables describe; what is not there keeps its default.
    ///
    /// # Errors
    ///
    /// When a variable cannot be understood.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, ModelError> {
        let default = Self::default();
        let variables = Variables(&lookup);
        Ok(Self {
            decode_fps: variables.positive("DSSIM_DECODE_FPS", default.decode_fps)?,
            decode_engines: variables.read(
                "DSSIM_DECODE_ENGINES",
                default.decode_engines,
                |n| {
                    n.parse()
                        .ok()
                        .filter(|n| *n > 0)
                        .ok_or("a number of engines above 0 is needed")
                },
            )?,
            infer_base: variables.millis("DSSIM_INFER_BASE_MS", default.infer_base)?,
            infer_frame: variables.millis("DSSIM_INFER_FRAME_MS", default.infer_frame)?,
            tracker_frame: variables.millis("DSSIM_TRACKER_FRAME_MS", default.tracker_frame)?,
            source_fps: variables.positive("DSSIM_SOURCE_FPS", default.source_fps)?,
            file_frames: variables.read("DSSIM_FILE_FRAMES", default.file_frames, |n| {
                n.parse().map_err(|_| "a number of frames is needed")
            })?,
            engine_build: variables.millis("DSSIM_ENGINE_BUILD_MS", default.engine_build)?,
            start: variables.millis("DSSIM_START_MS", default.start)?,
            faults: variables.read("DSSIM_FAULTS", default.faults, Fault::parse_list)?,
            ranges: variables.read("DSSIM_NVTX", default.ranges, |word| match word {
                "on" => Ok(Ranges::Marked),
                "off" => Ok(Ranges::Missing),
                _ => Err("`on` or `off` is needed"),
            })?,
            state: lookup("DSSIM_STATE").map(PathBuf::from),
        })
    }

    /// The variables that describe this model, for the environment of a process.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let millis = |time: Duration| (time.as_secs_f64() * 1e3).to_string();
        let mut variables = vec![
            ("DSSIM_DECODE_FPS", self.decode_fps.to_string()),
            ("DSSIM_DECODE_ENGINES", self.decode_engines.to_string()),
            ("DSSIM_INFER_BASE_MS", millis(self.infer_base)),
            ("DSSIM_INFER_FRAME_MS", millis(self.infer_frame)),
            ("DSSIM_TRACKER_FRAME_MS", millis(self.tracker_frame)),
            ("DSSIM_SOURCE_FPS", self.source_fps.to_string()),
            ("DSSIM_FILE_FRAMES", self.file_frames.to_string()),
            ("DSSIM_ENGINE_BUILD_MS", millis(self.engine_build)),
            ("DSSIM_START_MS", millis(self.start)),
            (
                "DSSIM_NVTX",
                match self.ranges {
                    Ranges::Marked => "on".to_owned(),
                    Ranges::Missing => "off".to_owned(),
                },
            ),
        ];
        if !self.faults.is_empty() {
            let faults: Vec<String> = self.faults.iter().map(ToString::to_string).collect();
            variables.push(("DSSIM_FAULTS", faults.join(",")));
        }
        if let Some(state) = &self.state {
            variables.push(("DSSIM_STATE", state.display().to_string()));
        }
        variables
    }

    /// How long the GPU works on a batch.
    pub fn inference(&self, batch: u32) -> Duration {
        self.infer_base + self.infer_frame * batch
    }

    /// How long an engine decodes one frame.
    pub fn decode(&self) -> Duration {
        Duration::from_secs_f64(self.decode_fps.recip())
    }
}

/// Reads variables with the name in the error.
struct Variables<'a>(&'a dyn Fn(&str) -> Option<String>);

impl Variables<'_> {
    fn read<T, E: Into<String>>(
        &self,
        name: &str,
        default: T,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<T, ModelError> {
        let Some(value) = (self.0)(name) else {
            return Ok(default);
        };
        parse(value.trim()).map_err(|what| ModelError {
            name: name.to_owned(),
            value: value.clone(),
            what: what.into(),
        })
    }

    fn positive(&self, name: &str, default: f64) -> Result<f64, ModelError> {
        self.read(name, default, |text| {
            text.parse()
                .ok()
                .filter(|rate: &f64| rate.is_finite() && *rate > 0.0)
                .ok_or("a rate above 0 is needed")
        })
    }

    fn millis(&self, name: &str, default: Duration) -> Result<Duration, ModelError> {
        self.read(name, default, |text| {
            text.parse()
                .ok()
                .and_then(|millis: f64| Duration::try_from_secs_f64(millis / 1e3).ok())
                .ok_or("a time in milliseconds is needed")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_survives_the_environment() {
        let model = Model {
            decode_fps: 152.35,
            infer_base: Duration::from_micros(2400),
            tracker_frame: Duration::from_millis(6),
            faults: vec![
                Fault::OutOfMemory { batch: 8 },
                Fault::Stall {
                    after: Duration::from_millis(1500),
                },
            ],
            ranges: Ranges::Missing,
            state: Some("state".into()),
            ..Model::default()
        };
        let variables = model.variables();
        let read = Model::from_lookup(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.clone())
        });
        assert_eq!(read, Ok(model));
    }

    #[test]
    fn a_variable_without_sense_is_named() {
        for (name, value, what) in [
            ("DSSIM_DECODE_FPS", "0", "a rate above 0 is needed"),
            (
                "DSSIM_INFER_BASE_MS",
                "-1",
                "a time in milliseconds is needed",
            ),
            ("DSSIM_NVTX", "maybe", "`on` or `off` is needed"),
        ] {
            let read = Model::from_lookup(|asked| (asked == name).then(|| value.to_owned()));
            let error = read.expect_err("no sense").to_string();
            assert_eq!(error, format!("`{name}={value}`: {what}"));
        }
    }
}
