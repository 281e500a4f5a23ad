//! `nvinfer`, `nvinferserver` and `nvtracker`: a short queue, and a thread that finishes what was taken in.

use std::collections::VecDeque;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use gst::glib;
use gst::prelude::*;
use gst::subclass::prelude::*;
use gstreamer as gst;

use super::infer_config::InferConfig;
use super::store::{Store, properties_of_the_table};
use super::work::{Finisher, Ticket, Work, WorkKind};
use super::{frames, machine};
use crate::deadline::sleep_until;
use crate::engine::Engine;
use crate::ledger::Ledger;
use crate::load::memory_mib;
use crate::model::{Fault, Model};

/// Batches in flight: nvinfer's output pool holds two, and the tracker takes as many.
const IN_FLIGHT: usize = 2;

/// Something that leaves in the order in which it came.
#[derive(Debug)]
enum Item {
    Batch(gst::Buffer, Ticket),
    Event(gst::Event),
}

/// What waits between the two threads.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    batches: usize,
    work: Option<Work>,
    /// How pushing ended; the next buffer is refused with it.
    ended: Option<gst::FlowError>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, work: Work) {
        *self.lock() = State {
            work: Some(work),
            ..State::default()
        };
    }

    fn close(&self, how: gst::FlowError) {
        let mut state = self.lock();
        state.ended = Some(how);
        state.items.clear();
        state.batches = 0;
        self.changed.notify_all();
    }

    fn take_in(&self, buffer: gst::Buffer) -> Result<gst::FlowSuccess, gst::FlowError> {
        let mut state = self.lock();
        while state.ended.is_none() && state.batches >= IN_FLIGHT {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(how) = state.ended {
            return Err(how);
        }
        let frames = u32::try_from(frames::streams(&buffer).len()).unwrap_or(u32::MAX);
        let work = state.work.as_mut().ok_or(gst::FlowError::Flushing)?;
        let ticket = work.take(frames);
        state.batches += 1;
        state.items.push_back(Item::Batch(buffer, ticket));
        self.changed.notify_all();
        Ok(gst::FlowSuccess::Ok)
    }

    fn take_event(&self, event: gst::Event) -> bool {
        let mut state = self.lock();
        if state.ended.is_some() {
            return false;
        }
        state.items.push_back(Item::Event(event));
        self.changed.notify_all();
        true
    }

    /// The next item; `None` once it is closed.
    fn next(&self) -> Option<Item> {
        let mut state = self.lock();
        loop {
            if state.ended.is_some() {
                return None;
            }
            if let Some(item) = state.items.pop_front() {
                return Some(item);
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// One round of the output thread; `false` when there is no more to do.
    fn hand_on(&self, finisher: &Finisher, src: &gst::Pad) -> bool {
        match self.next() {
            None => false,
            Some(Item::Event(event)) => {
                src.push_event(event);
                true
            }
            Some(Item::Batch(buffer, ticket)) => {
                finisher.finish(ticket);
                let age = self.lock().work.as_ref().map(Work::age).unwrap_or_default();
                match finisher.fault(age) {
                    Some(Fault::Crash { .. }) => std::process::abort(),
                    Some(_) => return self.stall(),
                    None => {}
                }
                let pushed = src.push(buffer);
                let mut state = self.lock();
                state.batches = state.batches.saturating_sub(1);
                self.changed.notify_all();
                drop(state);
                if let Err(how) = pushed {
                    self.close(how);
                }
                pushed.is_ok()
            }
        }
    }

    /// Hands nothing on any more until it is closed.
    fn stall(&self) -> bool {
        let mut state = self.lock();
        while state.ended.is_none() {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        false
    }
}

/// What a stage needs to know before its first batch.
struct Prepared {
    kind: WorkKind,
    unique_id: u32,
}

/// nvinfer's batch and engine: the element's own values win over the file's.
fn prepare_infer(store: &Store, config: &InferConfig, model: &Model) -> Result<u32, String> {
    let batch = store
        .uint("batch-size")
        .filter(|batch| *batch > 0)
        .or(config.batch_size)
        .unwrap_or(1)
        .max(1);
    if model.faults.iter().any(|fault| fault.refuses(batch)) {
        return Err(
            "[TRT]: 2: [virtualMemoryBuffer.cpp::resizePhysical::127] Error Code 2: OutOfMemory (no further information)"
                .to_owned(),
        );
    }
    let named = store.text("model-engine-file").map(Into::into);
    let named = named.or_else(|| config.engine.clone());
    let onnx = config.onnx.as_deref().unwrap_or("model.onnx");
    let onnx = Path::new(onnx).file_name().and_then(|name| name.to_str());
    let engine = Engine::look(model, named.as_deref(), onnx.unwrap_or("model.onnx"), batch);
    if let Some(Engine::ToBuild { file, takes }) = engine {
        let name = file.display();
        let mut err = std::io::stderr();
        // A console that is closed loses the text and nothing else.
        let _ = writeln!(
            err,
            "WARNING: Deserialize engine failed because file path: {name} open error"
        );
        sleep_until(std::time::Instant::now() + takes);
        Engine::leave(&file).map_err(|error| format!("build engine file failed: {error}"))?;
        let _ = writeln!(err, "serialize cuda engine to file: {name} successfully");
    }
    Ledger::of_process(model).allocated(memory_mib(batch));
    Ok(batch)
}

fn configured(
    store: &Store,
    read: fn(&Path) -> Result<InferConfig, String>,
) -> Result<InferConfig, String> {
    let path = store
        .text("config-file-path")
        .ok_or("Configuration file not provided")?;
    read(Path::new(&path)).map_err(|what| format!("Configuration file parsing failed: {what}"))
}

fn prepare_nvinfer(_name: &str, store: &Store, model: &Model) -> Result<Prepared, String> {
    let config = configured(store, InferConfig::of_nvinfer)?;
    let batch = prepare_infer(store, &config, model)?;
    Ok(Prepared {
        kind: WorkKind::Infer { batch },
        unique_id: store.uint("unique-id").or(config.unique_id).unwrap_or(1),
    })
}

fn prepare_nvinferserver(_name: &str, store: &Store, model: &Model) -> Result<Prepared, String> {
    let config = configured(store, InferConfig::of_nvinferserver)?;
    let batch = prepare_infer(store, &config, model)?;
    Ok(Prepared {
        kind: WorkKind::InferServer { batch },
        unique_id: store.uint("unique-id").unwrap_or(0),
    })
}

fn prepare_nvtracker(name: &str, _store: &Store, _model: &Model) -> Result<Prepared, String> {
    Ok(Prepared {
        kind: WorkKind::Track {
            name: name.to_owned(),
        },
        unique_id: 0,
    })
}

macro_rules! stage {
    ($module:ident, $name:literal, $type:literal, $class:literal, $title:literal, $prepare:path) => {
        mod $module {
            use super::*;

            #[derive(Debug)]
            pub struct Element {
                sink: gst::Pad,
                src: gst::Pad,
                store: Store,
                queue: Arc<Queue>,
            }

            glib::wrapper! {
                pub struct Object(ObjectSubclass<Element>) @extends gst::Element, gst::Object;
            }

            #[glib::object_subclass]
            impl ObjectSubclass for Element {
                const NAME: &'static str = $type;
                type Type = super::$module::Object;
                type ParentType = gst::Element;

                fn with_class(class: &Self::Class) -> Self {
                    let template = |name| class.pad_template(name).expect("declared below");
                    let sink = gst::Pad::builder_from_template(&template("sink"))
                        .chain_function(|_pad, parent, buffer| {
                            Self::catch_panic_pad_function(
                                parent,
                                || Err(gst::FlowError::Error),
                                |element| element.queue.take_in(buffer),
                            )
                        })
                        .event_function(|pad, parent, event| {
                            Self::catch_panic_pad_function(
                                parent,
                                || false,
                                |element| element.event(pad, event),
                            )
                        })
                        .flags(gst::PadFlags::PROXY_CAPS)
                        .build();
                    let src = gst::Pad::builder_from_template(&template("src"))
                        .flags(gst::PadFlags::PROXY_CAPS)
                        .build();
                    Self {
                        sink,
                        src,
                        store: Store::default(),
                        queue: Arc::default(),
                    }
                }
            }

            impl Element {
                fn event(&self, pad: &gst::Pad, event: gst::Event) -> bool {
                    if event.is_serialized() {
                        self.queue.take_event(event)
                    } else {
                        gst::Pad::event_default(pad, Some(&*self.obj()), event)
                    }
                }

                fn begin(&self) -> Result<(), String> {
                    let model = machine::model().map_err(ToString::to_string)?;
                    let prepared = $prepare(&self.obj().name(), &self.store, model)?;
                    let work = Work::new(prepared.kind, prepared.unique_id, model);
                    let finisher = work.finisher();
                    self.queue.open(work);
                    let queue = Arc::clone(&self.queue);
                    let src = self.src.downgrade();
                    self.src
                        .start_task(move || {
                            let Some(src) = src.upgrade() else { return };
                            if !queue.hand_on(&finisher, &src) {
                                // A task that was stopped meanwhile needs no pause.
                                let _ = src.pause_task();
                            }
                        })
                        .map_err(|error| error.to_string())
                }
            }

            impl ObjectImpl for Element {
                properties_of_the_table!($name);

                fn constructed(&self) {
                    self.parent_constructed();
                    let element = self.obj();
                    for pad in [&self.sink, &self.src] {
                        element.add_pad(pad).expect("a new element has no pads");
                    }
                }
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
                        let caps = frames::nvmm();
                        let always = gst::PadPresence::Always;
                        vec![
                            frames::template("sink", gst::PadDirection::Sink, always, &caps),
                            frames::template("src", gst::PadDirection::Src, always, &caps),
                        ]
                    })
                }

                fn change_state(
                    &self,
                    transition: gst::StateChange,
                ) -> Result<gst::StateChangeSuccess, gst::StateChangeError> {
                    if transition == gst::StateChange::PausedToReady {
                        self.queue.close(gst::FlowError::Flushing);
                    }
                    let changed = self.parent_change_state(transition)?;
                    match transition {
                        gst::StateChange::ReadyToPaused => {
                            if let Err(what) = self.begin() {
                                gst::element_imp_error!(
                                    self,
                                    gst::ResourceError::Settings,
                                    ("{what}")
                                );
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
        }
    };
}

stage!(
    infer,
    "nvinfer",
    "GstNvInfer",
    "NvInfer Plugin",
    "NvInfer plugin",
    prepare_nvinfer
);
stage!(
    infer_server,
    "nvinferserver",
    "GstNvInferServer",
    "NvInferServer Plugin",
    "NvInferServer plugin",
    prepare_nvinferserver
);
stage!(
    tracker,
    "nvtracker",
    "GstNvTracker",
    "NvTracker functionality",
    "NvTracker plugin",
    prepare_nvtracker
);

pub(super) fn register(plugin: &gst::Plugin) -> Result<(), glib::BoolError> {
    let types = [
        ("nvinfer", infer::Object::static_type()),
        ("nvinferserver", infer_server::Object::static_type()),
        ("nvtracker", tracker::Object::static_type()),
    ];
    for (name, object) in types {
        gst::Element::register(Some(plugin), name, gst::Rank::NONE, object)?;
    }
    Ok(())
}
