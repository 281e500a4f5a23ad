//! Opens the traces that a question names; reports of nsys are exported first.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use ds_nsys::{FileKind, Trace};
use ds_orchestrate::bundle::hash_file;
use ds_orchestrate::process::RunError;
use ds_orchestrate::{DEFAULT_NSYS, Error, ExportBeside, ExportRequest, KeepExport, export_traces};

use super::input;
use crate::args::BundleArgs;
use crate::cli_trace::ExportArgs;
use crate::load::Arguments;
use crate::output;
use crate::run::Opened;

/// What was named, with the exports of reports opened already.
pub(super) struct Sources {
    exported: RefCell<Vec<(PathBuf, Trace)>>,
}

impl Sources {
    /// Exports those of the files that are reports. Files that cannot be read are for [`Sources::open`] to complain about.
    pub(super) fn prepare(args: &ExportArgs, paths: &[PathBuf]) -> Result<Self> {
        let mut exported = Vec::new();
        let mut requests = Vec::new();
        for path in paths {
            let Some(kind) = report_kind(args, path) else {
                continue;
            };
            match export_beside(args, path) {
                ExportBeside::Fresh(export) => {
                    let what =
                        format!("note: reading `{}`, the export beside it", export.display());
                    output::message(&what);
                    let trace = input::reading(&export, || Trace::open(&export))?;
                    exported.push((path.clone(), trace));
                    continue;
                }
                ExportBeside::Stale(export) if !args.keep_export => output::message(&format!(
                    "note: `{}` is older than `{}` and is not read",
                    export.display(),
                    path.display()
                )),
                _ => {}
            }
            requests.push(ExportRequest {
                file: path.clone(),
                kind,
                keep: if args.keep_export {
                    KeepExport::BesideReport
                } else {
                    KeepExport::No
                },
                timeout: args.nsys_timeout.map(|s| Duration::from_secs(s.into())),
            });
        }
        if requests.is_empty() {
            if exported.is_empty() && args.bundle.is_some() {
                output::message("note: no report of nsys is named, so there is nothing to record");
            }
        } else {
            let files = requests.iter().map(|request| request.file.clone());
            exported.extend(files.zip(export(args, &requests)?));
        }
        Ok(Self {
            exported: RefCell::new(exported),
        })
    }

    /// Opens one of them, and says beside it what a reader of its numbers should know.
    pub(super) fn open(&self, path: &Path) -> Result<Trace> {
        let mut exported = self.exported.borrow_mut();
        let trace = match exported.iter().position(|(named, _)| named == path) {
            Some(at) => exported.remove(at).1,
            None => input::reading(path, || Trace::open(path))?,
        };
        for warning in trace.warnings() {
            output::message(&format!("note: {warning}"));
        }
        Ok(trace)
    }
}

fn report_kind(args: &ExportArgs, path: &Path) -> Option<FileKind> {
    match FileKind::of_file(path) {
        Ok(kind @ (FileKind::Report { .. } | FileKind::Stream { .. })) => Some(kind),
        Ok(_) => None,
        // A recording is replayed where the report itself need not be.
        Err(_) if args.replay.is_some() => Some(FileKind::Report { writer: None }),
        Err(_) => None,
    }
}

/// A bundle holds an export of its own, and nsys is asked for it.
fn export_beside(args: &ExportArgs, report: &Path) -> ExportBeside {
    if args.bundle.is_some() || args.replay.is_some() {
        ExportBeside::None
    } else {
        ExportBeside::of(report)
    }
}

fn export(args: &ExportArgs, requests: &[ExportRequest]) -> Result<Vec<Trace>> {
    let opened = Opened::new(&BundleArgs {
        bundle: args.bundle.clone(),
        replay: args.replay.clone(),
    })?;
    let mut arguments = Arguments::new();
    if let Some(nsys) = &args.nsys {
        arguments.insert("nsys".to_owned(), nsys.clone());
    }
    if args.bundle.is_some() && !opened.is_replay() {
        for (number, request) in (1..).zip(requests) {
            let path = &request.file;
            let hash = hash_file(path).map_err(|source| Error::Read {
                path: path.clone(),
                source,
            })?;
            arguments.insert(format!("trace {number}"), path.display().to_string());
            arguments.insert(format!("SHA-256 of trace {number}"), hash);
        }
    }
    let merged = opened.with_recorded(arguments);
    let traces = opened.with_session("trace", None, &merged, None, |session| {
        Ok(export_traces(session, requests)?)
    })?;
    // A signal that came after nsys had ended.
    if opened.is_interrupted() {
        let program = args.nsys.clone().unwrap_or_else(|| DEFAULT_NSYS.to_owned());
        return Err(Error::from(RunError::Interrupted { program }).into());
    }
    Ok(traces)
}
