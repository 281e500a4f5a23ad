//! Text protobuf as the C++ `TextFormat` of protobuf reads it, the syntax of nvinferserver.

mod edit;
mod lexer;
mod nvinferserver;
mod parser;
mod schema;

pub use nvinferserver::NVINFERSERVER;
pub use parser::{TextProtoField, TextProtoMessage, TextProtoValue};
pub use schema::{ProtoField, ProtoKind, ProtoLabel, ProtoMessage};

use crate::error::{Error, ErrorKind};
use crate::line_index::{LineIndex, Place};
use crate::text_edit::TextEdit;

/// One text protobuf file: its bytes, and its messages with the byte span of each value.
///
/// A template with `${NAME}` in place of values is read too, so that it can be looked at;
/// [`TextProtoDocument::refusal`] then says that no program takes it as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct TextProtoDocument {
    text: Vec<u8>,
    lines: LineIndex,
    root: TextProtoMessage,
}

impl TextProtoDocument {
    /// Reads a file as a message of the given schema, [`NVINFERSERVER`] for one.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Refused`], with line and column, where `TextFormat` refuses the file too.
    pub fn parse(text: &[u8], schema: &'static ProtoMessage) -> Result<Self, Error> {
        let lines = LineIndex::new(text);
        let root = parser::parse(text, schema).map_err(|refusal| {
            Error::new(ErrorKind::Refused, refusal.message).at(lines.place(text, refusal.offset))
        })?;
        Ok(Self {
            text: text.to_vec(),
            lines,
            root,
        })
    }

    /// The file, byte for byte.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// The fields at the top of the file.
    #[must_use]
    pub fn root(&self) -> &TextProtoMessage {
        &self.root
    }

    /// A field by the names that lead to it, such as `["infer_config", "max_batch_size"]`.
    #[must_use]
    pub fn get(&self, path: &[&str]) -> Option<&TextProtoField> {
        self.root.find(path)
    }

    /// Why `TextFormat` refuses a file that was read here as a template; `None` for any other.
    #[must_use]
    pub fn refusal(&self) -> Option<Error> {
        let field = first_placeholder(&self.root)?;
        let shown = field.span().of(&self.text).unwrap_or_default();
        let message = format!(
            "a template: `{}` has to be filled in first",
            String::from_utf8_lossy(shown)
        );
        let place = self.place(field.span().start());
        Some(Error::new(ErrorKind::Refused, message).at(place))
    }

    /// Gives a field its value: replaces the value in place, keeping quotes and comment, or adds
    /// the field after the last one of its message in the style of the file. Messages on the way
    /// that are not there are added too.
    ///
    /// Texts are given without quotes, enumerations by name. Setting a value that is read already,
    /// however it is written, is the empty edit.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] for a path that the schema does not know;
    /// [`ErrorKind::InvalidValue`] for a value that the field cannot hold, a field that holds
    /// several values or a placeholder, and a field whose rival in a `oneof` is given.
    pub fn set(&self, path: &[&str], value: &str) -> Result<TextEdit, Error> {
        edit::set(self, path, value)
    }

    /// The line and column of a byte offset.
    #[must_use]
    pub fn place(&self, offset: usize) -> Place {
        self.lines.place(&self.text, offset)
    }
}

/// The first field whose value is a placeholder, in the order of the text.
fn first_placeholder(message: &TextProtoMessage) -> Option<&TextProtoField> {
    message
        .fields()
        .iter()
        .find_map(|field| match field.value() {
            TextProtoValue::Placeholder => Some(field),
            TextProtoValue::Message(inner) => first_placeholder(inner),
            _ => None,
        })
}
