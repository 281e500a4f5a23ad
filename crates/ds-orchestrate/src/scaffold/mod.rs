//! Stage 0: a new pipeline in the right shape, in the form that is asked for.
//!
//! The shape is written first, without any knob that a rule sets: elements and links (`graph`), or the groups of
//! deepstream-app (`app`). Then the rules R1 to R6 run on it as they do on a user's own pipeline, with the batch that
//! stands in for a sweep, and their values are written in. So a value of stage 0 is that of the rule by construction, and
//! `derive` on what comes out has nothing to propose.

mod app;
mod graph;
mod launch;
mod model;
mod presets;
mod python;
mod request;
mod service_maker;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use ds_config::{FileSource, FrameRate, LintContext, Pipeline, Purpose, Severity, lint};
use ds_derive::{Consequence, Knob, OutputWish, Plan, Target, derive};

use self::app::{AppFile, InferType};
use self::graph::{Graph, Node, Property};
use self::model::{ModelConfig, model_config, with_engine};
pub use self::presets::Preset;
pub use self::request::{
    ModelSource, NewForm, NewOutput, NewRequest, StatedModel, StreamSource, Task,
};
use crate::atomic;
use crate::error::Error;
use crate::pipeline::{Wishes, facts_of, plan_edits};
use ds_ceilings::Ceilings;

/// One of the pipelines that are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variant {
    /// What is run to measure: nothing is shown, sent or paced.
    Benchmark,
    /// What is run for its output.
    Output,
}

impl Variant {
    fn stem(self) -> &'static str {
        match self {
            Self::Benchmark => "benchmark",
            Self::Output => "pipeline",
        }
    }

    fn of_rules(self) -> ds_derive::Variant {
        match self {
            Self::Benchmark => ds_derive::Variant::Benchmark,
            Self::Output => ds_derive::Variant::Every,
        }
    }
}

/// A pipeline that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaffold {
    /// The files by their paths, in the order of the names.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// The file that each variant begins with.
    pub entries: Vec<(Variant, PathBuf)>,
    /// What was chosen without asking.
    pub presets: Vec<Preset>,
    /// What it is, in one sentence.
    pub summary: String,
    /// The command that builds the engine once, to be run before anything is measured.
    pub build_command: Option<String>,
    /// What the user has to know.
    pub notes: Vec<String>,
}

/// Makes the pipeline for the folder `folder`, on the GPU of `ceilings` where one is known. Nothing is written.
///
/// # Errors
///
/// When the model's configuration cannot be read, the form has no place for what is asked, or the model cannot be given
/// the batch.
pub fn scaffold(
    request: &NewRequest,
    folder: &Path,
    ceilings: Option<&Ceilings>,
    files: &dyn FileSource,
) -> Result<Scaffold, Error> {
    refuse(request)?;
    let folder = folder.display().to_string();
    let folder = folder.trim_end_matches('/');
    let inside = |name: &str| format!("{folder}/{name}");
    let mut written: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut notes = Vec::new();
    let model = (request.task != Task::Vlm)
        .then(|| model_config(request, folder, files))
        .transpose()?;
    if let Some(model) = &model {
        written.insert(inside(model.name), model.text.clone());
        notes.extend(model.notes.iter().cloned());
    }
    let mut entries = Vec::new();
    for variant in presets::wanted(request) {
        let name = format!("{}.{}", variant.stem(), request.form.suffix());
        if request.form.is_app() {
            for (file, text) in app_files(request, variant, &name, model.as_ref()) {
                written.insert(inside(&file), text.into_bytes());
            }
        } else {
            let infer = model.as_ref().map(infer_node);
            let mut graph = Graph::new(request, variant, infer.as_ref());
            if request.form == NewForm::Pyservicemaker {
                set_queues(request, variant, &mut graph, files)?;
            }
            written.insert(
                inside(&name),
                graph_text(request, variant, &graph).into_bytes(),
            );
        }
        entries.push((variant, inside(&name)));
    }
    let mut plan = None;
    for (variant, entry) in &entries {
        let settled = settle(request, *variant, entry, ceilings, &mut written, files)?;
        plan.get_or_insert(settled);
    }
    if let (Some(model), Some(plan)) = (&model, &plan) {
        let path = inside(model.name);
        if let (Some(text), Some((batch, precision))) = (written.get(&path), engine_of(plan))
            && let Some(named) = with_engine(model, text, batch, precision)?
        {
            written.insert(path, named);
        }
    }
    notes.extend(closing_notes(request));
    notes.extend(findings(request, &entries, &written, files)?);
    let entry_name = format!("{}.{}", Variant::Benchmark.stem(), request.form.suffix());
    Ok(Scaffold {
        presets: plan
            .as_ref()
            .map(|plan| presets::presets(request, plan))
            .unwrap_or_default(),
        summary: summary(request),
        build_command: presets::build_command(request, &entry_name),
        files: written
            .into_iter()
            .map(|(path, text)| (path.into(), text))
            .collect(),
        entries: entries
            .into_iter()
            .map(|(variant, path)| (variant, path.into()))
            .collect(),
        notes,
    })
}

/// Writes what was made: every file or none, and never over one that is there.
///
/// # Errors
///
/// When a file exists already, or cannot be written; what was written before is taken back.
pub fn write_scaffold(scaffold: &Scaffold) -> Result<(), Error> {
    if let Some(path) = scaffold.files.keys().find(|path| path.exists()) {
        return Err(Error::Input {
            what: format!(
                "`{}` exists already, and nothing is written over: choose another folder with `--dir`",
                path.display()
            ),
        });
    }
    let mut done: Vec<&PathBuf> = Vec::new();
    for (path, text) in &scaffold.files {
        let folder = path.parent().unwrap_or(Path::new("."));
        let written = atomic::create_folder(folder).and_then(|()| atomic::write(path, text));
        if let Err(source) = written {
            for path in done {
                // What cannot be removed stays; the first error is the one that is told.
                let _ = atomic::remove(path);
            }
            return Err(Error::Write {
                path: path.clone(),
                source,
            });
        }
        done.push(path);
    }
    Ok(())
}

/// What no form has a place for.
fn refuse(request: &NewRequest) -> Result<(), Error> {
    let input = |what: &str| {
        Err(Error::Input {
            what: what.to_owned(),
        })
    };
    if request.sources.is_empty() {
        return input("no source is given: name one with `--source`");
    }
    if request.streams.get() == 0 {
        return input("a pipeline of no streams carries nothing: give `--streams`");
    }
    if request.sources.len() > usize::try_from(request.streams.get()).unwrap_or(usize::MAX) {
        return input("there are more sources than streams: raise `--streams`");
    }
    if request.form.is_app() && request.task == Task::Vlm {
        return input(
            "deepstream-app has no stage that hands frames to another program: ask for gst-launch, service-maker or \
             pyservicemaker",
        );
    }
    if request.form.is_app() && request.task == Task::Embed {
        let reads = "deepstream-app hands the output tensor to nobody: ask for pyservicemaker, or attach a probe to a \
                     gst-launch pipeline";
        return input(reads);
    }
    let kafka = |output: &&NewOutput| matches!(output, NewOutput::Kafka { .. });
    if request.outputs.iter().filter(kafka).count() > 1 {
        return input("messages can be sent to one topic only");
    }
    Ok(())
}

/// The files of one variant for deepstream-app, without the knobs that rules set.
fn app_files(
    request: &NewRequest,
    variant: Variant,
    name: &str,
    model: Option<&ModelConfig>,
) -> Vec<(String, String)> {
    let head = head(request, variant);
    let (config, plugin) =
        model.map_or(("", InferType::Nvinfer), |model| (model.name, model.plugin));
    let file = AppFile::new(request, variant, config, plugin);
    if request.form == NewForm::AppTxt {
        return vec![(name.to_owned(), file.txt(&head))];
    }
    vec![
        (name.to_owned(), file.yml(&head, "sources.csv")),
        ("sources.csv".to_owned(), file.csv()),
    ]
}

fn infer_node(model: &ModelConfig) -> Node {
    let factory = match model.plugin {
        InferType::Nvinfer => "nvinfer",
        InferType::Nvinferserver => "nvinferserver",
    };
    graph::infer(factory, model.name)
}

/// The text of one variant in a form that names elements, without the knobs that rules set.
fn graph_text(request: &NewRequest, variant: Variant, graph: &Graph) -> String {
    let head = head(request, variant);
    match request.form {
        NewForm::ServiceMaker => service_maker::yaml(graph, &head),
        NewForm::Pyservicemaker => python::program(graph, &head),
        NewForm::GstLaunch | NewForm::AppTxt | NewForm::AppYml => launch::script(graph, &head),
    }
}

/// Gives the queues their depths by R5. The links of a Python program are not followed, so that the rule does not know
/// there where a queue stands: it is asked about the same elements as a script.
fn set_queues(
    request: &NewRequest,
    variant: Variant,
    graph: &mut Graph,
    disk: &dyn FileSource,
) -> Result<(), Error> {
    const SCRIPT: &str = "script.sh";
    let script = launch::script(graph, &[]).into_bytes();
    let own = BTreeMap::from([(SCRIPT.to_owned(), script)]);
    let overlay = Overlay { own: &own, disk };
    let pipeline = Pipeline::resolve(SCRIPT, &overlay)?;
    let plan = derive(&facts_of(
        &pipeline,
        &wishes(request, variant),
        None,
        &overlay,
    ));
    for derivation in plan.changes(variant.of_rules()) {
        if let (Target::Queue(name), Some(number)) =
            (&derivation.target, derivation.new.as_integer())
        {
            graph.set(name, derivation.knob.name(), Property::Number(number));
        }
    }
    Ok(())
}

/// Runs the rules on one variant until they have nothing more to write, and gives the first plan.
fn settle(
    request: &NewRequest,
    variant: Variant,
    entry: &str,
    ceilings: Option<&Ceilings>,
    written: &mut BTreeMap<String, Vec<u8>>,
    disk: &dyn FileSource,
) -> Result<Plan, Error> {
    /// Two runs settle all: the second finds what the first made possible, such as the column of a table.
    const MOST_RUNS: usize = 4;
    let wishes = wishes(request, variant);
    let mut first = None;
    for _ in 0..MOST_RUNS {
        let overlay = Overlay { own: written, disk };
        let pipeline = Pipeline::resolve(entry, &overlay)?;
        let plan = derive(&facts_of(&pipeline, &wishes, ceilings, &overlay));
        if let Some(stop) = plan
            .stops()
            .find(|withheld| withheld.consequence == Consequence::Stop)
        {
            return Err(Error::Unfit {
                what: format!("{} of {}: {}", stop.knob.name(), stop.target, stop.reason),
            });
        }
        let edits = plan_edits(&pipeline, &plan, variant.of_rules())?;
        let is_settled = edits.files.is_empty();
        for file in edits.files {
            written.insert(file.path.display().to_string(), file.after);
        }
        first.get_or_insert(plan);
        if is_settled {
            break;
        }
    }
    Ok(first.expect("the loop runs at least once"))
}

/// Batch and precision that the engine is built for.
fn engine_of(plan: &Plan) -> Option<(i64, &'static str)> {
    let value = |knob: Knob| {
        let mut derivations = plan.derivations();
        let found =
            derivations.find(|found| found.knob == knob && found.target == Target::PrimaryInfer)?;
        found.new.as_integer()
    };
    let precision = match value(Knob::NetworkMode)? {
        0 => "fp32",
        1 => "int8",
        _ => "fp16",
    };
    Some((value(Knob::InferBatchSize)?, precision))
}

/// What lint says of the variants: the shape is clean, but what was asked for may not be, such as a camera whose raw frames
/// do not fit on its bus.
fn findings(
    request: &NewRequest,
    entries: &[(Variant, String)],
    written: &BTreeMap<String, Vec<u8>>,
    disk: &dyn FileSource,
) -> Result<BTreeSet<String>, Error> {
    let overlay = Overlay { own: written, disk };
    let mut found = BTreeSet::new();
    for (variant, entry) in entries {
        let pipeline = Pipeline::resolve(entry, &overlay)?;
        let (numerator, denominator) = graph::ratio(request.fps.get());
        let context = LintContext {
            fps: Some(FrameRate {
                numerator,
                denominator,
            }),
            purpose: match variant {
                Variant::Benchmark => Purpose::Benchmark,
                Variant::Output => Purpose::Live,
            },
            files: Some(&overlay),
            ..LintContext::default()
        };
        found.extend(
            lint(&pipeline, &context)
                .into_iter()
                .filter(|finding| finding.severity != Severity::Note)
                .map(|finding| finding.to_string()),
        );
    }
    Ok(found)
}

/// What the rules are told beyond the files.
fn wishes(request: &NewRequest, variant: Variant) -> Wishes {
    let mut wishes = Wishes::new(request.streams, request.fps);
    wishes.source_size = Some(request.source_size);
    wishes.codec = request.codec;
    wishes.deepstream = Some(request.deepstream);
    if let ModelSource::Stated(model) = &request.model {
        wishes.dims = model.dims;
    }
    if variant == Variant::Output {
        let records = |output: &NewOutput| matches!(output, NewOutput::File(_));
        wishes.output = if request.outputs.iter().any(records) {
            OutputWish::Recorded
        } else {
            OutputWish::Visible
        };
    }
    wishes
}

/// The new files in memory, and what they refer to on the disk.
struct Overlay<'a> {
    own: &'a BTreeMap<String, Vec<u8>>,
    disk: &'a dyn FileSource,
}

impl FileSource for Overlay<'_> {
    fn read(&self, path: &str) -> io::Result<Vec<u8>> {
        match self.own.get(path) {
            Some(text) => Ok(text.clone()),
            None => self.disk.read(path),
        }
    }

    fn open(&self, path: &str) -> io::Result<Box<dyn io::Read + '_>> {
        match self.own.get(path) {
            Some(text) => Ok(Box::new(text.as_slice())),
            None => self.disk.open(path),
        }
    }

    fn exists(&self, path: &str) -> bool {
        self.own.contains_key(path) || self.disk.exists(path)
    }
}

fn summary(request: &NewRequest) -> String {
    let kinds = request
        .sources
        .iter()
        .map(|source| match source {
            StreamSource::File(_) => "file",
            StreamSource::Rtsp(_) => "RTSP",
            StreamSource::Usb(_) => "USB camera",
        })
        .collect::<BTreeSet<_>>();
    let kinds: Vec<&str> = kinds.into_iter().collect();
    let noun = if request.streams.get() == 1 {
        "stream"
    } else {
        "streams"
    };
    format!(
        "{} {} {noun} of {}x{} at {} frames/s, {}, as a {}",
        request.streams.get(),
        kinds.join(" and "),
        request.source_size.width(),
        request.source_size.height(),
        request.fps.get(),
        request.task,
        request.form
    )
}

/// The comment at the head of a file.
fn head(request: &NewRequest, variant: Variant) -> Vec<String> {
    vec![
        summary(request),
        match variant {
            Variant::Benchmark => {
                "To measure: nothing is shown, recorded or sent, and no clock is waited for."
                    .to_owned()
            }
            Variant::Output => "For its output; measure with the benchmark variant.".to_owned(),
        },
    ]
}

fn closing_notes(request: &NewRequest) -> Vec<String> {
    let mut notes = Vec::new();
    if request
        .outputs
        .iter()
        .any(|output| matches!(output, NewOutput::File(_)))
    {
        notes.push(
            "recording needs an encoder: data-centre GPUs such as the A100, H100 and H200 have none".to_owned(),
        );
    }
    if request
        .outputs
        .iter()
        .any(|output| matches!(output, NewOutput::Kafka { .. }))
    {
        notes.push(
            "the broker element needs DeepStream's Kafka adapter and librdkafka in the container"
                .to_owned(),
        );
    }
    notes
}
