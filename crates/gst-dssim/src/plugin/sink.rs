//! `nvmsgbroker`: takes messages and sends none.

use gst::glib;
use gst::prelude::*;
use gst_base::subclass::prelude::*;
use gstreamer as gst;
use gstreamer_base as gst_base;

use super::frames;
use super::store::{Store, properties_of_the_table};

#[derive(Debug, Default)]
pub struct Broker {
    store: Store,
}

glib::wrapper! {
    pub struct NvMsgBroker(ObjectSubclass<Broker>)
        @extends gst_base::BaseSink, gst::Element, gst::Object;
}

#[glib::object_subclass]
impl ObjectSubclass for Broker {
    const NAME: &'static str = "GstNvMsgBroker";
    type Type = NvMsgBroker;
    type ParentType = gst_base::BaseSink;
}

impl ObjectImpl for Broker {
    properties_of_the_table!("nvmsgbroker");
}

impl GstObjectImpl for Broker {}

impl ElementImpl for Broker {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: std::sync::OnceLock<gst::subclass::ElementMetadata> =
            std::sync::OnceLock::new();
        Some(METADATA.get_or_init(|| {
            gst::subclass::ElementMetadata::new(
                "Message broker",
                "Sink/Metadata",
                "A stand-in",
                "dsprof",
            )
        }))
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: std::sync::OnceLock<Vec<gst::PadTemplate>> = std::sync::OnceLock::new();
        TEMPLATES.get_or_init(|| {
            vec![frames::template(
                "sink",
                gst::PadDirection::Sink,
                gst::PadPresence::Always,
                &frames::anywhere(),
            )]
        })
    }
}

impl BaseSinkImpl for Broker {
    fn render(&self, _buffer: &gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError> {
        Ok(gst::FlowSuccess::Ok)
    }
}

pub(super) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    let object = NvMsgBroker::static_type();
    gst::Element::register(Some(plugin), "nvmsgbroker", gst::Rank::NONE, object)
}
