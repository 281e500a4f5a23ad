//! The knobs of nvtracker.

use super::builder::Builder;
use crate::ini::IniType;
use crate::model::{ElementId, Knob, Site};

/// Adds the knobs; `place` says where each stands, and how a key file reads it.
pub(super) fn knobs(
    builder: &mut Builder<'_>,
    element: ElementId,
    place: impl Fn(&Builder<'_>, Knob, IniType) -> Site,
) {
    for (knob, read_as) in [
        (Knob::TrackerWidth, IniType::Integer),
        (Knob::TrackerHeight, IniType::Integer),
        (Knob::TrackerLlConfigFile, IniType::String),
        (Knob::TrackerLlLibFile, IniType::String),
    ] {
        let site = place(builder, knob, read_as);
        builder.knob(element, knob, vec![site], None);
    }
}
