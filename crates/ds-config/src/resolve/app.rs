//! deepstream-app: one file of groups, as a key file or as YAML.
//!
//! The order and the defaults are those of `deepstream_config_file_parser.c`,
//! `deepstream_config_yaml.cpp` and `deepstream_app.c` of DeepStream 9.1.

use super::builder::{Builder, Search};
use super::infer;
use super::keyed::{Keyed, site};
use super::mux::{self, generation};
use super::preprocess;
use super::source::join;
use super::tracker;
use crate::error::{Error, ErrorKind};
use crate::ini::IniType;
use crate::model::{
    Branch, Document, ElementId, FilePlace, FrameRate, FrameSize, InferPlugin, Knob, KnobValue,
    Locator, MuxGeneration, Role, Sink, SinkKind, Site, Source, SourceKind, app_sink,
};

/// Reads the groups of the first file.
pub(super) fn resolve(builder: &mut Builder<'_>) -> Result<(), Error> {
    let mut app = App {
        source_list: None,
        uses_multi_uri: false,
    };
    app.application(builder);
    app.sources(builder);
    app.mux(builder)?;
    app.preprocess(builder);
    app.infer(builder, "primary-gie", Role::PrimaryInfer);
    app.tracker(builder);
    for group in numbered(builder, "secondary-gie") {
        app.infer(builder, &group, Role::SecondaryInfer);
    }
    app.simple(builder, "nvds-analytics", Role::Analytics, "nvdsanalytics");
    app.visible(builder);
    app.simple(
        builder,
        "message-converter",
        Role::MessageConverter,
        "nvmsgconv",
    );
    app.sinks(builder);
    Ok(())
}

/// What later groups need to know of earlier ones.
struct App {
    source_list: Option<SourceList>,
    uses_multi_uri: bool,
}

/// `[source-list]`.
#[derive(Clone, Copy)]
struct SourceList {
    uris: i64,
    max_batch_size: Option<i64>,
    secondary_batch: Option<i64>,
}

/// The file that everything here stands in.
const ENTRY: usize = 0;

fn keyed<'a>(builder: &'a Builder<'_>) -> Keyed<'a> {
    Keyed::new(builder.file(ENTRY))
}

fn key(builder: &Builder<'_>, group: &str, key: &'static str, read_as: IniType) -> Site {
    site(keyed(builder), ENTRY, group, key, read_as)
}

fn group_place(builder: &Builder<'_>, group: &str) -> FilePlace {
    FilePlace {
        path: builder.file(ENTRY).path.clone(),
        place: keyed(builder).place(group),
    }
}

/// The groups named by a stem and a number, in the order of the file.
fn numbered(builder: &Builder<'_>, stem: &str) -> Vec<String> {
    let is_numbered = |name: &String| {
        name.strip_prefix(stem)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    keyed(builder)
        .groups()
        .into_iter()
        .filter(is_numbered)
        .collect()
}

/// Whether a group is switched on; noted as disabled if it is not. A group without the key is off.
fn enabled(builder: &mut Builder<'_>, group: &str) -> bool {
    if !keyed(builder).has(group) {
        return false;
    }
    let on = keyed(builder)
        .integer(group, "enable")
        .is_some_and(|value| value != 0);
    if !on {
        let place = group_place(builder, group);
        builder.pipeline.disabled.push((group.to_owned(), place));
    }
    on
}

impl App {
    /// `[application]` and `[tests]`.
    fn application(&self, builder: &mut Builder<'_>) {
        let place = group_place(builder, "application");
        let id = builder.element(
            Role::Application,
            "deepstream-app",
            "application",
            place,
            Branch::Main,
        );
        let perf = key(
            builder,
            "application",
            "enable-perf-measurement",
            IniType::Integer,
        );
        builder.knob(id, Knob::PerfMeasurement, vec![perf], Some("0"));
        let interval = key(
            builder,
            "application",
            "perf-measurement-interval-sec",
            IniType::Integer,
        );
        builder.knob(id, Knob::PerfInterval, vec![interval], None);
        let loop_files = key(builder, "tests", "file-loop", IniType::Integer);
        builder.knob(id, Knob::SourceFileLoop, vec![loop_files], Some("0"));
    }

    /// `[sourceN]`, `[source-list]` with `[source-attr-all]`, or the table that a YAML names.
    fn sources(&mut self, builder: &mut Builder<'_>) {
        if matches!(builder.file(ENTRY).document, Document::Yaml(_)) {
            table_of_sources(builder);
            return;
        }
        if keyed(builder).has("source-list") {
            self.listed_sources(builder);
        }
        for (position, group) in numbered(builder, "source").into_iter().enumerate() {
            if enabled(builder, &group) {
                group_source(builder, &group, position);
            }
        }
    }

    /// `[source-list]`: one list of URIs, and one group with the settings of all of them.
    fn listed_sources(&mut self, builder: &mut Builder<'_>) {
        let groups = keyed(builder);
        let uris = groups.list("source-list", "list").unwrap_or_default();
        let count = u32::try_from(uris.len()).ok();
        self.uses_multi_uri = groups
            .flag("source-list", "use-nvmultiurisrcbin", IniType::Boolean)
            .unwrap_or(false);
        self.source_list = Some(SourceList {
            uris: i64::from(count.unwrap_or_default()),
            max_batch_size: groups.integer("source-list", "max-batch-size"),
            secondary_batch: groups.integer("source-list", "sgie-batch-size"),
        });
        let place = group_place(builder, "source-list");
        let (role, factory) = if self.uses_multi_uri {
            (Role::MultiSource, "nvmultiurisrcbin")
        } else {
            (Role::Source, "nvurisrcbin")
        };
        let id = builder.element(role, factory, "source-list", place, Branch::Source(0));
        let kind = uris
            .first()
            .map_or(SourceKind::Other, |uri| kind_of_uri(uri));
        builder.pipeline.sources.push(Source {
            element: id,
            kind,
            streams: count,
            uris,
            size: None,
            rate: None,
        });
        if self.uses_multi_uri {
            let cap = key(builder, "source-list", "max-batch-size", IniType::Integer);
            builder.knob(id, Knob::MultiUriMaxBatchSize, vec![cap], None);
        }
        decode_knobs(builder, id, "source-attr-all");
    }

    /// `[streammux]`.
    fn mux(&self, builder: &mut Builder<'_>) -> Result<(), Error> {
        if !keyed(builder).has("streammux") {
            let message = "there is no group `[streammux]`";
            return Err(
                Error::new(ErrorKind::NoPipeline, message).in_file(&builder.file(ENTRY).path)
            );
        }
        let generation = generation(builder.environment("USE_NEW_NVSTREAMMUX").as_deref());
        builder.pipeline.mux = Some(generation);
        let place = group_place(builder, "streammux");
        let id = builder.element(Role::Mux, "nvstreammux", "streammux", place, Branch::Main);
        let policy = match generation {
            MuxGeneration::Legacy => None,
            MuxGeneration::New => {
                let site = key(builder, "streammux", "config-file-path", IniType::String);
                mux::policy(builder, id, site, Search::Folder)
            }
        };
        let own = |builder: &Builder<'_>, knob: Knob| {
            key(builder, "streammux", knob.key(), IniType::Integer)
        };
        let batch: Vec<Site> = mux::batch_in_policy(builder, policy)
            .into_iter()
            .chain([own(builder, Knob::MuxBatchSize)])
            .collect();
        match self.source_list {
            None => builder.knob(id, Knob::MuxBatchSize, batch, Some("0")),
            Some(list) => {
                let cap = list.max_batch_size.filter(|_| self.uses_multi_uri);
                let value = KnobValue::Integer(cap.unwrap_or(list.uris));
                let reason = if cap.is_some() {
                    "[source-list] sets it to its max-batch-size"
                } else {
                    "[source-list] sets it to the number of URIs"
                };
                builder.forced_knob(id, Knob::MuxBatchSize, batch, value, reason);
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
    fn infer(&self, builder: &mut Builder<'_>, group: &str, role: Role) {
        if !enabled(builder, group) {
            return;
        }
        let plugin = match keyed(builder).integer(group, "plugin-type") {
            None | Some(0) => InferPlugin::Nvinfer,
            Some(1) => InferPlugin::Nvinferserver,
            Some(_) => InferPlugin::Other,
        };
        let factory = match plugin {
            InferPlugin::Nvinfer => "nvinfer",
            InferPlugin::Nvinferserver => "nvinferserver",
            InferPlugin::Other => "nvdsvideotemplate",
        };
        let tensors = keyed(builder)
            .flag(group, "input-tensor-meta", IniType::Boolean)
            .unwrap_or(false);
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
        self.force_batch(builder, id, group, role);
    }

    /// `[source-list]` replaces the batch of the stages behind it.
    fn force_batch(&self, builder: &mut Builder<'_>, id: ElementId, group: &str, role: Role) {
        let Some(list) = self.source_list else {
            return;
        };
        let has_key = keyed(builder).integer(group, "batch-size").is_some();
        let forced = match role {
            // The value reaches the element only where the group holds the key.
            Role::PrimaryInfer if has_key => {
                let cap = list.max_batch_size.filter(|_| self.uses_multi_uri);
                Some((
                    cap.unwrap_or(list.uris),
                    "[source-list] replaces it by the number of its sources",
                ))
            }
            Role::SecondaryInfer => {
                let batch = list.secondary_batch.unwrap_or(0);
                (batch != 0 || self.uses_multi_uri)
                    .then_some((batch, "[source-list] replaces it by its sgie-batch-size"))
            }
            _ => None,
        };
        let Some((value, reason)) = forced else {
            return;
        };
        let position = builder.pipeline.knobs.iter().position(|setting| {
            setting.target.element == id && setting.target.knob == Knob::InferBatchSize
        });
        if let Some(position) = position {
            let setting = builder.pipeline.knobs.remove(position);
            builder.forced_knob(
                id,
                Knob::InferBatchSize,
                setting.sites,
                KnobValue::Integer(value),
                reason,
            );
        }
    }

    /// `[tracker]`.
    fn tracker(&self, builder: &mut Builder<'_>) {
        if !enabled(builder, "tracker") {
            return;
        }
        let place = group_place(builder, "tracker");
        let id = builder.element(Role::Tracker, "nvtracker", "tracker", place, Branch::Main);
        tracker::knobs(builder, id, |builder, knob, read_as| {
            key(builder, "tracker", knob.key(), read_as)
        });
    }

    /// `[pre-process]`.
    fn preprocess(&self, builder: &mut Builder<'_>) {
        if enabled(builder, "pre-process") {
            let place = group_place(builder, "pre-process");
            let id = builder.element(
                Role::Preprocess,
                "nvdspreprocess",
                "pre-process",
                place,
                Branch::Main,
            );
            let site = key(
                builder,
                "pre-process",
                Knob::PreprocessConfigFile.key(),
                IniType::String,
            );
            preprocess::knobs(builder, id, site, Search::Folder);
        }
    }

    /// A group without knobs.
    fn simple(&self, builder: &mut Builder<'_>, group: &str, role: Role, factory: &str) {
        if enabled(builder, group) {
            let place = group_place(builder, group);
            builder.element(role, factory, group, place, Branch::Main);
        }
    }

    /// `[tiled-display]` and `[osd]`.
    fn visible(&self, builder: &mut Builder<'_>) {
        for (group, role, factory, knob) in [
            (
                "tiled-display",
                Role::Tiler,
                "nvmultistreamtiler",
                Knob::TilerEnable,
            ),
            ("osd", Role::Osd, "nvdsosd", Knob::OsdEnable),
        ] {
            if enabled(builder, group) {
                let place = group_place(builder, group);
                let id = builder.element(role, factory, group, place, Branch::Main);
                let site = key(builder, group, "enable", IniType::Integer);
                builder.knob(id, knob, vec![site], Some("0"));
            }
        }
    }

    /// `[sinkN]`.
    fn sinks(&self, builder: &mut Builder<'_>) {
        for (position, group) in numbered(builder, "sink").into_iter().enumerate() {
            if !enabled(builder, &group) {
                continue;
            }
            let kind = keyed(builder).integer(&group, "type");
            let factory = kind.and_then(app_sink).unwrap_or("sink");
            let place = group_place(builder, &group);
            let id = builder.element(Role::Sink, factory, &group, place, Branch::Tail(position));
            let kind_site = key(builder, &group, "type", IniType::Integer);
            builder.knob(id, Knob::SinkKind, vec![kind_site], None);
            let sync = key(builder, &group, "sync", IniType::Integer);
            builder.knob(id, Knob::SinkSync, vec![sync], Some("0"));
            let sync = builder
                .value_of(id, Knob::SinkSync)
                .and_then(KnobValue::flag);
            let output = keyed(builder).text(&group, "output-file");
            builder.pipeline.sinks.push(Sink {
                element: id,
                kind: match kind {
                    Some(1) => SinkKind::Fake,
                    Some(2 | 5) => SinkKind::Display,
                    Some(3) => SinkKind::File,
                    Some(4) => SinkKind::Network,
                    Some(6) => SinkKind::MessageBroker,
                    _ => SinkKind::Other,
                },
                sync: sync.or(Some(false)),
                output,
            });
        }
    }
}

/// One `[sourceN]`.
fn group_source(builder: &mut Builder<'_>, group: &str, position: usize) {
    let groups = keyed(builder);
    let size = |key| {
        groups
            .integer(group, key)
            .and_then(|value| u32::try_from(value).ok())
    };
    let number = groups.integer(group, "type");
    let uri = groups.text(group, "uri");
    let streams = match number {
        Some(3) => size("num-sources").unwrap_or(1),
        _ => 1,
    };
    let frame = size("camera-width").zip(size("camera-height"));
    let rate = size("camera-fps-n").zip(size("camera-fps-d"));
    let (kind, factory) = kind_of_number(number, uri.as_deref());
    let place = group_place(builder, group);
    let id = builder.element(
        Role::Source,
        factory,
        group,
        place,
        Branch::Source(position),
    );
    builder.pipeline.sources.push(Source {
        element: id,
        kind,
        uris: uri.into_iter().collect(),
        streams: Some(streams),
        size: frame.map(|(width, height)| FrameSize { width, height }),
        rate: rate.map(|(numerator, denominator)| FrameRate {
            numerator,
            denominator,
        }),
    });
    if factory == "nvurisrcbin" {
        decode_knobs(builder, id, group);
    }
}

/// The decoder's knobs of a source group.
fn decode_knobs(builder: &mut Builder<'_>, id: ElementId, group: &str) {
    for (knob, default) in [
        (Knob::DecodeNumExtraSurfaces, "1"),
        (Knob::DecodeCudadecMemtype, "0"),
    ] {
        let site = key(builder, group, knob.key(), IniType::Integer);
        builder.knob(id, knob, vec![site], Some(default));
    }
}

/// The rows of the table that `source: csv-file-path` names.
fn table_of_sources(builder: &mut Builder<'_>) {
    let Some(named) = keyed(builder).text("source", "csv-file-path") else {
        return;
    };
    let path = join(&builder.file(ENTRY).path, &named);
    let Some(file) = builder.follow(&path) else {
        return;
    };
    let Document::Csv(table) = &builder.file(file).document else {
        let message = "the file is no table of sources";
        builder.fault(Error::new(ErrorKind::UnknownForm, message).in_file(&path));
        return;
    };
    let table = table.clone();
    for (row_number, row) in table.rows().enumerate() {
        let number = |column| row.get(column).and_then(|cell| cell.int()).map(i64::from);
        if number("enable").is_none_or(|enable| enable == 0) {
            continue;
        }
        let uri = row
            .get("uri")
            .and_then(|cell| cell.text())
            .map(str::to_owned);
        let streams = match number("type") {
            Some(3) => number("num-sources")
                .and_then(|count| u32::try_from(count).ok())
                .unwrap_or(1),
            _ => 1,
        };
        let (kind, factory) = kind_of_number(number("type"), uri.as_deref());
        let place = FilePlace {
            path: path.clone(),
            place: row.place(),
        };
        let name = format!("source{row_number}");
        let id = builder.element(
            Role::Source,
            factory,
            &name,
            place,
            Branch::Source(row_number),
        );
        builder.pipeline.sources.push(Source {
            element: id,
            kind,
            uris: uri.into_iter().collect(),
            streams: Some(streams),
            size: None,
            rate: None,
        });
        if factory == "nvurisrcbin" {
            for (knob, default) in [
                (Knob::DecodeNumExtraSurfaces, "1"),
                (Knob::DecodeCudadecMemtype, "0"),
            ] {
                let locator = Locator::Csv {
                    row: row_number,
                    column: knob.key(),
                };
                builder.knob(id, knob, vec![Site { file, locator }], Some(default));
            }
        }
    }
}

/// The kind and the element that a `type` of deepstream-app stands for.
fn kind_of_number(number: Option<i64>, uri: Option<&str>) -> (SourceKind, &'static str) {
    match number {
        Some(1) => (SourceKind::Usb, "v4l2src"),
        Some(2..=4) => (uri.map_or(SourceKind::Other, kind_of_uri), "nvurisrcbin"),
        Some(5) => (SourceKind::Csi, "nvarguscamerasrc"),
        _ => (SourceKind::Other, "source"),
    }
}

/// The kind of source that a URI names.
pub(super) fn kind_of_uri(uri: &str) -> SourceKind {
    let scheme = uri.split_once("://").map_or("", |(scheme, _)| scheme);
    match scheme {
        "file" | "" => SourceKind::File,
        "rtsp" | "rtsps" => SourceKind::Rtsp,
        _ => SourceKind::Other,
    }
}
