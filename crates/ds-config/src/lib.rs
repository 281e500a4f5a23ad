//! Reads DeepStream pipelines in every form and edits them surgically.
//!
//! A pipeline is kept in a dozen forms: a deepstream-app file as a key file or as YAML, a command
//! line in a script, a Python program, a service-maker file, and the configuration files of nvinfer,
//! nvinferserver, the mux and the preprocessing that these name. The place where a value stands is
//! often not the place that wins. This crate finds the elements and their settings, says for each
//! which place wins over which, and changes a setting there and nowhere else: every other byte of
//! the file stays as it was.
//!
//! ```
//! use std::collections::BTreeMap;
//! use ds_config::{Knob, Pipeline};
//!
//! let app = "[streammux]\nbatch-size=1\n[primary-gie]\nenable=1\nbatch-size=1 # one\nconfig-file=pgie.txt\n";
//! let pgie = "[property]\nonnx-file=resnet.onnx\nbatch-size=4\n";
//! let files = BTreeMap::from([
//!     ("app.txt".to_owned(), app.as_bytes().to_vec()),
//!     ("pgie.txt".to_owned(), pgie.as_bytes().to_vec()),
//! ]);
//!
//! let pipeline = Pipeline::resolve("app.txt", &files)?;
//! let batch = pipeline.knobs_of(Knob::InferBatchSize).next().expect("there is an nvinfer");
//! assert_eq!(batch.place.as_ref().map(ToString::to_string).as_deref(), Some("app.txt:5:12"));
//! assert_eq!(batch.overridden[0].place.to_string(), "pgie.txt:3:12");
//!
//! let change = pipeline.set(batch.target, 8)?;
//! let edited = change.files[0].edit.apply(app.as_bytes())?;
//! assert_eq!(edited, app.replace("batch-size=1 # one", "batch-size=8 # one").as_bytes());
//! # Ok::<(), ds_config::Error>(())
//! ```
//!
//! Three layers lie over each other, and each can be used by itself:
//!
//! - [`TextEdit`] replaces byte ranges; [`LineIndex`] tells lines and columns.
//! - One document for each syntax: [`IniDocument`], [`YamlDocument`], [`TextProtoDocument`],
//!   [`SourcesCsv`], [`GstScript`], [`PythonDocument`]. Each keeps every byte of its text and reads
//!   it as the program does that DeepStream reads it with; a file that this program refuses is
//!   reported as one that never worked, with line and reason.
//! - [`detect()`] tells the form of a text by its content, and [`Pipeline`] follows the files.
//!
//! Two readers look at what a configuration cannot change: [`OnnxModel`] finds the inputs of a model
//! without reading its weights, and with them whether its batch is fixed, see [`Pipeline::onnx`];
//! [`EngineName`] reads what nvinfer writes into the name of an engine, see
//! [`Pipeline::engine_name`].
//!
//! Above them, [`lint()`] looks for faults that cost speed or keep a pipeline from working; [`RULES`]
//! documents what it knows.
//!
//! # What it is not
//!
//! It touches no file system, starts nothing and reads no environment: a [`FileSource`] gives the
//! bytes, and the caller writes them. It does not know which value is best; it does not run a
//! program to find out what it computes; and it never writes a whole file anew.
//!
//! # Limitations
//!
//! - A value that a program, the shell or a template computes is reported with its place, and not
//!   changed. Variables of a shell script are not followed to their assignments.
//! - Which elements a Python program links is not followed: its elements stand in the order of the
//!   text, and its queues have no known position.
//! - A command line names files relative to the directory that it is run in, which no file tells:
//!   they are looked for beside the script, then in the working directory.
//! - C, C++ and Rust programs, notebooks, templates, Dockerfiles and manifests are recognised and
//!   declined, see [`Carrier`]. The YAML of the sample apps is recognised and not followed.
//! - A pipeline of a script or a program is edited where the text then reads as asked and is
//!   otherwise the same; elements are not renamed, and of several pipelines in one file the one with
//!   most of a pipeline in it is followed, see [`Pipeline::others`].
//! - The batch of an engine is known from its name only, which its owner may have changed. Whether
//!   the first dimension of an ONNX input is the batch is not written in the file: it is taken so,
//!   as nvinfer does.
//! - The reading of closed parts (the low-level tracker, the service-maker core, the legacy mux)
//!   rests on their documents and samples.

mod assignment;
mod detect;
mod engine_name;
mod error;
mod gst_launch;
mod ini;
mod line_index;
mod lint;
mod model;
mod onnx;
mod python;
mod resolve;
mod sources_csv;
mod style;
mod text_edit;
mod textproto;
mod yaml;

pub use crate::assignment::PropertyAssignment;
pub use crate::detect::{Carrier, Detection, Form, detect};
pub use crate::engine_name::{EngineDevice, EngineName, EnginePrecision};
pub use crate::error::{Error, ErrorKind};
pub use crate::gst_launch::{
    Blocked, GstCommand, GstElement, GstGraph, GstLink, GstProperty, GstScript, Liveness,
};
pub use crate::ini::{IniAssignment, IniDocument, IniType, IniValue};
pub use crate::line_index::{LineIndex, Place};
pub use crate::lint::{
    DeepStreamVersion, Finding, GpuKind, LintContext, PrecisionWish, Purpose, RULES, Rule,
    Severity, lint, lint_bytes, lint_markdown,
};
pub use crate::model::{
    Branch, Change, Element, ElementId, FileEdit, FilePlace, FrameRate, FrameSize, InferPlugin,
    InferStage, Knob, KnobChange, KnobKind, KnobSetting, KnobValue, MuxGeneration, Overridden,
    Pipeline, QueuePosition, Role, Sink, SinkKind, Source, SourceFile, SourceKind, Target,
};
pub use crate::onnx::{OnnxBatch, OnnxDim, OnnxInput, OnnxModel};
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
