//! What is installed has the last word: a property that an element lacks is not written, nor is a value that it does not
//! take.
//!
//! `gst-inspect-1.0` is asked once for each kind of element that the plan would write to. Where it is absent, or does not
//! know the element, nothing changes: the file may be meant for another machine.

mod inspect;

use std::collections::BTreeMap;
use std::time::Duration;

use ds_config::{Pipeline, Role};
use ds_derive::{Consequence, Derivation, Disposition, Entry, Plan, Value, Withheld};

use self::inspect::{Property, properties};
use crate::error::Error;
use crate::pipeline::target_of;
use crate::process::{CommandSpec, RunError};
use crate::stages::Session;

/// The first call reads every plugin that is installed.
const PATIENCE: Duration = Duration::from_secs(120);

/// `plan` without what the installed elements do not take, with the reason in its place.
///
/// # Errors
///
/// When the run is interrupted, or a replay does not hold a command.
pub fn fit_to_installed(
    session: &Session<'_>,
    pipeline: &Pipeline,
    plan: Plan,
) -> Result<Plan, Error> {
    let mut known: BTreeMap<String, Option<Vec<Property>>> = BTreeMap::new();
    let mut plan = plan;
    for entry in &mut plan.entries {
        let Entry::Derived(derivation) = entry else {
            continue;
        };
        if derivation.disposition != Disposition::Write {
            continue;
        }
        let Some((factory, property)) = property_of(pipeline, derivation) else {
            continue;
        };
        if !known.contains_key(&factory) {
            match ask(session, &factory)? {
                Asked::Answered(properties) => known.insert(factory.clone(), properties),
                Asked::Absent => return Ok(plan),
            };
        }
        let Some(Some(properties)) = known.get(&factory) else {
            continue;
        };
        if let Some(reason) = refused(&factory, property, properties, &derivation.new) {
            *entry = Entry::Withheld(Withheld {
                rule: derivation.rule,
                knob: derivation.knob,
                target: derivation.target.clone(),
                present: derivation.old.clone(),
                reason,
                consequence: Consequence::Keep,
            });
        }
    }
    Ok(plan)
}

/// Why the installed element does not take a value.
fn refused(
    factory: &str,
    property: &str,
    properties: &[Property],
    value: &Value,
) -> Option<String> {
    let Some(found) = properties.iter().find(|found| found.name == property) else {
        return Some(format!(
            "the installed `{factory}` has no property `{property}`, as gst-inspect-1.0 shows"
        ));
    };
    if !found.is_writable {
        return Some(format!(
            "`{property}` of the installed `{factory}` cannot be set, as gst-inspect-1.0 shows"
        ));
    }
    let Value::Integer(number) = value else {
        return None;
    };
    let takes = found.refuses(*number)?;
    Some(format!(
        "`{property}` of the installed `{factory}` {takes}, as gst-inspect-1.0 shows, and {number} was derived"
    ))
}

/// The element and the property of it that a value is written to; `None` for what stands in a configuration file only,
/// or means the application.
fn property_of(pipeline: &Pipeline, derivation: &Derivation) -> Option<(String, &'static str)> {
    use ds_derive::Knob;

    let is_a_property = !matches!(
        derivation.knob,
        Knob::NetworkMode
            | Knob::InferDims
            | Knob::OverallMinFpsN
            | Knob::OverallMinFpsD
            | Knob::OverallMaxFpsN
            | Knob::OverallMaxFpsD
            | Knob::OsdEnable
            | Knob::TilerEnable
            | Knob::SinkElement
    );
    let target = is_a_property
        .then(|| target_of(pipeline, &derivation.target, derivation.knob))
        .flatten()?;
    let element = pipeline.element(target.element)?;
    if element.role == Role::Application {
        return None;
    }
    Some((element.factory.clone(), target.knob.key()))
}

/// What gst-inspect-1.0 said.
enum Asked {
    /// The properties; `None` for an element that it does not know.
    Answered(Option<Vec<Property>>),
    /// There is no such program, or a recording in which it was not asked.
    Absent,
}

fn ask(session: &Session<'_>, factory: &str) -> Result<Asked, Error> {
    let purpose = format!("derive/gst-inspect/{factory}");
    let mut spec = CommandSpec::new(purpose, "gst-inspect-1.0", [factory]).timeout(PATIENCE);
    // Its headings are translated.
    spec.env.push(("LC_ALL".to_owned(), "C".to_owned()));
    match session.ask_newly(&spec) {
        Ok(Some(outcome)) => Ok(Asked::Answered(properties(&outcome.stdout_text()))),
        Ok(None) | Err(RunError::NotFound { .. } | RunError::Io { .. }) => Ok(Asked::Absent),
        Err(error) => Err(error.into()),
    }
}
