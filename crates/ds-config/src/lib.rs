//! Reads DeepStream pipelines in every form and edits them surgically.

mod error;
mod ini;
mod line_index;
mod text_edit;
mod yaml;

pub use crate::error::{Error, ErrorKind};
pub use crate::ini::{IniAssignment, IniDocument, IniType, IniValue};
pub use crate::line_index::{LineIndex, Place};
pub use crate::text_edit::{Indel, Span, TextEdit};
pub use crate::yaml::{YamlDocument, YamlKind, YamlNode};
