//! Runs, records and replays the stages of dsprof and writes its reports.
//!
//! Everything that touches the machine is here, behind one seam: [`process::Runner`] runs a program,
//! [`process::Record`] keeps what it did in a [`bundle`], and [`process::Replay`] answers from such a bundle, so that the
//! whole job runs again on a machine without a GPU. [`nvml`] is the one witness that is no program; its reading is kept in
//! the bundle too. [`tune()`] tells the story from one end to the other: read the machine, map the pipeline to facts,
//! sweep, derive, profile, judge, report. Each stage is also a function of its own.
//!
//! ```
//! use ds_orchestrate::bundle::RecordedBundle;
//! use ds_orchestrate::process::{CommandSpec, Replay, Runner};
//!
//! let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/bundles/h200-resnet152-graphs");
//! let replay = Replay::new(RecordedBundle::open(folder.as_ref())?)?;
//! let report = CommandSpec::new("hw/report", "nvidia-smi", ["-q", "-x"]);
//! assert!(replay.run_quietly(&report)?.stdout_text().contains("NVIDIA H200"));
//!
//! // One changed flag is another command, and the error shows both.
//! let other = CommandSpec::new("hw/report", "nvidia-smi", ["-q"]);
//! assert!(replay.run_quietly(&other).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What it is not
//!
//! It prints nothing, knows no command line, and holds no rule: formulas are in ds-derive, ceilings in ds-ceilings, the
//! meaning of files in ds-config, traces in ds-nsys.
//!
//! # Limitations
//!
//! - Programs run on Unix only: process groups and signals by id.
//! - A bundle is written by one run at a time; a second one on the same directory is refused.
//! - A second run on a bundle skips finished stages as a whole; an unfinished one begins again.
//! - The inference-only pipeline of the sweep loops the first file source; without one the caller gives the load.
//! - NVML (feature `nvml`) does not tell the ids of MIG instances, nor JPEG and OFA utilisation; nvidia-smi does.
//! - [`retention`] knows no ground truth: it counts ids that another one replaced, not objects that were never found.
//! - The plan's variant for measuring is written for deepstream-app and gst-launch; other forms are measured as they are.
//! - nsys is asked for CUDA and NVTX without CPU sampling; a capture that fails is named and the run goes on.

pub mod atomic;
pub mod bundle;
mod coverage;
mod error;
mod fps;
mod installed;
pub mod nvml;
mod pipeline;
mod preflight;
pub mod process;
mod progress;
pub mod report;
pub mod retention;
pub mod scaffold;
mod signals;
mod stages;
pub mod transaction;
mod tune;
mod whole;

pub use coverage::{Coverage, TraceCoverage, coverage, coverage_in, uninstrumented};
pub use error::{Error, ErrorKind};
pub use fps::{
    FpsEmitter, FpsLog, FpsReader, FpsSegment, FpsStatus, FpsStream, FpsStreamId, FpsUnit,
    MIN_STEADY_WINDOWS, relative_half_width,
};
pub use installed::fit_to_installed;
pub use pipeline::{
    BenchmarkVariant, DiskFiles, PlannedEdit, PlannedEdits, Wishes, benchmark_variant, e2e_launch,
    facts_of, inference_only_launch, pipeline_hashes, plan_edits, read_pipeline,
};
pub use preflight::{Gate, GateId, GateState, KnownFiles, preflight};
pub use progress::{Estimate, Event, Progress, rough};
pub use signals::{mean, signals_of};
pub use stages::{
    Account, AttachReading, AttachRequest, CaptureState, Counted, DEFAULT_NSYS, DeviceReading,
    ExportBeside, ExportRequest, Fallback, GpuLoad, GpuMetrics, HwReading, KeepExport, Launch,
    NamedTime, NsysVersion, Patience, PluginReading, ProfileReading, ProfileRequest, Session,
    StepReading, Subject, SweepReading, SweepRequest, SweptBatch, TraceReading, Via, attach,
    batches_to_try, export_traces, gpus_from_text, profile, read_hw, read_trace, sweep,
};
pub use tune::{Scope, TuneRequest, Tuned, judge, plan_without_sweep, run_sweep, tune};
pub use whole::{Whole, WholeRequest, profile_whole};
