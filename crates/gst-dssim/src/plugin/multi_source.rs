//! `nvmultiurisrcbin`: sources and their mux in one bin.

use std::sync::{Mutex, PoisonError};

use gst::glib;
use gst::prelude::*;
use gst::subclass::prelude::*;
use gstreamer as gst;

use super::frames;
use super::store::{Store, properties_of_the_table};

/// What the mux has as well.
const OF_THE_MUX: [&str; 5] = [
    "batched-push-timeout",
    "width",
    "height",
    "live-source",
    "nvbuf-memory-type",
];

/// What the sources have as well.
const OF_THE_SOURCES: [&str; 5] = [
    "num-extra-surfaces",
    "cudadec-memtype",
    "drop-frame-interval",
    "file-loop",
    "latency",
];

#[derive(Debug, Default)]
pub struct MultiSource {
    store: Store,
    inner: Mutex<Vec<gst::Element>>,
}

glib::wrapper! {
    pub struct NvMultiUriSrcBin(ObjectSubclass<MultiSource>)
        @extends gst::Bin, gst::Element, gst::Object,
        @implements gst::ChildProxy;
}

#[glib::object_subclass]
impl ObjectSubclass for MultiSource {
    const NAME: &'static str = "GstDsNvMultiUriBin";
    type Type = NvMultiUriSrcBin;
    type ParentType = gst::Bin;
}

impl MultiSource {
    /// Makes the mux, and a source for each URI up to `max-batch-size`, which is a cap.
    fn fill(&self) -> Result<(), glib::BoolError> {
        let bin = self.obj();
        let uris = self.store.text("uri-list").unwrap_or_default();
        let cap = self.store.uint("max-batch-size").unwrap_or(30);
        let uris: Vec<&str> = uris
            .split(',')
            .map(str::trim)
            .filter(|uri| !uri.is_empty())
            .take(cap as usize)
            .collect();
        let mux = gst::ElementFactory::make("nvstreammux")
            .property("batch-size", cap.clamp(1, 1024))
            .build()?;
        self.pass_on(&mux, &OF_THE_MUX);
        bin.add(&mux)?;
        let mut inner = vec![mux.clone()];
        for (index, uri) in uris.iter().enumerate() {
            let source = gst::ElementFactory::make("nvurisrcbin")
                .property("uri", uri)
                .build()?;
            self.pass_on(&source, &OF_THE_SOURCES);
            bin.add(&source)?;
            let sink = mux
                .request_pad_simple(&format!("sink_{index}"))
                .ok_or_else(|| glib::bool_error!("no pad for source {index}"))?;
            source.connect_pad_added(move |_, pad| {
                // A pad that cannot be linked shows as a stream without frames.
                let _ = pad.link(&sink);
            });
            inner.push(source);
        }
        let target = mux
            .static_pad("src")
            .ok_or_else(|| glib::bool_error!("the mux has no source pad"))?;
        let ghost = bin
            .static_pad("src")
            .and_downcast::<gst::GhostPad>()
            .ok_or_else(|| glib::bool_error!("the bin has no source pad"))?;
        ghost.set_target(Some(&target))?;
        *self.inner.lock().unwrap_or_else(PoisonError::into_inner) = inner;
        Ok(())
    }

    fn pass_on(&self, element: &gst::Element, names: &[&str]) {
        let bin = self.obj();
        let set = self.store.names();
        for name in names.iter().filter(|name| set.iter().any(|s| s == *name)) {
            if element.find_property(name).is_some() {
                element.set_property_from_value(name, &bin.property_value(name));
            }
        }
    }

    fn empty(&self) {
        let inner = std::mem::take(&mut *self.inner.lock().unwrap_or_else(PoisonError::into_inner));
        for element in inner {
            // Elements of a bin that goes down have nothing left to fail at.
            let _ = element.set_state(gst::State::Null);
            let _ = self.obj().remove(&element);
        }
    }
}

impl ObjectImpl for MultiSource {
    properties_of_the_table!("nvmultiurisrcbin");

    fn constructed(&self) {
        self.parent_constructed();
        let bin = self.obj();
        let template = bin.pad_template("src").expect("declared below");
        let ghost = gst::GhostPad::builder_from_template(&template).build();
        bin.add_pad(&ghost).expect("a new bin has no pads");
    }
}

impl GstObjectImpl for MultiSource {}

impl ElementImpl for MultiSource {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: std::sync::OnceLock<gst::subclass::ElementMetadata> =
            std::sync::OnceLock::new();
        Some(METADATA.get_or_init(|| {
            gst::subclass::ElementMetadata::new(
                "NvMultiUriSrc Bin",
                "Generic/Bin/Source",
                "A stand-in",
                "dsprof",
            )
        }))
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: std::sync::OnceLock<Vec<gst::PadTemplate>> = std::sync::OnceLock::new();
        TEMPLATES.get_or_init(|| {
            vec![frames::template(
                "src",
                gst::PadDirection::Src,
                gst::PadPresence::Always,
                &frames::nvmm(),
            )]
        })
    }

    fn change_state(
        &self,
        transition: gst::StateChange,
    ) -> Result<gst::StateChangeSuccess, gst::StateChangeError> {
        if transition == gst::StateChange::NullToReady
            && let Err(error) = self.fill()
        {
            gst::element_imp_error!(self, gst::ResourceError::Settings, ("{error}"));
            return Err(gst::StateChangeError);
        }
        let changed = self.parent_change_state(transition)?;
        if transition == gst::StateChange::ReadyToNull {
            self.empty();
        }
        Ok(changed)
    }
}

impl BinImpl for MultiSource {}

pub(super) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    let object = NvMultiUriSrcBin::static_type();
    gst::Element::register(Some(plugin), "nvmultiurisrcbin", gst::Rank::NONE, object)
}
