//! `nvstreamdemux`: batches become frames of one stream again.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use gst::glib;
use gst::prelude::*;
use gst::subclass::prelude::*;
use gstreamer as gst;

use super::frames;
use super::store::{Store, properties_of_the_table};

#[derive(Debug)]
pub struct Demux {
    sink: gst::Pad,
    store: Store,
    outputs: Mutex<BTreeMap<u32, gst::Pad>>,
}

glib::wrapper! {
    pub struct NvStreamDemux(ObjectSubclass<Demux>) @extends gst::Element, gst::Object;
}

#[glib::object_subclass]
impl ObjectSubclass for Demux {
    const NAME: &'static str = "GstNvStreamDemux";
    type Type = NvStreamDemux;
    type ParentType = gst::Element;

    fn with_class(class: &Self::Class) -> Self {
        let template = class.pad_template("sink").expect("declared below");
        let sink = gst::Pad::builder_from_template(&template)
            .chain_function(|_pad, parent, buffer| {
                Self::catch_panic_pad_function(
                    parent,
                    || Err(gst::FlowError::Error),
                    |demux| demux.split(&buffer),
                )
            })
            .event_function(|pad, parent, event| {
                Self::catch_panic_pad_function(parent, || false, |demux| demux.event(pad, event))
            })
            .build();
        Self {
            sink,
            store: Store::default(),
            outputs: Mutex::default(),
        }
    }
}

impl Demux {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, gst::Pad>> {
        self.outputs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Pushes each frame to the pad of its stream; a stream without a pad goes nowhere.
    fn split(&self, batch: &gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError> {
        for stream in frames::streams(batch) {
            let pad = self.lock().get(&stream).cloned();
            if let Some(pad) = pad {
                pad.push(frames::buffer(&[stream], batch.pts()))?;
            }
        }
        Ok(gst::FlowSuccess::Ok)
    }

    fn event(&self, pad: &gst::Pad, event: gst::Event) -> bool {
        if !matches!(event.view(), gst::EventView::StreamStart(_)) {
            return gst::Pad::event_default(pad, Some(&*self.obj()), event);
        }
        let outputs: Vec<gst::Pad> = self.lock().values().cloned().collect();
        let group = gst::GroupId::next();
        outputs.iter().all(|pad| {
            let id = pad.create_stream_id(&*self.obj(), Some(&pad.name()));
            pad.push_event(
                gst::event::StreamStart::builder(&id)
                    .group_id(group)
                    .build(),
            )
        })
    }
}

impl ObjectImpl for Demux {
    properties_of_the_table!("nvstreamdemux");

    fn constructed(&self) {
        self.parent_constructed();
        self.obj()
            .add_pad(&self.sink)
            .expect("a new element has no pads");
    }
}

impl GstObjectImpl for Demux {}

impl ElementImpl for Demux {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: std::sync::OnceLock<gst::subclass::ElementMetadata> =
            std::sync::OnceLock::new();
        Some(METADATA.get_or_init(|| {
            gst::subclass::ElementMetadata::new(
                "Stream demultiplexer",
                "N/A",
                "A stand-in",
                "dsprof",
            )
        }))
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: std::sync::OnceLock<Vec<gst::PadTemplate>> = std::sync::OnceLock::new();
        TEMPLATES.get_or_init(|| {
            let caps = frames::nvmm();
            vec![
                frames::template(
                    "sink",
                    gst::PadDirection::Sink,
                    gst::PadPresence::Always,
                    &caps,
                ),
                frames::template(
                    "src_%u",
                    gst::PadDirection::Src,
                    gst::PadPresence::Request,
                    &caps,
                ),
            ]
        })
    }

    fn request_new_pad(
        &self,
        template: &gst::PadTemplate,
        name: Option<&str>,
        _caps: Option<&gst::Caps>,
    ) -> Option<gst::Pad> {
        let named = name.and_then(|name| name.strip_prefix("src_")?.parse().ok());
        let free = || (0..).find(|stream| !self.lock().contains_key(stream));
        let stream: u32 = named.or_else(free)?;
        let pad = gst::Pad::builder_from_template(template)
            .name(format!("src_{stream}"))
            .build();
        // An element that plays already wants active pads.
        let _ = pad.set_active(true);
        self.lock().insert(stream, pad.clone());
        self.obj().add_pad(&pad).ok()?;
        Some(pad)
    }

    fn release_pad(&self, pad: &gst::Pad) {
        self.lock().retain(|_, other| other != pad);
        // Nothing is left to be done about a pad that is not there.
        let _ = self.obj().remove_pad(pad);
    }
}

pub(super) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    let object = NvStreamDemux::static_type();
    gst::Element::register(Some(plugin), "nvstreamdemux", gst::Rank::NONE, object)
}
