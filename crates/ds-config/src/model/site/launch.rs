//! Launch texts, on a command line or in a string of a Python program.

use super::{Locator, Reading};
use crate::gst_launch::{GstElement, GstGraph};
use crate::model::document::{Document, SourceFile};
use crate::model::knob::{Knob, KnobKind, KnobValue};

/// The nicks of `GstQueueLeaky` in GStreamer 1.22, by their values from 0.
pub(super) const LEAKY_NICKS: [&str; 3] = ["no", "upstream", "downstream"];

/// The graph and the number of the element that a locator names.
pub(super) fn graph<'f>(
    document: &'f Document,
    locator: &Locator,
) -> Option<(&'f GstGraph, usize)> {
    match (document, locator) {
        (
            Document::Gst(script),
            Locator::Gst {
                command, element, ..
            }
            | Locator::GstFactory { command, element },
        ) => Some((
            script.commands().get(*command)?.graph.as_ref().ok()?,
            *element,
        )),
        (
            Document::Python(program),
            Locator::PythonLaunch {
                launch, element, ..
            }
            | Locator::PythonLaunchFactory { launch, element },
        ) => Some((
            program.launches().get(*launch)?.graph.as_ref().ok()?,
            *element,
        )),
        _ => None,
    }
}

/// Reads what a locator names in a graph.
pub(super) fn read(file: &SourceFile, locator: &Locator, knob: Knob) -> Reading {
    let found = graph(&file.document, locator);
    let Some(element) = found.and_then(|(graph, element)| graph.elements.get(element)) else {
        return Reading::Absent;
    };
    match locator {
        Locator::Gst { property, .. } | Locator::PythonLaunch { property, .. } => {
            read_property(file, element, property, knob)
        }
        _ => Reading::Value {
            value: KnobValue::Text(element.factory.clone()),
            at: element.span.start(),
        },
    }
}

/// Reads a property as GStreamer does.
fn read_property(file: &SourceFile, element: &GstElement, property: &str, knob: Knob) -> Reading {
    let Some(property) = element.property(property) else {
        return Reading::Absent;
    };
    let at = property.value_span.start();
    if let Some(blocked) = &property.blocked {
        return Reading::Computed {
            written: property.value.clone(),
            at,
            reason: blocked.to_string(),
        };
    }
    let integer = || {
        property
            .integer()
            .and_then(|value| i64::try_from(value).ok())
    };
    let value = match knob.kind() {
        KnobKind::Integer if knob == Knob::QueueLeaky => {
            let nick = LEAKY_NICKS
                .iter()
                .zip(0..)
                .find(|(nick, _)| **nick == property.value);
            nick.map(|(_, value)| value)
                .or_else(integer)
                .map(KnobValue::Integer)
        }
        KnobKind::Integer => integer().map(KnobValue::Integer),
        KnobKind::Flag => property.boolean().map(KnobValue::Flag),
        KnobKind::List => None,
        KnobKind::Path | KnobKind::Name => Some(KnobValue::Text(property.value.clone())),
    };
    Reading::or_invalid(value, file, at, || {
        format!(
            "GStreamer refuses `{}` for `{}`",
            property.value, property.name
        )
    })
}
