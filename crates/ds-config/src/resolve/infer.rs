//! The knobs of an inference stage: those of the element, and those of the file that it names.

use super::builder::{Builder, Search};
use super::keyed::{Keyed, site};
use crate::ini::IniType;
use crate::model::{Document, ElementId, InferPlugin, InferStage, Knob, Locator, Role, Site};

/// What the element itself can hold, by knob.
pub(super) type ElementSites = Vec<(Knob, Site)>;

/// The knobs of nvinfer's `[property]`, how they are read, and their defaults, from
/// `nvdsinfer_context` and `gstnvinfer_property_parser` of DeepStream 9.1.
const NVINFER: [(Knob, IniType, Option<&str>); 9] = [
    (Knob::InferBatchSize, IniType::Integer, Some("1")),
    (Knob::InferNetworkMode, IniType::Integer, Some("0")),
    (Knob::InferInterval, IniType::Integer, Some("0")),
    (Knob::InferDims, IniType::IntegerList, None),
    (Knob::InferModelEngineFile, IniType::String, None),
    (Knob::InferOnnxFile, IniType::String, None),
    (Knob::InferInt8CalibFile, IniType::String, None),
    (Knob::InferMaintainAspectRatio, IniType::Boolean, Some("0")),
    (Knob::InferConfigFile, IniType::String, None),
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
    let mut take = |knob: Knob| {
        let found = sites.iter().position(|(held, _)| *held == knob);
        found.map(|position| sites.swap_remove(position).1)
    };
    if let Some(site) = take(Knob::InferConfigFile) {
        builder.knob(element, Knob::InferConfigFile, vec![site], None);
    }
    let config_path = builder.named_file(element, Knob::InferConfigFile, search);
    let config = config_path.as_deref().and_then(|path| builder.follow(path));
    let in_file = |builder: &Builder<'_>, knob: Knob, read_as: IniType| {
        let file = config?;
        match (&builder.file(file).document, knob) {
            (Document::Ini(_) | Document::Yaml(_), _) => {
                let keyed = Keyed::new(builder.file(file));
                Some(site(keyed, file, "property", knob.key(), read_as))
            }
            (Document::Proto(_), Knob::InferBatchSize) => Some(Site {
                file,
                locator: Locator::Proto {
                    path: &["infer_config", "max_batch_size"],
                },
            }),
            (Document::Proto(_), Knob::InferInterval) => Some(Site {
                file,
                locator: Locator::Proto {
                    path: &["input_control", "interval"],
                },
            }),
            _ => None,
        }
    };
    for (knob, read_as, default) in NVINFER {
        if knob == Knob::InferConfigFile {
            continue;
        }
        // nvinferserver has no engine file: Triton's model repository holds the model.
        let of_element = take(knob)
            .filter(|_| plugin == InferPlugin::Nvinfer || knob != Knob::InferModelEngineFile);
        let places: Vec<Site> = of_element
            .into_iter()
            .chain(in_file(builder, knob, read_as))
            .collect();
        if !places.is_empty() {
            builder.knob(element, knob, places, default);
        }
    }
    builder.pipeline.infer.push(InferStage {
        element,
        plugin,
        tensors_from_preprocess,
        config_path,
    });
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
        Keyed::new(file).integer("property", "process-mode")
    };
    if of_element.or_else(of_file) == Some(2)
        && let Some(held) = builder.pipeline.elements.get_mut(element.index())
    {
        held.role = Role::SecondaryInfer;
    }
}
