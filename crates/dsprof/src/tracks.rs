//! `--tracks`: how many object ids survive, from what the pipeline wrote.

use std::path::Path;

use anyhow::Result;
use ds_config::Pipeline;
use ds_derive::{InferRole, Present, Value};
use ds_orchestrate::retention::{
    MeasuredRetention, RETENTION_FILE, parse_retention, read_tracks, render_retention,
};
use ds_orchestrate::{DiskFiles, Error, Session, Wishes, facts_of};

use crate::exit::{Unusable, Usage};
use crate::load::Merged;
use crate::progress::Bar;
use crate::run::Opened;

/// Between the dumps of one argument of a bundle.
const SEPARATOR: char = '\n';

/// The dumps as a bundle keeps them.
pub(crate) fn recorded(given: &[String]) -> Option<String> {
    (!given.is_empty()).then(|| given.join(&SEPARATOR.to_string()))
}

/// Reads the dumps that were named, else takes what a recording kept of its own.
///
/// # Errors
///
/// When a dump cannot be read, or nobody says which interval it was made with.
pub(crate) fn measured(
    opened: &Opened,
    given: &[String],
    merged: &Merged,
    pipeline: &Pipeline,
    wishes: &Wishes,
) -> Result<Vec<MeasuredRetention>> {
    if given.is_empty()
        && let Some(bytes) = opened.kept(RETENTION_FILE)?
    {
        return parse_retention(&bytes).map_err(|reason| {
            Unusable(format!("`{RETENTION_FILE}` of the bundle: {reason}")).into()
        });
    }
    let named: Option<String> = merged.get("tracks")?;
    let mut measured = Vec::new();
    for text in named.iter().flat_map(|text| text.split(SEPARATOR)) {
        let (interval, path) = match interval_of(text) {
            Some((interval, path)) => (interval, path),
            None => (own_interval(pipeline, wishes)?, text),
        };
        let _progress = Bar::during(&format!("reading {path}"));
        measured.push(MeasuredRetention {
            interval,
            path: path.to_owned(),
            retention: read_tracks(Path::new(path)).map_err(Error::from)?,
        });
    }
    Ok(measured)
}

/// Keeps what the dumps held in the bundle that is written.
///
/// # Errors
///
/// When the bundle cannot be written.
pub(crate) fn keep(session: &Session<'_>, measured: &[MeasuredRetention]) -> Result<()> {
    if let Some(bundle) = &session.bundle
        && !measured.is_empty()
    {
        let text = render_retention(measured)?;
        bundle
            .borrow_mut()
            .write(RETENTION_FILE, text.as_bytes())
            .map_err(Error::from)?;
    }
    Ok(())
}

/// The `1` and the `DIR` of `1=DIR`; a path that holds a `=` elsewhere is a path.
fn interval_of(text: &str) -> Option<(u32, &str)> {
    let (interval, path) = text.split_once('=')?;
    Some((interval.parse().ok()?, path))
}

/// The interval that the pipeline has now; a model without one skips nothing.
fn own_interval(pipeline: &Pipeline, wishes: &Wishes) -> Result<u32> {
    let facts = facts_of(pipeline, wishes, None, &DiskFiles);
    let primary = facts
        .infers
        .iter()
        .find(|infer| infer.role == InferRole::Primary);
    match primary.map(|infer| &infer.interval) {
        None | Some(Present::Absent) => Ok(0),
        Some(Present::Value {
            value: Value::Integer(interval),
            ..
        }) if u32::try_from(*interval).is_ok() => Ok(u32::try_from(*interval).unwrap_or(0)),
        Some(_) => Err(Usage(
            "the pipeline does not say its `interval` as a number: name the one that the dump was made with, as in \
             `--tracks 1=DIR`"
                .to_owned(),
        )
        .into()),
    }
}
