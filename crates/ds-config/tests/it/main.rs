//! The tests of ds-config, one binary.

mod detect;
mod forms;
mod gst_launch;
mod ini;
mod line_index;
mod python;
mod sources_csv;
mod table;
mod text_edit;
mod textproto;
mod yaml;
