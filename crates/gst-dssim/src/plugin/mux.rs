//! `nvstreammux`: frames of many streams become batches.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gst::glib;
use gst::prelude::*;
use gst::subclass::prelude::*;
use gstreamer as gst;

use super::store::{Store, properties_of_the_table};
use super::{frames, machine};
use crate::property::MuxKind;

/// Frames that wait at each pad: the default `buffer-pool-size`.
const WAITING: usize = 4;

/// A frame that waits.
#[derive(Debug, Clone, Copy)]
struct Frame {
    pts: Option<gst::ClockTime>,
}

#[derive(Debug, Default)]
struct Input {
    waiting: VecDeque<Frame>,
    has_ended: bool,
}

#[derive(Debug, Default)]
struct State {
    inputs: BTreeMap<u32, Input>,
    /// The stream whose turn it is.
    turn: u32,
    /// Since when a frame waits for its batch.
    since: Option<Instant>,
    is_closed: bool,
    /// How pushing ended; the next frame is refused with it.
    ended: Option<gst::FlowError>,
}

/// What comes out next.
enum Next {
    Batch(Vec<u32>, Option<gst::ClockTime>),
    End,
    Closed,
}

#[derive(Debug, Default)]
struct Collector {
    state: Mutex<State>,
    changed: Condvar,
}

impl Collector {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_in(&self, stream: u32, frame: Frame) -> Result<gst::FlowSuccess, gst::FlowError> {
        let mut state = self.lock();
        loop {
            if let Some(how) = state.ended {
                return Err(how);
            }
            if state.is_closed {
                return Err(gst::FlowError::Flushing);
            }
            let input = state.inputs.entry(stream).or_default();
            if input.waiting.len() < WAITING {
                input.waiting.push_back(frame);
                state.since.get_or_insert_with(Instant::now);
                self.changed.notify_all();
                return Ok(gst::FlowSuccess::Ok);
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits until a batch is full, or until its first frame has waited for `timeout`.
    fn next(&self, batch: usize, timeout: Option<Duration>) -> Next {
        let mut state = self.lock();
        loop {
            if state.is_closed || state.ended.is_some() {
                return Next::Closed;
            }
            let waiting: usize = state.inputs.values().map(|input| input.waiting.len()).sum();
            let all_ended = state.inputs.values().all(|input| input.has_ended);
            let late = state
                .since
                .zip(timeout)
                .map(|(since, timeout)| since + timeout);
            let is_late = late.is_some_and(|late| late <= Instant::now());
            if waiting >= batch || (waiting > 0 && (is_late || all_ended)) {
                let (streams, pts) = state.collect(batch);
                self.changed.notify_all();
                return Next::Batch(streams, pts);
            }
            if all_ended && !state.inputs.is_empty() {
                return Next::End;
            }
            let patience = late.map_or(Duration::from_secs(1), |late| {
                late.saturating_duration_since(Instant::now())
            });
            let waited = self.changed.wait_timeout(state, patience);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl State {
    /// One frame of each stream in turn, until the batch is full or nothing waits.
    fn collect(&mut self, batch: usize) -> (Vec<u32>, Option<gst::ClockTime>) {
        let mut streams = Vec::new();
        let mut latest = None;
        while streams.len() < batch {
            let turn = self.turn;
            let is_waiting =
                |(stream, input): (&u32, &Input)| (!input.waiting.is_empty()).then_some(*stream);
            let after = self.inputs.range(turn..).find_map(is_waiting);
            let Some(stream) = after.or_else(|| self.inputs.range(..turn).find_map(is_waiting))
            else {
                break;
            };
            let input = self.inputs.entry(stream).or_default();
            if let Some(frame) = input.waiting.pop_front() {
                latest = latest.max(frame.pts);
                streams.push(stream);
            }
            self.turn = stream + 1;
        }
        let is_waiting = self.inputs.values().any(|input| !input.waiting.is_empty());
        self.since = is_waiting.then(Instant::now);
        (streams, latest)
    }
}

#[derive(Debug)]
pub struct Mux {
    src: gst::Pad,
    store: Store,
    collector: Arc<Collector>,
}

glib::wrapper! {
    pub struct NvStreamMux(ObjectSubclass<Mux>) @extends gst::Element, gst::Object;
}

#[glib::object_subclass]
impl ObjectSubclass for Mux {
    const NAME: &'static str = "GstNvStreamMux";
    type Type = NvStreamMux;
    type ParentType = gst::Element;

    fn with_class(class: &Self::Class) -> Self {
        let template = class.pad_template("src").expect("declared below");
        Self {
            src: gst::Pad::from_template(&template),
            store: Store::default(),
            collector: Arc::default(),
        }
    }
}

impl Mux {
    fn begin(&self) -> Result<(), String> {
        let model = machine::model().map_err(ToString::to_string)?;
        let kind = MuxKind::selected_by(std::env::var("USE_NEW_NVSTREAMMUX").ok().as_deref());
        let streams = self.collector.lock().inputs.len();
        let size = |name| self.store.uint(name).filter(|side| *side > 0);
        let (batch, width, height, timeout) = match kind {
            MuxKind::Legacy => (
                self.store.uint("batch-size").filter(|batch| *batch > 0),
                size("width"),
                size("height"),
                self.store.int("batched-push-timeout").unwrap_or(-1),
            ),
            // The default policy adapts the batch to the pads and waits for 200 ms (section 9 of its facts).
            MuxKind::New => (u32::try_from(streams).ok(), Some(1920), Some(1080), 200_000),
        };
        let batch = batch.ok_or("Batch size not set")?;
        let (Some(width), Some(height)) = (width, height) else {
            return Err("width and height of the output are not set".to_owned());
        };
        let timeout = u64::try_from(timeout).ok().map(Duration::from_micros);
        let caps = frames::sized(width, height, model.source_fps);
        let (collector, src) = (Arc::clone(&self.collector), self.src.downgrade());
        let id = self.src.create_stream_id(&*self.obj(), Some("batches"));
        let mut head = vec![
            gst::event::StreamStart::builder(&id)
                .group_id(gst::GroupId::next())
                .build(),
            gst::event::Caps::new(&caps),
            gst::event::Segment::new(&gst::FormattedSegment::<gst::ClockTime>::new()),
        ];
        self.src
            .start_task(move || {
                let Some(src) = src.upgrade() else { return };
                for event in head.drain(..) {
                    src.push_event(event);
                }
                let end = match collector.next(batch as usize, timeout) {
                    Next::Batch(streams, pts) => {
                        let pushed = src.push(frames::buffer(&streams, pts));
                        if let Err(how) = pushed {
                            collector.lock().ended = Some(how);
                            collector.changed.notify_all();
                        }
                        pushed.is_err()
                    }
                    Next::End => {
                        src.push_event(gst::event::Eos::new());
                        true
                    }
                    Next::Closed => true,
                };
                if end {
                    // A task that was stopped meanwhile needs no pause.
                    let _ = src.pause_task();
                }
            })
            .map_err(|error| error.to_string())
    }

    fn event(&self, pad: &gst::Pad, stream: u32, event: gst::Event) -> bool {
        match event.view() {
            gst::EventView::Eos(_) => {
                let mut state = self.collector.lock();
                state.inputs.entry(stream).or_default().has_ended = true;
                self.collector.changed.notify_all();
                true
            }
            gst::EventView::StreamStart(_) => {
                self.collector
                    .lock()
                    .inputs
                    .entry(stream)
                    .or_default()
                    .has_ended = false;
                true
            }
            // Batches have a stream of their own.
            gst::EventView::Caps(_) | gst::EventView::Segment(_) | gst::EventView::Tag(_) => true,
            _ => gst::Pad::event_default(pad, Some(&*self.obj()), event),
        }
    }
}

impl ObjectImpl for Mux {
    properties_of_the_table!("nvstreammux");

    fn constructed(&self) {
        self.parent_constructed();
        self.obj()
            .add_pad(&self.src)
            .expect("a new element has no pads");
    }
}

impl GstObjectImpl for Mux {}

impl ElementImpl for Mux {
    fn metadata() -> Option<&'static gst::subclass::ElementMetadata> {
        static METADATA: std::sync::OnceLock<gst::subclass::ElementMetadata> =
            std::sync::OnceLock::new();
        Some(METADATA.get_or_init(|| {
            gst::subclass::ElementMetadata::new("Stream multiplexer", "N/A", "A stand-in", "dsprof")
        }))
    }

    fn pad_templates() -> &'static [gst::PadTemplate] {
        static TEMPLATES: std::sync::OnceLock<Vec<gst::PadTemplate>> = std::sync::OnceLock::new();
        TEMPLATES.get_or_init(|| {
            vec![
                frames::template(
                    "sink_%u",
                    gst::PadDirection::Sink,
                    gst::PadPresence::Request,
                    &frames::anywhere(),
                ),
                frames::template(
                    "src",
                    gst::PadDirection::Src,
                    gst::PadPresence::Always,
                    &frames::nvmm(),
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
        // Unlike other muxes it has to be told which pad: `sink_%u` is refused.
        let stream: u32 = name?.strip_prefix("sink_")?.parse().ok()?;
        let pad = gst::Pad::builder_from_template(template)
            .name(format!("sink_{stream}"))
            .chain_function(move |_pad, parent, buffer| {
                Self::catch_panic_pad_function(
                    parent,
                    || Err(gst::FlowError::Error),
                    |mux| mux.collector.take_in(stream, Frame { pts: buffer.pts() }),
                )
            })
            .event_function(move |pad, parent, event| {
                Self::catch_panic_pad_function(
                    parent,
                    || false,
                    |mux| mux.event(pad, stream, event),
                )
            })
            .build();
        self.collector.lock().inputs.entry(stream).or_default();
        // An element that plays already wants active pads.
        let _ = pad.set_active(true);
        self.obj().add_pad(&pad).ok()?;
        Some(pad)
    }

    fn release_pad(&self, pad: &gst::Pad) {
        let stream = pad
            .name()
            .strip_prefix("sink_")
            .and_then(|n| n.parse().ok());
        if let Some(stream) = stream {
            let stream: u32 = stream;
            self.collector.lock().inputs.remove(&stream);
            self.collector.changed.notify_all();
        }
        // Nothing is left to be done about a pad that is not there.
        let _ = self.obj().remove_pad(pad);
    }

    fn change_state(
        &self,
        transition: gst::StateChange,
    ) -> Result<gst::StateChangeSuccess, gst::StateChangeError> {
        match transition {
            gst::StateChange::ReadyToPaused => {
                let mut state = self.collector.lock();
                (state.is_closed, state.ended) = (false, None);
            }
            gst::StateChange::PausedToReady => {
                self.collector.lock().is_closed = true;
                self.collector.changed.notify_all();
            }
            _ => {}
        }
        let changed = self.parent_change_state(transition)?;
        match transition {
            gst::StateChange::ReadyToPaused => {
                if let Err(what) = self.begin() {
                    gst::element_imp_error!(self, gst::ResourceError::Settings, ("{what}"));
                    return Err(gst::StateChangeError);
                }
            }
            gst::StateChange::PausedToReady => {
                self.src.stop_task().map_err(|_| gst::StateChangeError)?;
            }
            _ => {}
        }
        Ok(changed)
    }
}

pub(super) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    let object = NvStreamMux::static_type();
    gst::Element::register(Some(plugin), "nvstreammux", gst::Rank::NONE, object)
}
