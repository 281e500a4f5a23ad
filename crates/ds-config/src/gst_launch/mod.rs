//! Pipelines written as `gst-launch-1.0` command lines, in shell scripts and in Markdown.
//!
//! Two languages lie over each other: the shell splits the line into words and takes its quotes
//! off, then GStreamer reads the words. A value is found by the second and changed in the file
//! inside the quotes of the first.

mod edit;
mod grammar;
mod graph;
mod launch_text;
mod script;
mod shell;
mod token;
mod value;

use self::launch_text::LaunchText;
use crate::assignment::{PropertyAssignment, made_sure, not_taken_at};
use crate::error::{Error, ErrorKind};
use crate::line_index::{LineIndex, Place};
use crate::text_edit::{Span, TextEdit};

pub use self::edit::Blocked;
pub(crate) use self::edit::is_plain;
pub use self::graph::{GstElement, GstGraph, GstLink, GstProperty};

/// A text with `gst-launch-1.0` commands in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GstScript {
    text: Vec<u8>,
    index: LineIndex,
    commands: Vec<GstCommand>,
}

/// One `gst-launch-1.0` command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GstCommand {
    /// Where the program's name stands.
    pub place: Place,
    /// Whether the command runs.
    pub liveness: Liveness,
    /// The environment that the script gives to the command, as far as it is written out: exports
    /// above it and assignments before it, later ones last.
    pub environment: Vec<(String, String)>,
    /// The pipeline, or why the shell or GStreamer refuses the command.
    pub graph: Result<GstGraph, Error>,
    /// What keeps the command from working as it is typed although its meaning is plain.
    pub fault: Option<Error>,
}

/// Whether a command runs when the script does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// It runs, or is a command of a document.
    Live,
    /// It stands in a comment.
    CommentedOut,
}

impl GstCommand {
    /// The value that the script gives to an environment variable.
    #[must_use]
    pub fn environment(&self, name: &str) -> Option<&str> {
        let (_, value) = self.environment.iter().rfind(|(held, _)| held == name)?;
        Some(value)
    }
}

impl GstScript {
    /// Finds the commands of a text. Mentions of the program without a pipeline are passed over.
    #[must_use]
    pub fn parse(text: impl Into<Vec<u8>>) -> Self {
        let text = text.into();
        let index = LineIndex::new(&text);
        let commands = script::commands(&text, &index);
        Self {
            text,
            index,
            commands,
        }
    }

    /// The text, byte for byte as it was given.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// The commands that hold a pipeline, in order.
    #[must_use]
    pub fn commands(&self) -> &[GstCommand] {
        &self.commands
    }

    /// The edit that gives a property of an element of a command its value; see
    /// [`GstScript::set_properties`].
    ///
    /// # Errors
    ///
    /// As [`GstScript::set_properties`].
    pub fn set_property(
        &self,
        command: usize,
        element: usize,
        name: &str,
        value: &str,
    ) -> Result<TextEdit, Error> {
        let one = PropertyAssignment {
            element,
            name,
            value,
        };
        self.set_properties(command, &[one])
    }

    /// The edit that gives properties of the elements of a command their values, each as
    /// [`GstGraph::set_property`] does, and made sure of: the text after it reads as asked and is
    /// otherwise the same pipeline.
    ///
    /// # Errors
    ///
    /// As [`GstGraph::set_property`]; [`ErrorKind::NotFound`] for a command that is not there, and
    /// [`ErrorKind::NotEditable`] where the text around does not take a value.
    pub fn set_properties(
        &self,
        command: usize,
        assignments: &[PropertyAssignment<'_>],
    ) -> Result<TextEdit, Error> {
        let Some(held) = self.commands.get(command) else {
            let message = format!("there is no command {command}");
            return Err(Error::new(ErrorKind::NotFound, message));
        };
        let graph = held.graph.as_ref().map_err(Clone::clone)?;
        made_sure(assignments, not_taken_at(held.place), |assignments| {
            let edit = assignments
                .iter()
                .try_fold(TextEdit::empty(), |edit, one| {
                    edit.union(graph.set_property(one.element, one.name, one.value)?)
                })?;
            let is_taken = || {
                let after = Self::parse(edit.apply(&self.text)?);
                let graph_after = after.commands.get(command).map(|command| &command.graph);
                Ok(after.commands.len() == self.commands.len()
                    && matches!(graph_after, Some(Ok(after)) if after.has_taken(graph, assignments)))
            };
            let is_taken = edit.is_empty() || is_taken()?;
            Ok((edit, is_taken))
        })
    }

    /// The line and column of an offset in this text.
    #[must_use]
    pub fn place(&self, offset: usize) -> Place {
        self.index.place(&self.text, offset)
    }
}

impl GstGraph {
    /// Reads one string that a program hands to `gst_parse_launch`.
    ///
    /// `span` is the part of `text` that holds the string, without the quotes round it. Escapes of
    /// the host language are not resolved.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Refused`] where GStreamer refuses the string, with the place in `text`.
    pub fn parse_string(text: &[u8], span: Span) -> Result<Self, Error> {
        let end = span.end.min(text.len());
        let glyphs = shell::glyphs(text, span.start.min(end)..end);
        grammar::parse(&LaunchText::from_string(&glyphs))
            .map_err(|(error, offset)| error.at(LineIndex::new(text).place(text, offset)))
    }
}
