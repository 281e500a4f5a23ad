//! Traces of PyTorch's profiler, which its library Kineto writes: `.pt.trace.json`, as often compressed with gzip.
//!
//! vLLM, SGLang and training programs write one file a rank. Such a file is a JSON object of the Chrome trace format with
//! one array, `traceEvents`, of up to gigabytes. It is read once, event by event, into a temporary database with the
//! tables of an export, and from there on every question is answered by the same code: GPU work becomes rows of kernels,
//! copies and sets, calls of the CUDA runtime and driver become API rows, and user annotations become ranges. What
//! no summary reads, such as operators and Python functions, is counted and passed over.
//!
//! What a reader of the format has to know, with PyTorch 2.11 on an H200 as the witness where nothing else is named:
//!
//! - Times are microseconds with three decimals, counted from `baseTimeNanoseconds`, or from 1970 in releases without
//!   it. The database keeps them as whole nanoseconds from the earliest event on.
//! - GPU work names its device and stream in its arguments; its `pid` is the device and no process. The process is the one
//!   that made the CUDA calls. One file holds one process.
//! - All kernels of a graph launch share its correlation id, and come before the call in the file. Releases that
//!   write `graph id` say which graph; in others work belongs to a graph where its call launched one.
//! - `gpu_user_annotation` repeats a range as the GPU saw it, and is no work.
//! - Events come in no order; the description of processes and threads comes last, and is missing from a file that ends
//!   early. A file that does is read as far as it goes, and says so.
//! - Numbers may be `inf` or `nan`.
//! - The profiler itself takes time on the host: see [`Kineto::distortion`].

mod database;
mod event;
mod facts;
mod names;
mod pieces;
mod read;
mod repair;
mod time;

pub use facts::{CutOff, Distributed, EventCounts, Kineto, ProfilerOption};
pub(crate) use read::{Imported, import};
