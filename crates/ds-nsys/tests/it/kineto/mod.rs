//! Traces of PyTorch's profiler: written by hand, damaged, shuffled, and recorded.

mod damage;
mod reading;
mod recorded;
mod verdicts;
mod written;
