//! New pipelines: every combination is written as its snapshot says, passes lint, and leaves the rules nothing to do.

mod combinations;
mod refusals;

use std::collections::BTreeMap;
use std::path::Path;

use ds_ceilings::{Codec, Fps, Resolution, StreamCount};
use ds_derive::DeepStreamVersion;
use ds_orchestrate::scaffold::{
    ModelSource, NewForm, NewOutput, NewRequest, Scaffold, StreamSource, Task, scaffold,
};

/// The model's own configuration, as a user has it: batch 1, FP32, and paths relative to itself.
const MODEL: &str = "[property]\ngpu-id=0\ngie-unique-id=1\nnet-scale-factor=0.0039215697906911373\n\
                     onnx-file=detector.onnx\nmodel-engine-file=detector.onnx_b16_gpu0_fp16.engine\n\
                     labelfile-path=../labels.txt\ninfer-dims=3;544;960\nbatch-size=1\nnetwork-mode=0\n\
                     num-detected-classes=4\nprocess-mode=1\nnetwork-type=0\ncluster-mode=2\n";

/// The files that the request names.
fn disk() -> BTreeMap<String, Vec<u8>> {
    BTreeMap::from([
        ("models/a/pgie.txt".to_owned(), MODEL.as_bytes().to_vec()),
        (
            "models/a/detector.onnx_b16_gpu0_fp16.engine".to_owned(),
            Vec::new(),
        ),
    ])
}

fn request(
    task: Task,
    sources: &[&str],
    streams: u32,
    outputs: &[&str],
    form: NewForm,
) -> NewRequest {
    NewRequest {
        model: ModelSource::Config("models/a/pgie.txt".to_owned()),
        task,
        form,
        sources: sources
            .iter()
            .map(|source| StreamSource::parse(source).expect("a source"))
            .collect(),
        streams: StreamCount::new(streams),
        fps: Fps::new(30.0).expect("a rate"),
        source_size: Resolution::new(1920, 1080).expect("a size"),
        codec: Some(Codec::Hevc),
        outputs: outputs
            .iter()
            .map(|output| NewOutput::parse(output).expect("an output"))
            .collect(),
        deepstream: DeepStreamVersion { major: 9, minor: 1 },
    }
}

fn made(request: &NewRequest) -> Scaffold {
    scaffold(request, Path::new("out"), None, &disk()).expect("it can be made")
}
