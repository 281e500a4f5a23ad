//! deepstream-app: one file of groups, as a key file or as YAML.
//!
//! The order and the defaults are those of `deepstream_config_file_parser.c`,
//! `deepstream_config_yaml.cpp` and `deepstream_app.c` of DeepStream 9.1.

mod sources;

use self::sources::SourceList;
use super::builder::{Builder, Search};
use super::infer;
use super::keyed::{Keyed, site};
use super::mux::{self, generation};
use super::preprocess;
use super::tracker;
use crate::error::{Error, ErrorKind};
use crate::ini::IniType;
use crate::model::{
    Branch, ElementId, FilePlace, InferPlugin, Knob, KnobValue, MuxGeneration, Role, Sink,
    SinkKind, Site, app_sink,
};

pub(super) use self::sources::{kind_of_uri, table};

/// The file that everything here stands in.
const ENTRY: usize = 0;

/// Reads the groups of the first file, in the order in which the program links what they stand for.
pub(super) fn resolve(builder: &mut Builder<'_>) -> Result<(), Error> {
    application(builder);
    let list = sources::resolve(builder);
    streammux(builder, list)?;
    if let Some(id) = group_element(builder, "pre-process", Role::Preprocess, "nvdspreprocess") {
        let key_name = Knob::PreprocessConfigFile.key();
        let site = key(builder, "pre-process", key_name, IniType::String);
        preprocess::knobs(builder, id, site, Search::Folder);
    }
    gie(builder, "primary-gie", Role::PrimaryInfer, list);
    if let Some(id) = group_element(builder, "tracker", Role::Tracker, "nvtracker") {
        tracker::knobs(builder, id, |builder, knob, read_as| {
            key(builder, "tracker", knob.key(), read_as)
        });
    }
    for group in numbered(builder, "secondary-gie") {
        gie(builder, &group, Role::SecondaryInfer, list);
    }
    group_element(builder, "nvds-analytics", Role::Analytics, "nvdsanalytics");
    visible(
        builder,
        "tiled-display",
        Role::Tiler,
        "nvmultistreamtiler",
        Knob::TilerEnable,
    );
    visible(builder, "osd", Role::Osd, "nvdsosd", Knob::OsdEnable);
    group_element(
        builder,
        "message-converter",
        Role::MessageConverter,
        "nvmsgconv",
    );
    for (position, group) in numbered(builder, "sink").into_iter().enumerate() {
        sink(builder, &group, position);
    }
    Ok(())
}

fn keyed<'a>(builder: &'a Builder<'_>) -> Keyed<'a> {
    Keyed::new(builder.file(ENTRY))
}

/// The place of a key.
fn key(builder: &Builder<'_>, group: &str, key: &'static str, read_as: IniType) -> Site {
    site(keyed(builder), ENTRY, group, key, read_as)
}

/// A whole number that steers the resolution; one that the program refuses is a fault.
fn integer(builder: &mut Builder<'_>, group: &str, key: &'static str) -> Option<i64> {
    match keyed(builder).integer(group, key) {
        Ok(value) => value,
        Err(error) => {
            builder.fault(error);
            None
        }
    }
}

/// A flag that steers the resolution and is read as a boolean; off where it is missing.
fn flag(builder: &mut Builder<'_>, group: &str, key: &'static str) -> bool {
    match keyed(builder).flag(group, key, IniType::Boolean) {
        Ok(value) => value.unwrap_or(false),
        Err(error) => {
            builder.fault(error);
            false
        }
    }
}

fn group_place(builder: &Builder<'_>, group: &str) -> FilePlace {
    FilePlace {
        path: builder.file(ENTRY).path.clone(),
        place: keyed(builder).place(group),
    }
}

/// The groups named by a stem and a number, in the order of the file.
fn numbered(builder: &Builder<'_>, stem: &str) -> Vec<String> {
    let mut groups = keyed(builder).groups();
    groups.retain(|name| {
        name.strip_prefix(stem)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    });
    groups
}

/// Whether a group is switched on; noted as disabled if it is not. A group without the key is off.
fn enabled(builder: &mut Builder<'_>, group: &str) -> bool {
    if !keyed(builder).has(group) {
        return false;
    }
    let on = integer(builder, group, "enable").is_some_and(|value| value != 0);
    if !on {
        let place = group_place(builder, group);
        builder.pipeline.disabled.push((group.to_owned(), place));
    }
    on
}

/// The element that a group stands for, if the group is switched on.
fn group_element(
    builder: &mut Builder<'_>,
    group: &str,
    role: Role,
    factory: &str,
) -> Option<ElementId> {
    if !enabled(builder, group) {
        return None;
    }
    let place = group_place(builder, group);
    Some(builder.element(role, factory, group, place, Branch::Main))
}

/// `[application]` and `[tests]`.
fn application(builder: &mut Builder<'_>) {
    let place = group_place(builder, "application");
    let id = builder.element(
        Role::Application,
        "deepstream-app",
        "application",
        place,
        Branch::Main,
    );
    for (knob, group, default) in [
        (Knob::PerfMeasurement, "application", Some("0")),
        (Knob::PerfInterval, "application", Some("0")),
        (Knob::SourceFileLoop, "tests", Some("0")),
    ] {
        let site = key(builder, group, knob.key(), IniType::Integer);
        builder.knob(id, knob, vec![site], default);
    }
}

/// `[streammux]`.
fn streammux(builder: &mut Builder<'_>, list: Option<SourceList>) -> Result<(), Error> {
    if !keyed(builder).has("streammux") {
        return Err(Error::new(
            ErrorKind::NoPipeline,
            "there is no group `[streammux]`",
        ));
    }
    let generation = generation(builder.environment("USE_NEW_NVSTREAMMUX").as_deref());
    builder.pipeline.mux = Some(generation);
    let place = group_place(builder, "streammux");
    let id = builder.element(Role::Mux, "nvstreammux", "streammux", place, Branch::Main);
    let policy = match generation {
        MuxGeneration::Legacy => None,
        MuxGeneration::New => {
            let site = key(
                builder,
                "streammux",
                Knob::MuxConfigFile.key(),
                IniType::String,
            );
            mux::policy(builder, id, site, Search::Folder)
        }
    };
    let own =
        |builder: &Builder<'_>, knob: Knob| key(builder, "streammux", knob.key(), IniType::Integer);
    let batch = mux::batch_in_policy(builder, policy)
        .into_iter()
        .chain([own(builder, Knob::MuxBatchSize)])
        .collect();
    match list {
        None => builder.knob(id, Knob::MuxBatchSize, batch, Some("0")),
        Some(list) => {
            builder.knob(id, Knob::MuxBatchSize, batch, None);
            builder.force(id, Knob::MuxBatchSize, list.batch, list.reason);
        }
    }
    if generation == MuxGeneration::Legacy {
        for (knob, default) in mux::LEGACY {
            let site = own(builder, knob);
            builder.knob(id, knob, vec![site], default);
        }
    }
    Ok(())
}

/// `[primary-gie]` or `[secondary-gieN]`, and the file that it names.
fn gie(builder: &mut Builder<'_>, group: &str, role: Role, list: Option<SourceList>) {
    if !enabled(builder, group) {
        return;
    }
    let (plugin, factory) = match integer(builder, group, "plugin-type") {
        None | Some(0) => (InferPlugin::Nvinfer, "nvinfer"),
        Some(1) => (InferPlugin::Nvinferserver, "nvinferserver"),
        Some(_) => (InferPlugin::Other, "nvdsvideotemplate"),
    };
    let tensors = flag(builder, group, "input-tensor-meta");
    let place = group_place(builder, group);
    let id = builder.element(role, factory, group, place, Branch::Main);
    let sites = [
        (Knob::InferConfigFile, "config-file", IniType::String),
        (Knob::InferBatchSize, "batch-size", IniType::Integer),
        (Knob::InferInterval, "interval", IniType::Integer),
        (
            Knob::InferModelEngineFile,
            "model-engine-file",
            IniType::String,
        ),
    ];
    let sites = sites.map(|(knob, name, read_as)| (knob, key(builder, group, name, read_as)));
    infer::stage(builder, id, plugin, tensors, sites.into(), Search::Folder);
    let Some(list) = list else {
        return;
    };
    let has_key = integer(builder, group, "batch-size").is_some();
    match role {
        // The value reaches the element only where the group holds the key.
        Role::PrimaryInfer if has_key => {
            builder.force(id, Knob::InferBatchSize, list.batch, list.reason);
        }
        Role::SecondaryInfer => {
            if let Some(batch) = list.secondary_batch {
                let reason = "[source-list] replaces it by its sgie-batch-size";
                builder.force(id, Knob::InferBatchSize, Some(batch), reason);
            }
        }
        _ => {}
    }
}

/// `[tiled-display]` or `[osd]`, which can be switched off.
fn visible(builder: &mut Builder<'_>, group: &str, role: Role, factory: &str, knob: Knob) {
    if let Some(id) = group_element(builder, group, role, factory) {
        let site = key(builder, group, knob.key(), IniType::Integer);
        builder.knob(id, knob, vec![site], Some("0"));
    }
}

/// `[sinkN]`.
fn sink(builder: &mut Builder<'_>, group: &str, position: usize) {
    if !enabled(builder, group) {
        return;
    }
    let number = integer(builder, group, "type");
    let factory = number.and_then(app_sink).unwrap_or("sink");
    let place = group_place(builder, group);
    let id = builder.element(Role::Sink, factory, group, place, Branch::Tail(position));
    for (knob, default) in [(Knob::SinkKind, None), (Knob::SinkSync, Some("0"))] {
        let site = key(builder, group, knob.key(), IniType::Integer);
        builder.knob(id, knob, vec![site], default);
    }
    let sync = builder
        .value_of(id, Knob::SinkSync)
        .map_or(Some(false), KnobValue::flag);
    let output = keyed(builder).text(group, "output-file");
    builder.pipeline.sinks.push(Sink {
        element: id,
        kind: match number {
            Some(1) => SinkKind::Fake,
            Some(2 | 5) => SinkKind::Display,
            Some(3) => SinkKind::File,
            Some(4) => SinkKind::Network,
            Some(6) => SinkKind::MessageBroker,
            _ => SinkKind::Other,
        },
        sync,
        output,
    });
}
