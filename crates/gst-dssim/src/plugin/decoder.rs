//! `nvv4l2decoder`: every buffer that comes is a frame.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use gst::glib;
use gst::prelude::*;
use gst::subclass::prelude::*;
use gstreamer as gst;

use super::store::{Store, properties_of_the_table};
use super::{frames, machine};
use crate::deadline::sleep_until;
use crate::decoders::{Decoders, Session};

#[derive(Debug)]
pub struct Decoder {
    sink: gst::Pad,
    src: gst::Pad,
    store: Store,
    session: Mutex<Option<Session>>,
}

glib::wrapper! {
    pub struct NvV4l2Decoder(ObjectSubclass<Decoder>) @extends gst::Element, gst::Object;
}

#[glib::object_subclass]
impl ObjectSubclass for Decoder {
    const NAME: &'static str = "GstNvV4l2Decoder";
    type Type = NvV4l2Decoder;
    type ParentType = gst::Element;

    fn with_class(class: &Self::Class) -> Self {
        let template = |name| class.pad_template(name).expect("declared below");
        let sink = gst::Pad::builder_from_template(&template("sink"))
            .chain_function(|_pad, parent, buffer| {
                Self::catch_panic_pad_function(
                    parent,
                    || Err(gst::FlowError::Error),
                    |decoder| decoder.decode(&buffer),
                )
            })
            .event_function(|pad, parent, event| {
                Self::catch_panic_pad_function(
                    parent,
                    || false,
                    |decoder| decoder.event(pad, event),
                )
            })
            .build();
        Self {
            sink,
            src: gst::Pad::from_template(&template("src")),
            store: Store::default(),
            session: Mutex::default(),
        }
    }
}

impl Decoder {
    fn decode(&self, coded: &gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError> {
        let model = machine::model().map_err(|_| gst::FlowError::Error)?;
        let done = {
            let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
            let session = session.get_or_insert_with(|| Decoders::of_process(model).open());
            session.decode(Instant::now())
        };
        sleep_until(done);
        self.src.push(frames::buffer(&[0], coded.pts()))
    }

    fn event(&self, pad: &gst::Pad, event: gst::Event) -> bool {
        if let gst::EventView::Caps(caps) = event.view() {
            let caps = caps.caps();
            let side = |name| {
                let side = caps.structure(0)?.get::<i32>(name).ok()?;
                u32::try_from(side).ok()
            };
            let (width, height) = (
                side("width").unwrap_or(1920),
                side("height").unwrap_or(1080),
            );
            let fps = machine::model().map_or(30.0, |model| model.source_fps);
            let decoded = frames::sized(width, height, fps);
            return self.src.push_event(gst::event::Caps::new(&decoded));
        }
        gst::Pad::event_default(pad, Some(&*self.obj()), event)
    }
}

impl ObjectImpl for Decoder {
    properties_of_the_table!("nvv4l2decoder");

    fn constructed(&self) {
        self.parent_constructed();
        let element = self.obj();
        for pad in [&self.sink, &self.src] {
            element.add_pad(pad).expect("a new element has no pads");
        }
    }
}

impl GstObjectImpl for Decoder {}

impl ElementImpl for Decoder {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: std::sync::OnceLock<gst::subclass::ElementMetadata> =
            std::sync::OnceLock::new();
        Some(METADATA.get_or_init(|| {
            gst::subclass::ElementMetadata::new(
                "NVIDIA v4l2 video decoder",
                "Codec/Decoder/Video",
                "A stand-in",
                "dsprof",
            )
        }))
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: std::sync::OnceLock<Vec<gst::PadTemplate>> = std::sync::OnceLock::new();
        TEMPLATES.get_or_init(|| {
            let mut coded = gst::Caps::new_empty();
            for name in [
                "video/x-h264",
                "video/x-h265",
                "video/x-vp8",
                "video/x-vp9",
                "video/x-av1",
                "video/mpeg",
                "image/jpeg",
            ] {
                coded.merge(gst::Caps::new_empty_simple(name));
            }
            let always = gst::PadPresence::Always;
            vec![
                frames::template("sink", gst::PadDirection::Sink, always, &coded),
                frames::template("src", gst::PadDirection::Src, always, &frames::nvmm()),
            ]
        })
    }
}

pub(super) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    let object = NvV4l2Decoder::static_type();
    gst::Element::register(Some(plugin), "nvv4l2decoder", gst::Rank::NONE, object)
}
