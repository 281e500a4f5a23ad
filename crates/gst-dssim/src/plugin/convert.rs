//! `nvvideoconvert`: the same frames under the caps that are asked for behind it.

use gst::glib;
use gst::prelude::*;
use gst::subclass::prelude::*;
use gstreamer as gst;

use super::frames;
use super::store::{Store, properties_of_the_table};

#[derive(Debug)]
pub struct Converter {
    sink: gst::Pad,
    src: gst::Pad,
    store: Store,
}

glib::wrapper! {
    pub struct NvVideoConvert(ObjectSubclass<Converter>) @extends gst::Element, gst::Object;
}

#[glib::object_subclass]
impl ObjectSubclass for Converter {
    const NAME: &'static str = "GstNvVideoConvert";
    type Type = NvVideoConvert;
    type ParentType = gst::Element;

    fn with_class(class: &Self::Class) -> Self {
        let template = |name| class.pad_template(name).expect("declared below");
        let sink = gst::Pad::builder_from_template(&template("sink"))
            .chain_function(|pad, parent, buffer| {
                Self::catch_panic_pad_function(
                    parent,
                    || Err(gst::FlowError::Error),
                    |element| {
                        let _ = pad;
                        element.src.push(buffer)
                    },
                )
            })
            .event_function(|pad, parent, event| {
                Self::catch_panic_pad_function(
                    parent,
                    || false,
                    |element| element.event(pad, event),
                )
            })
            .build();
        Self {
            sink,
            src: gst::Pad::builder_from_template(&template("src")).build(),
            store: Store::default(),
        }
    }
}

impl Converter {
    fn event(&self, pad: &gst::Pad, event: gst::Event) -> bool {
        if let gst::EventView::Caps(caps) = event.view() {
            let wanted = self.wanted(caps.caps_owned());
            return self.src.push_event(gst::event::Caps::new(&wanted));
        }
        gst::Pad::event_default(pad, Some(&*self.obj()), event)
    }

    /// The caps that come, where they are taken; else the first that are, in the size that comes where it is free.
    fn wanted(&self, came: gst::Caps) -> gst::Caps {
        let taken = self.src.peer_query_caps(None);
        if taken.can_intersect(&came) || taken.is_empty() {
            return came;
        }
        let mut taken = taken;
        taken.truncate();
        if let (Some(came), Some(taken)) = (came.structure(0), taken.make_mut().structure_mut(0)) {
            for field in ["width", "height"] {
                if let Ok(side) = came.get::<i32>(field) {
                    taken.fixate_field_nearest_int(field, side);
                }
            }
            if let Ok(rate) = came.get::<gst::Fraction>("framerate") {
                taken.fixate_field_nearest_fraction("framerate", rate);
            }
        }
        taken.fixate();
        taken
    }
}

impl ObjectImpl for Converter {
    properties_of_the_table!("nvvideoconvert");

    fn constructed(&self) {
        self.parent_constructed();
        let element = self.obj();
        for pad in [&self.sink, &self.src] {
            element.add_pad(pad).expect("a new element has no pads");
        }
    }
}

impl GstObjectImpl for Converter {}

impl ElementImpl for Converter {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: std::sync::OnceLock<gst::subclass::ElementMetadata> =
            std::sync::OnceLock::new();
        Some(METADATA.get_or_init(|| {
            gst::subclass::ElementMetadata::new(
                "Video converter",
                "Filter/Converter/Video",
                "A stand-in",
                "dsprof",
            )
        }))
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: std::sync::OnceLock<Vec<gst::PadTemplate>> = std::sync::OnceLock::new();
        TEMPLATES.get_or_init(|| {
            let caps = frames::anywhere();
            let always = gst::PadPresence::Always;
            vec![
                frames::template("sink", gst::PadDirection::Sink, always, &caps),
                frames::template("src", gst::PadDirection::Src, always, &caps),
            ]
        })
    }
}

pub(super) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    let object = NvVideoConvert::static_type();
    gst::Element::register(Some(plugin), "nvvideoconvert", gst::Rank::NONE, object)
}
