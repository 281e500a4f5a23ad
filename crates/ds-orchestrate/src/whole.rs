//! The whole pipeline: what of it is run, whether it is fit to be measured, and its profile.

use ds_ceilings::Batch;
use ds_config::Pipeline;

use crate::error::Error;
use crate::pipeline::e2e_launch;
use crate::preflight::{Gate, files_there, preflight, stop, waive};
use crate::progress::Event;
use crate::stages::{Launch, ProfileReading, ProfileRequest, Session, Subject, profile};
use crate::tune::TuneRequest;

/// What to profile.
#[derive(Debug, Clone, Copy)]
pub struct WholeRequest<'a> {
    /// The pipeline.
    pub pipeline: &'a Pipeline,
    /// How it is to be run.
    pub request: &'a TuneRequest,
    /// The batch that it is to run with.
    pub batch: Batch,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Whole {
    /// The profile; `None` where there was none.
    pub reading: Option<ProfileReading>,
    /// What had to hold before; empty where a given load ran in place of the pipeline.
    pub gates: Vec<Gate>,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

/// Profiles the user's load for the whole pipeline, else that of the sweep, else the pipeline itself, if it is fit to be
/// measured.
///
/// # Errors
///
/// As [`profile`]. A gate that fails is no error: the reading is absent and the gates say why.
pub fn profile_whole(session: &mut Session<'_>, wanted: &WholeRequest<'_>) -> Result<Whole, Error> {
    let mut whole = Whole::default();
    let Some((subject, launch)) = subject(wanted) else {
        whole.notes.push(format!(
            "a {} is no program by itself: give one with `--e2e-launch` to have the whole pipeline measured",
            wanted.pipeline.form
        ));
        return Ok(whole);
    };
    if subject.is_the_pipeline() {
        let files = files_there(session, wanted.pipeline)?;
        whole.gates = preflight(wanted.pipeline, Some(wanted.batch), files.as_ref());
        waive(&mut whole.gates, &wanted.request.waived);
        if let Some(reason) = stop(&whole.gates) {
            session.tell(&Event::Fallback(format!("no profile: {reason}")));
            whole
                .notes
                .push(format!("the whole pipeline was not run: {reason}"));
            return Ok(whole);
        }
    }
    let request = ProfileRequest {
        launch,
        subject,
        batch: wanted.batch.get(),
        streams: wanted.request.wishes.streams.get(),
        seconds: wanted.request.seconds,
        trace_seconds: wanted.request.trace_seconds,
        gpu_metrics: wanted.request.gpu_metrics,
        patience: wanted.request.nsys_patience,
    };
    whole.reading = Some(profile(session, &request)?);
    Ok(whole)
}

/// What runs as the whole pipeline, and its command.
fn subject(wanted: &WholeRequest<'_>) -> Option<(Subject, Launch)> {
    let request = wanted.request;
    let given = request
        .e2e_launch
        .clone()
        .or_else(|| request.launch.clone());
    match given {
        Some(launch) => Some((Subject::GivenLoad, launch)),
        None => Some((Subject::AsItIs, e2e_launch(wanted.pipeline)?)),
    }
}
