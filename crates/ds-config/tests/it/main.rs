//! The tests of ds-config, one binary.

mod forms;
mod ini;
mod line_index;
mod table;
mod text_edit;
mod yaml;
