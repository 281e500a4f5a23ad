//! `nvurisrcbin`: a file or a camera, decoded. The picture's contents are not looked at, but a file has to be there.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gst::glib;
use gst::prelude::*;
use gst::subclass::prelude::*;
use gstreamer as gst;

use super::store::{Store, properties_of_the_table};
use super::{frames, machine};
use crate::deadline::sleep_until;
use crate::decoders::{Decoders, Session};
use crate::model::{Fault, Model};

/// The longest that a thread waits without looking whether it is to end.
const NAP: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
pub struct Source {
    store: Store,
    pad: Mutex<Option<gst::Pad>>,
    is_ending: Arc<AtomicBool>,
    /// Whether the stream is to end in order, as `gst-launch-1.0 -e` asks for.
    is_to_end: Arc<AtomicBool>,
}

glib::wrapper! {
    pub struct NvUriSrcBin(ObjectSubclass<Source>) @extends gst::Element, gst::Object;
}

#[glib::object_subclass]
impl ObjectSubclass for Source {
    const NAME: &'static str = "GstDsNvUriSrcBin";
    type Type = NvUriSrcBin;
    type ParentType = gst::Element;
}

/// Where frames come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// A file that ends after so many frames.
    File { frames: u64 },
    /// A file that begins anew, or something without an end.
    Endless,
    /// A camera, which gives frames at its own rate.
    Live,
}

/// One stream on its way.
struct Playing {
    model: &'static Model,
    origin: Origin,
    session: Session,
    start: Option<Instant>,
    number: u64,
    is_ending: Arc<AtomicBool>,
    is_to_end: Arc<AtomicBool>,
}

impl Playing {
    /// Pushes the next frame; `false` at the end.
    fn step(&mut self, src: &gst::Pad) -> bool {
        let start = *self
            .start
            .get_or_insert_with(|| Instant::now() + self.model.start);
        while Instant::now() < start {
            if self.is_ending.load(Ordering::Relaxed) {
                return false;
            }
            sleep_until((Instant::now() + NAP).min(start));
        }
        let is_over = matches!(self.origin, Origin::File { frames } if self.number >= frames);
        let ends_early = self.model.faults.iter().any(
            |fault| matches!(fault, Fault::EndOfStream { after } if start.elapsed() >= *after),
        );
        if is_over || ends_early || self.is_to_end.load(Ordering::Relaxed) {
            src.push_event(gst::event::Eos::new());
            return false;
        }
        #[expect(clippy::cast_precision_loss, reason = "no run counts 2^53 frames")]
        let seconds = self.number as f64 / self.model.source_fps;
        if self.origin == Origin::Live {
            sleep_until(start + Duration::from_secs_f64(seconds));
        }
        sleep_until(self.session.decode(Instant::now()));
        self.number += 1;
        let pts = gst::ClockTime::from_seconds_f64(seconds);
        let is_ending = self.is_ending.load(Ordering::Relaxed);
        !is_ending && src.push(frames::buffer(&[0], Some(pts))).is_ok()
    }
}

impl Source {
    fn origin(&self, model: &Model) -> Result<Origin, String> {
        let uri = self.store.text("uri").ok_or("No URI set")?;
        let Some(path) = uri.strip_prefix("file://") else {
            return Ok(if uri.starts_with("rtsp://") {
                Origin::Live
            } else {
                Origin::Endless
            });
        };
        if !Path::new(path).exists() {
            return Err(format!("Could not open file \"{path}\" for reading."));
        }
        Ok(if self.store.is_on("file-loop") {
            Origin::Endless
        } else {
            Origin::File {
                frames: model.file_frames,
            }
        })
    }

    fn begin(&self) -> Result<(), String> {
        let model = machine::model().map_err(ToString::to_string)?;
        let origin = self.origin(model)?;
        let element = self.obj();
        let template = element.pad_template("vsrc_%u").ok_or("no template")?;
        let src = gst::Pad::builder_from_template(&template)
            .name("vsrc_0")
            .build();
        src.set_active(true).map_err(|error| error.to_string())?;
        let id = src.create_stream_id(&*element, Some("video"));
        for event in [
            gst::event::StreamStart::builder(&id)
                .group_id(gst::GroupId::next())
                .build(),
            gst::event::Caps::new(&frames::sized(1920, 1080, model.source_fps)),
            gst::event::Segment::new(&gst::FormattedSegment::<gst::ClockTime>::new()),
        ] {
            // Events before the link is made are kept for it.
            let _ = src.store_sticky_event(&event);
        }
        *self.pad.lock().unwrap_or_else(PoisonError::into_inner) = Some(src.clone());
        element.add_pad(&src).map_err(|error| error.to_string())?;
        element.no_more_pads();
        self.is_ending.store(false, Ordering::Relaxed);
        self.is_to_end.store(false, Ordering::Relaxed);
        let mut playing = Playing {
            model,
            origin,
            session: Decoders::of_process(model).open(),
            start: None,
            number: 0,
            is_ending: Arc::clone(&self.is_ending),
            is_to_end: Arc::clone(&self.is_to_end),
        };
        let weak = src.downgrade();
        src.start_task(move || {
            let Some(src) = weak.upgrade() else { return };
            if !playing.step(&src) {
                // A task that was stopped meanwhile needs no pause.
                let _ = src.pause_task();
            }
        })
        .map_err(|error| error.to_string())
    }

    fn end(&self) {
        let pad = self
            .pad
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(pad) = pad {
            // Both fail only where there is nothing left to end.
            let _ = pad.set_active(false);
            let _ = pad.stop_task();
            let _ = self.obj().remove_pad(&pad);
        }
    }
}

impl ObjectImpl for Source {
    properties_of_the_table!("nvurisrcbin");

    fn constructed(&self) {
        self.parent_constructed();
        // A pipeline hands the end of stream to its sources.
        self.obj().set_element_flags(gst::ElementFlags::SOURCE);
    }
}

impl GstObjectImpl for Source {}

impl ElementImpl for Source {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: std::sync::OnceLock<gst::subclass::ElementMetadata> =
            std::sync::OnceLock::new();
        Some(METADATA.get_or_init(|| {
            gst::subclass::ElementMetadata::new(
                "NvUriSrc Bin",
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
                "vsrc_%u",
                gst::PadDirection::Src,
                gst::PadPresence::Sometimes,
                &frames::anywhere(),
            )]
        })
    }

    fn send_event(&self, event: gst::Event) -> bool {
        if event.type_() == gst::EventType::Eos {
            self.is_to_end.store(true, Ordering::Relaxed);
            return true;
        }
        self.parent_send_event(event)
    }

    fn change_state(
        &self,
        transition: gst::StateChange,
    ) -> Result<gst::StateChangeSuccess, gst::StateChangeError> {
        if transition == gst::StateChange::PausedToReady {
            self.is_ending.store(true, Ordering::Relaxed);
        }
        let changed = self.parent_change_state(transition)?;
        match transition {
            gst::StateChange::ReadyToPaused => {
                if let Err(what) = self.begin() {
                    gst::element_imp_error!(self, gst::ResourceError::OpenRead, ("{what}"));
                    return Err(gst::StateChangeError);
                }
            }
            gst::StateChange::PausedToReady => self.end(),
            _ => {}
        }
        Ok(changed)
    }
}

pub(super) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    let object = NvUriSrcBin::static_type();
    gst::Element::register(Some(plugin), "nvurisrcbin", gst::Rank::NONE, object)
}
