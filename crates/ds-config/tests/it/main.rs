//! The tests of ds-config, one binary.

mod line_index;
mod text_edit;
