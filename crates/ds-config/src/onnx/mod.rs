//! What the inputs of an ONNX model are, without its weights.
//!
//! An ONNX file is a `ModelProto` of `onnx.proto` of ONNX in the binary form of protobuf. Most of
//! its bytes are weights, which often stand before the inputs of the graph; they are read past.
//! What is looked at: `ModelProto.graph`, of it `input`, and the names of `initializer` and
//! `sparse_initializer`, since files before IR version 4 list every weight among the inputs.

mod wire;

use std::collections::BTreeSet;
use std::io::{BufReader, Read};

use self::wire::{Field, Payload, Wire};
use crate::error::{Error, ErrorKind};

/// The numbers of the fields that are looked at, from `onnx.proto`.
mod field {
    pub(super) const MODEL_GRAPH: u32 = 7;
    pub(super) const GRAPH_INITIALIZER: u32 = 5;
    pub(super) const GRAPH_INPUT: u32 = 11;
    pub(super) const GRAPH_SPARSE_INITIALIZER: u32 = 15;
    pub(super) const TENSOR_NAME: u32 = 8;
    pub(super) const SPARSE_TENSOR_VALUES: u32 = 1;
    pub(super) const VALUE_INFO_NAME: u32 = 1;
    pub(super) const VALUE_INFO_TYPE: u32 = 2;
    pub(super) const TYPE_TENSOR: u32 = 1;
    pub(super) const TENSOR_TYPE_SHAPE: u32 = 2;
    pub(super) const SHAPE_DIM: u32 = 1;
    pub(super) const DIM_VALUE: u32 = 1;
    pub(super) const DIM_PARAM: u32 = 2;
}

/// The bytes that are kept at most, those of names above all: a bound of ours, with room for a
/// hundred thousand weights of names of a hundred bytes.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// The model of an ONNX file, as far as its batch and its size are concerned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OnnxModel {
    inputs: Vec<OnnxInput>,
}

/// An input of the graph that is not a weight.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct OnnxInput {
    /// Its name.
    pub name: String,
    /// Its dimensions; empty for a scalar and where the file gives no shape.
    pub dims: Vec<OnnxDim>,
}

/// One dimension of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnnxDim {
    /// A size that the export has fixed.
    Fixed(u64),
    /// A size that is open, under the name that the export gave it.
    Named(String),
    /// A size that is open: nothing is written, or the 0 or -1 that some exporters write for it.
    Open,
}

/// Whether a model takes any batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnnxBatch {
    /// The export has fixed the batch. No configuration changes that: the model must be exported
    /// again.
    Fixed(u64),
    /// The batch is open.
    Dynamic,
    /// No input has a shape with a batch.
    Unknown,
}

impl OnnxModel {
    /// Reads a model from the start of its file. Weights are read past, and memory does not grow with
    /// them.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Refused`] for bytes that are no ONNX model, with the offset;
    /// [`ErrorKind::MissingFile`] where the source fails.
    pub fn read(source: &mut dyn Read) -> Result<Self, Error> {
        let mut wire = Wire::new(BufReader::new(source));
        let mut graph = Graph::default();
        let mut has_graph = false;
        while let Some(field) = wire.next_field()? {
            match (field.number, field.payload) {
                (field::MODEL_GRAPH, Payload::Bytes(len)) => {
                    has_graph = true;
                    wire.message(len, |wire, field| graph.take(wire, field))?;
                }
                _ => wire.skip(field.payload)?,
            }
        }
        if !has_graph {
            return Err(Error::new(
                ErrorKind::Refused,
                "there is no graph in this ONNX file",
            ));
        }
        let Graph {
            mut inputs,
            weights,
            ..
        } = graph;
        inputs.retain(|input| !weights.contains(&input.name));
        Ok(Self { inputs })
    }

    /// The inputs of the graph, weights left out, in the order of the file.
    #[must_use]
    pub fn inputs(&self) -> &[OnnxInput] {
        &self.inputs
    }

    /// The batch of the model: the first dimension of its inputs. Inputs of less than two dimensions
    /// carry none. Of several fixed ones the smallest holds for all.
    #[must_use]
    pub fn batch(&self) -> OnnxBatch {
        let batches = self.inputs.iter().filter_map(|input| match &*input.dims {
            [batch, _, ..] => Some(batch),
            _ => None,
        });
        let mut found = OnnxBatch::Unknown;
        for dim in batches {
            found = match (found, dim) {
                (OnnxBatch::Fixed(held), OnnxDim::Fixed(size)) => OnnxBatch::Fixed(held.min(*size)),
                (_, OnnxDim::Fixed(size)) => OnnxBatch::Fixed(*size),
                (OnnxBatch::Unknown, _) => OnnxBatch::Dynamic,
                (held, _) => held,
            };
        }
        found
    }
}

/// What a graph holds of interest, while it is read.
#[derive(Default)]
struct Graph {
    inputs: Vec<OnnxInput>,
    weights: BTreeSet<String>,
    kept_bytes: usize,
}

impl Graph {
    fn take(&mut self, wire: &mut Wire<'_>, field: Field) -> Result<(), Error> {
        match (field.number, field.payload) {
            (field::GRAPH_INPUT, Payload::Bytes(len)) => {
                let mut input = OnnxInput::default();
                wire.message(len, |wire, field| value_info(wire, field, &mut input))?;
                self.keep(wire, &input)?;
                self.inputs.push(input);
            }
            (field::GRAPH_INITIALIZER, Payload::Bytes(len)) => {
                let name = tensor_name(wire, len)?;
                self.add_weight(wire, name)?;
            }
            (field::GRAPH_SPARSE_INITIALIZER, Payload::Bytes(len)) => {
                let mut name = String::new();
                wire.message(len, |wire, field| match (field.number, field.payload) {
                    (field::SPARSE_TENSOR_VALUES, Payload::Bytes(len)) => {
                        name = tensor_name(wire, len)?;
                        Ok(())
                    }
                    _ => wire.skip(field.payload),
                })?;
                self.add_weight(wire, name)?;
            }
            _ => wire.skip(field.payload)?,
        }
        Ok(())
    }

    fn add_weight(&mut self, wire: &Wire<'_>, name: String) -> Result<(), Error> {
        self.count(wire, name.len())?;
        self.weights.insert(name);
        Ok(())
    }

    fn keep(&mut self, wire: &Wire<'_>, input: &OnnxInput) -> Result<(), Error> {
        let named = |dim: &OnnxDim| match dim {
            OnnxDim::Named(name) => name.len(),
            _ => 0,
        };
        let dims: usize = input
            .dims
            .iter()
            .map(|dim| size_of::<OnnxDim>() + named(dim))
            .sum();
        self.count(wire, input.name.len() + dims)
    }

    /// Counts what is kept of one item, the item itself included.
    fn count(&mut self, wire: &Wire<'_>, bytes: usize) -> Result<(), Error> {
        self.kept_bytes += bytes + size_of::<OnnxInput>();
        if self.kept_bytes > MAX_KEPT_BYTES {
            return Err(wire.refuse("the graph has more names than any model"));
        }
        Ok(())
    }
}

/// The name of a `TensorProto`; its data is read past.
fn tensor_name(wire: &mut Wire<'_>, len: u64) -> Result<String, Error> {
    let mut name = String::new();
    wire.message(len, |wire, field| match (field.number, field.payload) {
        (field::TENSOR_NAME, Payload::Bytes(len)) => {
            name = wire.text(len)?;
            Ok(())
        }
        _ => wire.skip(field.payload),
    })?;
    Ok(name)
}

/// A field of a `ValueInfoProto`.
fn value_info(wire: &mut Wire<'_>, field: Field, input: &mut OnnxInput) -> Result<(), Error> {
    match (field.number, field.payload) {
        (field::VALUE_INFO_NAME, Payload::Bytes(len)) => input.name = wire.text(len)?,
        (field::VALUE_INFO_TYPE, Payload::Bytes(len)) => {
            wire.message(len, |wire, field| match (field.number, field.payload) {
                (field::TYPE_TENSOR, Payload::Bytes(len)) => {
                    wire.message(len, |wire, field| tensor_type(wire, field, &mut input.dims))
                }
                _ => wire.skip(field.payload),
            })?;
        }
        _ => wire.skip(field.payload)?,
    }
    Ok(())
}

/// A field of a `TypeProto.Tensor`.
fn tensor_type(wire: &mut Wire<'_>, field: Field, dims: &mut Vec<OnnxDim>) -> Result<(), Error> {
    let (field::TENSOR_TYPE_SHAPE, Payload::Bytes(len)) = (field.number, field.payload) else {
        return wire.skip(field.payload);
    };
    wire.message(len, |wire, field| {
        let (field::SHAPE_DIM, Payload::Bytes(len)) = (field.number, field.payload) else {
            return wire.skip(field.payload);
        };
        if dims.len() == MAX_DIMS {
            return Err(wire.refuse("an input has more dimensions than any tensor"));
        }
        let mut dim = OnnxDim::Open;
        wire.message(len, |wire, field| dimension(wire, field, &mut dim))?;
        dims.push(dim);
        Ok(())
    })
}

/// TensorRT takes 8 dimensions (`nvinfer1::Dims::MAX_DIMS`), NumPy 64; this bounds memory only.
const MAX_DIMS: usize = 256;

/// A field of a `TensorShapeProto.Dimension`. Value and name exclude each other: the last one counts.
fn dimension(wire: &mut Wire<'_>, field: Field, dim: &mut OnnxDim) -> Result<(), Error> {
    *dim = match (field.number, field.payload) {
        (field::DIM_VALUE, Payload::Varint(bits)) => {
            // The field is an `int64`, whose negative values have the highest bit.
            match i64::try_from(bits) {
                Ok(1..) => OnnxDim::Fixed(bits),
                _ => OnnxDim::Open,
            }
        }
        (field::DIM_PARAM, Payload::Bytes(len)) => {
            let name = wire.text(len)?;
            if name.is_empty() {
                OnnxDim::Open
            } else {
                OnnxDim::Named(name)
            }
        }
        _ => return wire.skip(field.payload),
    };
    Ok(())
}
