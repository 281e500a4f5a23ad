//! The batch that the rules share, and what stands in its way.

use ds_ceilings::{Batch, StreamCount};

use crate::derivation::Confidence;
use crate::facts::{Facts, Infer, InferRole, ModelBatch, TensorOrigin};
use crate::plateau::{PlateauBatch, preset_batch};

/// What a rule says when every batch of the sweep failed.
pub(super) const NOTHING_RAN: &str = "a batch that runs: every batch of the sweep failed";

/// The batch to configure, with the account of how it came about.
pub(crate) struct FinalBatch {
    pub(crate) batch: Batch,
    pub(crate) formula: String,
    pub(crate) because: &'static str,
    pub(crate) confidence: Confidence,
}

/// min(plateau, streams); before a sweep min(streams, 16). `None` if a sweep was made and nothing ran.
pub(crate) fn final_batch(facts: &Facts) -> Option<FinalBatch> {
    let streams = facts.streams.get();
    let Some(plateau) = &facts.plateau else {
        let batch = preset_batch(facts.streams);
        return Some(FinalBatch {
            batch,
            formula: format!("min(streams {streams}, preset 16) = {batch}"),
            because: "no sweep was made: this is the preset until one is",
            confidence: Confidence::Low,
        });
    };
    let batch = plateau.final_batch?;
    Some(match plateau.found {
        PlateauBatch::Reached(reached) => FinalBatch {
            batch,
            formula: format!("min(plateau {reached}, streams {streams}) = {batch}"),
            because: "a larger batch brings less than 5 % more frames, and no tick has more frames than streams",
            confidence: if plateau.is_firm() {
                Confidence::High
            } else {
                Confidence::Medium
            },
        },
        PlateauBatch::NotReached { largest } => FinalBatch {
            batch,
            formula: format!("min(largest batch that ran {largest}, streams {streams}) = {batch}"),
            because: "every doubling up to here was worth it; a larger batch may bring more",
            confidence: Confidence::Medium,
        },
        PlateauBatch::Paced { largest, .. } => FinalBatch {
            batch,
            formula: format!("min(largest batch that ran {largest}, streams {streams}) = {batch}"),
            because: "the sweep was paced by its source, sink or display, so it says only that this batch runs",
            confidence: Confidence::Low,
        },
        PlateauBatch::NothingRan => return None,
    })
}

/// The model that sees every frame.
pub(super) fn primary(facts: &Facts) -> Option<&Infer> {
    facts
        .infers
        .iter()
        .find(|infer| infer.role == InferRole::Primary)
}

/// Whether an nvdspreprocess in front of the primary model decides its batch.
pub(super) fn preprocess_decides(facts: &Facts) -> bool {
    primary(facts).is_some_and(|infer| infer.tensors == TensorOrigin::Preprocess)
}

/// The batch that is written into a model, if it is smaller than the one to configure.
pub(super) fn too_small(infer: &Infer, batch: Batch) -> Option<Batch> {
    match infer.model_batch {
        ModelBatch::Static(fixed) if fixed < batch => Some(fixed),
        ModelBatch::Static(_) | ModelBatch::Dynamic | ModelBatch::Unknown => None,
    }
}

/// How many batches a tick of all streams takes.
pub(crate) fn batches_per_tick(streams: StreamCount, batch: Batch) -> u32 {
    streams.get().div_ceil(batch.get())
}
