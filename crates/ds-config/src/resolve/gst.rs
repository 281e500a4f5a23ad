//! A `gst-launch-1.0` command as a pipeline.

use super::app::kind_of_uri;
use super::builder::{Builder, Search};
use super::factory;
use super::infer;
use super::layout::Layout;
use super::mux::{self, generation};
use crate::error::{Error, ErrorKind};
use crate::gst_launch::{GstCommand, GstElement, GstGraph, GstScript, Liveness};
use crate::model::{
    Document, ElementId, FilePlace, FrameRate, FrameSize, InferPlugin, Knob, Locator,
    MuxGeneration, Role, Sink, SinkKind, Site, Source, SourceKind,
};

/// The file that everything here stands in.
const ENTRY: usize = 0;

/// Reads the command of the first file that is a DeepStream pipeline.
pub(super) fn resolve(builder: &mut Builder<'_>) -> Result<(), Error> {
    let Document::Gst(script) = &builder.file(ENTRY).document else {
        return Err(Error::new(
            ErrorKind::NoPipeline,
            "there is no `gst-launch-1.0` command",
        ));
    };
    let script = script.clone();
    let number = choose(&script)?;
    let command = &script.commands()[number];
    let path = builder.file(ENTRY).path.clone();
    let place_of = |command: &GstCommand| FilePlace {
        path: path.clone(),
        place: command.place,
    };
    for (other, held) in script.commands().iter().enumerate() {
        if other != number {
            match held.liveness {
                Liveness::Live => builder.pipeline.others.push(place_of(held)),
                Liveness::CommentedOut => {
                    builder
                        .pipeline
                        .disabled
                        .push(("gst-launch-1.0".to_owned(), place_of(held)));
                }
            }
        }
    }
    let graph = command.graph.as_ref().map_err(Clone::clone)?;
    if let Some(fault) = &command.fault {
        builder.fault(fault.clone().in_file(&path));
    }
    let variable = command
        .environment("USE_NEW_NVSTREAMMUX")
        .map(str::to_owned)
        .or_else(|| builder.environment("USE_NEW_NVSTREAMMUX"));
    let mut reader = Reader {
        number,
        graph,
        generation: generation(variable.as_deref()),
        preprocessed: false,
    };
    let layout = Layout::of(graph);
    for index in layout.order() {
        reader.element(builder, *index, &layout);
    }
    Ok(())
}

/// The command that is the pipeline: a live one before one in a comment, one that infers before one
/// that only muxes, and that before any other; of equals the first.
fn choose(script: &GstScript) -> Result<usize, Error> {
    let rank = |command: &GstCommand| {
        let roles = |wanted: Role| {
            command.graph.as_ref().is_ok_and(|graph| {
                graph
                    .elements
                    .iter()
                    .any(|element| factory::role(&element.factory) == wanted)
            })
        };
        (
            command.liveness == Liveness::Live,
            command.graph.is_ok(),
            roles(Role::PrimaryInfer),
            roles(Role::Mux) || roles(Role::MultiSource),
        )
    };
    let commands = script.commands().iter().enumerate();
    commands
        .rev()
        .max_by_key(|(_, command)| rank(command))
        .map(|(number, _)| number)
        .ok_or_else(|| {
            Error::new(
                ErrorKind::NoPipeline,
                "there is no `gst-launch-1.0` command with a pipeline",
            )
        })
}

/// Reads the elements of one command.
struct Reader<'g> {
    number: usize,
    graph: &'g GstGraph,
    generation: MuxGeneration,
    /// Whether nvdspreprocess came before.
    preprocessed: bool,
}

impl Reader<'_> {
    /// Adds an element with its knobs.
    fn element(&mut self, builder: &mut Builder<'_>, index: usize, layout: &Layout) {
        let element = &self.graph.elements[index];
        let role = layout.role(index);
        let place = builder.place(ENTRY, element.span.start());
        let id = builder.element(
            role,
            &element.factory,
            &element.name,
            place,
            layout.branch(index),
        );
        match role {
            Role::Source | Role::MultiSource => self.source(builder, id, index),
            Role::Decoder if element.factory == "nvv4l2decoder" => {
                self.decode_knobs(builder, id, index);
            }
            Role::Mux => self.mux(builder, id, index),
            Role::Preprocess => self.preprocessed = true,
            Role::PrimaryInfer => self.infer(builder, id, index),
            Role::Tracker => {
                for knob in [
                    Knob::TrackerWidth,
                    Knob::TrackerHeight,
                    Knob::TrackerLlConfigFile,
                    Knob::TrackerLlLibFile,
                ] {
                    self.knob(builder, id, index, knob, None);
                }
            }
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
            Role::Other if element.opaque => unknown_source(builder, id, element),
            _ => {}
        }
    }

    /// The place of a property.
    fn site(&self, element: usize, property: &'static str) -> Site {
        Site {
            file: ENTRY,
            locator: Locator::Gst {
                command: self.number,
                element,
                property,
            },
        }
    }

    fn knob(
        &self,
        builder: &mut Builder<'_>,
        id: ElementId,
        element: usize,
        knob: Knob,
        default: Option<&'static str>,
    ) {
        builder.knob(id, knob, vec![self.site(element, knob.key())], default);
    }

    fn decode_knobs(&self, builder: &mut Builder<'_>, id: ElementId, element: usize) {
        self.knob(builder, id, element, Knob::DecodeNumExtraSurfaces, None);
        self.knob(builder, id, element, Knob::DecodeCudadecMemtype, Some("0"));
    }

    fn source(&self, builder: &mut Builder<'_>, id: ElementId, index: usize) {
        let element = &self.graph.elements[index];
        let is_multi = element.factory == "nvmultiurisrcbin";
        let named = ["uri", "location", "uri-list", "device"]
            .into_iter()
            .find_map(|name| element.property(name));
        let uris: Vec<String> = match named {
            Some(property) if is_multi => property.value.split(',').map(str::to_owned).collect(),
            Some(property) => vec![property.value.clone()],
            None => Vec::new(),
        };
        let is_known = named.is_none_or(|property| property.blocked.is_none());
        let kind = match factory::source_kind(&element.factory) {
            Some(kind) if kind != SourceKind::Other => kind,
            _ if is_known => uris
                .first()
                .map_or(SourceKind::Other, |uri| kind_of_uri(uri)),
            _ => SourceKind::Other,
        };
        let streams = match (is_multi, is_known) {
            (false, _) => Some(1),
            (true, true) => u32::try_from(uris.len()).ok(),
            (true, false) => None,
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
        if matches!(element.factory.as_str(), "nvurisrcbin" | "nvmultiurisrcbin") {
            self.decode_knobs(builder, id, index);
            self.knob(builder, id, index, Knob::SourceFileLoop, Some("0"));
        }
        if is_multi {
            builder.pipeline.mux = Some(self.generation);
            self.knob(builder, id, index, Knob::MultiUriMaxBatchSize, Some("30"));
            self.legacy_mux(builder, id, index);
        }
    }

    fn mux(&self, builder: &mut Builder<'_>, id: ElementId, index: usize) {
        builder.pipeline.mux = Some(self.generation);
        let policy = match self.generation {
            MuxGeneration::Legacy => None,
            MuxGeneration::New => {
                let site = self.site(index, Knob::MuxConfigFile.key());
                mux::policy(builder, id, site, Search::FolderOrWorkingDirectory)
            }
        };
        let own = self.site(index, Knob::MuxBatchSize.key());
        let batch = mux::batch_in_policy(builder, policy)
            .into_iter()
            .chain([own])
            .collect();
        builder.knob(id, Knob::MuxBatchSize, batch, None);
        self.legacy_mux(builder, id, index);
    }

    /// The knobs that only the legacy mux has.
    fn legacy_mux(&self, builder: &mut Builder<'_>, id: ElementId, index: usize) {
        if self.generation == MuxGeneration::Legacy {
            for (knob, default) in mux::LEGACY {
                self.knob(builder, id, index, knob, default);
            }
        }
    }

    fn infer(&self, builder: &mut Builder<'_>, id: ElementId, index: usize) {
        let element = &self.graph.elements[index];
        let plugin = match element.factory.as_str() {
            "nvinfer" | "nvinferbin" => InferPlugin::Nvinfer,
            "nvinferserver" => InferPlugin::Nvinferserver,
            _ => InferPlugin::Other,
        };
        let sites = [
            Knob::InferConfigFile,
            Knob::InferBatchSize,
            Knob::InferInterval,
            Knob::InferModelEngineFile,
        ];
        let sites = sites.map(|knob| (knob, self.site(index, knob.key())));
        let tensors = element
            .property("input-tensor-meta")
            .and_then(|property| property.boolean());
        let tensors = tensors.unwrap_or(false) && self.preprocessed;
        infer::stage(
            builder,
            id,
            plugin,
            tensors,
            sites.into(),
            Search::FolderOrWorkingDirectory,
        );
        let of_element = element
            .property("process-mode")
            .and_then(|property| property.integer());
        infer::settle_role(
            builder,
            id,
            of_element.and_then(|value| i64::try_from(value).ok()),
        );
    }

    fn sink(&self, builder: &mut Builder<'_>, id: ElementId, index: usize) {
        let element = &self.graph.elements[index];
        let kind = factory::sink_kind(&element.factory);
        if kind != SinkKind::MessageBroker {
            let locator = Locator::GstFactory {
                command: self.number,
                element: index,
            };
            builder.knob(
                id,
                Knob::SinkKind,
                vec![Site {
                    file: ENTRY,
                    locator,
                }],
                None,
            );
        }
        // GstBaseSink waits for the clock unless it is told not to; fakesink does not (GStreamer 1.22).
        let default = if kind == SinkKind::Fake { "0" } else { "1" };
        self.knob(builder, id, index, Knob::SinkSync, Some(default));
        let sync = match builder.value_of(id, Knob::SinkSync) {
            Some(value) => value.flag(),
            None if element.property("sync").is_some() => None,
            None => Some(kind != SinkKind::Fake),
        };
        let output = (kind == SinkKind::File)
            .then(|| element.property("location"))
            .flatten();
        builder.pipeline.sinks.push(Sink {
            element: id,
            kind,
            sync,
            output: output.map(|property| property.value.clone()),
        });
    }
}

/// An element that the shell fills in may be any number of sources.
fn unknown_source(builder: &mut Builder<'_>, id: ElementId, element: &GstElement) {
    builder.pipeline.sources.push(Source {
        element: id,
        kind: SourceKind::Other,
        uris: vec![element.factory.clone()],
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
