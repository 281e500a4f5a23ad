//! The threads of a load.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use super::windows::Windows;
use super::{Extent, Options, Shared};
use crate::deadline::{Server, sleep_until};
use crate::decoders::{Decoders, Session};
use crate::ledger::Ledger;
use crate::model::{Fault, Model, Sinks};
use crate::nvtx::{Domain, Started};

/// Batches between two stages: what nvinfer keeps in flight (its output pool holds two) and what a tracker takes in.
const IN_FLIGHT: usize = 2;

/// The streams that the frames of a batch came from.
type Frames = Vec<u32>;

/// A batch that a stage has done with, and when it had by the model: a thread may wake up later than that.
type Done = (Frames, Instant);

/// A batch that the GPU works on.
struct Submitted {
    number: u64,
    frames: Frames,
    done: Instant,
    range: Started,
}

/// Starts all stages; they end when the sources do, or with the process.
pub(super) fn start(options: &Options, model: &Model, shared: &Arc<Shared>, start: Instant) {
    let (to_output, submitted) = sync_channel(IN_FLIGHT);
    let (to_next, inferred) = sync_channel(IN_FLIGHT);
    let domain = Arc::new(Domain::named(model, "GstNvInfer: UID=1"));
    spawn("streammux", {
        let (options, model, shared) = (options.clone(), model.clone(), Arc::clone(shared));
        let domain = Arc::clone(&domain);
        move || feed(&options, &model, &shared, &domain, &to_output)
    });
    spawn("gst-nvinfer_output-loop_uid=1", {
        let model = model.clone();
        move || output(&model, &domain, start, &submitted, &to_next)
    });
    let tracked = match options.extent {
        Extent::Whole if !model.tracker_frame.is_zero() => {
            let (to_sink, tracked) = sync_channel(IN_FLIGHT);
            let model = model.clone();
            spawn("tracker", move || track(&model, &inferred, &to_sink));
            tracked
        }
        _ => inferred,
    };
    spawn("sink", {
        let (sinks, shared) = (options.sinks, Arc::clone(shared));
        let frame = Duration::from_secs_f64(model.source_fps.recip());
        move || sink(sinks, frame, start, &tracked, &shared.windows)
    });
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) {
    // Without threads there is no load: its rates stay at zero, which is what is then measured.
    let _ = thread::Builder::new().name(name.to_owned()).spawn(work);
}

/// Decoders and mux: takes a frame of each stream in turn until a batch is full, and submits it to the GPU.
fn feed(
    options: &Options,
    model: &Model,
    shared: &Shared,
    domain: &Domain,
    to_output: &SyncSender<Submitted>,
) {
    let decoders = Decoders::of_process(model);
    let sessions: Vec<Session> = (0..options.streams).map(|_| decoders.open()).collect();
    let ledger = Ledger::of_process(model);
    let mut gpu = Server::default();
    let mut streams = (0..options.streams).cycle();
    for number in 0.. {
        if shared.ended.load(Ordering::Relaxed) {
            return;
        }
        let now = Instant::now();
        let mut decoded = now;
        let mut frames = Frames::new();
        for stream in streams.by_ref().take(options.batch as usize) {
            if let Some(session) = sessions.get(stream as usize) {
                decoded = decoded.max(session.decode(now));
            }
            frames.push(stream);
        }
        sleep_until(decoded);
        let range = domain.start(&format!("buffer_process batch_num={number}"));
        let queued = domain.push(&format!("queueInput batch_num={number}"));
        let time = model.inference(options.batch);
        let done = gpu.serve(Instant::now(), time);
        ledger.inferred(time);
        drop(queued);
        let batch = Submitted {
            number,
            frames,
            done,
            range,
        };
        if to_output.send(batch).is_err() {
            return;
        }
    }
}

/// nvinfer's output thread: waits for the GPU and hands batches on.
fn output(
    model: &Model,
    domain: &Domain,
    start: Instant,
    submitted: &Receiver<Submitted>,
    to_next: &SyncSender<Done>,
) {
    for batch in submitted {
        let number = batch.number;
        let waiting = domain.push(&format!("dequeueOutputAndAttachMeta batch_num={number}"));
        sleep_until(batch.done);
        drop(waiting);
        domain.end(batch.range);
        for fault in &model.faults {
            match fault {
                Fault::Stall { after } if batch.done >= start + *after => loop {
                    thread::park();
                },
                Fault::Crash { after } if batch.done >= start + *after => std::process::abort(),
                _ => {}
            }
        }
        if to_next.send((batch.frames, batch.done)).is_err() {
            return;
        }
    }
}

fn track(model: &Model, inferred: &Receiver<Done>, to_sink: &SyncSender<Done>) {
    let domain = Domain::default_of(model);
    let mut tracker = Server::default();
    for (number, (frames, came)) in inferred.iter().enumerate() {
        let size = u32::try_from(frames.len()).unwrap_or(u32::MAX);
        let range = domain.push(&format!(
            "tracking_tracker_nvtracker_process(Batch={number})"
        ));
        let done = tracker.serve(came, model.tracker_frame * size);
        sleep_until(done);
        drop(range);
        if to_sink.send((frames, done)).is_err() {
            return;
        }
    }
}

/// Counts frames; a paced sink shows each at its time stamp.
fn sink(
    sinks: Sinks,
    frame: Duration,
    start: Instant,
    tracked: &Receiver<Done>,
    windows: &Windows,
) {
    let mut clock = None;
    let mut shown: BTreeMap<u32, u32> = BTreeMap::new();
    for (frames, came) in tracked {
        for stream in frames {
            let number = shown.entry(stream).or_default();
            let at = match sinks {
                Sinks::AsFast => came,
                Sinks::Paced => {
                    // The first frame sets the clock, to a whole number of frames after the start, so that windows
                    // of whole frames end between two of them.
                    let zero = *clock.get_or_insert_with(|| {
                        let behind = (came - start).as_secs_f64() / frame.as_secs_f64();
                        start + frame.mul_f64(behind.ceil() + 0.5)
                    });
                    came.max(zero + frame * *number)
                }
            };
            sleep_until(at);
            windows.add(stream, at);
            *number += 1;
        }
    }
}
