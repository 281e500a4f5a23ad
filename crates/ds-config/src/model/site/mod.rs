//! One place of one file that can hold a knob: how it is read and how it is written there.

mod launch;
mod nodes;
mod read;
mod write;

use super::document::SourceFile;
use super::knob::KnobValue;
use crate::error::Error;
use crate::ini::IniType;

pub(crate) use self::nodes::nodes;
pub(crate) use self::read::{NO_PLACE_IN_PROGRAM, closed, obstacle, open_elements, read};
pub(crate) use self::write::{Write, write};

/// A place in one of the pipeline's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Site {
    /// The position of the file among the pipeline's files.
    pub(crate) file: usize,
    /// The place in it.
    pub(crate) locator: Locator,
}

/// A place in a file of a certain syntax.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Locator {
    /// A key of a key-file group.
    Ini {
        group: String,
        key: &'static str,
        read_as: IniType,
    },
    /// A key of a top-level YAML mapping.
    Yaml { group: String, key: &'static str },
    /// A field of a text protobuf.
    Proto { path: &'static [&'static str] },
    /// A column of the table of sources, for one row.
    Csv { row: usize, column: &'static str },
    /// A property of an element on a command line.
    Gst {
        command: usize,
        element: usize,
        property: &'static str,
    },
    /// The factory of an element on a command line.
    GstFactory { command: usize, element: usize },
    /// A property of a node of a service-maker file.
    ServiceMaker { node: usize, property: &'static str },
    /// A property that a Python program sets.
    Python {
        element: usize,
        property: &'static str,
    },
    /// A property in a text that a Python program gives to `parse_launch`.
    PythonLaunch {
        launch: usize,
        element: usize,
        property: &'static str,
    },
    /// The factory of an element of such a text.
    PythonLaunchFactory { launch: usize, element: usize },
}

/// What stands at a place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reading {
    /// Nothing.
    Absent,
    /// A value, at an offset of the file.
    Value { value: KnobValue, at: usize },
    /// Something that a program or the shell turns into a value.
    Computed {
        written: String,
        at: usize,
        reason: String,
    },
    /// A text that the program refuses.
    Invalid { error: Error, at: usize },
}

impl Locator {
    /// The element that the place belongs to, where it belongs to one.
    pub(crate) fn owner(&self) -> Option<usize> {
        match self {
            Self::Gst { element, .. }
            | Self::Python { element, .. }
            | Self::PythonLaunch { element, .. } => Some(*element),
            Self::ServiceMaker { node, .. } => Some(*node),
            _ => None,
        }
    }

    /// The property of an element of a launch text.
    fn property(&self) -> Option<&'static str> {
        match self {
            Self::Gst { property, .. } | Self::PythonLaunch { property, .. } => Some(property),
            _ => None,
        }
    }
}

impl Reading {
    /// A value, or the fault of a text at `at` that is none.
    fn or_invalid(
        value: Option<KnobValue>,
        file: &SourceFile,
        at: usize,
        fault: impl FnOnce() -> String,
    ) -> Self {
        match value {
            Some(value) => Self::Value { value, at },
            None => Self::Invalid {
                error: Error::new(crate::ErrorKind::InvalidValue, fault())
                    .at(file.place(at))
                    .in_file(&file.path),
                at,
            },
        }
    }
}

/// The sinks of deepstream-app by their `type`, as `deepstream_sink_bin.c` of DeepStream 9.1 makes
/// them on a GPU of its own.
const APP_SINKS: [(i64, &str); 6] = [
    (1, "fakesink"),
    (2, "nveglglessink"),
    (3, "filesink"),
    (4, "udpsink"),
    (5, "nvdrmvideosink"),
    (6, "nvmsgbroker"),
];

/// The factory that deepstream-app makes for a `type` of `[sinkN]`.
pub(crate) fn app_sink(kind: i64) -> Option<&'static str> {
    APP_SINKS
        .iter()
        .find(|(held, _)| *held == kind)
        .map(|(_, factory)| *factory)
}
