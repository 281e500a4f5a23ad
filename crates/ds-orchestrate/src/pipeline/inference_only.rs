//! The command lines of the pipeline itself: whole, and cut down to inference for the sweep.

use ds_ceilings::Resolution;
use ds_config::{Form, InferPlugin, Knob, Pipeline, Role, SourceKind, Target};

use super::first;
use crate::stages::Launch;

/// The pipeline's own command: what the user runs. `None` for a form that is no program by itself.
pub fn e2e_launch(pipeline: &Pipeline) -> Option<Launch> {
    let path = pipeline.files.first()?.path().to_owned();
    let words: Vec<String> = match pipeline.form {
        Form::AppTxt | Form::AppYml => vec!["deepstream-app".into(), "-c".into(), path],
        Form::GstLaunch => vec!["sh".into(), path],
        Form::Python => vec!["python3".into(), path],
        _ => return None,
    };
    Launch::from_words(words)
}

/// The inference-only pipeline of the sweep: `{batch}` copies of the first file source, the mux at the model's size,
/// the primary inference, one fakesink; a counter prints the rate of batches once a second.
///
/// # Errors
///
/// What is missing, in words.
pub fn inference_only_launch(
    pipeline: &Pipeline,
    model: Option<Resolution>,
    batch: u32,
) -> Result<Launch, String> {
    let uri = pipeline
        .sources
        .iter()
        .filter(|source| source.kind == SourceKind::File)
        .find_map(|source| source.uris.first())
        .ok_or("no file source to loop: give a load with `--launch`")?;
    let stage = pipeline.infer.first().ok_or("no inference element")?;
    let infer = match stage.plugin {
        InferPlugin::Nvinfer => "nvinfer",
        InferPlugin::Nvinferserver => "nvinferserver",
        _ => {
            return Err(
                "an inference element that dsprof does not know: give a load with `--launch`"
                    .to_owned(),
            );
        }
    };
    let config = stage
        .config_path
        .as_ref()
        .ok_or("the inference element names no configuration file")?;
    let size = model
        .or_else(|| mux_size(pipeline))
        .ok_or("the size of the model is not known: give it with `--dims`")?;
    let mut words: Vec<String> = ["gst-launch-1.0", "-v", "-e"].map(str::to_owned).to_vec();
    for index in 0..batch {
        words.extend([
            "nvurisrcbin".to_owned(),
            format!("uri={}", file_uri(uri, index)),
            "file-loop=true".to_owned(),
            "!".to_owned(),
            format!("mux.sink_{index}"),
        ]);
    }
    words.extend([
        "nvstreammux".to_owned(),
        "name=mux".to_owned(),
        format!("batch-size={batch}"),
        format!("width={}", size.width()),
        format!("height={}", size.height()),
        "batched-push-timeout=-1".to_owned(),
        "!".to_owned(),
        infer.to_owned(),
        format!("config-file-path={config}"),
        format!("batch-size={batch}"),
        "!".to_owned(),
        "fpsdisplaysink".to_owned(),
        "text-overlay=false".to_owned(),
        "video-sink=fakesink".to_owned(),
        "sync=false".to_owned(),
        "fps-update-interval=1000".to_owned(),
    ]);
    Launch::from_words(words).ok_or_else(|| "an empty command".to_owned())
}

fn mux_size(pipeline: &Pipeline) -> Option<Resolution> {
    let element = first(pipeline, Role::Mux)?;
    let side = |knob| {
        let value = pipeline
            .knob(Target { element, knob })?
            .value
            .as_ref()?
            .integer()?;
        u32::try_from(value).ok()
    };
    Resolution::new(side(Knob::MuxWidth)?, side(Knob::MuxHeight)?)
}

/// The URI of one copy; `%d` stands for the number of the stream.
fn file_uri(uri: &str, index: u32) -> String {
    let uri = uri.replace("%d", &index.to_string());
    if uri.contains("://") {
        uri
    } else {
        format!("file://{uri}")
    }
}
