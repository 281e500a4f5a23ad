//! The tests of ds-config, one binary.

mod ini;
mod line_index;
mod table;
mod text_edit;
