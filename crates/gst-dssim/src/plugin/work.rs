//! What inference and the tracker do with a batch.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::deadline::{Server, sleep_until};
use crate::ledger::Ledger;
use crate::model::{Fault, Model};
use crate::nvtx::{Domain, Started};

/// A batch that was taken in.
#[derive(Debug)]
pub(super) struct Ticket {
    number: u64,
    done: Instant,
    range: Option<Started>,
}

/// Work on batches, taken in on one thread and finished on another, as in the real elements.
#[derive(Debug)]
pub(super) struct Work {
    kind: WorkKind,
    model: &'static Model,
    domain: Arc<Domain>,
    server: Server,
    taken: u64,
    first: Option<Instant>,
}

/// Which work.
#[derive(Debug, Clone)]
pub(super) enum WorkKind {
    /// nvinfer: batches of at most so many frames.
    Infer {
        /// Frames that go through the network at once.
        batch: u32,
    },
    /// nvinferserver, which marks only the whole of a batch.
    InferServer {
        /// Frames that go through the network at once.
        batch: u32,
    },
    /// nvtracker, under the name of its element.
    Track {
        /// The element's name.
        name: String,
    },
}

/// Finishes batches on the output thread.
#[derive(Debug, Clone)]
pub(super) struct Finisher {
    kind: WorkKind,
    model: &'static Model,
    domain: Arc<Domain>,
}

impl Work {
    pub(super) fn new(kind: WorkKind, unique_id: u32, model: &'static Model) -> Self {
        let domain = match &kind {
            WorkKind::Infer { .. } => Domain::named(model, &format!("GstNvInfer: UID={unique_id}")),
            WorkKind::InferServer { .. } => {
                Domain::named(model, &format!("GstNvInferServer: UID={unique_id}"))
            }
            WorkKind::Track { .. } => Domain::default_of(model),
        };
        Self {
            kind,
            model,
            domain: Arc::new(domain),
            server: Server::default(),
            taken: 0,
            first: None,
        }
    }

    pub(super) fn finisher(&self) -> Finisher {
        Finisher {
            kind: self.kind.clone(),
            model: self.model,
            domain: Arc::clone(&self.domain),
        }
    }

    /// Takes a batch in.
    pub(super) fn take(&mut self, frames: u32) -> Ticket {
        let number = self.taken;
        self.taken += 1;
        let now = Instant::now();
        self.first.get_or_insert(now);
        let (time, range) = match self.kind {
            WorkKind::Infer { batch } | WorkKind::InferServer { batch } => {
                let range = self
                    .domain
                    .start(&format!("buffer_process batch_num={number}"));
                let time = inference(self.model, batch, frames);
                Ledger::of_process(self.model).inferred(time);
                (time, Some(range))
            }
            WorkKind::Track { .. } => (self.model.tracker_frame * frames, None),
        };
        let queued = matches!(self.kind, WorkKind::Infer { .. })
            .then(|| self.domain.push(&format!("queueInput batch_num={number}")));
        let done = self.server.serve(now, time);
        drop(queued);
        Ticket {
            number,
            done,
            range,
        }
    }

    /// How long ago the first batch came.
    pub(super) fn age(&self) -> Duration {
        self.first.map_or(Duration::ZERO, |first| first.elapsed())
    }
}

impl Finisher {
    /// Waits until a batch is done.
    pub(super) fn finish(&self, ticket: Ticket) {
        let number = ticket.number;
        let range = match &self.kind {
            WorkKind::Infer { .. } => {
                Some(format!("dequeueOutputAndAttachMeta batch_num={number}"))
            }
            WorkKind::InferServer { .. } => None,
            WorkKind::Track { name } => Some(format!("{name}_nvtracker_process(Batch={number})")),
        };
        let marked = range.map(|text| self.domain.push(&text));
        sleep_until(ticket.done);
        drop(marked);
        if let Some(range) = ticket.range {
            self.domain.end(range);
        }
    }

    /// What goes wrong this long after the first batch; only inference fails.
    pub(super) fn fault(&self, age: Duration) -> Option<Fault> {
        let is_due = |fault: &&Fault| match fault {
            Fault::Stall { after } | Fault::Crash { after } => age >= *after,
            Fault::EndOfStream { .. } | Fault::OutOfMemory { .. } => false,
        };
        let infers = !matches!(self.kind, WorkKind::Track { .. });
        self.model
            .faults
            .iter()
            .find(is_due)
            .copied()
            .filter(|_| infers)
    }
}

/// How long the GPU works on so many frames, a batch at a time.
fn inference(model: &Model, batch: u32, frames: u32) -> Duration {
    let (full, rest) = (frames / batch.max(1), frames % batch.max(1));
    let last = if rest > 0 {
        model.inference(rest)
    } else {
        Duration::ZERO
    };
    model.inference(batch) * full + last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_frames_than_a_batch_holds_take_several() {
        let model = Model::default();
        // 1 ms + 1 ms a frame: 4 + 4 + 2 frames.
        let time = inference(&model, 4, 10);
        assert_eq!(time, Duration::from_millis(5 + 5 + 3));
    }
}
