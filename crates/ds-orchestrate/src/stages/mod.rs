//! The stages of a run. Each takes a [`Session`] and gives a value; none prints and none knows the command line.

mod decoder_library;
mod export;
mod hw;
mod jetson;
mod launch;
mod nsys;
mod profile;
mod sampling;
mod sweep;
mod trace;
mod visible;
mod watch;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

pub use export::{DEFAULT_NSYS, ExportBeside, ExportRequest, KeepExport, export_traces};
pub use hw::{HwReading, Via, gpus_from_text, read_hw};
pub use launch::Launch;
pub use nsys::{Account, AttachReading, AttachRequest, Fallback, NsysVersion, attach};
pub use profile::{CaptureState, GpuMetrics, ProfileReading, ProfileRequest, Subject, profile};
pub use sampling::GpuLoad;
pub use sweep::{Counted, SweepReading, SweepRequest, SweptBatch, batches_to_try, sweep};
pub use trace::{DeviceReading, NamedTime, PluginReading, StepReading, TraceReading, read_trace};
pub use watch::Patience;

use crate::bundle::{Bundle, StageName, StageState};
use crate::error::Error;
use crate::nvml::NvmlSource;
use crate::process::{CommandSpec, Outcome, Recorded, RunError, Runner};
use crate::progress::{Event, Progress};

/// What a stage works with.
pub struct Session<'a> {
    /// Runs programs, or answers from a recording.
    pub runner: &'a dyn Runner,
    /// Asks NVML, or answers from a recording.
    pub nvml: &'a dyn NvmlSource,
    /// Which of the two says who the GPUs are.
    pub via: Via,
    /// Where files that programs leave behind are found: the bundle that is written, or the one that is replayed.
    pub files: Option<PathBuf>,
    /// The bundle that is written, where one is.
    pub bundle: Option<Rc<RefCell<Bundle>>>,
    /// Name or path of nsys.
    pub nsys: String,
    /// Index of the GPU that the work runs on.
    pub gpu_index: u32,
    /// The value of `CUDA_VISIBLE_DEVICES`, where it decides about the GPU.
    pub visible: Option<String>,
    /// Receives events.
    pub progress: &'a mut Progress<'a>,
}

impl Session<'_> {
    pub(crate) fn tell(&mut self, event: &Event) {
        (self.progress)(event);
    }

    /// Runs one stage, with its state in the bundle where one is written.
    ///
    /// # Errors
    ///
    /// When the stage fails or the bundle cannot be written.
    pub fn stage<T>(
        &mut self,
        stage: StageName,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        self.tell(&Event::Stage(stage));
        self.set_stage(stage, StageState::Started)?;
        match work(self) {
            Ok(value) => {
                self.set_stage(stage, StageState::Finished)?;
                Ok(value)
            }
            Err(error) => {
                // On a full disk this fails as well, and what failed first is what is to be told.
                let _ = self.set_stage(stage, StageState::Failed(error.to_string()));
                Err(error)
            }
        }
    }

    fn set_stage(&self, stage: StageName, state: StageState) -> Result<(), Error> {
        if let Some(bundle) = &self.bundle {
            bundle.borrow_mut().set_stage(stage, state)?;
        }
        Ok(())
    }

    /// Runs a command that earlier dsprofs did not run; `None` where a recording of one of them has nothing for its purpose.
    pub(crate) fn ask_newly(&self, spec: &CommandSpec) -> Result<Option<Outcome>, RunError> {
        if self.runner.recorded(spec) == Recorded::Nothing {
            return Ok(None);
        }
        self.runner.run_quietly(spec).map(Some)
    }

    /// The path of a file of the bundle, or of its compressed form where only that is there.
    fn file(&self, relative: &str) -> Option<PathBuf> {
        let plain = self.files.as_deref()?.join(relative);
        let packed = Path::new(&format!("{}.gz", plain.display())).to_owned();
        [plain, packed].into_iter().find(|path| path.exists())
    }
}
