//! What in a text gives each form away.

use super::outline::Outline;
use super::{Carrier, Detection, Form};
use crate::gst_launch::GstScript;

/// Keys that only nvinfer's own parser reads, in the order of how telling they are.
const NVINFER_KEYS: &[&str] = &[
    "onnx-file",
    "model-engine-file",
    "network-mode",
    "infer-dims",
    "net-scale-factor",
    "int8-calib-file",
    "model-file",
    "proto-file",
    "uff-file",
    "tlt-encoded-model",
    "etlt-model",
    "custom-network-config",
];

/// Keys of nvdspreprocess.
const PREPROCESS_KEYS: &[&str] = &[
    "network-input-shape",
    "processing-width",
    "tensor-data-type",
];

/// Keys of nvdsanalytics.
const ANALYTICS_KEYS: &[&str] = &["config-width", "config-height"];

/// Keys of the new nvstreammux.
const MUX_POLICY_KEYS: &[&str] = &[
    "overall-min-fps-n",
    "overall-max-fps-n",
    "adaptive-batching",
    "algorithm-type",
    "max-fps-control",
    "max-same-source-frames",
];

/// Top-level keys of the low-level tracker library.
const TRACKER_TOPS: &[&str] = &[
    "BaseConfig",
    "TargetManagement",
    "TrajectoryManagement",
    "VisualTracker",
    "DataAssociator",
    "StateEstimator",
    "NvDCF",
    "ReID",
];

/// Programs, notebooks and templates.
pub(super) fn program(outline: &Outline<'_>) -> Option<Detection> {
    let text = outline.text.as_ref();
    let declined = |carrier, because: &str| Some(Detection::new(Form::Declined(carrier), because));
    let line = |test: fn(&str) -> bool| text.lines().any(test);
    if text.trim_start().starts_with('{')
        && text.contains("\"cells\"")
        && text.contains("\"nbformat\"")
    {
        return declined(Carrier::Notebook, "JSON with `cells` and `nbformat`");
    }
    if line(|line| line.starts_with("#include ") || line.starts_with("#include<")) {
        return declined(Carrier::C, "`#include` lines");
    }
    if line(|line| line.starts_with("fn main("))
        || line(|line| line.starts_with("use gst::") || line.starts_with("use gstreamer"))
    {
        return declined(Carrier::Rust, "`fn main` or `use gst`");
    }
    if line(|line| line.starts_with("FROM "))
        && line(|line| {
            line.starts_with("RUN ") || line.starts_with("ENTRYPOINT ") || line.starts_with("CMD ")
        })
    {
        return declined(Carrier::Dockerfile, "`FROM` and `RUN` instructions");
    }
    let imports = line(|line| {
        let line = line.trim_start();
        line.starts_with("import ") && !line.contains(';')
            || line.starts_with("from ") && line.contains(" import ")
    });
    let shebang = text
        .lines()
        .next()
        .is_some_and(|first| first.starts_with("#!") && first.contains("python"));
    let pipeline = [
        "gi.repository",
        "pyservicemaker",
        "parse_launch",
        "ElementFactory",
    ]
    .into_iter()
    .find(|name| text.contains(name));
    if let (true, Some(name)) = (imports || shebang, pipeline) {
        return Some(Detection::new(
            Form::Python,
            format!("Python imports and `{name}`"),
        ));
    }
    None
}

/// A text with placeholders. A document may speak of them, and a script may hold those of another
/// program (`docker ps --format '{{.Names}}'`): of command lines only their own count.
pub(super) fn template(outline: &Outline<'_>) -> Option<Detection> {
    let text = outline.text.as_ref();
    let marks = ["{{", "{%"];
    let is_marked = |text: &str| marks.iter().any(|mark| text.contains(mark));
    if !is_marked(text) || text.contains("\n```") {
        return None;
    }
    let script = GstScript::parse(text.as_bytes());
    let mut graphs = script
        .commands()
        .iter()
        .filter_map(|command| command.graph.as_ref().ok())
        .peekable();
    let is_other = graphs.peek().is_some()
        && !graphs.flat_map(|graph| &graph.elements).any(|element| {
            is_marked(&element.factory)
                || element
                    .properties
                    .iter()
                    .any(|property| is_marked(&property.value))
        });
    let form = Form::Declined(Carrier::Template);
    (!is_other).then(|| Detection::new(form, "`{{…}}` or `{%…%}` placeholders"))
}

/// nvinferserver's text protobuf.
pub(super) fn protobuf(outline: &Outline<'_>) -> Option<Detection> {
    let found = outline.text.lines().any(|line| {
        let rest = line
            .trim_start()
            .strip_prefix("infer_config")
            .map(str::trim_start);
        rest.is_some_and(|rest| {
            let rest = rest.strip_prefix(':').unwrap_or(rest).trim_start();
            rest.is_empty() || rest.starts_with(['{', '<', '#'])
        })
    });
    found.then(|| Detection::new(Form::Nvinferserver, "field `infer_config {`"))
}

/// The forms that GKeyFile reads.
pub(super) fn key_file(outline: &Outline<'_>) -> Option<Detection> {
    outline.groups.first()?;
    let by = |form, group: &str, key: &str| {
        Some(Detection::new(
            form,
            format!("`{key}` in group `[{group}]`"),
        ))
    };
    let names = || outline.groups.iter().map(|group| group.name.as_str());
    if outline.text.lines().any(|line| {
        let value = line.split_once('=').map(|(_, value)| value.trim());
        !line.starts_with('#')
            && value.is_some_and(|value| {
                value.len() > 1 && value.starts_with('"') && value.ends_with('"')
            })
    }) && outline.has_group("pipeline")
    {
        return Some(Detection::new(
            Form::Declined(Carrier::Toml),
            "quoted strings and group `[pipeline]`",
        ));
    }
    let app_groups = ["streammux", "source-list", "tiled-display", "osd", "tests"];
    let numbered = |name: &str, stem: &str| {
        name.strip_prefix(stem)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    let app_group = names().find(|name| {
        app_groups.contains(name) || numbered(name, "source") || numbered(name, "sink")
    });
    if let Some(group) = app_group {
        return Some(Detection::new(Form::AppTxt, format!("group `[{group}]`")));
    }
    if let Some(key) = outline.key_of_group("property", PREPROCESS_KEYS) {
        return by(Form::PreprocessTxt, "property", key);
    }
    if let Some(key) = outline.key_of_group("property", ANALYTICS_KEYS) {
        return by(Form::AnalyticsTxt, "property", key);
    }
    if let Some(key) = outline.key_of_group("property", MUX_POLICY_KEYS) {
        return by(Form::MuxPolicyTxt, "property", key);
    }
    if let Some(key) = outline.key_of_group("property", NVINFER_KEYS) {
        return by(Form::NvinferTxt, "property", key);
    }
    if names().all(|name| name == "tracker") {
        return Some(Detection::new(Form::TrackerTxt, "a lone group `[tracker]`"));
    }
    None
}

/// A key file that nothing here reads.
pub(super) fn other_key_file(outline: &Outline<'_>) -> Option<Detection> {
    outline.groups.first()?;
    let names = outline
        .groups
        .iter()
        .take(3)
        .map(|group| format!("`[{}]`", group.name));
    let listed = names.collect::<Vec<_>>().join(", ");
    let form = Form::Declined(Carrier::OtherKeyFile);
    Some(Detection::new(form, format!("groups {listed}")))
}

/// YAML of other programs, told by what only they have.
pub(super) fn foreign_yaml(outline: &Outline<'_>) -> Option<Detection> {
    outline.yaml.first()?;
    let has = |name: &str| outline.has_top(name);
    let declined = |carrier, name: &str| {
        let form = Form::Declined(carrier);
        Some(Detection::new(form, format!("top-level key `{name}`")))
    };
    if has("apiVersion") && has("kind") {
        return declined(Carrier::Kubernetes, "apiVersion");
    }
    if has("parameters") && has("pipeline") {
        return declined(Carrier::Savant, "parameters");
    }
    if has("model_repo") || has("models") && has("server") {
        return declined(Carrier::InferenceBuilder, "models");
    }
    if has("custom_lib_path") && has("config_body") || outline.text.contains("ds3d::") {
        return declined(Carrier::Ds3d, "config_body");
    }
    if has("components") && has("dependencies") && has("name") {
        return declined(Carrier::GraphComposer, "components");
    }
    None
}

/// The forms that are YAML.
pub(super) fn yaml(outline: &Outline<'_>) -> Option<Detection> {
    outline.yaml.first()?;
    let has = |name: &str| outline.has_top(name);
    let top = |form, name: &str| Some(Detection::new(form, format!("top-level key `{name}`")));
    let below = |form, key: &str| Some(Detection::new(form, format!("`{key}` under `property`")));
    if outline
        .key_of_top("deepstream", &["nodes", "edges"])
        .is_some()
    {
        return Some(Detection::new(
            Form::ServiceMakerYml,
            "`nodes` under `deepstream`",
        ));
    }
    if let Some(name) = TRACKER_TOPS.iter().find(|name| has(name)) {
        return top(Form::TrackerYml, name);
    }
    if has("application") && (has("streammux") || has("source")) {
        return Some(Detection::new(
            Form::AppYml,
            "top-level keys `application` and `streammux` or `source`",
        ));
    }
    if let Some(key) = outline.key_of_top("property", PREPROCESS_KEYS) {
        return below(Form::PreprocessYml, key);
    }
    if let Some(key) = outline.key_of_top("property", ANALYTICS_KEYS) {
        return below(Form::AnalyticsYml, key);
    }
    if let Some(key) = outline.key_of_top("property", MUX_POLICY_KEYS) {
        return below(Form::MuxPolicyYml, key);
    }
    if let Some(key) = outline.key_of_top("property", NVINFER_KEYS) {
        return below(Form::NvinferYml, key);
    }
    // Element property names have hyphens; a schema of its own often spells them otherwise.
    let own_names = |group: &str| outline.keys_of_top(group).any(|key| key.contains('_'));
    if let Some(source) = ["source", "source-list"].into_iter().find(|name| has(name))
        && let Some(element) = ["streammux", "primary-gie"]
            .into_iter()
            .find(|name| has(name) && !own_names(name))
    {
        return Some(Detection::new(
            Form::SampleAppYml,
            format!("top-level keys `{source}` and `{element}`, no `application`"),
        ));
    }
    None
}

/// YAML that nothing here reads. Prose and logs hold `word: text` lines too; a mapping with keys
/// below it is a document.
pub(super) fn other_yaml(outline: &Outline<'_>) -> Option<Detection> {
    let document = outline.yaml.iter().find(|group| !group.keys.is_empty())?;
    let form = Form::Declined(Carrier::OtherYaml);
    Some(Detection::new(
        form,
        format!("top-level key `{}`", document.name),
    ))
}

/// The table of sources: a header line with the three columns that every table has.
pub(super) fn sources_csv(outline: &Outline<'_>) -> Option<Detection> {
    let header = outline
        .text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let columns: Vec<&str> = header.split(',').map(str::trim).collect();
    ["enable", "type", "uri"]
        .iter()
        .all(|name| columns.contains(name))
        .then(|| {
            Detection::new(
                Form::SourcesCsv,
                "a header line with `enable`, `type` and `uri`",
            )
        })
}

/// Command lines in a script or a document.
pub(super) fn gst_launch(text: &[u8]) -> Option<Detection> {
    let script = GstScript::parse(text);
    let first = script.commands().first()?;
    Some(Detection::new(
        Form::GstLaunch,
        format!("`gst-launch-1.0` on line {}", first.place.line),
    ))
}

/// A script that writes a configuration.
pub(super) fn here_document(outline: &Outline<'_>) -> Option<Detection> {
    let writes = outline
        .text
        .lines()
        .any(|line| line.contains("<<") && line.contains('>') && line.contains("cat"));
    writes.then(|| {
        Detection::new(
            Form::Declined(Carrier::HereDocument),
            "a here-document that writes a file",
        )
    })
}
