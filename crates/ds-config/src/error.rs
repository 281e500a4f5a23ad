//! The one error of this crate.

use std::fmt;
use std::io;

use crate::line_index::Place;

/// What went wrong, for callers that branch on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The program that reads this form refuses the whole file, so it never worked.
    Refused,
    /// The text is of no form that this crate knows.
    UnknownForm,
    /// The form is recognised, and this crate does not read it.
    Declined,
    /// A file that another file refers to could not be read.
    MissingFile,
    /// The text holds no pipeline: nothing decodes, batches or infers.
    NoPipeline,
    /// What the caller names is not there.
    NotFound,
    /// The place that counts cannot be changed: a program or the shell computes the value.
    NotEditable,
    /// Bytes that are not UTF-8 stand where text is read.
    Encoding,
    /// The value cannot stand at this place of this syntax.
    InvalidValue,
    /// Two edits touch the same bytes in different ways.
    Conflict,
    /// An edit reaches past the end of the text.
    OutOfBounds,
}

/// A failure to read or to edit a configuration.
///
/// Displays as `path:line:column: message`, with the parts that are known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub struct Error {
    kind: ErrorKind,
    detail: Box<Detail>,
}

/// Kept on the heap so that a `Result` stays small.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Detail {
    message: String,
    path: Option<String>,
    place: Option<Place>,
}

impl Error {
    /// An error without a path or a place; the message is a lower-case fragment.
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            detail: Box::new(Detail {
                message: message.into(),
                path: None,
                place: None,
            }),
        }
    }

    /// The error of a file that its source does not give.
    pub(crate) fn unreadable(error: &io::Error) -> Self {
        let message = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file".to_owned(),
            _ => format!("the file cannot be read: {error}"),
        };
        Self::new(ErrorKind::MissingFile, message)
    }

    /// The same error at a line and column of its file.
    #[must_use]
    pub(crate) fn at(mut self, place: Place) -> Self {
        self.detail.place = Some(place);
        self
    }

    /// The same error with the path of its file, unless it already names one.
    #[must_use]
    pub(crate) fn in_file(mut self, path: &str) -> Self {
        self.detail.path.get_or_insert_with(|| path.to_owned());
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The reason alone, without path, line and column.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.detail.message
    }

    /// The path of the file as the caller named it, where one is concerned.
    #[must_use]
    pub fn path(&self) -> Option<&str> {
        self.detail.path.as_deref()
    }

    /// The line and column, where they are known.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.detail.place
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.detail.path, self.detail.place) {
            (Some(path), Some(place)) => write!(f, "{path}:{place}: ")?,
            (Some(path), None) => write!(f, "{path}: ")?,
            (None, Some(place)) => write!(f, "{place}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.detail.message)
    }
}
