//! `nvdslogger`: prints the frames of each stream a second.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use gst::glib;
use gst::prelude::*;
use gst_base::subclass::prelude::*;
use gstreamer as gst;
use gstreamer_base as gst_base;

use super::frames;
use super::store::{Store, properties_of_the_table};

#[derive(Debug, Default)]
pub struct Logger {
    store: Store,
    seen: Mutex<Seen>,
}

/// The frames since the last line.
#[derive(Debug, Default)]
struct Seen {
    since: Option<Instant>,
    frames: BTreeMap<u32, u32>,
}

glib::wrapper! {
    pub struct NvDsLogger(ObjectSubclass<Logger>)
        @extends gst_base::BaseTransform, gst::Element, gst::Object;
}

#[glib::object_subclass]
impl ObjectSubclass for Logger {
    const NAME: &'static str = "GstNvDsLogger";
    type Type = NvDsLogger;
    type ParentType = gst_base::BaseTransform;
}

impl Seen {
    /// Counts a batch; gives the line that is due, if one is.
    fn count(&mut self, streams: &[u32], now: Instant, interval: Duration) -> Option<String> {
        let since = *self.since.get_or_insert(now);
        for stream in streams {
            *self.frames.entry(*stream).or_default() += 1;
        }
        let time = now - since;
        if time < interval {
            return None;
        }
        self.since = Some(now);
        let rates: Vec<String> = self
            .frames
            .iter_mut()
            .map(|(stream, frames)| {
                let rate = f64::from(std::mem::take(frames)) / time.as_secs_f64();
                format!("FPS_{stream} ({rate:.2})")
            })
            .collect();
        Some(format!("**PERF : {}\t\n", rates.join("\t")))
    }
}

impl ObjectImpl for Logger {
    properties_of_the_table!("nvdslogger");
}

impl GstObjectImpl for Logger {}

impl ElementImpl for Logger {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: std::sync::OnceLock<gst::subclass::ElementMetadata> =
            std::sync::OnceLock::new();
        Some(METADATA.get_or_init(|| {
            gst::subclass::ElementMetadata::new("Logger", "Filter/Video", "A stand-in", "dsprof")
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

impl BaseTransformImpl for Logger {
    const MODE: gst_base::subclass::BaseTransformMode =
        gst_base::subclass::BaseTransformMode::AlwaysInPlace;
    const PASSTHROUGH_ON_SAME_CAPS: bool = true;
    const TRANSFORM_IP_ON_PASSTHROUGH: bool = true;

    fn transform_ip_passthrough(
        &self,
        buffer: &gst::Buffer,
    ) -> Result<gst::FlowSuccess, gst::FlowError> {
        let seconds = self.store.uint("fps-measurement-interval-sec").unwrap_or(5);
        let interval = Duration::from_secs(seconds.into());
        let streams = frames::streams(buffer);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = seen.count(&streams, Instant::now(), interval) {
            let mut out = std::io::stdout();
            // A console that is closed loses the text and nothing else.
            let _ = out.write_all(line.as_bytes()).and_then(|()| out.flush());
        }
        Ok(gst::FlowSuccess::Ok)
    }
}

pub(super) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    let object = NvDsLogger::static_type();
    gst::Element::register(Some(plugin), "nvdslogger", gst::Rank::NONE, object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_rate_of_every_stream_seen() {
        let start = Instant::now();
        let second = Duration::from_secs(1);
        let mut seen = Seen::default();
        assert_eq!(seen.count(&[0, 1], start, second), None);
        let line = seen.count(&[0, 0], start + second * 2, second);
        assert_eq!(
            line.as_deref(),
            Some("**PERF : FPS_0 (1.50)\tFPS_1 (0.50)\t\n")
        );
    }
}
