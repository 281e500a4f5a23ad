//! The tests of ds-config, one binary.

mod corpus;
mod detect;
mod engine_name;
mod files;
mod forms;
mod gst_files;
mod gst_launch;
mod ini;
mod line_index;
mod lint;
mod onnx;
mod pipeline;
mod pipeline_edits;
mod pipeline_forms;
mod python;
mod sources_csv;
mod table;
mod text_edit;
mod textproto;
mod yaml;
