//! Which files exist.

use std::collections::BTreeSet;

use ds_config::{Knob, Pipeline};

use crate::error::Error;
use crate::process::{CommandSpec, RunError};
use crate::stages::Session;

/// The files of a pipeline that are looked at: models, engines, calibration tables.
const LOOKED_AT: [Knob; 3] = [
    Knob::InferModelEngineFile,
    Knob::InferOnnxFile,
    Knob::InferInt8CalibFile,
];

/// Files of which it is known whether they exist; those that were not asked for do not.
#[derive(Debug, Clone, Default)]
pub struct KnownFiles(BTreeSet<String>);

impl KnownFiles {
    /// These files are there, and no others.
    pub fn of(paths: impl IntoIterator<Item = String>) -> Self {
        Self(paths.into_iter().collect())
    }

    /// Whether a file is there.
    pub(crate) fn holds(&self, path: &str) -> bool {
        self.0.contains(path)
    }
}

/// Which of the files that `pipeline` names are there; `None` for a recording in which nobody looked.
///
/// # Errors
///
/// When the run is interrupted, or a replay does not hold the command.
pub(crate) fn files_there(
    session: &Session<'_>,
    pipeline: &Pipeline,
) -> Result<Option<KnownFiles>, Error> {
    let paths: BTreeSet<String> = LOOKED_AT
        .into_iter()
        .flat_map(|knob| pipeline.knobs_of(knob))
        .filter_map(|setting| pipeline.path_of(setting))
        .collect();
    if paths.is_empty() {
        return Ok(Some(KnownFiles::default()));
    }
    let arguments = ["-1d".to_owned(), "--".to_owned()].into_iter().chain(paths);
    let spec = CommandSpec::new("profile/files", "ls", arguments);
    match session.ask_newly(&spec) {
        // A file that is not there makes `ls` end with status 2 and hides nothing of the others.
        Ok(outcome) => {
            Ok(outcome
                .map(|outcome| KnownFiles::of(outcome.stdout_text().lines().map(str::to_owned))))
        }
        Err(RunError::NotFound { .. } | RunError::Io { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
