//! Reads DeepStream pipelines in every form and edits them surgically.

mod detect;
mod error;
mod gst_launch;
mod ini;
mod line_index;
mod model;
mod python;
mod resolve;
mod sources_csv;
mod style;
mod text_edit;
mod textproto;
mod yaml;

pub use crate::detect::{Carrier, Detection, Form, detect};
pub use crate::error::{Error, ErrorKind};
pub use crate::gst_launch::{
    Blocked, GstCommand, GstElement, GstGraph, GstLink, GstProperty, GstScript, Liveness,
};
pub use crate::ini::{IniAssignment, IniDocument, IniType, IniValue};
pub use crate::line_index::{LineIndex, Place};
pub use crate::model::{
    Branch, Change, Element, ElementId, FileEdit, FilePlace, FrameRate, FrameSize, InferPlugin,
    InferStage, Knob, KnobChange, KnobKind, KnobSetting, KnobValue, MuxGeneration, Overridden,
    Pipeline, QueuePosition, Role, Sink, SinkKind, Source, SourceFile, SourceKind, Target,
};
pub use crate::python::{
    PyComputed, PyCount, PyElement, PyFilledIn, PyKind, PyLaunch, PyLiteral, PyOrigin, PyProperty,
    PyValue, PythonDocument,
};
pub use crate::resolve::FileSource;
pub use crate::sources_csv::{SourceCell, SourceRow, SourcesCsv};
pub use crate::text_edit::{Indel, Span, TextEdit};
pub use crate::textproto::{
    NVINFERSERVER, ProtoField, ProtoKind, ProtoLabel, ProtoMessage, TextProtoDocument,
    TextProtoField, TextProtoMessage, TextProtoValue,
};
pub use crate::yaml::{YamlDocument, YamlKind, YamlNode};
