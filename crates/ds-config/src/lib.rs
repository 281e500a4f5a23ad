//! Reads DeepStream pipelines in every form and edits them surgically.

mod error;
mod line_index;
mod text_edit;

pub use crate::error::{Error, ErrorKind};
pub use crate::line_index::{LineIndex, Place};
pub use crate::text_edit::{Indel, Span, TextEdit};
