//! Sets what nvstreammux does with the frames of all streams: how many it puts into one buffer, at which size, and how
//! long it waits for a late one.
//!
//! | Knob | Value | Withheld when |
//! |---|---|---|
//! | `batch-size` | the final batch | nvdspreprocess decides the batch; the model's own batch is smaller; a source list or nvmultiurisrcbin sets it |
//! | `width`, `height` | min(source, model), each | the frame is looked at downstream (OSD, tiler, analytics, preprocess, message converter) or `maintain-aspect-ratio=1`; `--mux-size model` overrides both; new mux |
//! | `batched-push-timeout` | round(1,000,000 / fps) µs | new mux |
//! | `overall-min-fps-n`, `-d` | fps as a fraction | legacy mux (no entry) |
//! | `overall-max-fps-n`, `-d` | raised to the minimum where it is below it | legacy mux (no entry) |
//! | `nvbuf-memory-type` | 0 | integrated GPU; new mux |
//! | `live-source` | 1 if a source is RTSP or a camera, else 0 | new mux |
//! | `enable-padding` | 0 | `maintain-aspect-ratio=1`; new mux |
//!
//! Of several source sizes the largest counts, so that no stream loses more detail than the model throws away.
//!
//! Sources: the DeepStream 9.1 source (the new mux has no size, memory, live or padding property, and rebuilds its
//! policy at negotiation so that `batched-push-timeout` has no effect; deadline = d / n seconds after the last batch);
//! NVIDIA's DeepStream FAQ for 1,000,000 / fps. The other parts of NVIDIA's legacy mux are closed.

use ds_ceilings::Resolution;

use super::batch::{NOTHING_RAN, final_batch, preprocess_decides, primary, too_small};
use super::deadline::deadline;
use super::line::{Derived, Line, fixed};
use super::r6_visible::stays_in_place;
use crate::derivation::{Confidence, Entry, RuleId, Target};
use crate::facts::{AspectRatio, BatchKey, Facts, GpuKind, Mux, MuxGeneration, MuxSizeWish};
use crate::knob::Knob;
use crate::value::{Present, Switch, Value};

const ASPECT_KEPT: &str =
    "maintain-aspect-ratio=1 asks for undistorted frames, and the mux would distort them";

pub(super) fn derive(facts: &Facts) -> Vec<Entry> {
    let Some(mux) = &facts.mux else {
        let line = on_mux(Knob::MuxBatchSize, &Present::Absent);
        return vec![line.missing("an nvstreammux: the pipeline has none")];
    };
    let mut entries = vec![batch_size(facts, mux)];
    entries.extend(size(facts, mux));
    entries.extend(deadline(facts.fps, mux));
    entries.extend([
        memory_type(facts, mux),
        live_source(facts, mux),
        padding(facts, mux),
    ]);
    entries
}

pub(super) fn on_mux(knob: Knob, present: &Present) -> Line<'_> {
    Line {
        rule: RuleId::R1,
        knob,
        target: Target::Mux,
        present,
    }
}

/// The reason to withhold a knob that the new mux does not have.
fn new_mux_lacks(mux: &Mux, what: &str) -> Option<String> {
    (mux.generation == MuxGeneration::New).then(|| format!("the new nvstreammux has no {what}"))
}

fn batch_size(facts: &Facts, mux: &Mux) -> Entry {
    let present = match &mux.batch_size {
        BatchKey::Own(present) => present,
        BatchKey::SourceList => {
            return on_mux(Knob::MuxBatchSize, &Present::Absent).withhold(
                "[source-list] replaces the key by the number of its URIs, so that writing it changes nothing",
            );
        }
        BatchKey::MultiUri { max_batch_size } => {
            return on_mux(Knob::MuxBatchSize, max_batch_size).withhold(
                "nvmultiurisrcbin takes the batch from max-batch-size, which also caps its sources: see R3",
            );
        }
    };
    let line = on_mux(Knob::MuxBatchSize, present);
    if preprocess_decides(facts) {
        return line
            .withhold("nvdspreprocess decides the batch of the model by its network-input-shape");
    }
    let Some(chosen) = final_batch(facts) else {
        return line.missing(NOTHING_RAN);
    };
    if let Some(fixed) = primary(facts).and_then(|infer| too_small(infer, chosen.batch)) {
        return line.withhold(format!(
            "the model is fixed at batch {fixed}: a mux batch of {} would be split again",
            chosen.batch
        ));
    }
    let because = match mux.generation {
        MuxGeneration::Legacy => chosen.because.to_owned(),
        MuxGeneration::New => format!(
            "{}; adaptive-batching=1, the default of the policy file, replaces it by the number of connected sources",
            chosen.because
        ),
    };
    line.set(Derived {
        new: Value::from(chosen.batch.get()),
        formula: chosen.formula,
        because,
        confidence: chosen.confidence,
    })
}

/// The size that holds every source, if all are known.
fn source_size(facts: &Facts) -> Option<Resolution> {
    let sizes: Option<Vec<Resolution>> = facts.sources.iter().map(|source| source.size).collect();
    let sizes = sizes?;
    let width = sizes.iter().map(|size| size.width()).max()?;
    let height = sizes.iter().map(|size| size.height()).max()?;
    Resolution::new(width, height)
}

/// Why the size is left alone, unless the user overrides it.
fn size_withheld(facts: &Facts) -> Option<String> {
    let looking: Vec<&str> = facts
        .consumers
        .iter()
        // An OSD or a tiler that R6 takes out does not look at the frame any more.
        .filter(|consumer| stays_in_place(facts, consumer))
        .map(|consumer| consumer.kind.element())
        .collect();
    if !looking.is_empty() {
        return Some(format!(
            "{} downstream works in the pixels of the mux; `--mux-size model` overrides",
            looking.join(", ")
        ));
    }
    aspect_is_kept(facts).then(|| format!("{ASPECT_KEPT}; `--mux-size model` overrides"))
}

fn aspect_is_kept(facts: &Facts) -> bool {
    let mut infers = facts.infers.iter();
    infers.any(|infer| infer.aspect_ratio == AspectRatio::Kept)
}

fn size(facts: &Facts, mux: &Mux) -> [Entry; 2] {
    let source = source_size(facts);
    let model = primary(facts)
        .and_then(|infer| infer.model_dims)
        .map(|dims| dims.size());
    [
        side(
            facts,
            mux,
            on_mux(Knob::MuxWidth, &mux.width),
            source.map(Resolution::width),
            model.map(Resolution::width),
        ),
        side(
            facts,
            mux,
            on_mux(Knob::MuxHeight, &mux.height),
            source.map(Resolution::height),
            model.map(Resolution::height),
        ),
    ]
}

/// One side of the frame, from that of the largest source and that of the model.
fn side(
    facts: &Facts,
    mux: &Mux,
    line: Line<'_>,
    source: Option<u32>,
    model: Option<u32>,
) -> Entry {
    const NO_SOURCE_SIZE: &str = "the size of every source";
    if let Some(reason) = new_mux_lacks(mux, "size: frames keep their own") {
        return line.withhold(reason);
    }
    match facts.options.mux_size {
        MuxSizeWish::Source => {
            return match source {
                Some(source) => line.set(Derived {
                    new: Value::from(source),
                    formula: format!("source {source}"),
                    because: "the size of the source was asked for".to_owned(),
                    confidence: Confidence::High,
                }),
                None => line.missing(NO_SOURCE_SIZE),
            };
        }
        MuxSizeWish::ByRule => {
            if let Some(reason) = size_withheld(facts) {
                return line.withhold(reason);
            }
        }
        MuxSizeWish::Model => {}
    }
    match (source, model) {
        (_, None) => line.missing("the input shape of the primary model"),
        (Some(source), Some(model)) => line.set(Derived {
            new: Value::from(source.min(model)),
            formula: format!("min(source {source}, model {model}) = {}", source.min(model)),
            because: "the model sees no more than this, and scaling once in the mux saves memory traffic behind it"
                .to_owned(),
            confidence: Confidence::High,
        }),
        (None, Some(model)) if facts.options.mux_size == MuxSizeWish::Model => line.set(Derived {
            new: Value::from(model),
            formula: format!("model {model}"),
            because: "the size of the model was asked for; that of the sources is not known".to_owned(),
            confidence: Confidence::Medium,
        }),
        (None, Some(_)) => line.missing(NO_SOURCE_SIZE),
    }
}

fn memory_type(facts: &Facts, mux: &Mux) -> Entry {
    let line = on_mux(Knob::NvbufMemoryType, &mux.nvbuf_memory_type);
    if let Some(reason) = new_mux_lacks(mux, "memory type") {
        return line.withhold(reason);
    }
    let confidence = match facts.gpu.kind {
        Some(GpuKind::Integrated) => {
            return line.withhold("an integrated GPU uses surface arrays, not device memory");
        }
        Some(GpuKind::Discrete) => Confidence::High,
        None => Confidence::Medium,
    };
    let because = "device memory, as decoder and model use it on a board: another type costs a copy on the way";
    line.set(fixed(0, because, confidence))
}

fn live_source(facts: &Facts, mux: &Mux) -> Entry {
    let line = on_mux(Knob::LiveSource, &mux.live_source);
    if let Some(reason) = new_mux_lacks(mux, "live-source") {
        return line.withhold(reason);
    }
    if facts.sources.is_empty() {
        return line.missing("the kind of the sources");
    }
    let live = facts
        .sources
        .iter()
        .filter(|source| source.kind.is_live())
        .count();
    let (switch, because) = if live > 0 {
        (
            Switch::On,
            "RTSP streams and cameras deliver at their own pace and may drop out",
        )
    } else {
        (Switch::Off, "no source delivers at its own pace")
    };
    line.set(Derived {
        new: Value::from(switch),
        formula: format!("{live} of {} sources live = {switch}", facts.sources.len()),
        because: because.to_owned(),
        confidence: Confidence::High,
    })
}

fn padding(facts: &Facts, mux: &Mux) -> Entry {
    let line = on_mux(Knob::EnablePadding, &mux.enable_padding);
    if let Some(reason) = new_mux_lacks(mux, "padding") {
        return line.withhold(reason);
    }
    if aspect_is_kept(facts) {
        return line
            .withhold("maintain-aspect-ratio=1 asks for undistorted frames, which padding keeps");
    }
    line.set(fixed(
        Switch::Off,
        "the model takes stretched frames, so that black bars only cost pixels",
        Confidence::High,
    ))
}
