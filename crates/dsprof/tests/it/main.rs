//! The command line, from the outside.

mod bundle_traces;
mod derive;
mod exit_status;
mod gpus;
mod lint;
mod new;
mod planning;
mod report_formats;
mod support;
mod trace_answers;
mod trace_check;
mod trace_export;
mod trace_input;
mod trace_kineto;
mod trace_stats;
mod trace_support;
mod tracks;
mod tune;
