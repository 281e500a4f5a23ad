//! The whole pipeline: what of it is run, whether it is fit to be measured, and its profile.

use std::error::Error as _;
use std::path::Path;

use ds_ceilings::Batch;
use ds_config::Pipeline;
use ds_derive::Plan;

use crate::bundle::BundleError;
use crate::error::Error;
use crate::pipeline::{BenchmarkVariant, Shadow, benchmark_variant, e2e_launch};
use crate::preflight::{Gate, files_there, preflight, stop, waive};
use crate::process::Recorded;
use crate::progress::Event;
use crate::stages::{Counted, Launch, ProfileReading, ProfileRequest, Session, Subject, profile};
use crate::tune::TuneRequest;

/// What to profile.
#[derive(Debug, Clone, Copy)]
pub struct WholeRequest<'a> {
    /// The pipeline.
    pub pipeline: &'a Pipeline,
    /// How it is to be run.
    pub request: &'a TuneRequest,
    /// The plan whose values for measuring are to run; `None` for the pipeline as it is.
    pub plan: Option<&'a Plan>,
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
    let Some(chosen) = choose(session, wanted, &mut whole.notes)? else {
        whole.notes.push(format!(
            "a {} is no program by itself: give one with `--e2e-launch` to have the whole pipeline measured",
            wanted.pipeline.form
        ));
        return Ok(whole);
    };
    if chosen.subject.is_the_pipeline() {
        let pipeline = chosen
            .variant
            .as_ref()
            .map_or(wanted.pipeline, |v| &v.pipeline);
        let files = files_there(session, pipeline)?;
        whole.gates = preflight(pipeline, Some(wanted.batch), files.as_ref());
        waive(&mut whole.gates, &wanted.request.waived);
        if let Some(reason) = stop(&whole.gates) {
            session.tell(&Event::Fallback(format!("no profile: {reason}")));
            whole
                .notes
                .push(format!("the whole pipeline was not run: {reason}"));
            return Ok(whole);
        }
    }
    let request = chosen.request(wanted);
    whole.reading = Some(profile(session, &request)?);
    // The tree of links is there until here.
    drop(chosen);
    Ok(whole)
}

/// What runs as the whole pipeline.
struct Chosen {
    subject: Subject,
    launch: Launch,
    counted: Counted,
    variant: Option<BenchmarkVariant>,
    /// Where the variant lies while it runs.
    shadow: Option<Shadow>,
}

impl Chosen {
    fn request(&self, wanted: &WholeRequest<'_>) -> ProfileRequest {
        let request = wanted.request;
        ProfileRequest {
            launch: self.launch.clone(),
            subject: self.subject,
            counted: self.counted,
            batch: wanted.batch.get(),
            streams: request.wishes.streams.get(),
            seconds: request.seconds,
            trace_seconds: request.trace_seconds,
            gpu_metrics: request.gpu_metrics,
            patience: request.nsys_patience,
        }
    }

    fn plain(subject: Subject, launch: Launch) -> Self {
        Self {
            subject,
            launch,
            counted: Counted::ByEmitter,
            variant: None,
            shadow: None,
        }
    }
}

/// The user's load, else the variant that the plan wants measured where dsprof can write it, else the pipeline as it is.
fn choose(
    session: &Session<'_>,
    wanted: &WholeRequest<'_>,
    notes: &mut Vec<String>,
) -> Result<Option<Chosen>, Error> {
    let request = wanted.request;
    let given = request
        .e2e_launch
        .clone()
        .or_else(|| request.launch.clone());
    if let Some(launch) = given {
        return Ok(Some(Chosen::plain(Subject::GivenLoad, launch)));
    }
    let Some(own) = e2e_launch(wanted.pipeline) else {
        return Ok(None);
    };
    let as_it_is = || Some(Chosen::plain(Subject::AsItIs, own));
    let Some(plan) = wanted.plan else {
        return Ok(as_it_is());
    };
    let mut not_possible = |reason: String| {
        notes.push(format!(
            "the plan's values for measuring could not be measured: {reason}"
        ));
    };
    let variant = match benchmark_variant(wanted.pipeline, plan) {
        Ok(variant) => variant,
        Err(reason) => {
            not_possible(reason);
            return Ok(as_it_is());
        }
    };
    let mut chosen = Chosen {
        subject: Subject::BenchmarkVariant,
        launch: variant.launch.clone(),
        counted: variant.counted,
        variant: None,
        shadow: None,
    };
    let clean = chosen.request(wanted).clean_command();
    match session.runner.recorded(&clean) {
        // Nothing ran where a gate stopped it.
        Recorded::Same | Recorded::Nothing => {}
        // A recording of the pipeline as it was.
        Recorded::Other => return Ok(as_it_is()),
        Recorded::Live => {
            let Some(bundle) = &session.bundle else {
                not_possible(
                    "a copy needs a bundle to lie in, give one with `--bundle`".to_owned(),
                );
                return Ok(as_it_is());
            };
            let entry = wanted.pipeline.files.first().map_or("", |file| file.path());
            let files = &variant.edits.files;
            match Shadow::build(&mut bundle.borrow_mut(), files, Path::new(entry)) {
                Ok(shadow) => chosen.shadow = Some(shadow),
                Err(error) => {
                    not_possible(with_source(&error));
                    return Ok(as_it_is());
                }
            }
        }
    }
    for edit in &variant.edits.edits {
        if let Err(reason) = &edit.place {
            let derivation = &edit.derivation;
            notes.push(format!(
                "measured without `{}` of {}: {reason}",
                derivation.knob.name(),
                derivation.target
            ));
        }
    }
    if variant.counted == Counted::Batches {
        notes.push(format!(
            "frames are counted as batches of {}: `batched-push-timeout` is -1 while measuring, so that every batch is full",
            wanted.batch
        ));
    }
    chosen.variant = Some(variant);
    Ok(Some(chosen))
}

fn with_source(error: &BundleError) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
