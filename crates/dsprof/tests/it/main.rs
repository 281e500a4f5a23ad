//! The command line, from the outside.

mod bundle_traces;
mod derive;
mod exit_status;
mod planning;
mod support;
mod tune;
