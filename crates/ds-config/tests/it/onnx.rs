//! ONNX files written here by hand, field by field, as `onnx.proto` numbers them.

use std::collections::BTreeMap;
use std::io::{self, Read};

use ds_config::{ErrorKind, FileSource, Knob, OnnxBatch, OnnxDim, OnnxModel, Pipeline};
use proptest::prelude::*;

/// A number of a varint field.
fn varint(mut value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let group = u8::try_from(value & 0x7f).expect("seven bits");
        value >>= 7;
        out.push(if value == 0 { group } else { group | 0x80 });
        if value == 0 {
            return out;
        }
    }
}

fn number(field: u64, value: u64) -> Vec<u8> {
    [varint(field << 3), varint(value)].concat()
}

fn bytes(field: u64, payload: &[u8]) -> Vec<u8> {
    let len = u64::try_from(payload.len()).expect("a length");
    [varint(field << 3 | 2), varint(len), payload.to_vec()].concat()
}

/// A `ValueInfoProto` as the field `input` of a graph.
pub(crate) fn input(name: &str, dims: &[OnnxDim]) -> Vec<u8> {
    let dims: Vec<u8> = dims
        .iter()
        .flat_map(|dim| {
            let dim = match dim {
                OnnxDim::Fixed(size) => number(1, *size),
                OnnxDim::Named(name) => bytes(2, name.as_bytes()),
                _ => Vec::new(),
            };
            bytes(1, &dim)
        })
        .collect();
    let float = number(1, 1);
    let tensor = [float, bytes(2, &dims)].concat();
    let info = [bytes(1, name.as_bytes()), bytes(2, &bytes(1, &tensor))].concat();
    bytes(11, &info)
}

/// A `TensorProto` as the field `initializer` of a graph: the data before the name.
fn weight(name: &str, data: &[u8]) -> Vec<u8> {
    let tensor = [
        number(1, 64),
        number(2, 1),
        bytes(9, data),
        bytes(8, name.as_bytes()),
    ];
    bytes(5, &tensor.concat())
}

/// A `ModelProto`: IR version, producer, a graph of a node and the given fields, opset.
pub(crate) fn model(graph: &[Vec<u8>]) -> Vec<u8> {
    let node = bytes(1, &bytes(4, b"Conv"));
    let graph = [node, bytes(2, b"main"), graph.concat()].concat();
    [
        number(1, 8),
        bytes(2, b"pytorch"),
        bytes(7, &graph),
        bytes(8, &number(2, 17)),
    ]
    .concat()
}

fn image(batch: OnnxDim) -> [OnnxDim; 4] {
    [
        batch,
        OnnxDim::Fixed(3),
        OnnxDim::Fixed(224),
        OnnxDim::Fixed(224),
    ]
}

fn read(mut file: &[u8]) -> Result<OnnxModel, ds_config::Error> {
    OnnxModel::read(&mut file)
}

#[track_caller]
fn check(graph: &[Vec<u8>], expected: &[(&str, &[OnnxDim])], batch: OnnxBatch) {
    let model = read(&model(graph)).expect("a model");
    let inputs: Vec<(&str, &[OnnxDim])> = model
        .inputs()
        .iter()
        .map(|input| (input.name.as_str(), input.dims.as_slice()))
        .collect();
    assert_eq!(inputs, expected);
    assert_eq!(model.batch(), batch);
}

#[test]
fn a_batch_of_one_is_fixed() {
    let dims = image(OnnxDim::Fixed(1));
    check(
        &[input("input", &dims)],
        &[("input", &dims)],
        OnnxBatch::Fixed(1),
    );
}

#[test]
fn a_batch_of_four_is_fixed_in_nhwc_too() {
    let dims = [4, 224, 224, 3].map(OnnxDim::Fixed);
    check(
        &[input("image", &dims)],
        &[("image", &dims)],
        OnnxBatch::Fixed(4),
    );
}

#[test]
fn a_named_batch_is_dynamic() {
    let dims = image(OnnxDim::Named("batch_size".to_owned()));
    check(
        &[input("input", &dims)],
        &[("input", &dims)],
        OnnxBatch::Dynamic,
    );
}

#[test]
fn an_unwritten_batch_is_dynamic() {
    let dims = image(OnnxDim::Open);
    check(
        &[input("input", &dims)],
        &[("input", &dims)],
        OnnxBatch::Dynamic,
    );
}

#[test]
fn minus_one_and_zero_stand_for_an_open_size() {
    for written in [0, u64::MAX] {
        let written = [OnnxDim::Fixed(written), OnnxDim::Fixed(3)];
        check(
            &[input("input", &written)],
            &[("input", &[OnnxDim::Open, OnnxDim::Fixed(3)])],
            OnnxBatch::Dynamic,
        );
    }
}

#[test]
fn weights_among_the_inputs_are_no_inputs() {
    let dims = image(OnnxDim::Fixed(8));
    check(
        &[
            input("conv1.weight", &[64, 3, 7, 7].map(OnnxDim::Fixed)),
            input("input", &dims),
            weight("conv1.weight", &[0; 64]),
        ],
        &[("input", &dims)],
        OnnxBatch::Fixed(8),
    );
}

#[test]
fn sparse_weights_are_no_inputs() {
    let dims = image(OnnxDim::Fixed(2));
    let values = [bytes(9, &[0; 8]), bytes(8, b"sparse")].concat();
    let sparse = bytes(15, &[bytes(1, &values), number(3, 8)].concat());
    check(
        &[
            sparse,
            input("sparse", &[OnnxDim::Fixed(8), OnnxDim::Fixed(1)]),
            input("input", &dims),
        ],
        &[("input", &dims)],
        OnnxBatch::Fixed(2),
    );
}

#[test]
fn the_smallest_fixed_batch_of_several_inputs_holds() {
    let open = image(OnnxDim::Named("N".to_owned()));
    let four = image(OnnxDim::Fixed(4));
    let two = [OnnxDim::Fixed(2), OnnxDim::Fixed(16)];
    let threshold = [OnnxDim::Fixed(1)];
    check(
        &[
            input("a", &open),
            input("b", &four),
            input("c", &two),
            input("threshold", &threshold),
        ],
        &[
            ("a", &open),
            ("b", &four),
            ("c", &two),
            ("threshold", &threshold),
        ],
        OnnxBatch::Fixed(2),
    );
}

#[test]
fn an_input_without_a_shape_has_no_known_batch() {
    let info = bytes(11, &bytes(1, b"input"));
    check(&[info], &[("input", &[])], OnnxBatch::Unknown);
}

#[test]
fn fields_of_every_wire_type_are_read_past() {
    let dims = image(OnnxDim::Fixed(4));
    let unknown = [
        [varint(900 << 3 | 1), vec![0xff; 8]].concat(),
        [varint(901 << 3 | 5), vec![0xff; 4]].concat(),
        number(902, u64::MAX),
        bytes(903, &[0xff; 300]),
    ];
    check(
        &[unknown.concat(), input("input", &dims), unknown.concat()],
        &[("input", &dims)],
        OnnxBatch::Fixed(4),
    );
}

/// Weights that are made while they are read, and that nobody could keep: a gigabyte.
#[test]
fn a_gigabyte_of_weights_is_read_past() {
    const WEIGHTS: u64 = 1 << 30;
    let dims = image(OnnxDim::Fixed(4));
    let name = bytes(8, b"weight");
    let data_tag = [varint(9 << 3 | 2), varint(WEIGHTS)].concat();
    let tensor_len = u64::try_from(data_tag.len() + name.len()).expect("small") + WEIGHTS;
    let tensor_tag = [varint(5 << 3 | 2), varint(tensor_len)].concat();
    let input = input("input", &dims);
    let graph_len = u64::try_from(tensor_tag.len() + input.len()).expect("small") + tensor_len;
    let head = [varint(7 << 3 | 2), varint(graph_len), tensor_tag, data_tag].concat();
    let tail = [name, input].concat();
    let mut file = head
        .as_slice()
        .chain(io::repeat(0x5a).take(WEIGHTS))
        .chain(tail.as_slice());
    let model = OnnxModel::read(&mut file).expect("a model");
    assert_eq!(model.inputs().len(), 1);
    assert_eq!(model.batch(), OnnxBatch::Fixed(4));
}

#[test]
fn every_cut_is_a_refusal_or_a_shorter_model() {
    let whole = model(&[
        weight("w", &[1; 40]),
        input("input", &image(OnnxDim::Fixed(4))),
    ]);
    let graph_end = whole.len() - bytes(8, &number(2, 17)).len();
    for len in 0..whole.len() {
        match read(&whole[..len]) {
            // Behind the graph the file may end between two fields.
            Ok(model) => assert!(len == graph_end && model.inputs().len() == 1, "{len} bytes"),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Refused, "{len} bytes"),
        }
    }
}

#[track_caller]
fn check_refused(file: &[u8], message: &str) {
    let error = read(file).expect_err("no model");
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.message(), message);
}

#[test]
fn other_files_are_refused_with_the_reason() {
    check_refused(b"", "there is no graph in this ONNX file");
    check_refused(
        b"version https://git-lfs.github.com/spec/v1\n",
        "this is no ONNX model: a tag is of no known wire type, before byte 1",
    );
    check_refused(
        &[0x00],
        "this is no ONNX model: a tag names no field, before byte 1",
    );
    check_refused(
        &[
            0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        ],
        "this is no ONNX model: a number has more than ten bytes, before byte 11",
    );
    check_refused(
        &bytes(7, &[0x5a, 0x10, 0x0a]),
        "this is no ONNX model: a field reaches past the end of its message, before byte 4",
    );
    check_refused(
        &[0x3a, 0x05, 0x08, 0x01],
        "this is no ONNX model: the file ends inside of a field, before byte 4",
    );
}

#[test]
fn names_without_end_are_refused() {
    let long = vec![b'x'; (1 << 16) + 1];
    let info = bytes(11, &bytes(1, &long));
    let error = read(&model(&[info])).expect_err("no name is as long");
    assert!(error.message().contains("longer than any name"), "{error}");
    let full = vec![b'x'; 1 << 16];
    let many: Vec<Vec<u8>> = (0..300).map(|_| bytes(5, &bytes(8, &full))).collect();
    let error = read(&model(&many)).expect_err("no model has as many");
    assert!(
        error.message().contains("more names than any model"),
        "{error}"
    );
}

/// A source whose reader breaks off.
struct Broken;

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::other("the disk is gone"))
    }
}

#[test]
fn a_source_that_fails_is_named() {
    let error = OnnxModel::read(&mut Broken).expect_err("nothing can be read");
    assert_eq!(error.kind(), ErrorKind::MissingFile);
    assert_eq!(error.message(), "the file cannot be read: the disk is gone");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(file in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&file);
        let _ = read(&bytes(7, &file));
        let _ = read(&bytes(7, &bytes(11, &file)));
    }

    #[test]
    fn shapes_read_back(sizes in prop::collection::vec(1..1_u64 << 40, 0..6), name in "[a-z:/.0-9]{0,20}") {
        let dims: Vec<OnnxDim> = sizes.into_iter().map(OnnxDim::Fixed).collect();
        let model = read(&model(&[input(&name, &dims)])).expect("a model");
        prop_assert_eq!(&model.inputs()[0].name, &name);
        prop_assert_eq!(&model.inputs()[0].dims, &dims);
    }
}

#[test]
fn a_stage_leads_to_its_model() {
    let onnx = model(&[input("input", &image(OnnxDim::Fixed(1)))]);
    let files = BTreeMap::from([
        (
            "conf/pgie.txt".to_owned(),
            b"[property]\nonnx-file=../net/a.onnx\nmodel-engine-file=a.onnx_b8_gpu0_int8.engine\n"
                .to_vec(),
        ),
        ("net/a.onnx".to_owned(), onnx),
    ]);
    let pipeline = Pipeline::resolve("conf/pgie.txt", &files).expect("an nvinfer file");
    let stage = pipeline.infer[0].element;
    let model = pipeline
        .onnx(stage, &files)
        .expect("it is there")
        .expect("it is named");
    assert_eq!(model.batch(), OnnxBatch::Fixed(1));
    let engine = pipeline.engine_name(stage).expect("nvinfer's own name");
    assert_eq!(engine.max_batch, 8);

    let missing = BTreeMap::from([("conf/pgie.txt".to_owned(), files["conf/pgie.txt"].clone())]);
    let error = pipeline.onnx(stage, &missing).expect_err("it is not there");
    assert_eq!(error.to_string(), "net/a.onnx: there is no such file");
    assert_eq!(error.kind(), ErrorKind::MissingFile);
}

#[test]
fn a_stage_without_an_onnx_file_has_no_model() {
    let files = BTreeMap::from([(
        "pgie.txt".to_owned(),
        b"[property]\nbatch-size=1\nnetwork-mode=2\n".to_vec(),
    )]);
    let pipeline = Pipeline::resolve("pgie.txt", &files).expect("an nvinfer file");
    let batch = pipeline
        .knobs_of(Knob::InferBatchSize)
        .next()
        .expect("a batch");
    assert_eq!(pipeline.onnx(batch.target.element, &files), Ok(None));
    assert_eq!(pipeline.engine_name(batch.target.element), None);
}

/// A source that says only what it must.
struct Least(Vec<u8>);

impl FileSource for Least {
    fn read(&self, _: &str) -> io::Result<Vec<u8>> {
        Ok(self.0.clone())
    }

    fn exists(&self, _: &str) -> bool {
        true
    }
}

#[test]
fn a_source_opens_what_it_reads() {
    let mut bytes = Vec::new();
    let source = Least(b"abc".to_vec());
    let mut opened = source.open("any").expect("it opens");
    opened.read_to_end(&mut bytes).expect("it reads");
    assert_eq!(bytes, b"abc");
}
