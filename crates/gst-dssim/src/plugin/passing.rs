//! Elements that hand buffers on as they are and cost nothing here.

use gst::glib;
use gst::prelude::*;
use gst_base::subclass::prelude::*;
use gstreamer as gst;
use gstreamer_base as gst_base;

use super::frames;
use super::store::{Store, properties_of_the_table};

macro_rules! passing {
    ($module:ident, $name:literal, $type:literal, $class:literal, $title:literal) => {
        mod $module {
            use super::*;

            #[derive(Debug, Default)]
            pub struct Element {
                store: Store,
            }

            #[glib::object_subclass]
            impl ObjectSubclass for Element {
                const NAME: &'static str = $type;
                type Type = super::$module::Object;
                type ParentType = gst_base::BaseTransform;
            }

            glib::wrapper! {
                pub struct Object(ObjectSubclass<Element>)
                    @extends gst_base::BaseTransform, gst::Element, gst::Object;
            }

            impl ObjectImpl for Element {
                properties_of_the_table!($name);
            }

            impl GstObjectImpl for Element {}

            impl ElementImpl for Element {
                fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
                    static METADATA: std::sync::OnceLock<gst::subclass::ElementMetadata> =
                        std::sync::OnceLock::new();
                    Some(METADATA.get_or_init(|| {
                        gst::subclass::ElementMetadata::new($title, $class, "A stand-in", "dsprof")
                    }))
                }

                fn pad_templates() -> &'static [gst::PadTemplate] {
                    static TEMPLATES: std::sync::OnceLock<Vec<gst::PadTemplate>> =
                        std::sync::OnceLock::new();
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

            impl BaseTransformImpl for Element {
                const MODE: gst_base::subclass::BaseTransformMode =
                    gst_base::subclass::BaseTransformMode::AlwaysInPlace;
                const PASSTHROUGH_ON_SAME_CAPS: bool = true;
                const TRANSFORM_IP_ON_PASSTHROUGH: bool = false;
            }
        }
    };
}

passing!(
    analytics,
    "nvdsanalytics",
    "GstNvDsAnalytics",
    "Filter/Video",
    "Analytics"
);
passing!(
    preprocess,
    "nvdspreprocess",
    "GstNvDsPreProcess",
    "Filter/Video",
    "Preprocessing"
);
passing!(
    tiler,
    "nvmultistreamtiler",
    "GstNvMultiStreamTiler",
    "Filter/Video",
    "Tiler"
);
passing!(
    osd,
    "nvdsosd",
    "GstNvDsOsd",
    "Filter/Video",
    "On-screen display"
);
passing!(
    message_converter,
    "nvmsgconv",
    "GstNvMsgConv",
    "Filter/Metadata",
    "Message converter"
);

pub(super) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    let types = [
        ("nvdsanalytics", analytics::Object::static_type()),
        ("nvdspreprocess", preprocess::Object::static_type()),
        ("nvmultistreamtiler", tiler::Object::static_type()),
        ("nvdsosd", osd::Object::static_type()),
        ("nvmsgconv", message_converter::Object::static_type()),
    ];
    for (name, object) in types {
        gst::Element::register(Some(plugin), name, gst::Rank::NONE, object)?;
    }
    super::convert::register(plugin)
}
