//! Runs, records and replays the stages of dsprof and writes its reports.

pub mod atomic;
pub mod bundle;
mod fps;
pub mod process;
pub mod transaction;
