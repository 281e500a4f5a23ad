//! Names, types, ranges and defaults of the elements' properties.
//!
//! Where the element is open, they are those of its published source (DeepStream 9.1); where it is closed, those of
//! NVIDIA's plugin manual and of public listings of `gst-inspect-1.0`, and marked so. A property that a release does not
//! have is not here: `gst-launch-1.0` has to refuse it as it does with the real element.

mod enums;
mod mux;
mod sources;
mod stages;

pub use enums::Choices;

/// One element's properties.
#[derive(Debug, Clone, Copy)]
pub struct Element {
    /// The factory's name.
    pub name: &'static str,
    /// Its properties.
    pub properties: &'static [Property],
}

/// A property.
#[derive(Debug, Clone, Copy)]
pub struct Property {
    /// The name, with hyphens.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// How well this is known.
    pub known: Known,
}

/// What a property takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// An unsigned number.
    Uint {
        /// The smallest.
        min: u32,
        /// The largest.
        max: u32,
        /// The default.
        default: u32,
    },
    /// A number.
    Int {
        /// The smallest.
        min: i32,
        /// The largest.
        max: i32,
        /// The default.
        default: i32,
    },
    /// A large unsigned number, of any size.
    Uint64 {
        /// The default.
        default: u64,
    },
    /// A switch.
    Bool {
        /// The default.
        default: bool,
    },
    /// A text; none by default.
    Text,
    /// One of several choices.
    Enum {
        /// Which.
        choices: Choices,
        /// The default.
        default: i32,
    },
}

/// How well a property is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// Read in the published source.
    Source,
    /// From the manual or a public listing; the range is not verified.
    Listing,
}

/// Which mux `nvstreammux` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MuxKind {
    /// The closed one.
    Legacy,
    /// The published one.
    New,
}

impl MuxKind {
    /// The one that the value of `USE_NEW_NVSTREAMMUX` selects: the new one for exactly `yes`.
    pub fn selected_by(value: Option<&str>) -> Self {
        match value {
            Some("yes") => Self::New,
            _ => Self::Legacy,
        }
    }

    /// Its properties.
    pub fn element(self) -> &'static Element {
        match self {
            Self::Legacy => &mux::LEGACY,
            Self::New => &mux::NEW,
        }
    }
}

/// All elements but the mux, whose properties depend on its kind.
pub fn elements() -> impl Iterator<Item = &'static Element> {
    sources::ELEMENTS.iter().chain(stages::ELEMENTS)
}

/// The element of this name; the mux of this kind.
pub fn element(name: &str, mux: MuxKind) -> Option<&'static Element> {
    let mux = mux.element();
    elements()
        .chain(std::iter::once(mux))
        .find(|element| element.name == name)
}

const fn uint(name: &'static str, min: u32, max: u32, default: u32) -> Property {
    property(name, Kind::Uint { min, max, default })
}

const fn int(name: &'static str, min: i32, max: i32, default: i32) -> Property {
    property(name, Kind::Int { min, max, default })
}

const fn uint64(name: &'static str, default: u64) -> Property {
    property(name, Kind::Uint64 { default })
}

const fn switch(name: &'static str, default: bool) -> Property {
    property(name, Kind::Bool { default })
}

const fn text(name: &'static str) -> Property {
    property(name, Kind::Text)
}

const fn one_of(name: &'static str, choices: Choices, default: i32) -> Property {
    property(name, Kind::Enum { choices, default })
}

const fn property(name: &'static str, kind: Kind) -> Property {
    Property {
        name,
        kind,
        known: Known::Source,
    }
}

/// The same, not read in a source.
const fn listed(property: Property) -> Property {
    Property {
        known: Known::Listing,
        ..property
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_given_once_and_every_default_is_in_range() {
        let muxes = [MuxKind::Legacy.element(), MuxKind::New.element()];
        for element in elements().chain(muxes) {
            for (index, property) in element.properties.iter().enumerate() {
                let place = format!("{} {}", element.name, property.name);
                let before = &element.properties[..index];
                assert!(before.iter().all(|p| p.name != property.name), "{place}");
                let fits = match property.kind {
                    Kind::Uint { min, max, default } => (min..=max).contains(&default),
                    Kind::Int { min, max, default } => (min..=max).contains(&default),
                    Kind::Enum { choices, default } => {
                        choices.values().iter().any(|(value, _)| *value == default)
                    }
                    Kind::Uint64 { .. } | Kind::Bool { .. } | Kind::Text => true,
                };
                assert!(fits, "{place}");
            }
        }
    }

    #[test]
    fn only_yes_selects_the_new_mux() {
        assert_eq!(MuxKind::selected_by(Some("yes")), MuxKind::New);
        for value in [None, Some("Yes"), Some("1"), Some("")] {
            assert_eq!(MuxKind::selected_by(value), MuxKind::Legacy);
        }
        let has = |kind: MuxKind, name| kind.element().properties.iter().any(|p| p.name == name);
        assert!(has(MuxKind::Legacy, "width") && !has(MuxKind::New, "width"));
        assert!(has(MuxKind::New, "config-file-path") && !has(MuxKind::Legacy, "config-file-path"));
    }

    #[test]
    fn a_property_that_the_release_lacks_is_not_there() {
        let lacks = |name: &str, property: &str| {
            let element = element(name, MuxKind::Legacy).expect("an element");
            element.properties.iter().all(|p| p.name != property)
        };
        assert!(lacks("nvurisrcbin", "nvbuf-memory-type"));
        assert!(lacks("nvtracker", "enable-batch-process"));
        assert!(lacks("nvinfer", "network-mode"));
    }
}
