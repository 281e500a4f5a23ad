//! Runs, records and replays the stages of dsprof and writes its reports.

pub mod atomic;
pub mod bundle;
mod fps;
pub mod process;
pub mod transaction;

pub use fps::{
    FpsEmitter, FpsLog, FpsReader, FpsSegment, FpsStatus, FpsStream, FpsStreamId, FpsUnit,
    MIN_STEADY_WINDOWS,
};
