//! Runs, records and replays the stages of dsprof and writes its reports.

pub mod atomic;
pub mod bundle;
mod coverage;
mod error;
mod fps;
mod pipeline;
pub mod process;
mod progress;
pub mod report;
mod signals;
mod stages;
pub mod transaction;
mod tune;

pub use coverage::{Coverage, coverage, uninstrumented};
pub use error::{Error, ErrorKind};
pub use fps::{
    FpsEmitter, FpsLog, FpsReader, FpsSegment, FpsStatus, FpsStream, FpsStreamId, FpsUnit,
    MIN_STEADY_WINDOWS,
};
pub use pipeline::{
    DiskFiles, PlannedEdit, PlannedEdits, Wishes, e2e_launch, facts_of, inference_only_launch,
    pipeline_hashes, plan_edits, read_pipeline,
};
pub use progress::{Event, Progress};
pub use signals::{mean, signals_of};
pub use stages::{
    CaptureState, Counted, DeviceReading, GpuLoad, HwReading, Launch, NamedTime, PluginReading,
    ProfileReading, ProfileRequest, Session, StepReading, SweepReading, SweepRequest, SweptBatch,
    TraceReading, batches_to_try, gpus_from_text, profile, read_hw, read_trace, sweep,
};
pub use tune::{Scope, TuneRequest, Tuned, judge, plan_without_sweep, run_sweep, streams_or, tune};
