//! The stages, with a runner that answers in place of the machine.

mod hw;
mod jetson;
mod live_nsys;
mod nsys;
mod nvml;
mod profile;
mod sweep;
mod sweep_live;
mod visible;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::path::Path;
use std::rc::Rc;

use ds_orchestrate::bundle::{Bundle, BundleError};
use ds_orchestrate::nvml::{NvmlAnswer, NvmlSource};
use ds_orchestrate::process::Runner;
use ds_orchestrate::{Event, Session, Via};

/// A recording in which NVML was never asked.
struct Unasked;

impl NvmlSource for Unasked {
    fn read(&self) -> Result<Option<NvmlAnswer>, BundleError> {
        Ok(None)
    }
}

/// A machine, or a recording of one.
pub(crate) struct Machine<'a> {
    pub(crate) runner: &'a dyn Runner,
    pub(crate) nvml: &'a dyn NvmlSource,
    pub(crate) via: Via,
    pub(crate) visible: Option<&'a str>,
    pub(crate) files: Option<&'a Path>,
    pub(crate) bundle: Option<Rc<RefCell<Bundle>>>,
    pub(crate) nsys: &'a str,
}

impl<'a> Machine<'a> {
    /// A machine of which nvidia-smi alone can be asked.
    pub(crate) fn new(runner: &'a dyn Runner) -> Self {
        Self {
            runner,
            nvml: &Unasked,
            via: Via::Both,
            visible: None,
            files: None,
            bundle: None,
            nsys: "nsys",
        }
    }

    /// Runs `work` with a session and gives its result with the events in words.
    pub(crate) fn session<T>(self, work: impl FnOnce(&mut Session<'_>) -> T) -> (T, Vec<String>) {
        let mut events = Vec::new();
        let mut progress = |event: &Event| events.push(event.to_string());
        let mut session = Session {
            runner: self.runner,
            nvml: self.nvml,
            via: self.via,
            files: self.files.map(Path::to_owned),
            bundle: self.bundle,
            nsys: self.nsys.to_owned(),
            gpu_index: 0,
            visible: self.visible.map(str::to_owned),
            progress: &mut progress,
        };
        let result = work(&mut session);
        (result, events)
    }
}

/// Runs `work` with a session over `runner` and gives its result with the events in words.
fn with_session<T>(
    runner: &dyn Runner,
    files: Option<&Path>,
    work: impl FnOnce(&mut Session<'_>) -> T,
) -> (T, Vec<String>) {
    let machine = Machine {
        files,
        ..Machine::new(runner)
    };
    machine.session(work)
}

/// The console of deepstream-app with these rates of its streams, a line a window.
fn console(windows: &[&[f64]]) -> String {
    let mut text = "** INFO: <bus_callback:291>: Pipeline ready\n\n\
                    ** INFO: <bus_callback:277>: Pipeline running\n\n"
        .to_owned();
    for window in windows {
        text.push_str("**PERF:  ");
        for rate in *window {
            write!(text, "{rate:.2} ({rate:.2})\t").expect("a string takes everything");
        }
        text.push('\n');
    }
    text
}

/// Eight windows of one stream at about this rate, a partial one in front.
fn steady(rate: f64) -> String {
    let windows = [[rate]; 8];
    let mut all: Vec<&[f64]> = vec![&[3.0]];
    all.extend(windows.iter().map(|window| &window[..]));
    console(&all)
}

/// What `nvidia-smi dmon -s u` prints beside a load.
fn dmon() -> String {
    let header = "# gpu     sm    mem    enc    dec    jpg    ofa \n# Idx      %      %      %      %      %      % \n";
    let sample = "    0     90     40      0     20      0      0 \n";
    format!("{header}{}", sample.repeat(12))
}
