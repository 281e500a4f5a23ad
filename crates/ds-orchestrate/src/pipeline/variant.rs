//! The benchmark variant: the pipeline with the plan's values for measuring.

use std::collections::BTreeMap;
use std::io;

use ds_config::{
    FileSource, Form, Knob, KnobValue, MuxGeneration, Pipeline, SourceKind, Target as ConfigTarget,
};
use ds_derive::{Plan, Variant};

use super::DiskFiles;
use super::apply::{PlannedEdits, edits_with};
use crate::process::BUNDLE_PLACEHOLDER;
use crate::stages::{Counted, Launch};

/// The folder of the bundle that holds the variant.
pub(crate) const FOLDER: &str = "variant";

/// The pipeline as it is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkVariant {
    /// What differs from the user's files.
    pub edits: PlannedEdits,
    /// The pipeline as it reads then.
    pub pipeline: Pipeline,
    /// What runs it, from the bundle.
    pub launch: Launch,
    /// What counts as one buffer at its counter.
    pub counted: Counted,
}

/// The variant of a deepstream-app or gst-launch pipeline that the plan wants measured; inside, why there is none. Nothing
/// is written.
pub fn benchmark_variant(pipeline: &Pipeline, plan: &Plan) -> Result<BenchmarkVariant, String> {
    let entry = pipeline.files.first().ok_or("it has no file")?.path();
    let launch = launch(pipeline.form, entry)?;
    if let Some(stop) = plan.stops().next() {
        return Err(format!("the plan stops: {}", stop.reason));
    }
    let counted = counted(pipeline, plan);
    let edits = edits_with(
        pipeline,
        plan,
        Variant::Benchmark,
        &measuring(pipeline, counted),
    )
    .map_err(|error| error.to_string())?;
    if edits.files.is_empty() {
        return Err("the plan changes nothing that dsprof can write".to_owned());
    }
    let edited = Edited(
        edits
            .files
            .iter()
            .map(|file| (file.path.display().to_string(), file.after.as_slice()))
            .collect(),
    );
    let read = Pipeline::resolve(entry, &edited)
        .map_err(|error| format!("it cannot be read back: {error}"))?;
    Ok(BenchmarkVariant {
        edits,
        pipeline: read,
        launch,
        counted,
    })
}

/// The user's files with some of them edited.
struct Edited<'a>(BTreeMap<String, &'a [u8]>);

impl FileSource for Edited<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self.0.get(path) {
            Some(bytes) => Ok(bytes.to_vec()),
            None => DiskFiles.read(path),
        }
    }

    fn exists(&self, path: &str) -> bool {
        self.0.contains_key(path) || DiskFiles.exists(path)
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn io::Read>> {
        match self.0.get(path) {
            Some(bytes) => Ok(Box::new(io::Cursor::new(bytes.to_vec()))),
            None => DiskFiles.open(path),
        }
    }
}

/// What no rule derives and a measurement needs: deepstream-app prints a rate only where it is told to, and how often.
/// Where buffers are counted, every one is to be a full batch.
fn measuring(pipeline: &Pipeline, counted: Counted) -> Vec<(ConfigTarget, KnobValue)> {
    let set = |knob| {
        pipeline
            .knobs_of(knob)
            .next()
            .map(|setting| (setting.target, setting.value.as_ref()))
    };
    let mut values = Vec::new();
    if counted == Counted::Batches
        && let Some((target, _)) = set(Knob::MuxBatchedPushTimeout)
    {
        values.push((target, KnobValue::Integer(WAIT_FOR_EVER)));
    }
    if let Some((target, value)) = set(Knob::PerfMeasurement)
        && value.and_then(KnobValue::flag) != Some(true)
    {
        values.push((target, KnobValue::Flag(true)));
    }
    if let Some((target, value)) = set(Knob::PerfInterval)
        && value.and_then(KnobValue::integer).is_none_or(|s| s < 1)
    {
        values.push((target, KnobValue::Integer(PERF_INTERVAL)));
    }
    values
}

/// A mux that waits for ever sends full batches only; NVIDIA's own performance script gives it to files.
const WAIT_FOR_EVER: i64 = -1;

/// What counts as one buffer. `fpsdisplaysink` counts buffers, each of which holds a batch; how many frames that is can be
/// told where the mux may wait for a full one: files that are read as fast as they are taken, one at least for each frame.
fn counted(pipeline: &Pipeline, plan: &Plan) -> Counted {
    let has = |factory| pipeline.elements.iter().any(|one| one.factory == factory);
    let files_only = pipeline
        .sources
        .iter()
        .all(|source| source.kind == SourceKind::File);
    let batch = plan.final_batch.map_or(u32::MAX, |batch| batch.get());
    let full = files_only && pipeline.streams().is_some_and(|streams| streams >= batch);
    let is_legacy = pipeline.mux == Some(MuxGeneration::Legacy);
    let buffers = has("fpsdisplaysink") && !has("nvdslogger") && !has("nvstreamdemux");
    if pipeline.form == Form::GstLaunch && buffers && full && is_legacy {
        Counted::Batches
    } else {
        Counted::ByEmitter
    }
}

/// Seconds between two rates where nobody says it: at least six windows fit into the shortest of usual measurements, and
/// half a frame per second can be told.
const PERF_INTERVAL: i64 = 2;

/// What runs the variant. `entry` in the bundle stands for the folder of the first file, `cwd` for the working directory: a
/// command line names its files relative to the latter.
fn launch(form: Form, entry: &str) -> Result<Launch, String> {
    let name = entry.rsplit('/').next().unwrap_or(entry);
    let folder = format!("{BUNDLE_PLACEHOLDER}/{FOLDER}");
    let words = match form {
        Form::AppTxt | Form::AppYml => vec![
            "deepstream-app".to_owned(),
            "-c".to_owned(),
            format!("{folder}/entry/{name}"),
        ],
        Form::GstLaunch => vec![
            "sh".to_owned(),
            "-c".to_owned(),
            r#"script=$(cd "$2" && pwd -P)/$3 && cd "$1" && exec sh "$script""#.to_owned(),
            "sh".to_owned(),
            format!("{folder}/cwd"),
            format!("{folder}/entry"),
            name.to_owned(),
        ],
        form => return Err(format!("dsprof writes no variant of a {form}")),
    };
    Launch::from_words(words).ok_or_else(|| "it has no command".to_owned())
}
