//! Sets how much a queue holds and what it does when it is full.
//!
//! | Queue | Knobs | Withheld when |
//! |---|---|---|
//! | decoder → mux | `max-size-buffers` = final batch × 4, `leaky` = 0 | the form has no queues to set: deepstream-app |
//! | mux → infer | `max-size-buffers` = final batch × 2, `leaky` = 0 | the same |
//! | message branch | `max-size-buffers` = 2, `leaky` = 2 | the same |
//! | file or encoder branch | `max-size-buffers` = final batch, `leaky` = 0 | the same |
//!
//! Every one of them also gets `max-size-bytes` = 0 and `max-size-time` = 0, so that the buffers alone decide: the first
//! limit that is reached blocks, and the default of 10,485,760 bytes is passed by the fourth NV12 frame of 1080p in
//! system memory. A queue anywhere else is left alone.
//!
//! Sources: GStreamer's `queue` element (defaults of 200 buffers, 10,485,760 bytes, 1 s; `leaky` 2 drops the oldest);
//! the factors 4 and 2 are those of the pipeline-profiling skill of NVIDIA/DeepStream (581889d). A message branch that
//! blocks pulls the whole pipeline down, so that it drops instead.

use ds_ceilings::Batch;

use super::batch::{NOTHING_RAN, final_batch};
use super::line::{Derived, Line, fixed};
use crate::derivation::{Confidence, Entry, RuleId, Target};
use crate::facts::{Facts, Queue, QueuePosition, Queues};
use crate::knob::Knob;
use crate::value::{Present, Value};

/// Buffers of a message branch: one on its way, one behind it.
const MESSAGE_BUFFERS: u32 = 2;

pub(super) fn derive(facts: &Facts) -> Vec<Entry> {
    match &facts.queues {
        Queues::NotConfigurable => vec![
            line(Target::Queues, Knob::QueueMaxSizeBuffers, &Present::Absent)
                .withhold("deepstream-app makes its own queues, and no key sets them"),
        ],
        Queues::Named(queues) => queues
            .iter()
            .filter_map(|queue| Some((queue, depth(queue.position)?)))
            .flat_map(|(queue, depth)| of_queue(facts, queue, depth))
            .collect(),
    }
}

fn line(target: Target, knob: Knob, present: &Present) -> Line<'_> {
    Line {
        rule: RuleId::R5,
        knob,
        target,
        present,
    }
}

/// How deep a queue is to be.
#[derive(Clone, Copy)]
enum Depth {
    /// So many times the final batch.
    Batches(u32),
    /// So many buffers.
    Buffers(u32),
}

fn depth(position: QueuePosition) -> Option<Depth> {
    match position {
        QueuePosition::DecoderToMux => Some(Depth::Batches(4)),
        QueuePosition::MuxToInfer => Some(Depth::Batches(2)),
        QueuePosition::FileBranch => Some(Depth::Batches(1)),
        QueuePosition::MessageBranch => Some(Depth::Buffers(MESSAGE_BUFFERS)),
        QueuePosition::Other => None,
    }
}

fn of_queue(facts: &Facts, queue: &Queue, depth: Depth) -> [Entry; 4] {
    let line = |knob, present| line(Target::Queue(queue.name.clone()), knob, present);
    let alone = || fixed(0, "no limit: the buffers alone decide", Confidence::High);
    [
        buffers(
            facts,
            line(Knob::QueueMaxSizeBuffers, &queue.max_size_buffers),
            depth,
        ),
        line(Knob::QueueMaxSizeBytes, &queue.max_size_bytes).set(alone()),
        line(Knob::QueueMaxSizeTime, &queue.max_size_time).set(alone()),
        line(Knob::QueueLeaky, &queue.leaky).set(match depth {
            Depth::Buffers(_) => fixed(
                2,
                "a slow broker loses the oldest message instead of holding up the pipeline",
                Confidence::High,
            ),
            Depth::Batches(_) => fixed(
                0,
                "a queue that drops frames hides that the pipeline cannot keep up",
                Confidence::Medium,
            ),
        }),
    ]
}

fn buffers(facts: &Facts, line: Line<'_>, depth: Depth) -> Entry {
    let factor = match depth {
        Depth::Buffers(buffers) => {
            let because = "messages are small and only the newest matter";
            return line.set(fixed(buffers, because, Confidence::High));
        }
        Depth::Batches(factor) => factor,
    };
    let Some(chosen) = final_batch(facts) else {
        return line.missing(NOTHING_RAN);
    };
    let batch: Batch = chosen.batch;
    let buffers = i64::from(batch.get()) * i64::from(factor);
    line.set(Derived {
        new: Value::Integer(buffers),
        formula: format!("final batch {batch} x {factor} = {buffers}"),
        because: "deep enough to bridge a late batch, shallow enough not to add seconds of delay"
            .to_owned(),
        confidence: chosen.confidence.min(Confidence::Medium),
    })
}
