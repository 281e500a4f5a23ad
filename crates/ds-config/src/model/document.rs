//! The files that a pipeline is made of, each read in its own syntax.

use crate::detect::Form;
use crate::gst_launch::GstScript;
use crate::ini::IniDocument;
use crate::line_index::{LineIndex, Place};
use crate::python::PythonDocument;
use crate::sources_csv::SourcesCsv;
use crate::textproto::TextProtoDocument;
use crate::yaml::YamlDocument;

/// A file that was read for a pipeline.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceFile {
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) form: Form,
    pub(crate) lines: LineIndex,
    pub(crate) document: Document,
}

impl SourceFile {
    /// The path as the caller's [`FileSource`](crate::FileSource) knows it.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The bytes as they were read.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The form, by its content.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The line and column of an offset.
    pub(crate) fn place(&self, offset: usize) -> Place {
        self.lines.place(&self.bytes, offset)
    }
}

/// A file in its own syntax.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Document {
    Ini(IniDocument),
    Yaml(YamlDocument),
    Proto(TextProtoDocument),
    Csv(SourcesCsv),
    Gst(GstScript),
    Python(PythonDocument),
    /// Read as bytes only.
    Opaque,
}
