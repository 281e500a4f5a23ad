//! Python programs that build a pipeline: the `Gst.ElementFactory` style, pyservicemaker's Pipeline
//! and Flow, and `Gst.parse_launch`.
//!
//! A program is not run. A value is editable where it is written as a literal, or as a constant
//! that is bound once and used for nothing else; all others are reported with the reason.

mod call;
mod edit;
mod finder;
mod insertion;
mod launch;
mod names;
mod service_maker;
mod syntax;
mod wrapper;

use std::fmt;

use crate::assignment::PropertyAssignment;
use crate::error::Error;
use crate::gst_launch::GstGraph;
use crate::line_index::{LineIndex, Place};
use crate::text_edit::{Span, TextEdit};
use insertion::Insertion;

/// One Python file: its bytes, the elements that it makes and the properties that it sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonDocument {
    text: Vec<u8>,
    lines: LineIndex,
    elements: Vec<PyElement>,
    launches: Vec<PyLaunch>,
    environment: Vec<(String, String)>,
    /// How many places do not parse.
    n_errors: usize,
}

/// An element, or a step of a Flow, with the properties that the program sets on it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PyElement {
    /// How the program makes it.
    pub origin: PyOrigin,
    /// The factory, such as `nvstreammux`; `None` where it is computed, and for a Flow.
    pub factory: Option<String>,
    /// The name that the program gives it.
    pub name: Option<String>,
    /// The variable or attribute that holds it, such as `self.mux`.
    pub variable: Option<String>,
    /// Whether it is made once or once for each turn of a loop.
    pub count: PyCount,
    /// The call that makes it; for an element made elsewhere the first call that sets a property.
    pub span: Span,
    /// The properties, in the order of the text. Of two with one name the last counts.
    pub properties: Vec<PyProperty>,
    /// Where a property can be added.
    insertion: Insertion,
}

/// How a program makes an element.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PyOrigin {
    /// `Gst.ElementFactory.make(…)`.
    ElementFactory,
    /// A function of the file that calls `Gst.ElementFactory.make` with its own parameter.
    Wrapper(String),
    /// `Pipeline.add(…)` of pyservicemaker.
    ServiceMaker,
    /// A step of pyservicemaker's Flow, such as `batch_capture`.
    Flow(String),
    /// Properties are set on a variable, and where it comes from is not in sight.
    Unknown,
}

/// How often an element is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PyCount {
    /// Once.
    One,
    /// In a loop or a comprehension.
    Loop,
}

/// A property that a program sets.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PyProperty {
    /// The name with hyphens, whatever the program writes.
    pub name: String,
    /// The expression that gives the value.
    pub span: Span,
    /// What the expression holds.
    pub value: PyValue,
    /// Where the block begins in which the property is set.
    block: usize,
}

/// What is known of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PyValue {
    /// It is written in place.
    Literal(PyLiteral),
    /// It is the value of a name that is bound once.
    Constant {
        /// The name as it stands in the call.
        name: String,
        /// The value at the assignment.
        literal: PyLiteral,
        /// The offsets of other places that use the name.
        other_uses: Vec<usize>,
    },
    /// It is a list that is written out; its length counts where a Flow takes sources.
    List {
        /// How many items it has.
        items: usize,
    },
    /// Only the running program knows it.
    Computed {
        /// The expression, that of the assignment where a name leads to one.
        expression: String,
        /// Why it cannot be edited.
        why: PyComputed,
    },
}

/// A literal of a Python file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PyLiteral {
    /// What kind of literal it is.
    pub kind: PyKind,
    /// The value: a number as written, a text without its quotes, `True` or `False`.
    pub text: String,
    /// Where it stands, quotes included.
    pub span: Span,
}

/// The kind of a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PyKind {
    /// A whole number or one with a fraction.
    Number,
    /// A text in quotes.
    Text,
    /// `True` or `False`.
    Flag,
}

/// Why a value is not known without running the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PyComputed {
    /// A call, a sum, an f-string and the like.
    Expression,
    /// A parameter of the function that uses it.
    Parameter,
    /// A name that is bound in several places.
    SeveralAssignments,
    /// A value of an INI file that the program reads with configparser.
    ConfigParser,
    /// A name that this file does not bind.
    Unknown,
    /// The statement does not parse.
    SyntaxError,
}

impl fmt::Display for PyComputed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expression => "computed when the program runs",
            Self::Parameter => "a parameter of the function",
            Self::SeveralAssignments => "assigned in several places",
            Self::ConfigParser => "read from an INI file with configparser",
            Self::Unknown => "not assigned in this file",
            Self::SyntaxError => "in a statement that does not parse",
        })
    }
}

/// A pipeline text that a program hands to `Gst.parse_launch`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PyLaunch {
    /// The argument of the call.
    pub span: Span,
    /// The pipeline, with the spans of this file; values that an f-string fills in are blocked. An
    /// error where GStreamer refuses the text, or where the program puts it together.
    pub graph: Result<GstGraph, Error>,
    /// What an f-string fills in, in the order of the text.
    pub filled_in: Vec<PyFilledIn>,
}

/// An expression in the braces of an f-string.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PyFilledIn {
    /// Where it stands, braces included.
    pub span: Span,
    /// What the expression holds.
    pub value: PyValue,
}

impl PythonDocument {
    /// Reads a program.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Declined`](crate::ErrorKind::Declined) for Python 2;
    /// [`ErrorKind::Refused`](crate::ErrorKind::Refused) for bytes that Python cannot decode.
    pub fn parse(text: &[u8]) -> Result<Self, Error> {
        let lines = LineIndex::new(text);
        let tree = syntax::parse(text, &lines)?;
        let found = finder::find(tree.root_node(), text, &lines);
        Ok(Self {
            text: text.to_vec(),
            lines,
            elements: found.elements,
            launches: found.launches,
            environment: found.environment,
            n_errors: found.n_errors,
        })
    }

    /// The file, byte for byte.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// The elements and Flow steps, in the order of the text.
    #[must_use]
    pub fn elements(&self) -> &[PyElement] {
        &self.elements
    }

    /// The texts given to `Gst.parse_launch`, in the order of the file.
    #[must_use]
    pub fn launches(&self) -> &[PyLaunch] {
        &self.launches
    }

    /// The environment variables that the program sets to a literal, in the order of the text.
    #[must_use]
    pub fn environment(&self) -> &[(String, String)] {
        &self.environment
    }

    /// Gives a property of an element its value: replaces the literal, or that of its constant,
    /// or adds the property in the manner of the file.
    ///
    /// Setting the value that is set already is the empty edit.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotEditable`](crate::ErrorKind::NotEditable), with the place and the value to
    /// set by hand, where the program computes the value, where its constant has other uses, and
    /// where there is no statement to add it to; [`ErrorKind::NotFound`](crate::ErrorKind::NotFound)
    /// for an element that is not there.
    pub fn set(&self, element: usize, property: &str, value: &str) -> Result<TextEdit, Error> {
        let one = PropertyAssignment {
            element,
            name: property,
            value,
        };
        self.set_all(&[one])
    }

    /// Gives several properties their values, and reads the program once to make sure of all.
    ///
    /// # Errors
    ///
    /// As [`PythonDocument::set`].
    pub fn set_all(&self, assignments: &[PropertyAssignment<'_>]) -> Result<TextEdit, Error> {
        edit::set(self, assignments)
    }

    /// Gives a property of an element of a pipeline text its value: inside the literal, or at the
    /// constant that an f-string fills in.
    ///
    /// # Errors
    ///
    /// As [`PythonDocument::set`]; also the error that [`PyLaunch::graph`] holds, and
    /// [`ErrorKind::InvalidValue`](crate::ErrorKind::InvalidValue) for a value that the quotes
    /// cannot hold.
    pub fn set_launch(
        &self,
        launch: usize,
        element: usize,
        property: &str,
        value: &str,
    ) -> Result<TextEdit, Error> {
        let one = PropertyAssignment {
            element,
            name: property,
            value,
        };
        self.set_launch_all(launch, &[one])
    }

    /// Gives several properties of the elements of a pipeline text their values.
    ///
    /// # Errors
    ///
    /// As [`PythonDocument::set_launch`].
    pub fn set_launch_all(
        &self,
        launch: usize,
        assignments: &[PropertyAssignment<'_>],
    ) -> Result<TextEdit, Error> {
        edit::set_launch(self, launch, assignments)
    }

    /// Why [`PythonDocument::set`] refuses a value, as far as the program as it stands tells.
    pub(crate) fn obstacle(&self, element: usize, property: &str, value: &str) -> Option<Error> {
        edit::plan(self, element, property, value).err()
    }

    /// Of each element, whether a property can be added to it.
    pub(crate) fn open_elements(&self) -> Vec<bool> {
        edit::open_elements(self)
    }

    /// The line and column of a byte offset.
    #[must_use]
    pub fn place(&self, offset: usize) -> Place {
        self.lines.place(&self.text, offset)
    }
}

impl PyElement {
    /// The property that counts: the last one of this name, with hyphens or underscores.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&PyProperty> {
        let name = hyphenated(name);
        self.properties
            .iter()
            .rfind(|property| property.name == name)
    }
}

impl PyValue {
    /// The literal that the value leads to.
    #[must_use]
    pub fn literal(&self) -> Option<&PyLiteral> {
        match self {
            Self::Literal(literal) | Self::Constant { literal, .. } => Some(literal),
            Self::List { .. } | Self::Computed { .. } => None,
        }
    }
}

impl PyLiteral {
    /// The value as a whole number; a flag counts as 0 or 1, as it does in Python.
    #[must_use]
    pub fn integer(&self) -> Option<i64> {
        match (self.kind, self.text.as_str()) {
            (PyKind::Flag, text) => Some(i64::from(text == "True")),
            (PyKind::Text, _) => None,
            (PyKind::Number, text) => integer(text),
        }
    }
}

/// A whole number of Python: decimal, `0x`, `0o` or `0b`, with underscores between digits.
fn integer(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let digits = digits.replace('_', "").to_ascii_lowercase();
    let magnitude = match digits.get(..2) {
        Some("0x") => i64::from_str_radix(&digits[2..], 16),
        Some("0o") => i64::from_str_radix(&digits[2..], 8),
        Some("0b") => i64::from_str_radix(&digits[2..], 2),
        _ => digits.parse(),
    };
    magnitude.ok()?.checked_mul(sign)
}

/// A property name as GStreamer looks it up.
fn hyphenated(name: &str) -> String {
    name.replace('_', "-")
}
