//! `tegrastats`: what a Jetson prints instead of nvidia-smi's readings.

use crate::error::{Error, Output};
use crate::units::{Bytes, Fraction, Megahertz};

/// One line of tegrastats. `None` means that the line does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tegrastats {
    /// Memory in use by the whole machine.
    pub ram_used: Option<Bytes>,
    /// Memory of the whole machine, which is also the GPU's.
    pub ram_total: Option<Bytes>,
    /// Utilisation of the GPU.
    pub gpu: Option<Fraction>,
    /// Clocks of the GPU, one per graphics cluster.
    pub gpu_clocks: Vec<Megahertz>,
    /// Decoder engines, in the order of the line. Older devices list one only while it is in use.
    pub decoders: Vec<EngineState>,
    /// Encoder engines.
    pub encoders: Vec<EngineState>,
}

/// An engine of a Jetson.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineState {
    /// Not powered.
    Off,
    /// Powered; newer devices print the clock alone, and as root the utilisation too.
    On {
        /// How busy it is.
        share: Option<Fraction>,
        /// Its clock.
        clock: Option<Megahertz>,
    },
}

impl Tegrastats {
    /// Reads every line that carries a `RAM` figure.
    ///
    /// # Errors
    ///
    /// If no line does.
    pub fn parse(text: &str) -> Result<Vec<Self>, Error> {
        let lines: Vec<Self> = text
            .lines()
            .filter(|line| line.contains("RAM "))
            .map(Self::line)
            .collect();
        if lines.is_empty() {
            return Err(Error::Missing {
                output: Output::Tegrastats,
                what: "line with a `RAM` figure",
            });
        }
        Ok(lines)
    }

    /// A line is a row of names, each with a value behind it; names that this reader does not know
    /// are passed over.
    fn line(line: &str) -> Self {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut stats = Self::default();
        for (name, value) in words.iter().zip(words.iter().skip(1)) {
            match *name {
                "RAM" => (stats.ram_used, stats.ram_total) = ram(value),
                "GR3D_FREQ" => {
                    let (share, clocks) = load(value);
                    (stats.gpu, stats.gpu_clocks) = (share, clocks);
                }
                name if is_engine(name, "NVDEC") => stats.decoders.extend(engine(value)),
                name if is_engine(name, "NVENC") => stats.encoders.extend(engine(value)),
                _ => {}
            }
        }
        stats
    }
}

/// `NVDEC`, `NVDEC0`, `NVDEC1_FREQ`.
fn is_engine(word: &str, name: &str) -> bool {
    word.strip_prefix(name).is_some_and(|rest| {
        let rest = rest.strip_suffix("_FREQ").unwrap_or(rest);
        rest.chars().all(|c| c.is_ascii_digit())
    })
}

/// `20642/62817MB`, in MiB.
fn ram(value: &str) -> (Option<Bytes>, Option<Bytes>) {
    let mib = |text: &str| text.parse().ok().map(Bytes::from_mib);
    match value
        .strip_suffix("MB")
        .and_then(|value| value.split_once('/'))
    {
        Some((used, total)) => (mib(used), mib(total)),
        None => (None, None),
    }
}

/// `51%@307`, `84%@[713]`, `0%@[1300,1300]`, `@[314,314,314]`, `192`.
fn load(value: &str) -> (Option<Fraction>, Vec<Megahertz>) {
    let (share, clocks) = value.split_once('@').unwrap_or(("", value));
    let share = share
        .strip_suffix('%')
        .and_then(|text| text.parse::<u32>().ok());
    let clocks = clocks
        .trim_start_matches('[')
        .trim_end_matches(']')
        .split(',');
    (
        share.and_then(|percent| Fraction::from_percent(f64::from(percent))),
        clocks
            .filter_map(|clock| clock.parse().ok())
            .map(Megahertz::new)
            .collect(),
    )
}

/// `off`, or a load; anything else is no state.
fn engine(value: &str) -> Option<EngineState> {
    if value == "off" {
        return Some(EngineState::Off);
    }
    let (share, clocks) = load(value);
    let clock = clocks.first().copied();
    (share.is_some() || clock.is_some()).then_some(EngineState::On { share, clock })
}
