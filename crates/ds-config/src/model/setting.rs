//! Where a knob stands, which of its places wins, and whether it can be changed there.

use super::element::{ElementId, FilePlace};
use super::knob::{Knob, KnobValue};
use super::site::Site;

/// A knob of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The element.
    pub element: ElementId,
    /// The knob.
    pub knob: Knob,
}

/// What is known of a knob.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KnobSetting {
    /// Which knob of which element.
    pub target: Target,
    /// The value in effect; `None` where no place gives one, or where a program computes it.
    pub value: Option<KnobValue>,
    /// The text of a value that a program or the shell computes: `${BATCH}`.
    pub computed: Option<String>,
    /// The place that wins; `None` where no place gives a value.
    pub place: Option<FilePlace>,
    /// The places that give a value without effect, and those values.
    pub overridden: Vec<Overridden>,
    /// What the program takes where no place gives a value, as far as it is published.
    pub default: Option<&'static str>,
    /// Why the knob cannot be changed; `None` where it can.
    pub not_editable: Option<String>,
    /// The places to read and write, the strongest first.
    pub(crate) sites: Vec<Site>,
    /// Which of the places holds the value, or is to hold it.
    pub(crate) chosen: Option<usize>,
}

/// A value without effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overridden {
    /// Where it stands.
    pub place: FilePlace,
    /// What stands there.
    pub value: KnobValue,
}
