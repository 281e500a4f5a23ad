//! A graph of objects as a pipeline.

use super::app::kind_of_uri;
use super::builder::{Builder, Search};
use super::factory;
use super::infer;
use super::layout::Layout;
use super::mux;
use super::object::{ENTRY, Object, ObjectGraph};
use super::preprocess;
use super::tracker;
use crate::model::{
    ElementId, FrameRate, FrameSize, InferPlugin, Knob, KnobValue, MuxGeneration, Role, Sink,
    SinkKind, Source, SourceKind,
};

/// Adds the elements of a graph, each with its knobs.
pub(super) fn resolve(builder: &mut Builder<'_>, graph: &ObjectGraph) {
    let layout = Layout::of(graph);
    let mut reader = Reader {
        graph,
        preprocessed: false,
    };
    for index in layout.order() {
        reader.object(builder, *index, &layout);
    }
}

/// Reads the objects of one graph.
struct Reader<'g> {
    graph: &'g ObjectGraph,
    /// Whether nvdspreprocess came before.
    preprocessed: bool,
}

impl Reader<'_> {
    /// Adds an element with its knobs.
    fn object(&mut self, builder: &mut Builder<'_>, index: usize, layout: &Layout) {
        let object = &self.graph.objects[index];
        let role = layout.role(index);
        let place = builder.place(ENTRY, object.offset);
        let id = builder.element(
            role,
            &object.factory,
            &object.name,
            place,
            layout.branch(index),
        );
        match role {
            Role::Source | Role::MultiSource => self.source(builder, id, index),
            Role::Decoder if object.factory == "nvv4l2decoder" => {
                self.decode_knobs(builder, id, index);
            }
            Role::Mux => self.mux(builder, id, index),
            Role::Preprocess => {
                self.preprocessed = true;
                let site = self
                    .graph
                    .host
                    .site(index, Knob::PreprocessConfigFile.key());
                preprocess::knobs(builder, id, site, Search::FolderOrWorkingDirectory);
            }
            Role::PrimaryInfer => self.infer(builder, id, index),
            Role::Tracker => tracker::knobs(builder, id, |_, knob, _| {
                self.graph.host.site(index, knob.key())
            }),
            Role::Queue(_) => {
                // Defaults of GStreamer 1.22, `gstqueue.c`.
                for (knob, default) in [
                    (Knob::QueueMaxSizeBuffers, "200"),
                    (Knob::QueueMaxSizeBytes, "10485760"),
                    (Knob::QueueMaxSizeTime, "1000000000"),
                    (Knob::QueueLeaky, "0"),
                ] {
                    self.knob(builder, id, index, knob, Some(default));
                }
            }
            Role::Sink | Role::MessageBroker => self.sink(builder, id, index),
            Role::Other if object.opaque && self.graph.predecessors(index).next().is_none() => {
                unknown_source(builder, id, object);
            }
            _ => {}
        }
    }

    fn knob(
        &self,
        builder: &mut Builder<'_>,
        id: ElementId,
        object: usize,
        knob: Knob,
        default: Option<&'static str>,
    ) {
        builder.knob(
            id,
            knob,
            vec![self.graph.host.site(object, knob.key())],
            default,
        );
    }

    /// The decoder's knobs. The source bins of DeepStream 9.1 hold one surface more than they must;
    /// what a lone nvv4l2decoder does is not published.
    fn decode_knobs(&self, builder: &mut Builder<'_>, id: ElementId, object: usize) {
        let is_lone = self.graph.objects[object].factory == "nvv4l2decoder";
        let surfaces = (!is_lone).then_some("1");
        self.knob(builder, id, object, Knob::DecodeNumExtraSurfaces, surfaces);
        self.knob(builder, id, object, Knob::DecodeCudadecMemtype, Some("0"));
    }

    fn source(&self, builder: &mut Builder<'_>, id: ElementId, index: usize) {
        let object = &self.graph.objects[index];
        let is_multi = object.factory == "nvmultiurisrcbin";
        let named = ["uri", "location", "uri-list", "device"]
            .into_iter()
            .find(|name| object.sets(name));
        let text = named.and_then(|name| object.value(name));
        let uris: Vec<String> = match text {
            Some(text) if is_multi => text.split(',').map(str::to_owned).collect(),
            Some(text) => vec![text.to_owned()],
            None => Vec::new(),
        };
        let kind = match factory::source_kind(&object.factory) {
            Some(kind) if kind != SourceKind::Other => kind,
            _ => uris
                .first()
                .map_or(SourceKind::Other, |uri| kind_of_uri(uri)),
        };
        let streams = match (is_multi, text) {
            (false, _) => object.count,
            (true, Some(_)) => u32::try_from(uris.len()).ok(),
            (true, None) => None,
        };
        let caps = self
            .graph
            .links
            .iter()
            .find(|link| link.from == index)
            .and_then(|link| link.caps.as_deref());
        builder.pipeline.sources.push(Source {
            element: id,
            kind,
            uris,
            streams,
            size: caps.and_then(size_of_caps),
            rate: caps.and_then(rate_of_caps),
        });
        if matches!(object.factory.as_str(), "nvurisrcbin" | "nvmultiurisrcbin") {
            self.decode_knobs(builder, id, index);
            self.knob(builder, id, index, Knob::SourceFileLoop, Some("0"));
        }
        if is_multi {
            builder.pipeline.mux = Some(self.graph.generation);
            self.knob(builder, id, index, Knob::MultiUriMaxBatchSize, Some("30"));
            self.legacy_mux(builder, id, index);
        }
    }

    fn mux(&self, builder: &mut Builder<'_>, id: ElementId, index: usize) {
        let object = &self.graph.objects[index];
        builder.pipeline.mux = Some(self.graph.generation);
        let policy = match (self.graph.generation, &object.flow) {
            (MuxGeneration::New, None) => {
                let site = self.graph.host.site(index, Knob::MuxConfigFile.key());
                mux::policy(builder, id, site, Search::FolderOrWorkingDirectory)
            }
            _ => None,
        };
        let own = self.graph.host.site(index, Knob::MuxBatchSize.key());
        let batch = mux::batch_in_policy(builder, policy)
            .into_iter()
            .chain([own])
            .collect();
        builder.knob(id, Knob::MuxBatchSize, batch, None);
        self.legacy_mux(builder, id, index);
        if object.flow.is_some() {
            // The step of a Flow that batches brings the sources in too.
            self.knob(builder, id, index, Knob::SourceFileLoop, Some("0"));
            builder.pipeline.sources.push(Source {
                element: id,
                kind: SourceKind::Other,
                uris: Vec::new(),
                streams: object.listed_sources,
                size: None,
                rate: None,
            });
        }
    }

    /// The knobs that only the legacy mux has.
    fn legacy_mux(&self, builder: &mut Builder<'_>, id: ElementId, index: usize) {
        if self.graph.generation == MuxGeneration::Legacy {
            for (knob, default) in mux::LEGACY {
                self.knob(builder, id, index, knob, default);
            }
        }
    }

    fn infer(&self, builder: &mut Builder<'_>, id: ElementId, index: usize) {
        let object = &self.graph.objects[index];
        let plugin = match object.factory.as_str() {
            "nvinfer" | "nvinferbin" => InferPlugin::Nvinfer,
            "nvinferserver" => InferPlugin::Nvinferserver,
            _ => InferPlugin::Other,
        };
        // The element's property is config-file-path; samples write config-file too, and a Flow
        // takes the path as its first argument.
        let config = match object.flow {
            Some(_) => "config",
            None if object.sets("config-file") => "config-file",
            None => "config-file-path",
        };
        let sites = [
            (Knob::InferConfigFile, config),
            (Knob::InferBatchSize, Knob::InferBatchSize.key()),
            (Knob::InferInterval, Knob::InferInterval.key()),
            (Knob::InferModelEngineFile, Knob::InferModelEngineFile.key()),
        ];
        let sites = sites.map(|(knob, property)| (knob, self.graph.host.site(index, property)));
        let tensors = object.flag("input-tensor-meta").unwrap_or(false) && self.preprocessed;
        infer::stage(
            builder,
            id,
            plugin,
            tensors,
            sites.into(),
            Search::FolderOrWorkingDirectory,
        );
        infer::settle_role(builder, id, object.integer("process-mode"));
    }

    fn sink(&self, builder: &mut Builder<'_>, id: ElementId, index: usize) {
        let object = &self.graph.objects[index];
        let kind = match object.value("video-sink") {
            // It counts frames and hands them to another sink.
            Some(sink) if object.factory == "fpsdisplaysink" => {
                factory::sink_kind(sink.trim_matches('"'))
            }
            _ => factory::sink_kind(&object.factory),
        };
        match self.graph.host.factory_site(index) {
            _ if kind == SinkKind::MessageBroker => {}
            Some(site) => builder.knob(id, Knob::SinkKind, vec![site], None),
            None => {
                let reason = "another element may lack what is used of this one";
                let value = KnobValue::Text(object.factory.clone());
                builder.fixed_knob(id, Knob::SinkKind, value, reason);
            }
        }
        // GstBaseSink waits for the clock unless it is told not to; fakesink does not (GStreamer 1.22).
        let waits = kind != SinkKind::Fake || object.factory == "fpsdisplaysink";
        self.knob(
            builder,
            id,
            index,
            Knob::SinkSync,
            Some(if waits { "1" } else { "0" }),
        );
        let sync = match builder.value_of(id, Knob::SinkSync) {
            Some(value) => value.flag(),
            None => (!object.sets("sync")).then_some(waits),
        };
        let output = object.value("location").filter(|_| kind == SinkKind::File);
        builder.pipeline.sinks.push(Sink {
            element: id,
            kind,
            sync,
            output: output.map(str::to_owned),
        });
    }
}

/// An element that the shell fills in may be any number of sources.
fn unknown_source(builder: &mut Builder<'_>, id: ElementId, object: &Object) {
    builder.pipeline.sources.push(Source {
        element: id,
        kind: SourceKind::Other,
        uris: vec![object.factory.clone()],
        streams: None,
        size: None,
        rate: None,
    });
}

/// The value of a field of caps, without its type.
fn caps_field<'c>(caps: &'c str, name: &str) -> Option<&'c str> {
    caps.split(',').skip(1).find_map(|field| {
        let (key, value) = field.split_once('=')?;
        let value = value.trim();
        let value = value.split_once(')').map_or(value, |(_, value)| value);
        (key.trim() == name).then_some(value)
    })
}

fn size_of_caps(caps: &str) -> Option<FrameSize> {
    Some(FrameSize {
        width: caps_field(caps, "width")?.parse().ok()?,
        height: caps_field(caps, "height")?.parse().ok()?,
    })
}

fn rate_of_caps(caps: &str) -> Option<FrameRate> {
    let (numerator, denominator) = caps_field(caps, "framerate")?.split_once('/')?;
    Some(FrameRate {
        numerator: numerator.parse().ok()?,
        denominator: denominator.parse().ok()?,
    })
}
