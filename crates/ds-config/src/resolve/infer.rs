//! The knobs of an inference stage: those of the element, and those of the file that it names.

use super::builder::{Builder, Search};
use super::keyed::Keyed;
use crate::detect::Form;
use crate::error::{Error, ErrorKind};
use crate::ini::IniType;
use crate::model::{
    Document, ElementId, InferPlugin, InferStage, Knob, KnobValue, Locator, Role, Site,
};

/// What the element itself can hold, by knob.
pub(super) type ElementSites = Vec<(Knob, Site)>;

/// The knobs of nvinfer's `[property]`, how they are read, and their defaults, from
/// `nvdsinfer_context` and `gstnvinfer_property_parser` of DeepStream 9.1.
const NVINFER: [(Knob, IniType, Option<&str>); 8] = [
    (Knob::InferBatchSize, IniType::Integer, Some("1")),
    (Knob::InferNetworkMode, IniType::Integer, Some("0")),
    (Knob::InferInterval, IniType::Integer, Some("0")),
    (Knob::InferDims, IniType::IntegerList, None),
    (Knob::InferModelEngineFile, IniType::String, None),
    (Knob::InferOnnxFile, IniType::String, None),
    (Knob::InferInt8CalibFile, IniType::String, None),
    (Knob::InferMaintainAspectRatio, IniType::Boolean, Some("0")),
];

/// Adds a stage with its knobs. `sites` are the places of the element; each beats the file.
pub(super) fn stage(
    builder: &mut Builder<'_>,
    element: ElementId,
    plugin: InferPlugin,
    tensors_from_preprocess: bool,
    mut sites: ElementSites,
    search: Search,
) {
    let named_at = sites
        .iter()
        .position(|(knob, _)| *knob == Knob::InferConfigFile);
    if let Some(position) = named_at {
        let (knob, site) = sites.swap_remove(position);
        builder.knob(element, knob, vec![site], None);
    }
    let config_path = builder.named_file(element, Knob::InferConfigFile, search);
    let config = config_path
        .as_deref()
        .and_then(|path| builder.follow(path))
        .filter(|file| is_for_inference(builder, *file));
    file_knobs(builder, element, plugin, sites, config);
    builder.pipeline.infer.push(InferStage {
        element,
        plugin,
        tensors_from_preprocess,
        config_path,
    });
}

/// Whether a file can be the configuration of a stage; a fault where it is that of another element.
fn is_for_inference(builder: &mut Builder<'_>, file: usize) -> bool {
    let file = builder.file(file);
    let form = file.form();
    let fits = matches!(
        form,
        Form::NvinferTxt
            | Form::NvinferYml
            | Form::Nvinferserver
            | Form::Declined(_)
            | Form::Unknown
    );
    if !fits {
        let message = format!("this is a {form} file, and an inference stage names it as its own");
        let fault = Error::new(ErrorKind::Refused, message).in_file(file.path());
        builder.fault(fault);
    }
    fits
}

/// Adds the knobs that the element or its file can hold.
pub(super) fn file_knobs(
    builder: &mut Builder<'_>,
    element: ElementId,
    plugin: InferPlugin,
    mut sites: ElementSites,
    config: Option<usize>,
) {
    for (knob, read_as, default) in NVINFER {
        let of_element = sites.iter().position(|(held, _)| *held == knob);
        let of_element = of_element.map(|position| sites.swap_remove(position).1);
        // nvinferserver has no engine file, Triton's model repository holds the model; and a batch
        // of 0 on its element keeps the file's.
        let of_element = of_element.filter(|site| match (plugin, knob) {
            (InferPlugin::Nvinferserver, Knob::InferModelEngineFile) => false,
            (InferPlugin::Nvinferserver, Knob::InferBatchSize) => {
                builder.peek(site, knob) != Some(KnobValue::Integer(0))
            }
            _ => true,
        });
        let of_file = config.and_then(|file| in_file(builder, file, knob, read_as));
        let places: Vec<Site> = of_element.into_iter().chain(of_file).collect();
        if !places.is_empty() {
            // What a file holds that could not be read is not known, not even by its default. A
            // batch must be given to nvinferserver.
            let default = default.filter(|_| match plugin {
                InferPlugin::Nvinfer => config.is_some(),
                InferPlugin::Nvinferserver => config.is_some() && knob == Knob::InferInterval,
                InferPlugin::Other => false,
            });
            builder.knob(element, knob, places, default);
        }
    }
}

/// The place of a knob in the file of a stage.
fn in_file(builder: &Builder<'_>, file: usize, knob: Knob, read_as: IniType) -> Option<Site> {
    let locator = match (&builder.file(file).document, knob) {
        (Document::Ini(_) | Document::Yaml(_), _) => {
            let keyed = Keyed::new(builder.file(file));
            keyed.locator("property", knob.key(), read_as)
        }
        (Document::Proto(_), Knob::InferBatchSize) => Locator::Proto {
            path: &["infer_config", "max_batch_size"],
        },
        (Document::Proto(_), Knob::InferInterval) => Locator::Proto {
            path: &["input_control", "interval"],
        },
        _ => return None,
    };
    Some(Site { file, locator })
}

/// Makes a stage a secondary one if its element, or the file that it names, says that it works on
/// objects: `process-mode` 2. The element's own value beats the file's.
pub(super) fn settle_role(builder: &mut Builder<'_>, element: ElementId, of_element: Option<i64>) {
    let of_file = || {
        let path = builder.pipeline.infer.last()?.config_path.as_deref()?;
        let file = builder
            .pipeline
            .files
            .iter()
            .find(|file| file.path() == path)?;
        Keyed::new(file).integer("property", "process-mode").ok()?
    };
    if of_element.or_else(of_file) == Some(2)
        && let Some(held) = builder.pipeline.elements.get_mut(element.index())
    {
        held.role = Role::SecondaryInfer;
    }
}
